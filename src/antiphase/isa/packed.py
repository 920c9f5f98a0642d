"""Packed arithmetic and dot products: VOP3P without the matrix instructions, and the dot products of VOP2."""

from __future__ import annotations

import functools
import operator

from antiphase.isa._expr import BF16, F16, F32, I16, I32, I64, U16, U32, Expr, fma, maximum, minimum
from antiphase.isa._families import GFX11, GFX950, RDNA4, WAVE32
from antiphase.isa._floats import limited, max_float, maximum_ieee, min_float, minimum_ieee
from antiphase.isa._numerics import dot_numerics
from antiphase.isa._record import Pair, Semantics, valu
from antiphase.isa.vector_float import half_overflow
from antiphase.isa.vector_integer import multiply_add, saturating

CITE = "AMD Instinct MI300 CDNA3 ISA, chapter 12.7 (VOP3P)"
CDNA4 = "AMD CDNA4 ISA, chapter 12.7 (VOP3P)"
packed = functools.partial(valu, packed=True, cite=CITE)


packed("v_pk_fma_f32", "f32 f32 f32 -> f32", fma)
packed("v_pk_mul_f32", "f32 f32 -> f32", operator.mul)
packed("v_pk_add_f32", "f32 f32 -> f32", operator.add)
# op_sel picks the word of the first source for the low result and of the second for the high one
packed("v_pk_mov_b32", "u32 u32 -> u32", lambda low0, low1, high0, high1: (low0, low1), pair=True)

packed("v_pk_fma_f16", "f16 f16 f16 -> f16", half_overflow(fma))
packed("v_pk_fmac_f16", "f16 f16 d:f16 -> f16", half_overflow(fma))
packed("v_pk_add_f16", "f16 f16 -> f16", half_overflow(operator.add))
packed("v_pk_mul_f16", "f16 f16 -> f16", half_overflow(operator.mul))
packed("v_pk_min_f16 v_pk_min_num_f16", "f16 f16 -> f16", min_float)
packed("v_pk_max_f16 v_pk_max_num_f16", "f16 f16 -> f16", max_float)
for name, f in (("minimum", minimum_ieee), ("maximum", maximum_ieee)):
    packed(
        f"v_pk_{name}3_f16",
        "f16 f16 f16 -> f16",
        lambda a, b, c, f=f: f(f(a, b), c),
        targets=GFX950,
        cite=CDNA4,
    )

for integer in (I16, U16):
    t = integer.name
    packed(f"v_pk_mad_{t}", f"{t} {t} {t} -> {t}", multiply_add, saturated=saturating(multiply_add, integer))
    packed(f"v_pk_add_{t}", f"{t} {t} -> {t}", operator.add, saturated=saturating(operator.add, integer))
    packed(f"v_pk_sub_{t}", f"{t} {t} -> {t}", operator.sub, saturated=saturating(operator.sub, integer))
    packed(f"v_pk_max_{t}", f"{t} {t} -> {t}", maximum)
    packed(f"v_pk_min_{t}", f"{t} {t} -> {t}", minimum)
packed("v_pk_mul_lo_u16", "u16 u16 -> u16", operator.mul)
packed("v_pk_lshlrev_b16", "u16 u16 -> u16", lambda n, a: a << n)
packed("v_pk_lshrrev_b16", "u16 u16 -> u16", lambda n, a: a >> n)
packed("v_pk_ashrrev_i16", "u16 i16 -> i16", lambda n, a: a >> n)


def fields(word: Expr, bits: int, signed: bool) -> list[Expr]:
    """The bit fields of a u32, lowest first, as u32 or sign-extended i32."""
    top = 32 - bits
    whole = word.bits(I32) if signed else word
    return [(whole << (top - at)) >> top for at in range(0, 32, bits)]


def dot_integer(bits: int, signed: bool) -> Semantics:
    def semantics(a: Expr, b: Expr, c: Expr) -> Expr:
        for x, y in zip(fields(a, bits, signed), fields(b, bits, signed), strict=True):
            c = c + x * y
        return c

    return semantics


def dot_saturated(bits: int, signed: bool) -> Semantics:
    """The exact sum limited to the accumulator."""
    narrow = I32 if signed else U32
    low, high = (-(1 << 31), (1 << 31) - 1) if signed else (0, (1 << 32) - 1)

    def semantics(a: Expr, b: Expr, c: Expr) -> Expr:
        total = c.to(I64)
        for x, y in zip(fields(a, bits, signed), fields(b, bits, signed), strict=True):
            total = total + x.to(I64) * y.to(I64)
        return limited(total, low, high).to(narrow)

    return semantics


for count, bits in ((2, 16), (4, 8), (8, 4)):
    for sign, t in (("i", "i32"), ("u", "u32")):
        name = f"v_dot{count}_{t}_{sign}{bits}"
        plain, full = dot_integer(bits, sign == "i"), dot_saturated(bits, sign == "i")
        valu(name, f"u32 u32 {t} -> {t}", plain, saturated=full, cite=CITE)
    valu(f"v_dot{count}c_i32_i{bits}", "u32 u32 d:i32 -> i32", dot_integer(bits, True), cite=CITE)


def dot_float(a: Pair, b: Pair, c: Expr) -> Expr:
    """Both exact products and the accumulator, summed in order with a rounding after each addition."""
    for x, y in zip(a, b, strict=True):
        c = fma(x.to(F32), y.to(F32), c)
    return c


DOT = functools.partial(
    valu,
    cite=CITE,
    status="modelled",
    note=dot_numerics("f32", reported=True),
)
for t, targets in ((F16, None), (BF16, GFX950 | GFX11 | RDNA4)):
    DOT(f"v_dot2_f32_{t}", f"p:{t} p:{t} f32 -> f32", dot_float, targets=targets)
    accumulate = functools.partial(DOT, signature=f"p:{t} p:{t} d:f32 -> f32", semantics=dot_float)
    accumulate(f"v_dot2c_f32_{t}", targets=None if t is F16 else GFX950)
    accumulate(f"v_dot2acc_f32_{t}", targets=WAVE32)  # of bf16 only as half of a dual-issue instruction

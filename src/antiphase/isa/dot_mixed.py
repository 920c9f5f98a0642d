"""Dot products of GFX11, GFX12 and gfx1250: integers of chosen signedness, 16-bit and 8-bit floats."""

from __future__ import annotations

import functools

from antiphase.isa._expr import BF16, F16, I32, I64, Expr, fma
from antiphase.isa._families import GFX11, RDNA4, WAVE32
from antiphase.isa._floats import limited
from antiphase.isa._formats import decode
from antiphase.isa._numerics import dot_numerics
from antiphase.isa._record import Pair, Semantics, valu

RDNA3 = "AMD RDNA3 ISA (15-Aug-2023), chapter 16.6, 16.10 (VOP3P, VOP3)"
MANUAL = "AMD RDNA4 ISA (7-Apr-2025), chapter 16.6 (VOP3P)"


def mixed_terms(a: Expr, b: Expr, bits: int, signs: Expr) -> list[tuple[Expr, Expr]]:
    """Fields of two registers as i32; bit 0 of `signs` makes those of a signed, bit 1 those of b."""

    def fields(word: Expr, signed: Expr) -> list[Expr]:
        sign = (signed << (bits - 1)).bits(I32)
        mask = (1 << bits) - 1
        return [((((word >> at) & mask).bits(I32)) ^ sign) - sign for at in range(0, 32, bits)]

    return list(zip(fields(a, signs & 1), fields(b, (signs >> 1) & 1), strict=True))


def mixed_dot(bits: int, a: Expr, b: Expr, c: Expr, signs: Expr) -> Expr:
    for x, y in mixed_terms(a, b, bits, signs):
        c = c + x * y
    return c


def mixed_dot_saturated(bits: int, a: Expr, b: Expr, c: Expr, signs: Expr) -> Expr:
    """The exact sum limited to the accumulator."""
    total = c.to(I64)
    for x, y in mixed_terms(a, b, bits, signs):
        total = total + (x * y).to(I64)
    return limited(total, -(1 << 31), (1 << 31) - 1).to(I32)


for count, bits in ((4, 8), (8, 4)):
    valu(
        f"v_dot{count}_i32_iu{bits}",
        "u32 u32 i32 neg_lo -> i32",
        functools.partial(mixed_dot, bits),
        saturated=functools.partial(mixed_dot_saturated, bits),
        targets=WAVE32,
        cite=RDNA3,
    )


def dot_halves(a: Pair, b: Pair, c: Expr) -> Expr:
    """Two products added to a 16-bit accumulator, rounded after each."""
    for x, y in zip(a, b, strict=True):
        c = fma(x, y, c)
    return c


for type_ in (F16, BF16):
    valu(
        f"v_dot2_{type_}_{type_}",
        f"p:{type_} p:{type_} {type_} -> {type_}",
        dot_halves,
        targets=GFX11 | RDNA4,
        cite=RDNA3,
        rest="keep",
        status="modelled",
        note=dot_numerics(str(type_), reported=True),
    )


def dot_bytes(first: str, second: str) -> Semantics:
    def semantics(a: Expr, b: Expr, c: Expr) -> Expr:
        for shift in range(0, 32, 8):
            c = fma(decode((a >> shift), first), decode((b >> shift), second), c)
        return c

    return semantics


for first in ("fp8", "bf8"):
    for second in ("fp8", "bf8"):
        name = f"v_dot4_f32_{first}_{second}"
        note = dot_numerics("f32", reported=False)
        meaning = dot_bytes(first, second)
        valu(name, "u32 u32 f32 -> f32", meaning, targets=RDNA4, cite=MANUAL, status="modelled", note=note)

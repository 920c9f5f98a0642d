"""Vector float arithmetic: sums, products, minimum, maximum, rounding, exponents, transcendentals."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable

from antiphase.isa import _math as math
from antiphase.isa._expr import (
    F16,
    F32,
    I16,
    I32,
    Expr,
    canonical,
    ceil,
    const,
    floor,
    fma,
    mode,
    rint,
    select,
    trunc,
)
from antiphase.isa._floats import (
    fraction,
    frexp_exponent,
    frexp_mantissa,
    is_infinite,
    is_signalling,
    max_float,
    maximum_ieee,
    med3_float,
    min_float,
    minimum_ieee,
    negative,
    quieted,
    scale,
    with_sign,
)  # fmt: skip
from antiphase.isa._record import Semantics, valu
from antiphase.isa.vector_integer import GFX950, KEEP, multiply_add, reversed_sub

CITE = "AMD Instinct MI300 CDNA3 ISA, chapter 12 (VOP1, VOP2, VOP3)"
op = functools.partial(valu, cite=CITE)
modelled = functools.partial(valu, cite=CITE, status="modelled", note=math.NOTE)


def half_overflow(f: Semantics) -> Semantics:
    """With MODE.fp16_ovfl a finite overflow of an f16 result stops at the largest half (CDNA3 ISA, MODE)."""

    def semantics(*sources: Expr) -> Expr:
        result = f(*sources)
        assert isinstance(result, Expr)
        given = [is_infinite(s) for s in sources if s.type is F16]
        infinite = functools.reduce(lambda a, b: a | b, given)
        largest = with_sign(const(F16, 65504.0), negative(result))
        stopped = select(is_infinite(result) & ~infinite, largest, result)
        return select(mode("fp16_ovfl"), stopped, result)

    return semantics


for name, f in (
    ("add", operator.add),
    ("sub", operator.sub),
    ("subrev", reversed_sub),
    ("mul", operator.mul),
):
    op(f"v_{name}_f32", "f32 f32 -> f32", f)
    op(f"v_{name}_f16", "f16 f16 -> f16", half_overflow(f))
op("v_add_f64", "f64 f64 -> f64", operator.add)
op("v_mul_f64", "f64 f64 -> f64", operator.mul)


def multiply_legacy(a: Expr, b: Expr) -> Expr:
    """Zero times anything is +0."""
    return select((a == 0.0) | (b == 0.0), const(F32, 0.0), a * b)


op("v_mul_legacy_f32 v_mul_dx9_zero_f32", "f32 f32 -> f32", multiply_legacy)

op("v_fma_f32", "f32 f32 f32 -> f32", fma)
op("v_fma_f64", "f64 f64 f64 -> f64", fma)
op("v_fmac_f32", "f32 f32 d:f32 -> f32", fma)
op("v_fmac_f64", "f64 f64 d:f64 -> f64", fma)
op("v_fmaak_f32", "f32 f32 f32 -> f32", fma)
op("v_fmamk_f32", "f32 f32 f32 -> f32", fma)
valu("v_fma_f16", "f16 f16 f16 -> f16", half_overflow(fma), rest="keep", cite=f"{CITE}; {KEEP}")
op("v_fma_legacy_f16", "f16 f16 f16 -> f16", half_overflow(fma))
valu("v_mad_f16", "f16 f16 f16 -> f16", half_overflow(multiply_add), rest="keep", cite=f"{CITE}; {KEEP}")
op("v_mad_legacy_f16", "f16 f16 f16 -> f16", half_overflow(multiply_add))
op("v_mac_f16", "f16 f16 d:f16 -> f16", half_overflow(multiply_add))
op("v_madak_f16", "f16 f16 f16 -> f16", half_overflow(multiply_add))
op("v_madmk_f16", "f16 f16 f16 -> f16", half_overflow(multiply_add))

MIX = f"{CITE}, V_MAD_MIX; LLVM AMDGPUModifierSyntax, op_sel_hi of fma_mix"
valu("v_fma_mix_f32 v_mad_mix_f32", "f32 f32 f32 -> f32", fma, mixed="f16", cite=MIX)
for half, rest in (("lo", "keep"), ("hi", "high")):
    valu(
        f"v_fma_mix{half}_f16 v_mad_mix{half}_f16",
        "f32 f32 f32 -> f16",
        lambda a, b, c: canonical(fma(a, b, c).to(F16)),
        mixed="f16",
        rest=rest,
        cite=MIX,
    )

for t in ("f32", "f64", "f16"):
    op(f"v_min_{t} v_min_num_{t}", f"{t} {t} -> {t}", min_float)
    op(f"v_max_{t} v_max_num_{t}", f"{t} {t} -> {t}", max_float)
for t, rest in (("f32", "zero"), ("f16", "keep")):
    cite = CITE if rest == "zero" else f"{CITE}; {KEEP}"
    three = functools.partial(valu, rest=rest, cite=cite)
    three(f"v_min3_{t} v_min3_num_{t}", f"{t} {t} {t} -> {t}", lambda a, b, c: min_float(min_float(a, b), c))
    three(f"v_max3_{t} v_max3_num_{t}", f"{t} {t} {t} -> {t}", lambda a, b, c: max_float(max_float(a, b), c))
    three(f"v_med3_{t} v_med3_num_{t}", f"{t} {t} {t} -> {t}", med3_float)
for name, f in (("minimum", minimum_ieee), ("maximum", maximum_ieee)):
    op(
        f"v_{name}3_f32",
        "f32 f32 f32 -> f32",
        lambda a, b, c, f=f: f(f(a, b), c),
        targets=GFX950,
        cite="AMD CDNA4 ISA, chapter 12 (VOP3)",
    )


def rounding(f: Callable[[Expr], Expr]) -> Callable[[Expr], Expr]:
    """Rounding to an integral value makes a signalling NaN quiet."""
    return lambda x: select(is_signalling(x), quieted(x), f(x))


for t in ("f32", "f64", "f16"):
    for name, f in (("trunc", trunc), ("ceil", ceil), ("rndne", rint), ("floor", floor)):
        op(f"v_{name}_{t}", f"{t} -> {t}", rounding(f))
    op(f"v_fract_{t}", f"{t} -> {t}", fraction)
    op(f"v_frexp_mant_{t}", f"{t} -> {t}", frexp_mantissa)
op("v_frexp_exp_i32_f32", "f32 -> i32", frexp_exponent)
op("v_frexp_exp_i32_f64", "f64 -> i32", frexp_exponent)
op("v_frexp_exp_i16_f16", "f16 -> i16", lambda x: frexp_exponent(x).to(I16))

op("v_ldexp_f32", "f32 i32 -> f32", scale)
op("v_ldexp_f64", "f64 i32 -> f64", scale)
op("v_ldexp_f16", "f16 i16 -> f16", half_overflow(lambda x, n: scale(x, n.to(I32))))

for t in ("f32", "f16"):
    modelled(f"v_exp_{t}", f"{t} -> {t}", math.exp2)
    modelled(f"v_log_{t}", f"{t} -> {t}", math.log2)
    modelled(f"v_sin_{t}", f"{t} -> {t}", math.sine)
    modelled(f"v_cos_{t}", f"{t} -> {t}", math.cosine)
for t in ("f32", "f16", "f64"):
    names = f"v_rcp_{t} v_rcp_iflag_f32" if t == "f32" else f"v_rcp_{t}"
    modelled(names, f"{t} -> {t}", math.reciprocal)
    modelled(f"v_rsq_{t}", f"{t} -> {t}", math.reciprocal_sqrt)
    modelled(f"v_sqrt_{t}", f"{t} -> {t}", math.square_root)


def cube_face(x: Expr, y: Expr, z: Expr, on_z: Expr, on_y: Expr, on_x: Expr) -> Expr:
    """Which of three results belongs to the cube face that the vector (x, y, z) points at."""
    z_major = (abs(z) >= abs(x)) & (abs(z) >= abs(y))
    return select(z_major, on_z, select(abs(y) >= abs(x), on_y, on_x))


def number(value: float) -> Expr:
    return const(F32, value)


op("v_cubeid_f32", "f32 f32 f32 -> f32", lambda x, y, z: cube_face(
    x, y, z, select(z < 0.0, number(5.0), number(4.0)), select(y < 0.0, number(3.0), number(2.0)),
    select(x < 0.0, number(1.0), number(0.0)),
))  # fmt: skip
op("v_cubesc_f32", "f32 f32 f32 -> f32", lambda x, y, z: cube_face(
    x, y, z, select(z < 0.0, -x, x), x, select(x < 0.0, z, -z),
))  # fmt: skip
op("v_cubetc_f32", "f32 f32 f32 -> f32", lambda x, y, z: cube_face(
    x, y, z, -y, select(y < 0.0, -z, z), -y,
))  # fmt: skip
op("v_cubema_f32", "f32 f32 f32 -> f32", lambda x, y, z: cube_face(x, y, z, z * 2.0, y * 2.0, x * 2.0))

"""The division sequence: v_div_scale, v_div_fmas and v_div_fixup.

The manuals' pseudocode for the first two is known to be loose. Written here is the reading under which the
sequence LLVM emits (SITargetLowering::LowerFDIV32/64) gives correctly rounded quotients: v_div_fmas undoes
the scaling of numerator or denominator alone; the quotient's exponent tells in which direction.
"""

from __future__ import annotations

import functools

from antiphase.isa._expr import F32, F64, I32, Expr, Type, const, fma, is_nan, select
from antiphase.isa._floats import (
    LAYOUT,
    exponent_field,
    infinity,
    is_infinite,
    nan,
    negative,
    power_of_two,
    quieted,
    raw,
    with_sign,
)  # fmt: skip
from antiphase.isa._record import valu
from antiphase.isa.vector_integer import KEEP

CITE = "AMD Instinct MI300 CDNA3 ISA, chapter 12 (V_DIV_SCALE, V_DIV_FMAS, V_DIV_FIXUP)"
NOTE = (
    "the manual's pseudocode is loose here; scaling follows what correctly rounded quotients need, the predicate "
    "for zeros and denormals what tinygrad a9069c17, test/amd/hw/test_vop3.py states of RDNA 3 hardware"
)


NEAR_MAXIMUM = {F32: 96, F64: 768}
NUMERATOR_TINY = {F32: 23, F64: 53}
STEP = {F32: 64, F64: 128}


def _steps(type_: Type) -> tuple[Expr, Expr]:
    """The powers of two that scale up and down."""
    return power_of_two(type_, const(I32, STEP[type_])), power_of_two(type_, const(I32, -STEP[type_]))


def div_scale(x: Expr, denominator: Expr, numerator: Expr) -> tuple[Expr, Expr]:
    """x is the numerator or the denominator, scaled so that no step of the division over- or underflows.

    The predicate tells v_div_fmas that only one of the two was scaled."""
    type_ = x.type
    bias = LAYOUT[type_].bias
    up, down = _steps(type_)
    one = const(type_, 1.0)

    d, n = exponent_field(denominator), exponent_field(numerator)
    is_denominator = raw(x) == raw(denominator)
    is_numerator = raw(x) == raw(numerator)
    large = (n - d) >= NEAR_MAXIMUM[type_]
    denominator_tiny = d == 0
    inverse_tiny = d >= 2 * bias - 1  # 1 / denominator is a denormal
    quotient_tiny = (n - d) <= 1 - bias  # by exponents alone, as RDNA 3 hardware does: a denormal, or nearly one
    numerator_tiny = n <= NUMERATOR_TINY[type_]

    alone = large | (~denominator_tiny & quotient_tiny)
    factor = select(
        large,
        select(is_denominator, up, one),
        select(
            denominator_tiny,
            up,
            select(
                inverse_tiny & quotient_tiny,
                select(is_denominator, down, one),
                select(
                    inverse_tiny,
                    down,
                    select(quotient_tiny, select(is_numerator, up, one), select(numerator_tiny, up, one)),
                ),
            ),
        ),
    )
    special = (numerator == 0.0) | (denominator == 0.0)  # where MODE flushes, denormals too
    unscaled = (d == 2 * bias + 1) | (n == 2 * bias + 1)
    scaled = select(unscaled, x, x * factor)
    return select(special, nan(type_), scaled), special | (alone & ~unscaled)


def div_fmas(a: Expr, b: Expr, c: Expr, scaled: Expr) -> Expr:
    """fma(a, b, c), with the scaling of one operand undone where the predicate holds: c is the quotient."""
    type_ = a.type
    up, down = _steps(type_)
    factor = select(exponent_field(c) > LAYOUT[type_].bias, up, down)
    return select(scaled, _scaled_fma(a, b, c, factor), fma(a, b, c))


def _scaled_fma(a: Expr, b: Expr, c: Expr, factor: Expr) -> Expr:
    """The sum times a power of two, rounded once even where the product is a denormal."""
    if a.type is not F64:
        wide = fma(a.to(F64), b.to(F64), c.to(F64))
        return (wide * factor.to(F64)).to(F32)
    total = fma(a, b, c)
    result = total * factor
    # the second rounding errs only on a tie that the first one's error decides the other way
    lost = total - result * power_of_two(F64, const(I32, STEP[F64]))
    error = fma(a, b, c - total)
    tie = abs(lost) == 2.0 ** (STEP[F64] - 1075)
    beyond = tie & (error != 0.0) & ~(negative(lost) ^ negative(error)) & (factor < 1.0)
    return select(beyond, result + with_sign(const(F64, 2.0**-1074), negative(lost)), result)


def div_fixup(quotient: Expr, denominator: Expr, numerator: Expr) -> Expr:
    """The quotient with the special cases of division put in."""
    type_ = quotient.type
    sign = negative(denominator) ^ negative(numerator)
    zero_d, zero_n = denominator == 0.0, numerator == 0.0
    infinite_d, infinite_n = is_infinite(denominator), is_infinite(numerator)
    # an overflow on the way leaves NaN where the quotient is an infinity
    usual = with_sign(select(is_nan(quotient), infinity(type_), quotient), sign)
    if type_ in (F32, F64):
        range_ = LAYOUT[type_].bias + LAYOUT[type_].fraction
        gone = (exponent_field(numerator) - exponent_field(denominator)) < -range_
        usual = select(gone, with_sign(const(type_, 0.0), sign), usual)
    zero = with_sign(const(type_, 0.0), sign)
    finite = select(infinite_d | zero_n, zero, usual)
    valued = select(zero_d | infinite_n, with_sign(infinity(type_), sign), finite)
    defined = select((zero_d & zero_n) | (infinite_d & infinite_n), -nan(type_), valued)
    return select(is_nan(numerator), quieted(numerator), select(is_nan(denominator), quieted(denominator), defined))


modelled = functools.partial(valu, cite=CITE, status="modelled", note=NOTE)
for t in ("f32", "f64"):
    modelled(f"v_div_scale_{t}", f"{t} {t} {t} -> {t} mask", div_scale)
    modelled(f"v_div_fmas_{t}", f"{t} {t} {t} vcc -> {t}", div_fmas)
    valu(f"v_div_fixup_{t}", f"{t} {t} {t} -> {t}", div_fixup, cite=CITE)
valu("v_div_fixup_f16", "f16 f16 f16 -> f16", div_fixup, rest="keep", cite=f"{CITE}; {KEEP}")
valu("v_div_fixup_legacy_f16", "f16 f16 f16 -> f16", div_fixup, cite=CITE)

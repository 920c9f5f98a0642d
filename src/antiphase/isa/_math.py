"""Transcendental functions as expressions: evaluated in f64 and rounded once, nearly always correctly.

The hardware's own are specified to 1 ulp and may differ in the last bit; records with these say 'modelled'.
Its f32 forms take and give no denormals whatever MODE says: LLVM's AMDGPU backend scales around v_exp_f32,
v_log_f32, v_rcp_f32, v_rsq_f32 and v_sqrt_f32 for that reason (SIISelLowering.cpp, AMDGPULegalizerInfo.cpp,
AMDGPUCodeGenPrepare.cpp). The polynomials are Taylor series around the middle of a reduced range, cut where
the next term is below 2 ** -40.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from antiphase.isa._expr import (
    F32,
    F64,
    I32,
    I64,
    Expr,
    canonical,
    const,
    floor,
    fma,
    is_nan,
    rint,
    select,
    sqrt,
)
from antiphase.isa._floats import (
    exponent_field,
    infinity,
    is_infinite,
    magnitude,
    nan,
    negative,
    power_of_two,
    raw,
    with_sign,
)  # fmt: skip

NOTE = "evaluated in f64 and rounded once; hardware is specified to 1 ulp and may differ in the last bit"

_LN2 = math.log(2.0)
_EXP2 = [_LN2**n / math.factorial(n) for n in range(13)]
_LOG2_OVER = [2.0 / (_LN2 * (2 * n + 1)) for n in range(11)]
_TURN = 2.0 * math.pi
_SIN = [(-1) ** n * _TURN ** (2 * n + 1) / math.factorial(2 * n + 1) for n in range(9)]
_COS = [(-1) ** n * _TURN ** (2 * n) / math.factorial(2 * n) for n in range(9)]


def _polynomial(x: Expr, coefficients: Sequence[float]) -> Expr:
    """Sum of c[n] * x ** n by Horner's rule."""
    value = const(x.type, coefficients[-1])
    for c in reversed(coefficients[:-1]):
        value = fma(value, x, const(x.type, c))
    return value


def exp2(x: Expr) -> Expr:
    """2 ** x; 0 for -infinity, infinity for +infinity. An f32 or f16 source and result."""
    wide = _read(x).to(F64)
    result = select(is_infinite(x), select(negative(x), const(F64, 0.0), infinity(F64)), _power(wide))
    return _rounded(select(is_nan(wide), wide, result), x)


def _power(wide: Expr) -> Expr:
    """2 ** x of a finite f64, for results within the range of f32."""
    whole = rint(wide)
    # beyond this every f32 result is 0 or infinity, and the power of two stays a normal f64
    limit = select(whole > 400.0, const(F64, 400.0), select(whole < -400.0, const(F64, -400.0), whole))
    return _polynomial(wide - whole, _EXP2) * power_of_two(F64, limit.to(I32))


def hyperbolic_tangent(x: Expr) -> Expr:
    """tanh(x); 1 with the sign of an infinity. An f32 or f16 source and result."""
    wide = canonical(x).to(F64)
    size = abs(wide)
    shrunk = _power(size * (-2.0 / _LN2))
    # near zero the quotient loses its leading bits; the series has more than enough
    series = fma(size * size * size, const(F64, -1 / 3), size)
    inside = select(size < 2.0**-13, series, (1.0 - shrunk) / (shrunk + 1.0))
    result = select(is_infinite(x), const(F64, 1.0), inside)
    return select(is_nan(wide), wide, with_sign(result, negative(x))).to(x.type)


def log2(x: Expr) -> Expr:
    """Base-2 logarithm; -infinity for zeros, NaN below. An f32 or f16 source and result."""
    clean = _read(x)
    wide = clean.to(F64)
    bits = raw(wide)
    # the mantissa goes to sqrt(1/2)..sqrt(2), so that log(m) = 2 artanh((m - 1) / (m + 1)) converges fast
    shifted = bits - 0x3FE6A09E667F3BCD
    exponent = (shifted.bits(I64) >> 52).to(I32)
    mantissa = ((shifted & ((1 << 52) - 1)) + 0x3FE6A09E667F3BCD).bits(F64)
    ratio = (mantissa - 1.0) / (mantissa + 1.0)
    inside = fma(ratio, _polynomial(ratio * ratio, _LOG2_OVER), exponent.to(F64))
    result = select(negative(clean), nan(F64), select(is_infinite(x), infinity(F64), inside))
    result = select(magnitude(clean) == 0, -infinity(F64), result)
    return _rounded(select(is_nan(wide), wide, result), x)


def sine(x: Expr) -> Expr:
    """sin(2 pi x), the source in revolutions; NaN for infinities."""
    return _circular(x, 0)


def cosine(x: Expr) -> Expr:
    """cos(2 pi x), the source in revolutions; NaN for infinities."""
    return _circular(x, 1)


def _circular(x: Expr, quarters: int) -> Expr:
    """Reduced to an eighth of a turn around the nearest quarter, which then chooses function and sign."""
    wide = canonical(x).to(F64)
    turns = wide - floor(wide)
    quarter = rint(turns * 4.0)
    near = turns - quarter * 0.25
    square = near * near
    phase = quarter.to(I32) + quarters
    value = select((phase & 1) == 0, near * _polynomial(square, _SIN), _polynomial(square, _COS))
    signed = select((phase & 2) == 0, value, -value)
    signed = signed + 0.0  # no negative zeros but the one below
    signed = select(wide == 0.0, wide, signed) if quarters == 0 else signed
    return _rounded(select(is_infinite(x), nan(F64), signed), x)


def reciprocal(x: Expr) -> Expr:
    """1 / x; a signed infinity for a signed zero."""
    if x.type is F64:
        return const(F64, 1.0) / x
    return _rounded(const(F64, 1.0) / _read(x).to(F64), x)


def reciprocal_sqrt(x: Expr) -> Expr:
    """1 / sqrt(x); a signed infinity for a signed zero, NaN below zero."""
    if x.type is F64:
        return const(F64, 1.0) / sqrt(x)
    return _rounded(const(F64, 1.0) / sqrt(_read(x).to(F64)), x)


def square_root(x: Expr) -> Expr:
    """sqrt(x), correctly rounded; -0 for -0, NaN below zero."""
    return sqrt(_read(x))


def _read(x: Expr) -> Expr:
    """The source as the transcendental unit takes it: without f32 denormals, others as MODE has them."""
    if x.type is not F32:
        return canonical(x)
    return select(exponent_field(x) == 0, with_sign(const(F32, 0.0), negative(x)), x)


def _rounded(value: Expr, like: Expr) -> Expr:
    """The f64 value as the source's type, f32 denormals made zero."""
    return _read(value.to(like.type))

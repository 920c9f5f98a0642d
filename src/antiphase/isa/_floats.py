"""Float building blocks of the vector instructions: NaN tests, minimum and maximum, scaling by powers of two.

Each follows the pseudocode of AMD's "Instinct MI300 CDNA3 ISA" and "CDNA4 ISA" manuals, chapter 12, unless it
says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

from antiphase.isa._expr import (
    BF16,
    F16,
    F32,
    F64,
    I16,
    I32,
    I64,
    U16,
    U32,
    U64,
    Expr,
    Type,
    canonical,
    clz,
    const,
    floor,
    is_nan,
    mode,
    select,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a float type keeps its parts: integer types of the same width, fraction bits, exponent bias."""

    unsigned: Type
    signed: Type
    fraction: int
    bias: int

    @property
    def sign(self) -> int:
        return 1 << (self.unsigned.bits - 1)

    @property
    def infinity(self) -> int:
        return (2 * self.bias + 1) << self.fraction

    @property
    def quiet(self) -> int:
        """The bit that tells a quiet NaN from a signalling one."""
        return 1 << (self.fraction - 1)


LAYOUT = {
    F16: Layout(U16, I16, 10, 15),
    BF16: Layout(U16, I16, 7, 127),
    F32: Layout(U32, I32, 23, 127),
    F64: Layout(U64, I64, 52, 1023),
}


def raw(x: Expr) -> Expr:
    """The bits of a float."""
    return x.bits(LAYOUT[x.type].unsigned)


def magnitude(x: Expr) -> Expr:
    """The bits of a float without its sign."""
    return raw(x) & (LAYOUT[x.type].sign - 1)


def negative(x: Expr) -> Expr:
    """Whether the sign bit is set."""
    return x.bits(LAYOUT[x.type].signed) < 0


def exponent_field(x: Expr) -> Expr:
    """The biased exponent, i32."""
    layout = LAYOUT[x.type]
    return (magnitude(x) >> layout.fraction).to(U32).bits(I32)


def is_signalling(x: Expr) -> Expr:
    """NaN with its quiet bit clear. One comparison: shifted left by one, those NaNs are a run of values."""
    layout = LAYOUT[x.type]
    return ((raw(x) << 1) - (2 * layout.infinity + 1)) < (2 * layout.quiet - 1)


def quieted(x: Expr) -> Expr:
    """A NaN with its quiet bit set."""
    return (raw(x) | LAYOUT[x.type].quiet).bits(x.type)


def is_infinite(x: Expr) -> Expr:
    return magnitude(x) == LAYOUT[x.type].infinity


def _special(type_: Type, bits: int) -> Expr:
    return const(LAYOUT[type_].unsigned, bits).bits(type_)


def infinity(type_: Type) -> Expr:
    return _special(type_, LAYOUT[type_].infinity)


def nan(type_: Type) -> Expr:
    """The positive quiet NaN without payload."""
    return _special(type_, LAYOUT[type_].infinity | LAYOUT[type_].quiet)


def with_sign(x: Expr, sign: Expr) -> Expr:
    """|x| with a minus where the predicate holds."""
    layout = LAYOUT[x.type]
    return select(sign, magnitude(x) | layout.sign, magnitude(x)).bits(x.type)


def _number_or_quiet(a: Expr, b: Expr, number: Expr) -> Expr:
    """In IEEE mode a signalling NaN comes out quiet, before any rule about numbers."""
    ieee = select(is_signalling(a), quieted(a), select(is_signalling(b), quieted(b), number))
    return select(mode("ieee"), ieee, number)


def lesser(a: Expr, b: Expr) -> Expr:
    """Smaller of two numbers, b if a is NaN; equal values differ in the sign of zero only: -0 is below +0."""
    return select(a < b, a, select(a == b, (raw(a) | raw(b)).bits(a.type), b))


def greater(a: Expr, b: Expr) -> Expr:
    """Larger of two numbers, b if a is NaN; +0 is above -0."""
    return select(a > b, a, select(a == b, (raw(a) & raw(b)).bits(a.type), b))


def min_float(x: Expr, y: Expr) -> Expr:
    """Smaller number; of one NaN the other operand; denormals as MODE has them."""
    a, b = canonical(x), canonical(y)
    return _number_or_quiet(a, b, select(is_nan(b), a, lesser(a, b)))


def max_float(x: Expr, y: Expr) -> Expr:
    """Larger number; of one NaN the other operand; denormals as MODE has them."""
    a, b = canonical(x), canonical(y)
    return _number_or_quiet(a, b, select(is_nan(b), a, greater(a, b)))


def med3_float(x: Expr, y: Expr, z: Expr) -> Expr:
    """Middle of three numbers; the minimum of the numbers if any is NaN."""
    a, b, c = canonical(x), canonical(y), canonical(z)
    middle = greater(lesser(a, b), lesser(greater(a, b), c))
    return select(is_nan(a) | is_nan(b) | is_nan(c), min_float(min_float(a, b), c), middle)


def minimum_ieee(a: Expr, b: Expr) -> Expr:
    """IEEE 754-2019 minimum: any NaN operand gives a quiet NaN, -0 is below +0."""
    return _nan_first(a, b, min_float(a, b))


def maximum_ieee(a: Expr, b: Expr) -> Expr:
    """IEEE 754-2019 maximum: any NaN operand gives a quiet NaN, +0 is above -0."""
    return _nan_first(a, b, max_float(a, b))


def _nan_first(a: Expr, b: Expr, number: Expr) -> Expr:
    either = select(is_nan(a), quieted(a), select(is_nan(b), quieted(b), number))
    return select(is_signalling(b) & ~is_signalling(a), quieted(b), either)


def power_of_two(type_: Type, exponent: Expr) -> Expr:
    """2 ** exponent for an i32 exponent within the normal range of the type."""
    layout = LAYOUT[type_]
    return ((exponent + layout.bias).to(layout.signed).bits(layout.unsigned) << layout.fraction).bits(type_)


def _within(x: Expr, low: int, high: int) -> Expr:
    """An integer limited to low..high."""
    return select(x < low, const(x.type, low), select(x > high, const(x.type, high), x))


def scale(x: Expr, exponent: Expr) -> Expr:
    """x * 2 ** exponent (i32), rounded once; zeros, infinities and NaNs stay."""
    if x.type is F64:
        return _scale_double(x, exponent)
    wide, limit = (F32, 60) if x.type is F16 else (F64, 400)
    factor = power_of_two(wide, _within(exponent, -limit, limit))
    return canonical((canonical(x).to(wide) * factor).to(x.type))


def _scale_double(x: Expr, exponent: Expr) -> Expr:
    """Three factors: the first two exact, or so small that a second rounding cannot go wrong."""
    for _ in range(2):
        # steps of -969 stay 53 bits above the denormals, where a partial product must not round
        step = select(exponent > 1023, const(I32, 1023), select(exponent < -1022, const(I32, -969), const(I32, 0)))
        x, exponent = x * power_of_two(F64, step), exponent - step
    return x * power_of_two(F64, _within(exponent, -1022, 1023))


def frexp_exponent(x: Expr) -> Expr:
    """e with x = m * 2 ** e and 0.5 <= |m| < 1, i32; 0 for zero, infinity and NaN."""
    if x.type is not F64:
        x = canonical(x).to(F64)  # denormals of the narrower types are normal here
        field = exponent_field(x)
        return select((field == 0) | (field == 2047), const(I32, 0), field - 1022)
    x = canonical(x)
    field = exponent_field(x)
    denormal = const(I32, -1021 + 11) - clz(magnitude(x)).to(I32)
    special = (magnitude(x) == 0) | (field == 2047)
    return select(special, const(I32, 0), select(field == 0, denormal, field - 1022))


def frexp_mantissa(x: Expr) -> Expr:
    """m with x = m * 2 ** e and 0.5 <= |m| < 1; zero, infinity and NaN stay."""
    if x.type is not F64:
        return frexp_mantissa(canonical(x).to(F64)).to(x.type)
    field = exponent_field(canonical(x))
    stays = (magnitude(canonical(x)) == 0) | (field == 2047)
    # x * 2**54 is exact for denormals and makes them normal
    normal = select(field == 0, x * 2.0**54, x)
    kept = raw(normal) & ((1 << 63) | ((1 << 52) - 1))
    return select(stays, canonical(x), (kept | (1022 << 52)).bits(F64))


def fraction(x: Expr) -> Expr:
    """x - floor(x), kept below 1 where the difference rounds up to it (LLVM: clamped fract)."""
    below_one = _special(x.type, LAYOUT[x.type].bias * (1 << LAYOUT[x.type].fraction) - 1)
    difference = x - floor(x)
    return select(difference >= 1.0, below_one, difference)


def to_half(x: Expr) -> Expr:
    """f32 to f16 to nearest even; with MODE.fp16_ovfl a finite overflow stops at the largest half."""
    half = canonical(x.to(F16))
    largest = with_sign(const(F16, 65504.0), negative(x))
    return select(mode("fp16_ovfl"), select(is_infinite(half) & ~is_infinite(x), largest, half), half)


def to_half_toward_zero(x: Expr) -> Expr:
    """f32 to f16, rounded toward zero: an overflow stops at the largest half."""
    near = x.to(F16)
    beyond = magnitude(near.to(F32)) > magnitude(x)
    return canonical(select(is_nan(x), near, (raw(near) - beyond.to(U16)).bits(F16)))


def limited(x: Expr, low: int, high: int) -> Expr:
    """An integer limited to low..high."""
    return _within(x, low, high)

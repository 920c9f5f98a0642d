"""Floats of 4, 6 and 8 bits as expressions: decoding, and encoding with rounding to nearest even or stochastically.

Formats: OCP FP8 and MX specifications (E4M3, E5M2, E2M1, E2M3, E3M2); the FNUZ forms of gfx942, which have one zero and no
infinity, as the LLVM types Float8E4M3FNUZ and Float8E5M2FNUZ state them.
"""

from __future__ import annotations

from dataclasses import dataclass

from antiphase.isa._expr import F32, F64, I32, U32, Expr, Type, const, is_nan, mode, select
from antiphase.isa._floats import LAYOUT, exponent_field, magnitude, negative, power_of_two


@dataclass(frozen=True, slots=True)
class SmallFloat:
    """bits: width. fraction: fraction bits. bias: exponent bias. largest: code of the largest finite value.

    nan: code of NaN, None where there is none. infinity: code of infinity, None where there is none.
    unsigned_zero: FNUZ, the code of -0 is the NaN.
    """

    name: str
    bits: int
    fraction: int
    bias: int
    largest: int
    nan: int | None = None
    infinity: int | None = None
    unsigned_zero: bool = False

    @property
    def sign(self) -> int:
        return 1 << (self.bits - 1)


FP8 = SmallFloat("fp8", 8, 3, 7, 0x7E, nan=0x7F)
BF8 = SmallFloat("bf8", 8, 2, 15, 0x7B, nan=0x7F, infinity=0x7C)
FP8_FNUZ = SmallFloat("fp8", 8, 3, 8, 0x7F, nan=0x80, unsigned_zero=True)
BF8_FNUZ = SmallFloat("bf8", 8, 2, 16, 0x7F, nan=0x80, unsigned_zero=True)
FP6 = SmallFloat("fp6", 6, 3, 1, 0x1F)
BF6 = SmallFloat("bf6", 6, 2, 3, 0x1F)
FP4 = SmallFloat("fp4", 4, 1, 1, 0x7)


def decode(code: Expr, form: SmallFloat) -> Expr:
    """The value of a code (u32, other bits ignored) as f32, exactly."""
    fraction = form.fraction
    size = code & (form.sign - 1)
    minus = (code & form.sign) != 0
    # the code's exponent and fraction land in those of f32; denormals are an integer times a power of two
    normal = ((size << (23 - fraction)) + ((127 - form.bias) << 23)).bits(F32)
    denormal = size.to(F32) * 2.0 ** (1 - form.bias - fraction)
    value = select(size < (1 << fraction), denormal, normal)
    if form.infinity is not None:
        value = select(size == form.infinity, const(U32, 0x7F800000).bits(F32), value)
    bits = select(minus, value.bits(U32) | 0x80000000, value.bits(U32))
    if form.unsigned_zero:
        bits = select((code & 0xFF) == 0x80, const(U32, 0x7FC00000), bits)
    elif form.nan is not None:
        is_nan_code = size > form.infinity if form.infinity is not None else size == form.nan
        bits = select(is_nan_code, bits | 0x7FC00000, bits)
    return bits.bits(F32)


def encode(x: Expr, form: SmallFloat, random: Expr | None = None) -> Expr:
    """The code of an f32 or f64 value, u32. random: added below the kept fraction instead of rounding to nearest even."""
    layout = LAYOUT[x.type]
    wide = layout.unsigned
    dropped = layout.fraction - form.fraction
    size = magnitude(x)
    # in the small format's denormal range every value shares the exponent of its smallest normal, so fewer bits stay
    below = const(I32, layout.bias - form.bias + 1) - exponent_field(x)
    tiny = below > 0
    # far enough down nothing is left to round up, or hardly a random number that does
    most = (layout.fraction + 2 if random is None else wide.bits - 1) - dropped
    extra = select(below > most, const(I32, most), below)
    shift = select(tiny, extra, const(I32, 0)).to(wide) + dropped
    hidden = (size & ((1 << layout.fraction) - 1)) | (1 << layout.fraction)
    kept = select(tiny, hidden, size - ((layout.bias - form.bias) << layout.fraction))
    unit = const(wide, 1) << shift
    if random is None:
        kept = kept + ((unit >> 1) - 1) + ((kept >> shift) & 1)
    else:
        kept = kept + _aligned(random, wide, shift)
    code = (kept >> shift).to(U32)
    return _special(x, select(exponent_field(x) == 0, const(U32, 0), code), form)


def _aligned(random: Expr, wide: Type, shift: Expr) -> Expr:
    """The top bits of a 32-bit random number as a fraction of one unit in the last kept place."""
    spread = random.to(wide) << (wide.bits - 32)
    return spread >> (const(wide, wide.bits) - shift)


def _special(x: Expr, code: Expr, form: SmallFloat) -> Expr:
    """Overflow, infinity, NaN and the sign. MODE.fp16_ovfl stops an overflow of the 8-bit formats at the largest value."""
    largest = const(U32, form.largest)
    beyond = form.infinity if form.infinity is not None else form.nan
    finite_top = select(mode("fp16_ovfl"), largest, const(U32, beyond)) if beyond is not None else largest
    code = select(code > form.largest, finite_top, code)
    if form.unsigned_zero:
        signed = select(negative(x) & (code != 0) & (code != 0x80), code | form.sign, code)
    else:
        signed = select(negative(x), code | form.sign, code)
    if form.nan is None:
        # formats without NaN: the largest value of NaN's sign
        return select(is_nan(x), select(negative(x), largest | form.sign, largest), signed)
    return select(is_nan(x), const(U32, form.nan) | (signed & form.sign), signed)


def scale_of(x: Expr) -> Expr:
    """The scale of the gfx950 conversions: 2 ** (exponent - 127) of an f32, of which only the exponent counts; f64."""
    field = exponent_field(x)
    value = power_of_two(F64, field - 127)
    return select(field == 255, const(U32, 0x7FC00000).bits(F32).to(F64), value)

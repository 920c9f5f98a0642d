"""Encoding to floats of 4, 6 and 8 bits as expressions: rounding to nearest even or stochastically.

The formats and their decoding are `_formats`'. gfx942 has the FNUZ forms of fp8 and bf8, later targets OCP's.
"""

from __future__ import annotations

from dataclasses import dataclass

from antiphase.isa._expr import F32, F64, I32, U32, Expr, Type, const, is_nan, mode, select
from antiphase.isa._floats import LAYOUT, exponent_field, magnitude, negative, power_of_two
from antiphase.isa._formats import SCALES, SMALL, SmallFloat


@dataclass(frozen=True, slots=True)
class Codes:
    """Codes without sign. beyond: what an overflow becomes, None where it stops at the largest value."""

    sign: int
    largest: int
    beyond: int | None
    nan: int | None


def codes_of(form: SmallFloat) -> Codes:
    sign = 1 << (form.bits - 1)
    top = sign - 1
    if form.special == "ocp":
        return Codes(sign, top - 1, top, top)
    if form.special == "ieee":
        infinity = top - (1 << form.mantissa) + 1
        return Codes(sign, infinity - 1, infinity, top)
    if form.special == "fnuz":
        return Codes(sign, top, sign, sign)
    return Codes(sign, top, None, None)


def encode(x: Expr, name: str, random: Expr | None = None, *, infinite: bool = False) -> Expr:
    """The code of an f32 or f64 value, u32; of a scale format, the sign in the bit above.

    random: added below the kept fraction instead of rounding. infinite: with MODE.fp16_ovfl, an infinity is a NaN
    instead of the largest value, in formats that have one.
    """
    form, layout = SMALL.get(name) or SCALES[name], LAYOUT[x.type]
    wide = layout.unsigned
    dropped = layout.fraction - form.mantissa
    size = magnitude(x)
    # denormals of the small format share the exponent of its smallest normal, so fewer bits stay
    below = const(I32, layout.bias - form.bias + 1) - exponent_field(x)
    tiny = below > 0
    # far enough down nothing is left to round up, or hardly a random number that does
    most = (layout.fraction + 2 if random is None else wide.bits - 1) - dropped
    extra = select(below > most, const(I32, most), below)
    shift = select(tiny, extra, const(I32, 0)).to(wide) + dropped
    hidden = (size & ((1 << layout.fraction) - 1)) | (1 << layout.fraction)
    kept = select(tiny, hidden, size - ((layout.bias - form.bias) << layout.fraction))
    unit = const(wide, 1) << shift
    up = (unit >> 1) - 1 + ((kept >> shift) & 1) if random is None else _aligned(random, wide, shift)
    kept = kept + up
    code = (kept >> shift).to(U32)
    result = _special(x, select(exponent_field(x) == 0, const(U32, 0), code), form)
    nan = codes_of(form).nan
    if not infinite or nan is None:
        return result
    limited = (size == layout.infinity) & mode("fp16_ovfl")
    return select(limited, select(negative(x), const(U32, nan | codes_of(form).sign), const(U32, nan)), result)


def _aligned(random: Expr, wide: Type, shift: Expr) -> Expr:
    """The top bits of a 32-bit random number as a fraction of one unit in the last kept place."""
    spread = random.to(wide) << (wide.bits - 32)
    return spread >> (const(wide, wide.bits) - shift)


def _special(x: Expr, code: Expr, form: SmallFloat) -> Expr:
    """Overflow, infinity, NaN and the sign. With MODE.fp16_ovfl an overflow stops at the largest value."""
    codes = codes_of(form)
    largest = const(U32, codes.largest)
    # formats without a code beyond the largest value always stop there
    beyond = codes.largest if codes.beyond is None else codes.beyond
    over = select(mode("fp16_ovfl"), largest, const(U32, beyond))
    code = select(code > codes.largest, over, code)
    signed = select(negative(x), code | codes.sign, code)
    if form.special == "fnuz":
        # no negative zero: its code is the NaN's
        signed = select(code == 0, code, signed)
    # formats without NaN give the largest value of NaN's sign
    nan = const(U32, codes.largest if codes.nan is None else codes.nan)
    return select(is_nan(x), select(negative(x), nan | codes.sign, nan), signed)


def scale_of(x: Expr) -> Expr:
    """The scale of gfx950's conversions, f64: 2 ** (exponent - 127) of an f32, other bits ignored."""
    field = exponent_field(x)
    value = power_of_two(F64, field - 127)
    return select(field == 255, const(U32, 0x7FC00000).bits(F32).to(F64), value)

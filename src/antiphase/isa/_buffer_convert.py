"""Components of buffer elements to and from registers, as expressions over (bits, width, kind): one for all formats.

code: the component in the low bits of a u32, higher bits 0. width: its bits, u32. kind: its index in KINDS, u32.

AMD RDNA3 ISA 9.3.1: 32-bit floats become 16 bits by truncation, all else to nearest even. Where the manuals are silent
this follows Direct3D's "Data Conversion Rules": what does not fit takes the nearest value that does, NaN becomes 0 in a
format without NaN, floats become integers to nearest even and smaller floats by truncation. That integers saturate in
16-bit registers is also what Mesa's radv relies on (nir_opt_16bit_tex_image, integer_dest_saturates).
"""

from __future__ import annotations

from antiphase.isa._buffer_formats import KINDS
from antiphase.isa._expr import F16, F32, F64, I32, U16, U32, Expr, Type, const, is_nan, rint, select
from antiphase.isa._floats import limited, magnitude, negative, raw, to_half_toward_zero, with_sign

_ONES = 0xFFFFFFFF
_HALF = 0xFFFF


def is_kind(kind: Expr, *names: str) -> Expr:
    """Whether the kind is one of those."""
    found = kind == KINDS.index(names[0])
    for name in names[1:]:
        found = found | (kind == KINDS.index(name))
    return found


def loaded(code: Expr, width: Expr, kind: Expr) -> Expr:
    """A component as the 32 bits a load returns."""
    value = select(
        is_kind(kind, "uscaled", "sscaled"),
        _integer(code, width, kind).to(F32),
        select(is_kind(kind, "float"), _small_float(code, width).to(F32), _normalized(code, width, kind).to(F32)),
    )
    converted = select(is_kind(kind, "uint", "sint"), _integer(code, width, kind).bits(U32), raw(value))
    return select((width == 32) | is_kind(kind, "raw"), code, converted)


def loaded_half(code: Expr, width: Expr, kind: Expr) -> Expr:
    """A component as the 16 bits that a D16 load returns, in the low half of a u32."""
    whole = _integer(code, width, kind)
    unsigned = select(code > _HALF, const(U32, _HALF), code)
    signed = limited(whole, -0x8000, 0x7FFF).bits(U32) & _HALF
    scaled = whole.to(F32).to(F16)
    float_ = select(width == 32, raw(to_half_toward_zero(code.bits(F32))), raw(_small_float(code, width)))
    fraction = raw(_to_half(_normalized(code, width, kind)))
    value = select(is_kind(kind, "uscaled", "sscaled"), raw(scaled), select(is_kind(kind, "float"), float_, fraction))
    integer = select(is_kind(kind, "sint"), signed, unsigned)
    return select(is_kind(kind, "uint", "sint"), integer, value.to(U32))


def stored(value: Expr, width: Expr, kind: Expr) -> Expr:
    """The code of 32 bits that a store has in its register."""
    x = value.bits(F32)
    ones = _ones(width)
    small = select(
        is_kind(kind, "float"),
        _small_float_code(raw(to_half_toward_zero(x)).to(U32), width),
        select(is_kind(kind, "uint", "sint"), _saturated(value, width, kind), _rounded(x, width, kind)),
    )
    return select((width == 32) | is_kind(kind, "raw"), value, small) & ones


def stored_half(value: Expr, width: Expr, kind: Expr) -> Expr:
    """The code of the 16 bits that a D16 store has in its register, in the low half of a u32."""
    signed = (value << 16).bits(I32) >> 16
    float_ = raw(value.to(U16).bits(F16).to(F32))
    wide = select(is_kind(kind, "uint"), value, select(is_kind(kind, "sint"), signed.bits(U32), float_))
    return select(is_kind(kind, "float") & (width == 16), value, stored(wide, width, kind))


def _ones(width: Expr) -> Expr:
    return const(U32, _ONES) >> (32 - width)


def _integer(code: Expr, width: Expr, kind: Expr) -> Expr:
    """i32: the sign is the highest bit of the component in signed kinds. An unsigned one has less than 32 bits where
    its value matters."""
    unused = 32 - width
    signed = (code << unused).bits(I32) >> unused
    return select(is_kind(kind, "snorm", "sscaled", "sint"), signed, code.bits(I32))


def _largest(width: Expr, kind: Expr) -> Expr:
    """u32: the largest integer of a component."""
    ones = _ones(width)
    return select(is_kind(kind, "snorm", "sscaled", "sint"), ones >> 1, ones)


def _normalized(code: Expr, width: Expr, kind: Expr) -> Expr:
    """The quotient by the largest integer in f64: one more rounding comes to the same as none in between. The smallest
    signed code means -1 as well as the one above it."""
    quotient = _integer(code, width, kind).to(F64) / _largest(width, kind).to(F64)
    return select(quotient < -1.0, const(F64, -1.0), quotient)


def _to_half(x: Expr) -> Expr:
    """f64 to f16, rounded once: the f32 on the way keeps in its lowest bit whether anything was cut off."""
    near = x.to(F32)
    back = near.to(F64)
    above = magnitude(back) > magnitude(x)
    cut = (magnitude(near) - above.to(U32)) | (back != x).to(U32)
    return with_sign(cut.bits(F32), negative(x)).to(F16)


def _small_float(code: Expr, width: Expr) -> Expr:
    """f16: floats of 10 and 11 bits are halves without sign and with a shorter fraction."""
    missing = select(width < 16, 15 - width, const(U32, 0))
    return (code << missing).to(U16).bits(F16)


def _small_float_code(half: Expr, width: Expr) -> Expr:
    """Bits of a half, u32, as a float of a width: no sign means that negative numbers become 0."""
    number = (half & 0x7FFF) <= 0x7C00
    positive = select((half > 0x7FFF) & number, const(U32, 0), half & 0x7FFF)
    return select(width < 16, positive >> (15 - width), half)


def _saturated(value: Expr, width: Expr, kind: Expr) -> Expr:
    largest = _largest(width, kind)
    whole, most = value.bits(I32), largest.bits(I32)
    signed = select(whole > most, most, select(whole < -most - 1, -most - 1, whole))
    return select(is_kind(kind, "sint"), signed.bits(U32), select(value > largest, largest, value))


def _rounded(x: Expr, width: Expr, kind: Expr) -> Expr:
    """A float as the integer of a normalized or scaled component: f64 holds every product."""
    largest = _largest(width, kind).to(F64)
    scaled = x.to(F64) * select(is_kind(kind, "unorm", "snorm"), largest, const(F64, 1.0))
    least = _least(kind, largest)
    whole = rint(select(scaled < least, least, select(scaled > largest, largest, scaled)))
    return select(is_nan(x), const(I32, 0), whole.to(I32)).bits(U32)


def _least(kind: Expr, largest: Expr) -> Expr:
    """The lowest integer that a float becomes: -1 has one code as a normalized number."""
    below = select(is_kind(kind, "sscaled"), -largest - 1.0, const(F64, 0.0))
    return select(is_kind(kind, "snorm"), -largest, below)


def one(kind: Expr, half: bool) -> Expr:
    """What DST_SEL 1 gives, and a fourth component that an element lacks: 1 as a number of that kind."""
    type_: Type = F16 if half else F32
    return select(is_kind(kind, "uint", "sint"), const(U32, 1), raw(const(type_, 1.0)).to(U32))

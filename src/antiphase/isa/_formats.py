"""Number formats of matrix operands: codes to f32, as expressions."""

from __future__ import annotations

from dataclasses import dataclass

from antiphase.isa._expr import BF16, F16, F32, F64, I32, U16, U32, Expr, const, select

NAN = 0x7FC00000
INFINITY = 0x7F800000


@dataclass(frozen=True, slots=True)
class SmallFloat:
    """A float of at most 8 bits.

    special: 'none' every code is a number; 'ocp' the largest magnitude code is NaN; 'ieee' the largest
    exponent is infinity and NaN; 'fnuz' only the code of negative zero is NaN.

    Source: OCP 8-bit Floating Point Specification 1.0, OCP Microscaling Formats 1.0; FNUZ as LLVM's
    Float8E4M3FNUZ and Float8E5M2FNUZ state it.
    """

    exponent: int
    mantissa: int
    bias: int
    special: str

    @property
    def bits(self) -> int:
        return 1 + self.exponent + self.mantissa


SMALL: dict[str, SmallFloat] = {
    "fp8": SmallFloat(4, 3, 7, "ocp"),
    "bf8": SmallFloat(5, 2, 15, "ieee"),
    "fp8_fnuz": SmallFloat(4, 3, 8, "fnuz"),
    "bf8_fnuz": SmallFloat(5, 2, 16, "fnuz"),
    "fp6": SmallFloat(2, 3, 1, "none"),
    "bf6": SmallFloat(3, 2, 3, "none"),
    "fp4": SmallFloat(2, 1, 1, "none"),
}

F8F6F4 = ("fp8", "bf8", "fp6", "bf6", "fp4")
"""Formats by the CBSZ or BLGP value of an F8F6F4 MFMA, and by the MATRIX_FMT of an F8F6F4 WMMA."""

SCALES = {
    "e5m3": SmallFloat(5, 3, 15, "ocp"),  # without a sign: nine bits, of which scale codes fill eight
    "e4m3": SMALL["fp8"],
}
"""Formats of block scales that are not powers of two; e5m3 as in ROCm/rocm-systems, rocjitsu data_types.h."""

BITS: dict[str, int] = {
    "f64": 64, "f32": 32, "xf32": 32, "i32": 32, "f16": 16, "bf16": 16,
    "i8": 8, "u8": 8, "iu8": 8, "i4": 4, "u4": 4, "iu4": 4,
    **{name: small.bits for name, small in SMALL.items()},
}  # fmt: skip


def decode(code: Expr, name: str) -> Expr:
    """The f32 value of a code in the low bits of a u32 (for 'f64', f64 of a u64); higher bits are ignored.

    KeyError for a name that is no format.
    """
    if name in SMALL:
        return _decode_small(code, SMALL[name])
    match name:
        case "f64":
            return code.bits(F64)
        case "f32":
            return code.bits(F32)
        case "xf32":
            return _cut_to_xf32(code)
        case "f16":
            return code.to(U16).bits(F16).to(F32)
        case "bf16":
            return code.to(U16).bits(BF16).to(F32)
        case "i8" | "i4":
            unused = 32 - BITS[name]
            return ((code << unused).bits(I32) >> unused).to(F32)
        case "u8" | "u4":
            return (code & ((1 << BITS[name]) - 1)).bits(I32).to(F32)
    raise KeyError(name)


def _decode_small(code: Expr, format_: SmallFloat) -> Expr:
    top = (1 << (format_.bits - 1)) - 1
    magnitude = code & top
    sign = (code << (32 - format_.bits)) & 0x80000000
    normal = (magnitude << (23 - format_.mantissa)) + ((127 - format_.bias) << 23)
    smallest = 2.0 ** (1 - format_.bias - format_.mantissa)
    denormal = (magnitude.bits(I32).to(F32) * smallest).bits(U32)
    value = select(magnitude < (1 << format_.mantissa), denormal, normal)
    if format_.special == "ocp":
        value = select(magnitude == top, const(U32, NAN), value)
    if format_.special == "ieee":
        infinity = top - (1 << format_.mantissa) + 1
        special = select(magnitude == infinity, const(U32, INFINITY), const(U32, NAN))
        value = select(magnitude < infinity, value, special)
    if format_.special == "fnuz":
        return select((code & (2 * top + 1)) == top + 1, const(U32, NAN), value | sign).bits(F32)
    return (value | sign).bits(F32)


def _cut_to_xf32(code: Expr) -> Expr:
    """f32 with the mantissa cut to 10 bits, as gfx942 does (ROCm/rocm-libraries#9176); a NaN stays one."""
    nan = ((code & INFINITY) == INFINITY) & ((code & 0x7FFFFF) != 0)
    return (select(nan, code | 0x400000, code) & 0xFFFFE000).bits(F32)


def decode_scale(code: Expr, name: str = "e8m0") -> Expr:
    """A block scale in the low 8 bits of a u32 as f32.

    E8M0 is 2 ** (code - 127), 255 is NaN: OCP Microscaling Formats 1.0, 5.4.1.
    """
    code = code & 0xFF
    if name != "e8m0":
        return _decode_small(code, SCALES[name])
    value = select(code == 0, const(U32, 0x00400000), code << 23)
    return select(code == 0xFF, const(U32, NAN), value).bits(F32)

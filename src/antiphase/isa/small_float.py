"""Conversions from and to floats of 8 and 4 bits. gfx942 has the FNUZ formats, later targets the OCP ones."""

from __future__ import annotations

import functools

from antiphase.isa._expr import (
    BF16,
    F16,
    F32,
    F64,
    I32,
    U8,
    U16,
    U32,
    Expr,
    Type,
    canonical,
    concat,
    const,
    select,
)
from antiphase.isa._families import GFX12, GFX950, GFX1250
from antiphase.isa._floats import exponent_field, power_of_two
from antiphase.isa._formats import SMALL, decode, decode_scale
from antiphase.isa._record import Semantics, valu
from antiphase.isa._small_floats import encode, scale_of
from antiphase.isa.vector_integer import next_random

CDNA3 = "AMD Instinct MI300 CDNA3 ISA, chapter 12 (VOP1, VOP3)"
CDNA4 = "AMD CDNA4 ISA, chapter 12 (VOP1, VOP3)"
GFX942 = frozenset({"gfx942"})
STOCHASTIC = "random bits are added below the kept fraction, with carry; the manual's text is loose here"
OVERFLOW = "with MODE.fp16_ovfl infinities stop at the largest value as well"
E5M3 = "with clamp the format is e5m3 instead of fp8, which has no sign: that of the value is dropped"


def pair(low: Expr, high: Expr) -> Expr:
    """Two f32 in a register pair."""
    return concat(low.bits(U32), high.bits(U32))


def second(word: Expr, bits: int) -> Expr:
    return word.to(U32) >> bits


def two_codes(a: Expr, b: Expr, form: str, random: tuple[Expr, Expr] | None = None) -> Expr:
    """Both encoded, the first in the low bits; u8 for 4-bit formats, u16 for 8-bit ones."""
    first_random, second_random = random or (None, None)
    low, high = encode(a, form, first_random), encode(b, form, second_random)
    return (low | (high << SMALL[form].bits)).to(U8 if SMALL[form].bits == 4 else U16)


def scale_codes(a: Expr, b: Expr) -> Expr:
    """Two e5m3 codes."""
    return ((encode(a, "e5m3") & 0xFF) | (encode(b, "e5m3") << 8)).to(U16)


E5M3_FORMS: dict[str, Semantics] = {
    "v_cvt_f32_fp8": lambda a: decode_scale(a.to(U32), "e5m3"),
    "v_cvt_pk_fp8_f32": scale_codes,
    "v_cvt_sr_fp8_f32": lambda a, r: encode(a, "e5m3", r).to(U8),
}
"""What gfx1250's conversions do with clamp (AMD CDNA5 ISA 7.6.3, 7.12.6)."""


def ocp_or_fnuz(name: str, signature: str, meaning: Semantics, targets: frozenset[str], **fields: str) -> None:
    """A conversion; on gfx1250 with another format, or nothing else, where it has clamp."""
    valu(name, signature, meaning, targets=targets - GFX1250, **fields)  # type: ignore[arg-type]
    if targets & GFX1250:
        if name in E5M3_FORMS:
            fields["note"] = f"{fields['note']}; {E5M3}" if "note" in fields else E5M3
        fields["cite"] += "; AMD CDNA5 ISA 7.6.2"
        limited = E5M3_FORMS.get(name, meaning)
        valu(name, signature, meaning, targets=GFX1250, saturated=limited, **fields)  # type: ignore[arg-type]


OCP = f"{CDNA4}; AMD RDNA4 ISA (7-Apr-2025), p. 89 and pp. 528-529"
for targets, cite, suffix in ((GFX942, CDNA3, "_fnuz"), (GFX950 | GFX12, OCP, "")):
    op = functools.partial(ocp_or_fnuz, targets=targets, cite=cite)
    for name in ("fp8", "bf8"):
        form = name + suffix
        op(f"v_cvt_f32_{name}", "u8 -> f32", lambda a, f=form: decode(a.to(U32), f))
        op(
            f"v_cvt_pk_f32_{name}",
            "u16 -> u64",
            lambda a, f=form: pair(decode(a.to(U32), f), decode(second(a, 8), f)),
        )
        op(
            f"v_cvt_pk_{name}_f32",
            "f32 f32 -> u16",
            lambda a, b, f=form: two_codes(a, b, f),
            rest="keep",
            status="modelled" if suffix else "exact",
            note=OVERFLOW,
        )
        op(
            f"v_cvt_sr_{name}_f32",
            "f32 u32 -> u8",
            lambda a, r, f=form: encode(a, f, r).to(U8),
            rest="keep",
            status="modelled",
            note=STOCHASTIC,
        )

scaled = functools.partial(valu, targets=GFX950, cite=CDNA4)
scaled_code = functools.partial(scaled, status="modelled", rest="keep", note=OVERFLOW)
stochastic_code = functools.partial(scaled, status="modelled", rest="keep", note=STOCHASTIC)
NARROW: dict[str, Type] = {"f32": F32, "f16": F16, "bf16": BF16}


def unscaled(x: Expr, scale: Expr) -> Expr:
    """The value divided by the scale, exactly, f64."""
    field = exponent_field(scale)
    inverse = power_of_two(F64, const(I32, 127) - field)
    return x.to(F64) * select(field == 255, scale_of(scale), inverse)


def scaled_value(code: Expr, form: str, scale: Expr, type_: Type) -> Expr:
    """The decoded value times the scale, rounded once."""
    value = decode(code, form).to(F64) * scale_of(scale)
    return value.to(F32).to(BF16) if type_ is BF16 else canonical(value.to(type_))


def parts(word: Expr, type_: Type) -> tuple[Expr, Expr]:
    """The two values of a packed source: halves of a register, or registers of a pair."""
    if type_ is F32:
        return word.to(U32).bits(F32), (word >> 32).to(U32).bits(F32)
    return word.to(U16).bits(type_), (word >> 16).to(U16).bits(type_)


def encode_pair(form: str, type_: Type) -> Semantics:
    def semantics(word: Expr, scale: Expr) -> Expr:
        low, high = parts(word, type_)
        return two_codes(unscaled(low, scale), unscaled(high, scale), form)

    return semantics


def encode_pair_stochastic(form: str, type_: Type) -> Semantics:
    def semantics(word: Expr, random: Expr, scale: Expr) -> Expr:
        low, high = parts(word, type_)
        randoms = (random, next_random(random))
        return two_codes(unscaled(low, scale), unscaled(high, scale), form, randoms)

    return semantics


def decode_pair(form: str, type_: Type) -> Semantics:
    def semantics(word: Expr, scale: Expr) -> Expr:
        low = scaled_value(word.to(U32), form, scale, type_)
        high = scaled_value(second(word, SMALL[form].bits), form, scale, type_)
        return pair(low, high) if type_ is F32 else concat(low.bits(U16), high.bits(U16))

    return semantics


for name in ("fp8", "bf8", "fp4"):
    word = "u8" if name == "fp4" else "u16"
    for t, type_ in NARROW.items():
        if type_ is F32:
            scaled_code(
                f"v_cvt_scalef32_pk_{name}_f32",
                f"f32 f32 f32 -> {word}",
                lambda a, b, s, f=name: two_codes(unscaled(a, s), unscaled(b, s), f),
            )
        else:
            scaled_code(f"v_cvt_scalef32_pk_{name}_{t}", f"u32 f32 -> {word}", encode_pair(name, type_))
        wide = "u64" if type_ is F32 else "u32"
        scaled(f"v_cvt_scalef32_pk_{t}_{name}", f"{word} f32 -> {wide}", decode_pair(name, type_))
        if name == "fp4":
            stochastic_code(
                f"v_cvt_scalef32_sr_pk_fp4_{t}", f"{wide} u32 f32 -> u8", encode_pair_stochastic(name, type_)
            )
            continue
        stochastic_code(
            f"v_cvt_scalef32_sr_{name}_{t}",
            f"{t} u32 f32 -> u8",
            lambda a, r, s, f=name: encode(unscaled(a, s), f, r).to(U8),
        )
        if type_ is not BF16:
            scaled(
                f"v_cvt_scalef32_{t}_{name}",
                f"u8 f32 -> {t}",
                lambda a, s, f=name, t=type_: scaled_value(a.to(U32), f, s, t),
                rest="zero" if type_ is F32 else "keep",
            )

"""Vector conversions between numbers: integers, f16, bf16, f32, f64, normalised integers."""

from __future__ import annotations

import functools

from antiphase.isa._expr import (
    BF16,
    F32,
    F64,
    I16,
    I32,
    U8,
    U16,
    U32,
    Expr,
    Type,
    canonical,
    concat,
    const,
    floor,
    is_nan,
    select,
)  # fmt: skip
from antiphase.isa._families import GFX950, GFX1250
from antiphase.isa._floats import is_signalling, limited, quieted, to_half, to_half_toward_zero
from antiphase.isa._record import valu

CITE = "AMD Instinct MI300 CDNA3 ISA, chapter 12 (VOP1, VOP3)"
CDNA4 = "AMD CDNA4 ISA, chapter 12 (VOP1, VOP3)"
op = functools.partial(valu, cite=CITE)

TO: dict[str, Type] = {"i32": I32, "u32": U32, "f32": F32, "f64": F64}
for result, source in (
    ("i32", "f64"), ("f64", "i32"), ("f32", "i32"), ("f32", "u32"), ("u32", "f32"), ("i32", "f32"),
    ("u32", "f64"), ("f64", "u32"),
):  # fmt: skip
    # to integers: toward zero, limited to the range, NaN to 0
    op(f"v_cvt_{result}_{source}", f"{source} -> {result}", lambda a, t=TO[result]: a.to(t))


def quiet(x: Expr) -> Expr:
    """The source without signalling NaNs, as a conversion between floats reads it."""
    return select(is_signalling(x), quieted(x), canonical(x))


op("v_cvt_f32_f64", "f64 -> f32", lambda a: canonical(quiet(a).to(F32)))
op("v_cvt_f64_f32", "f32 -> f64", lambda a: quiet(a).to(F64))
op("v_cvt_f16_f32", "f32 -> f16", lambda a: to_half(quiet(a)))
op("v_cvt_f32_f16", "f16 -> f32", lambda a: quiet(a).to(F32))
for t in ("i16", "u16"):
    integer = I16 if t == "i16" else U16
    op(f"v_cvt_f16_{t}", f"{t} -> f16", lambda a: to_half(a.to(F32)))
    op(f"v_cvt_{t}_f16", f"f16 -> {t}", lambda a, t=integer: a.to(F32).to(t))
for n in range(4):
    op(f"v_cvt_f32_ubyte{n}", "u32 -> f32", lambda a, n=n: ((a >> (8 * n)) & 0xFF).to(F32))
op("v_cvt_rpi_i32_f32 v_cvt_nearest_i32_f32", "f32 -> i32", lambda a: floor(a + 0.5).to(I32))
op("v_cvt_flr_i32_f32 v_cvt_floor_i32_f32", "f32 -> i32", lambda a: floor(a).to(I32))
op("v_cvt_off_f32_i4", "u32 -> f32", lambda a: (((a << 28).bits(I32)) >> 28).to(F32) * 0.0625)
op("v_cvt_f32_bf16", "bf16 -> f32", lambda a: a.to(F32), targets=GFX950 | GFX1250, cite=CDNA4)


def pack(low: Expr, high: Expr) -> Expr:
    """Two 16-bit values in one register."""
    return concat(low.bits(U16), high.bits(U16))


op("v_pack_b32_f16", "f16 f16 -> u32", pack)
op(
    "v_cvt_pkrtz_f16_f32 v_cvt_pk_rtz_f16_f32",
    "f32 f32 -> p:f16",
    lambda a, b: (to_half_toward_zero(quiet(a)), to_half_toward_zero(quiet(b))),
)
new = functools.partial(valu, targets=GFX950 | GFX1250, cite=CDNA4)
new("v_cvt_pk_f16_f32", "f32 f32 -> p:f16", lambda a, b: (to_half(quiet(a)), to_half(quiet(b))))
new("v_cvt_pk_bf16_f32", "f32 f32 -> p:bf16", lambda a, b: (a.to(BF16), b.to(BF16)))
op(
    "v_cvt_pk_u16_u32",
    "u32 u32 -> u32",
    lambda a, b: pack(limited(a, 0, 65535).to(U16), limited(b, 0, 65535).to(U16)),
)
op(
    "v_cvt_pk_i16_i32",
    "i32 i32 -> u32",
    lambda a, b: pack(limited(a, -32768, 32767).to(I16), limited(b, -32768, 32767).to(I16)),
)


def normalised(x: Expr, type_: Type) -> Expr:
    """-1..1 to -32767..32767 or 0..1 to 0..65535, nearest with halves up; NaN to 0."""
    low, top = (-1.0, 32767.0) if type_ is I16 else (0.0, 65535.0)
    wide = x.to(F32)
    inside = select(wide < low, const(F32, low), select(wide > 1.0, const(F32, 1.0), wide))
    return select(is_nan(wide), const(type_, 0), floor(inside * top + 0.5).to(type_))


NORMALISED = "the manual does not state how halves round"
for t, integer in (("i16", I16), ("u16", U16)):
    modelled = functools.partial(valu, cite=CITE, status="modelled", note=NORMALISED)
    modelled(f"v_cvt_norm_{t}_f16", f"f16 -> {t}", lambda a, t=integer: normalised(a, t))
    for f in ("f32", "f16"):
        modelled(
            f"v_cvt_pknorm_{t}_{f} v_cvt_pk_norm_{t}_{f}",
            f"{f} {f} -> u32",
            lambda a, b, t=integer: pack(normalised(a, t), normalised(b, t)),
        )


def byte_replaced(x: Expr, position: Expr, word: Expr) -> Expr:
    """The word with the float, truncated to 0..255, in one of its bytes."""
    shift = (position & 3) << 3
    return (word & ~(const(U32, 0xFF) << shift)) | (x.to(U8).to(U32) << shift)


BYTE = functools.partial(
    valu, cite=CITE, status="modelled", note="the manual does not state how the conversion to a byte rounds"
)
BYTE("v_cvt_pk_u8_f32", "f32 u32 u32 -> u32", byte_replaced)
BYTE("v_cvt_pkaccum_u8_f32", "f32 u32 d:u32 -> u32", byte_replaced)


def stochastic(x: Expr, random: Expr, dropped: int) -> Expr:
    """f32 bits after a random number below the kept bits is added; infinities and NaNs keep theirs."""
    bits = quiet(x).bits(U32)
    special = (bits & 0x7F800000) == 0x7F800000
    return select(special, bits, (bits + (random & ((1 << dropped) - 1))) & (0xFFFFFFFF << dropped)).bits(F32)


STOCHASTIC = "adds the low random bits below the kept fraction and truncates; the manual leaves the bits' choice open"
modelled = functools.partial(valu, targets=GFX950, cite=CDNA4, status="modelled", note=STOCHASTIC, rest="keep")
modelled("v_cvt_sr_f16_f32", "f32 u32 -> f16", lambda a, r: to_half_toward_zero(stochastic(a, r, 13)))
modelled("v_cvt_sr_bf16_f32", "f32 u32 -> bf16", lambda a, r: stochastic(a, r, 16).to(BF16))

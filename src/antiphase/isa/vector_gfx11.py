"""Vector arithmetic of GFX11 and GFX12 beside CDNA's: 16-bit multiply-adds, DX9 multiplies, min-max pairs."""

from __future__ import annotations

import functools

from antiphase.isa._expr import F32, I16, U16, Expr, const, fma, is_nan, maximum, minimum, select
from antiphase.isa._families import GFX11, WAVE32
from antiphase.isa._record import valu
from antiphase.isa.vector_convert import pack
from antiphase.isa.vector_float import half_overflow

CITE = "AMD RDNA3 ISA (15-Aug-2023), chapter 16.7, 16.8, 16.10 (VOP2, VOP1, VOP3)"
op = functools.partial(valu, targets=WAVE32, cite=CITE)

op("v_fmac_f16", "f16 f16 d:f16 -> f16", half_overflow(fma))
op("v_fmaak_f16", "f16 f16 f16 -> f16", half_overflow(fma))
op("v_fmamk_f16", "f16 f16 f16 -> f16", half_overflow(fma))
op("v_xor3_b32", "u32 u32 u32 -> u32", lambda a, b, c: a ^ b ^ c)


def fma_zero(a: Expr, b: Expr, c: Expr) -> Expr:
    """Zero times anything is zero, even times infinity or NaN (DX9): the addend alone."""
    return select((a == 0.0) | (b == 0.0), c, fma(a, b, c))


op("v_fma_dx9_zero_f32 v_fma_legacy_f32", "f32 f32 f32 -> f32", fma_zero)
valu("v_fmac_dx9_zero_f32 v_fmac_legacy_f32", "f32 f32 d:f32 -> f32", fma_zero, targets=GFX11, cite=CITE)

LARGEST = 3.4028234663852886e38


def lighting_multiply(a: Expr, b: Expr, limit: Expr) -> Expr:
    """The product, or the lowest float where the second factor or the third operand rules it out."""
    excluded = (b <= -LARGEST) | is_nan(b) | (limit <= 0.0) | is_nan(limit)
    return select(excluded, const(F32, -LARGEST), a * b)


op("v_mullit_f32", "f32 f32 f32 -> f32", lighting_multiply)

for t in ("i32", "u32"):
    op(f"v_minmax_{t}", f"{t} {t} {t} -> {t}", lambda a, b, c: maximum(minimum(a, b), c))
    op(f"v_maxmin_{t}", f"{t} {t} {t} -> {t}", lambda a, b, c: minimum(maximum(a, b), c))
for t, type_ in (("i16", I16), ("u16", U16)):
    op(
        f"v_cvt_pk_{t}_f32",
        "f32 f32 -> u32",
        lambda a, b, t=type_: pack(a.to(t), b.to(t)),
        status="modelled",
        note="the manual names the conversion without its rounding: truncated and limited, as f32 to i32 is",
    )

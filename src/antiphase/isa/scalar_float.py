"""Scalar float arithmetic of RDNA 3.5 and later: rounding and denormals follow MODE.

Sources take no modifiers. An f16 result leaves zeros above it, as the manual states for V_S_RCP_F16.
"""

from __future__ import annotations

import functools
import operator

from antiphase.isa import _math as math
from antiphase.isa._expr import F16, F32, I32, U16, U32, ceil, floor, fma, rint, trunc
from antiphase.isa._families import FLOAT_SALU, GFX12, RDNA35
from antiphase.isa._floats import max_float, min_float, to_half, to_half_toward_zero
from antiphase.isa._record import salu
from antiphase.isa.compare import FLOAT
from antiphase.isa.minimum_maximum import MAXIMUM, MAXIMUM_NUMBER, MINIMUM, MINIMUM_NUMBER
from antiphase.isa.scalar_masks import RDNA4
from antiphase.isa.vector_convert import pack, quiet
from antiphase.isa.vector_float import half_overflow, rounding

RDNA35_MANUAL = "AMD RDNA3.5 ISA (23-Jul-2024), section 6.8 and chapter 16 (SOP1, SOP2, SOPC)"
op = functools.partial(salu, targets=FLOAT_SALU, cite=RDNA35_MANUAL)

for t in ("f32", "f16"):
    stopped = half_overflow if t == "f16" else lambda f: f
    for name, f in (("add", operator.add), ("sub", operator.sub), ("mul", operator.mul)):
        op(f"s_{name}_{t}", f"{t} {t} -> {t}", stopped(f))
    op(f"s_fmac_{t}", f"{t} {t} d:{t} -> {t}", stopped(fma))
    for name, f in (("ceil", ceil), ("floor", floor), ("trunc", trunc), ("rndne", rint)):
        op(f"s_{name}_{t}", f"{t} -> {t}", rounding(f))
    for name, predicate in FLOAT.items():
        if name not in ("f", "tru"):
            op(f"s_cmp_{name}_{t}", f"{t} {t} -> scc", predicate)

    salu(f"s_min_{t}", f"{t} {t} -> {t}", min_float, targets=RDNA35, cite=RDNA35_MANUAL)
    salu(f"s_max_{t}", f"{t} {t} -> {t}", max_float, targets=RDNA35, cite=RDNA35_MANUAL)
    for names, f in (
        (f"s_min_num_{t} s_min_{t}", MINIMUM_NUMBER), (f"s_max_num_{t} s_max_{t}", MAXIMUM_NUMBER),
        (f"s_minimum_{t}", MINIMUM), (f"s_maximum_{t}", MAXIMUM),
    ):  # fmt: skip
        salu(names, f"{t} {t} -> {t}", f, targets=GFX12, cite=RDNA4)

op("s_fmaak_f32", "f32 f32 f32 -> f32", fma)
op("s_fmamk_f32", "f32 f32 f32 -> f32", fma)

op("s_cvt_f32_i32", "i32 -> f32", lambda a: a.to(F32))
op("s_cvt_f32_u32", "u32 -> f32", lambda a: a.to(F32))
op("s_cvt_i32_f32", "f32 -> i32", lambda a: a.to(I32))
op("s_cvt_u32_f32", "f32 -> u32", lambda a: a.to(U32))
op("s_cvt_f16_f32", "f32 -> f16", lambda a: to_half(quiet(a)))
op("s_cvt_f32_f16", "f16 -> f32", lambda a: quiet(a).to(F32))
op("s_cvt_hi_f32_f16", "u32 -> f32", lambda a: quiet((a >> 16).to(U16).bits(F16)).to(F32))
op(
    "s_cvt_pk_rtz_f16_f32",
    "f32 f32 -> u32",
    lambda a, b: pack(to_half_toward_zero(quiet(a)), to_half_toward_zero(quiet(b))),
)

# the transcendental unit's results of scalar sources; they issue on the vector unit and write an SGPR
scalar_result = functools.partial(
    salu, targets=GFX12, cite=f"{RDNA4}; chapter 16.8 (VOP3, V_S_)", status="modelled", note=math.NOTE
)
for t in ("f32", "f16"):
    for name, function in (
        ("exp", math.exp2), ("log", math.log2), ("rcp", math.reciprocal), ("rsq", math.reciprocal_sqrt),
        ("sqrt", math.square_root),
    ):  # fmt: skip
        scalar_result(f"v_s_{name}_{t}", f"{t} -> {t}", function)

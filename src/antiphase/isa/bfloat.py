"""bfloat16 and double arithmetic, and the hyperbolic tangent, of gfx1250."""

from __future__ import annotations

import functools
import operator

from antiphase.isa import _math as math
from antiphase.isa._expr import BF16, F32, Expr, canonical, fma
from antiphase.isa._families import GFX1250
from antiphase.isa._record import Semantics, valu

CITE = "AMD CDNA5 ISA, sections 15.7, 15.10, 15.14; LLVM VOP1Instructions.td, VOP3PInstructions.td (gfx1250)"
op = functools.partial(valu, targets=GFX1250, cite=CITE)
modelled = functools.partial(op, status="modelled", note=math.NOTE)

op("v_pk_add_bf16", "bf16 bf16 -> bf16", operator.add, packed=True)
op("v_pk_mul_bf16", "bf16 bf16 -> bf16", operator.mul, packed=True)
op("v_pk_fma_bf16", "bf16 bf16 bf16 -> bf16", fma, packed=True)

op("v_fmaak_f64", "f64 f64 f64 -> f64", fma)
op("v_fmamk_f64", "f64 f64 f64 -> f64", fma)


def through_f32(function: Semantics) -> Semantics:
    """A function of f32 applied to a bf16 value and rounded to bf16."""

    def semantics(x: Expr) -> Expr:
        result = function(x.to(F32))
        assert isinstance(result, Expr)
        return result.to(x.type)

    return semantics


FUNCTIONS = {
    "exp": math.exp2,
    "log": math.log2,
    "sin": math.sine,
    "cos": math.cosine,
    "rcp": math.reciprocal,
    "rsq": math.reciprocal_sqrt,
    "sqrt": math.square_root,
    "tanh": math.hyperbolic_tangent,
}
for name, function in FUNCTIONS.items():
    modelled(f"v_{name}_bf16", "bf16 -> bf16", through_f32(function), rest="keep")
for t in ("f32", "f16"):
    modelled(f"v_tanh_{t}", f"{t} -> {t}", math.hyperbolic_tangent)

MIX = f"{CITE}; LLVM AMDGPUModifierSyntax, op_sel_hi of fma_mix"
op("v_fma_mix_f32_bf16", "f32 f32 f32 -> f32", fma, mixed="bf16", cite=MIX)
for half, rest in (("lo", "keep"), ("hi", "high")):
    op(
        f"v_fma_mix{half}_bf16",
        "f32 f32 f32 -> bf16",
        lambda a, b, c: canonical(fma(a, b, c)).to(BF16),
        mixed="bf16",
        rest=rest,
        cite=MIX,
    )

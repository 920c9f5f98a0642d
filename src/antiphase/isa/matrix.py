"""Matrix instructions of CDNA3 and CDNA4: dense MFMA, block-scaled MFMA, sparse SMFMAC."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from antiphase.isa._numerics import matrix_numerics
from antiphase.isa._record import matrix

CITE = "AMD Instinct MI300 CDNA3 ISA, chapter 7 (matrix arithmetic) and 12.11 (VOP3P-MAI)"
CITE4 = "AMD CDNA4 ISA, chapter 7 (matrix arithmetic) and VOP3P-MAI"
CDNA3 = frozenset(("gfx942",))
CDNA4 = frozenset(("gfx950",))

BF16 = ("_1k", "")
"""Endings of older spellings of bf16 instructions."""

Shape = Sequence[int]

integer = functools.partial(matrix, types="i8 i8 i32", cite=CITE, targets=CDNA3 | CDNA4)
sparse_integer = functools.partial(integer, sparse=True)


def real(
    names: str,
    shape: Shape,
    types: str,
    *,
    targets: frozenset[str] | None = None,
    cite: str = CITE,
    scaled: bool = False,
    sparse: bool = False,
) -> None:
    """Register a floating-point form, for each target with its note: what was measured holds for CDNA 3."""
    a, _, acc = types.split()
    inputs = "fp8" if a[:3] in ("fp8", "bf8") else a
    for target in (CDNA3, CDNA4):
        if targets is None or target == targets:
            note = matrix_numerics(inputs, acc, scaled=scaled, sparse=sparse, measured=target == CDNA3 and not sparse)
            fields = {"status": "modelled", "scaled": scaled, "sparse": sparse}
            matrix(names, shape, types, targets=target, note=note, cite=cite, **fields)


sparse = functools.partial(real, sparse=True)


def spelled(shape: Shape, types: str, family: str = "v_mfma", old: Sequence[str] = ("",)) -> str:
    """Names of one instruction: v_mfma_f32_16x16x4_4b_f16, and v_mfma_f32_16x16x4f16 as before GFX940.

    old: what older spellings end in. LLVM encodes all of them alike, v_mfma_f32_16x16x4bf16 as its _1k too.
    """
    m, n, k, blocks = shape
    acc, *inputs = types.split()
    sides = f"{m}x{n}x{k}"
    multiple = f"_{blocks}b" if blocks > 1 else ""
    names = [f"{family}_{acc}_{sides}{multiple}_{'_'.join(inputs)}"]
    if len(inputs) == 1:
        names += (f"{family}_{acc}_{sides}{inputs[0]}{ending}" for ending in old)
    return " ".join(names)


def same(element: str, acc: str) -> str:
    return f"{element} {element} {acc}"


MULTIPLE = ((32, 32, 2), (16, 16, 4), (4, 4, 16))  # M, N, blocks of the forms with several products

for m, n, blocks in MULTIPLE:
    real(spelled((m, n, 1, blocks), "f32 f32"), (m, n, 1, blocks), same("f32", "f32"))
    real(spelled((m, n, 4, blocks), "f32 f16"), (m, n, 4, blocks), same("f16", "f32"))
    real(spelled((m, n, 4, blocks), "f32 bf16", old=BF16), (m, n, 4, blocks), same("bf16", "f32"))
    integer(spelled((m, n, 4, blocks), "i32 i8"), (m, n, 4, blocks))

for m, n, depth in ((32, 32, 2), (16, 16, 4)):
    # depth is K of the f32 form; narrower elements go as much deeper
    real(spelled((m, n, depth, 1), "f32 f32"), (m, n, depth), same("f32", "f32"))
    real(spelled((m, n, 2 * depth, 1), "f32 xf32"), (m, n, 2 * depth), same("xf32", "f32"), targets=CDNA3)
    real(spelled((m, n, 4 * depth, 1), "f32 f16"), (m, n, 4 * depth), same("f16", "f32"))
    real(spelled((m, n, 4 * depth, 1), "f32 bf16", old=BF16), (m, n, 4 * depth), same("bf16", "f32"))
    integer(spelled((m, n, 8 * depth, 1), "i32 i8"), (m, n, 8 * depth))
    for element in ("f16", "bf16"):
        names = spelled((m, n, 8 * depth, 1), f"f32 {element}")
        real(names, (m, n, 8 * depth), same(element, "f32"), targets=CDNA4, cite=CITE4)
    names = spelled((m, n, 16 * depth, 1), "i32 i8")
    integer(names, (m, n, 16 * depth), targets=CDNA4, cite=CITE4)
    for a in ("fp8", "bf8"):
        for b in ("fp8", "bf8"):
            names = spelled((m, n, 8 * depth, 1), f"f32 {a} {b}")
            real(names, (m, n, 8 * depth), f"{a}_fnuz {b}_fnuz f32", targets=CDNA3)
            real(names, (m, n, 8 * depth), f"{a} {b} f32", targets=CDNA4, cite=CITE4)
    for family, scaled in (("v_mfma", False), ("v_mfma_scale", True)):
        # CBSZ and BLGP of the instruction choose the formats of A and B
        names = f"{family}_f32_{m}x{n}x{32 * depth}_f8f6f4"
        real(names, (m, n, 32 * depth), "f8f6f4 f8f6f4 f32", scaled=scaled, targets=CDNA4, cite=CITE4)

real("v_mfma_f64_16x16x4_f64 v_mfma_f64_16x16x4f64", (16, 16, 4), same("f64", "f64"))
real("v_mfma_f64_4x4x4_4b_f64 v_mfma_f64_4x4x4f64", (4, 4, 4, 4), same("f64", "f64"))

for m, n, depth in ((32, 32, 16), (16, 16, 32)):
    # depth is K of the 16-bit forms of CDNA3; 8-bit forms and CDNA4's forms are twice as deep
    for scale, targets, cite in ((1, None, CITE), (2, CDNA4, CITE4)):
        for element in ("f16", "bf16"):
            shape = (m, n, scale * depth)
            names = spelled((*shape, 1), f"f32 {element}", family="v_smfmac", old=())
            sparse(names, shape, same(element, "f32"), targets=targets, cite=cite)
        shape = (m, n, 2 * scale * depth)
        names = spelled((*shape, 1), "i32 i8", family="v_smfmac", old=())
        sparse_integer(names, shape, targets=targets or CDNA3 | CDNA4, cite=cite)
        for a in ("fp8", "bf8"):
            for b in ("fp8", "bf8"):
                names = spelled((*shape, 1), f"f32 {a} {b}", family="v_smfmac", old=())
                types = {CDNA3: f"{a}_fnuz {b}_fnuz f32", CDNA4: f"{a} {b} f32"}
                for target in (CDNA3, CDNA4) if scale == 1 else (CDNA4,):
                    sparse(names, shape, types[target], targets=target, cite=cite)

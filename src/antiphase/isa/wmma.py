"""Matrix instructions of RDNA 3 to CDNA 5: dense WMMA, block-scaled WMMA, sparse SWMMAC."""

from __future__ import annotations

import functools
import itertools

from antiphase.isa._families import GFX11, GFX1250, RDNA4
from antiphase.isa._numerics import CHOSEN, FROM_C, FUSED, KEPT, SCALED, UNKNOWN, Numerics
from antiphase.isa._record import matrix

CITE = {
    "rdna3": "AMD RDNA 3.5 ISA, 7.9 (WMMA)",
    "rdna4": "AMD RDNA 4 ISA, 7.12 (WMMA and SWMMAC)",
    "cdna5": "AMD CDNA 5 ISA, 7.12 (WMMA and SWMMAC); ROCm/rocm-systems emulation/rocjitsu, shared/mma",
}
TARGETS = {"rdna3": GFX11, "rdna4": RDNA4, "cdna5": GFX1250}

STEPS = {"rdna3": 2, "rdna4": 4}
"""Products that hardware adds in one step."""
GRID = (
    "differs in last bits: {0} products a step on a common grid that drops low bits{1} (ROCm/rocm-systems#12056 and "
    "rocjitsu {2})"
)
MEASURED = {
    "rdna3": GRID.format(2, ", f32 denormals flushed", "gfx11_dot2.h, measured on gfx1100 and gfx1151"),
    "rdna4": GRID.format(4, "", "gfx12_dot.h, measured on gfx1201"),
}
ONCE = ", and a 16-bit result is rounded once at the end"
NARROWED = (
    ", and the sum is narrowed after every {0} products as measured on hardware, f16 to nearest even, bf16 by cutting"
)
SPARSE_ORDER = (
    ". Index: that of an element is in the lane that rocjitsu took from Tensile kernels; AMD CDNA 5 ISA 7.12.5 has it "
    "in the lane of the element"
)

EIGHT_BIT = tuple(itertools.product(("fp8", "bf8"), repeat=2))


def add(
    family: str,
    name: str,
    shape: tuple[int, int, int],
    a: str,
    b: str,
    result: str,
    start: str = "",
    *,
    sparse: bool = False,
    scaled: bool = False,
    scale_block: int = 32,
) -> None:
    """Register `name` with A, B, D and, where its type differs from D's, C. Integer products are exact."""
    exact = result == "i32"
    measured = family in MEASURED and not sparse and a in ("f16", "bf16")
    narrowed = STEPS[family] if measured and result != "f32" else 0
    rounding = FUSED.format("f32")
    rounding += "" if result == "f32" else NARROWED.format(narrowed) if narrowed else ONCE
    order = SCALED if scaled else CHOSEN if sparse else FROM_C
    hardware = MEASURED[family] if measured else UNKNOWN
    hardware += SPARSE_ORDER if sparse and family == "cdna5" and a not in ("f16", "bf16") else ""
    matrix(
        name,
        shape,
        f"{a} {b} {result}",
        c=start,
        family=family,
        sparse=sparse,
        scaled=scaled,
        scale_block=scale_block,
        targets=TARGETS[family],
        status="exact" if exact else "modelled",
        note="" if exact else Numerics(order, rounding, KEPT, hardware).note(),
        narrowed=narrowed,
        cite=CITE[family],
    )


def sixteen_bit(family: str, k: int, prefix: str = "v_wmma", sparse: bool = False) -> None:
    """The f16 and bf16 forms of one depth: f32 results and results of the inputs' own type."""
    place = functools.partial(add, family, shape=(16, 16, k), sparse=sparse)
    for element in ("f16", "bf16"):
        for result in ("f32", element):
            place(f"{prefix}_{result}_16x16x{k}_{element}", a=element, b=element, result=result)


def eight_bit(
    family: str, k: int, prefix: str = "v_wmma", results: tuple[str, ...] = ("f32",), sparse: bool = False
) -> None:
    """The fp8 and bf8 forms of one depth."""
    for (a, b), result in itertools.product(EIGHT_BIT, results):
        add(family, f"{prefix}_{result}_16x16x{k}_{a}_{b}", (16, 16, k), a, b, result, sparse=sparse)


def integer(family: str, k: int, element: str, prefix: str = "v_wmma", sparse: bool = False) -> None:
    add(family, f"{prefix}_i32_16x16x{k}_{element}", (16, 16, k), element, element, "i32", sparse=sparse)


for generation in ("rdna3", "rdna4"):
    sixteen_bit(generation, 16)
    integer(generation, 16, "iu8")
    integer(generation, 16, "iu4")

eight_bit("rdna4", 16)
integer("rdna4", 32, "iu4")
sixteen_bit("rdna4", 32, "v_swmmac", sparse=True)
eight_bit("rdna4", 32, "v_swmmac", sparse=True)
integer("rdna4", 32, "iu8", "v_swmmac", sparse=True)
integer("rdna4", 32, "iu4", "v_swmmac", sparse=True)
integer("rdna4", 64, "iu4", "v_swmmac", sparse=True)

add("cdna5", "v_wmma_f32_16x16x4_f32", (16, 16, 4), "f32", "f32", "f32")
sixteen_bit("cdna5", 32)
add("cdna5", "v_wmma_bf16f32_16x16x32_bf16", (16, 16, 32), "bf16", "bf16", "bf16", "f32")
eight_bit("cdna5", 64, results=("f32", "f16"))
eight_bit("cdna5", 128, results=("f32", "f16"))
integer("cdna5", 64, "iu8")
sixteen_bit("cdna5", 64, "v_swmmac", sparse=True)
add("cdna5", "v_swmmac_bf16f32_16x16x64_bf16", (16, 16, 64), "bf16", "bf16", "bf16", "f32", sparse=True)
eight_bit("cdna5", 128, "v_swmmac", ("f32", "f16"), sparse=True)
integer("cdna5", 128, "iu8", "v_swmmac", sparse=True)

for scaled, block, scale in ((False, 32, ""), (True, 32, "_scale"), (True, 16, "_scale16")):
    # scale16 has a scale for every 16 k
    for m, element, suffix in ((16, "f8f6f4", "f8f6f4"), (32, "fp4", "f4")):
        add(
            "cdna5",
            f"v_wmma{scale}_f32_{m}x16x128_{suffix}",
            (m, 16, 128),
            element,
            element,
            "f32",
            scaled=scaled,
            scale_block=block,
        )

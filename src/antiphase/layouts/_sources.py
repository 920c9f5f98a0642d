"""Where the layouts of an instruction stand."""

from __future__ import annotations

from antiphase.isa import Matrix

CALCULATOR = "AMD matrix instruction calculator, ROCm/amd_matrix_instruction_calculator @2ef91896"
_FAMILIES = {
    "gfx942": (f"{CALCULATOR}, CDNA 3",),
    "gfx950": (f"{CALCULATOR}, CDNA 3, whose rule goes on to CDNA 4's depths; Triton 3.9's layouts for gfx950",),
    "rdna3": (f"{CALCULATOR}, RDNA 3", "AMD RDNA 3 ISA, p. 84; RDNA 3.5 ISA, 7.9"),
    "rdna4": (f"{CALCULATOR}, RDNA 4", "AMD RDNA 4 ISA, pp. 101-106"),
    "cdna5": ("ROCm/rocm-systems @f319585b, emulation/rocjitsu, shared/mma/layout.h",),
}
SPARSE_CDNA5 = (
    "the lanes of the index: rocjitsu took them from Tensile kernels and notes that the ISA text reads otherwise"
)
TIED_CDNA5 = "D fills 4 of the 8 registers that LLVM and clang give it: rocjitsu, test of the operand widths"


def sources(record: Matrix, target: str) -> tuple[str, ...]:
    """Citations, each with what it holds for."""
    found = _FAMILIES[target if record.family == "mfma" else record.family]
    if record.family == "cdna5" and record.sparse:
        found += (SPARSE_CDNA5,)
        if record.c:
            found += (TIED_CDNA5,)
    return found

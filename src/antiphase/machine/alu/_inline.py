"""Inline float constants where the instruction is not a float one of their width."""

from __future__ import annotations

from antiphase.asm import Call, FloatImm, Imm, Modified, Operand
from antiphase.isa import BF16, F16, I16, U16, Alu, Slot, Type, generation
from antiphase.machine._context import constant_bits, float_bits
from antiphase.machine.alu._gpr_index import enables

_INLINE = (0.5, 1.0, 2.0, 4.0, 0.15915494)


def constant_word(operand: FloatImm, type_: Type, target: str) -> int:
    """The register that a float constant stands for where a 16-bit source picks a half: a half in the low half, nothing
    in the high one. gfx1250 has the f32 for a bf16, whose value is then in the high half (AMD CDNA5 ISA 4.1, 7.7.2;
    LLVM FeatureBF16InlineConstFromUpperFP32, and before pull request 209861 otherwise)."""
    if type_ is BF16 and generation(target) == "gfx1250" and abs(operand.value) in _INLINE:
        return float_bits(operand.value, 32)
    return constant_bits(operand.value, type_)


def as_encoded(record: Alu, slot: Slot, operand: Operand | None) -> Operand | None:
    """A source operand; an inline float constant of an integer instruction on halves becomes the bits it stands for.

    Such an instruction reads an f32, so its low half is zero for all but 1/(2 pi) (LLVM 22, AMDGPUBaseInfo.cpp,
    getInlineEncodingV216; SIInstrInfo.cpp, isInlineConstant). An instruction with a 16-bit float source reads a half.
    """
    if isinstance(operand, Call):
        return enables(operand)
    inner = operand.operand if isinstance(operand, Modified) else operand
    if not isinstance(inner, FloatImm) or slot.type not in (I16, U16) or abs(inner.value) not in _INLINE:
        return operand
    if any(other.type in (F16, BF16) for other in record.signature.sources):
        return operand
    return Imm(float_bits(inner.value, 32), inner.text)

"""Inline float constants where the instruction is not a float one of their width."""

from __future__ import annotations

from antiphase.asm import FloatImm, Imm, Modified, Operand
from antiphase.isa import BF16, F16, I16, U16, Alu, Slot
from antiphase.machine._context import float_bits

_INLINE = (0.5, 1.0, 2.0, 4.0, 0.15915494)


def as_encoded(record: Alu, slot: Slot, operand: Operand | None) -> Operand | None:
    """A source operand; an inline float constant of an integer instruction on halves becomes the bits it stands for.

    Such an instruction reads an f32, so its low half is zero for all but 1/(2 pi) (LLVM 22, AMDGPUBaseInfo.cpp,
    getInlineEncodingV216; SIInstrInfo.cpp, isInlineConstant). An instruction with a 16-bit float source reads a half.
    """
    inner = operand.operand if isinstance(operand, Modified) else operand
    if not isinstance(inner, FloatImm) or slot.type not in (I16, U16) or abs(inner.value) not in _INLINE:
        return operand
    if any(other.type in (F16, BF16) for other in record.signature.sources):
        return operand
    return Imm(float_bits(inner.value, 32), inner.text)

"""Modifiers that choose and negate halves of a register, on instructions that are not packed: what they may say."""

from __future__ import annotations

from antiphase.asm import FloatImm, Imm, Instruction, Operand
from antiphase.errors import Unsupported
from antiphase.isa import F32, Alu, Slot, generation

_SIGNS = ("neg_lo", "neg_hi")


def as_bits(modifier: object) -> int:
    """A modifier's number, a list as bits from the lowest."""
    if isinstance(modifier, tuple):
        return sum(int(bit) << i for i, bit in enumerate(modifier))
    return int(modifier) if isinstance(modifier, int) else 0


def bit(bits: object, i: int) -> int:
    """Element i of a list modifier, 0 where it is missing."""
    return int(bits[i]) if isinstance(bits, tuple) and i < len(bits) else 0


def check_modifiers(instruction: Instruction, record: Alu, target: str) -> None:
    """Refuses a sign or a half chosen for a source that has no halves."""
    roles = [slot.role for slot in record.signature.sources]
    for i, slot in enumerate(record.signature.sources):
        for name in _SIGNS:
            signed = slot.halves or slot.type is F32
            if bit(instruction.modifier(name), i) and not signed and name not in roles:
                raise Unsupported(f"{name} on {record.name}")
        # CDNA has no op_sel on any dot product (AMD CDNA3 ISA 6.2.1 "Limitations for SDWA and OPSEL")
        whole = generation(target) == "gfx9" if slot.halves else slot.type.bits >= 32
        if record.name.startswith("v_dot") and whole and _chooses(instruction, i, slot):
            raise Unsupported(f"op_sel on a source of {record.name} that is read as a whole")


def _chooses(instruction: Instruction, i: int, slot: Slot) -> bool:
    """Whether op_sel or op_sel_hi is other than what stands for the register as it is."""
    high = instruction.modifier("op_sel_hi")
    swapped = isinstance(high, tuple) and i < len(high) and not high[i] and slot.type is not F32
    return bool(bit(instruction.modifier("op_sel"), i)) or swapped


def check_constant(operand: Operand, record: Alu, target: str) -> None:
    """Refuses a constant of the encoding where sources disagree about its upper half.

    LLVM has nothing there (AMDGPUBaseInfo.cpp, getInlineEncodingV216), and CDNA5 ISA 4.1 agrees. RDNA 3 and 4 have the
    low half again (RDNA4 ISA 7.2.2) or an f32 (7.7.2).
    """
    if not isinstance(operand, Imm | FloatImm) or generation(target) not in ("gfx11", "gfx12"):
        return
    if operand.value and (isinstance(operand, FloatImm) or -16 <= operand.value <= 64):
        raise Unsupported(f"what {operand} means in both halves of a source of {record.name} is not certain")


def signs(instruction: Instruction, record: Alu, i: int) -> tuple[bool, bool]:
    """(neg, abs) that neg_lo and neg_hi make of a 32-bit float source i.

    Beside sources of two halves LLVM 22 sets both to negate (AMDGPUISelDAGToDAG.cpp, SelectVOP3PMods); for a dot
    product of bytes llc prints fneg as neg_lo and fabs as neg_hi.
    """
    low, high = (bool(bit(instruction.modifier(name), i)) for name in _SIGNS)
    if not any(slot.halves for slot in record.signature.sources):
        return low, high
    if low != high:
        raise Unsupported(f"{_SIGNS[high]} alone on the sum of {record.name}")
    return low, False

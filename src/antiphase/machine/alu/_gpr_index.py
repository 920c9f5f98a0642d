"""GPR index mode of CDNA 3 and 4: MODE.GPR_IDX_EN makes M0 add to the VGPR numbers of vector ALU instructions.

AMD CDNA3 ISA 3.5 (MODE) and 6.6. Whether the mode is on is known where code is translated, as all of MODE is; the
index and the operands it is for are M0's and known at run time alone.
"""

from __future__ import annotations

from antiphase.asm import Call, Imm, Operand
from antiphase.errors import Unsupported
from antiphase.isa import generation

_ENABLE = 1 << 27
_OPERANDS = ("SRC0", "SRC1", "SRC2", "DST")


def after_switch(mode: int, mnemonic: str) -> int:
    """MODE after an instruction that turns index mode on or off; any other leaves it."""
    if mnemonic == "s_set_gpr_idx_on":
        return mode | _ENABLE
    return mode & ~_ENABLE if mnemonic == "s_set_gpr_idx_off" else mode


def is_indexing(mode: int, target: str) -> bool:
    """Whether a MODE register has index mode on; later targets have another use for the bit."""
    return bool(mode & _ENABLE) and generation(target) == "gfx9"


def enable_bit(indexing: bool) -> int:
    """The bit of MODE, as s_getreg gives it."""
    return _ENABLE * indexing


def enables(operand: Operand) -> Imm:
    """The operands that an index is for, as bits: `gpr_idx(SRC0,DST)` is 9, and so is 9."""
    if isinstance(operand, Imm):
        return operand
    if not isinstance(operand, Call) or operand.name != "gpr_idx" or not set(operand.args) <= {"", *_OPERANDS}:
        raise Unsupported(f"the operands {operand} to index")
    return Imm(sum(1 << _OPERANDS.index(name) for name in operand.args if name), str(operand))

"""What an instruction takes away from its wave: VGPRs, and private memory with them.

MSG_DEALLOC_VGPRS (gfx11 on) leaves a wave without VGPRs and without private memory; s_alloc_vgpr (gfx12 on) gives back
the highest ones. Stores may be outstanding: releasing early for their sake is what the message is for. What still
writes a VGPR may not, nor may a store to private memory. s_endpgm is no such place: the hardware waits there.
Sources: LLVM SIInsertWaitcnts (stores, unless one may be to scratch) and Mesa ACO dealloc_vgprs (no scratch in
progress); AMD's RDNA 3.5 ISA XML, msg_dealloc_vgprs; AMD RDNA4 ISA 3.3.3 (s_alloc_vgpr). None of them speaks of loads:
that a result needs the register it goes to is our reasoning.
"""

from __future__ import annotations

from dataclasses import dataclass

from antiphase.asm import Call, Imm, Instruction
from antiphase.checks._registers import SGPR, Uses
from antiphase.isa import Memory, Record

_LARGEST_BLOCK = 32
_MESSAGE = 3
_COUNT = 0x1FF


@dataclass(frozen=True, slots=True)
class Release:
    """first: the lowest VGPR given back, with blocks of the largest size. scratch: private memory goes as well."""

    first: int
    scratch: bool

    def disturbs(self, uses: Uses, record: Record | None, private: bool) -> frozenset[int]:
        """The registers given back that an outstanding operation has yet to write; for a store to private memory,
        those that it reads. private: whether the kernel has private memory, so that a FLAT store may be one."""
        written = _vectors(uses.results, 2 * self.first)
        if written or not self.scratch or not isinstance(record, Memory) or record.access == "load":
            return written
        reaches = record.space == "scratch" or (record.space == "flat" and private)
        return _vectors(uses.reads, 0) if reaches else frozenset()


def release(instruction: Instruction) -> Release | None:
    """What an instruction gives back; None for nothing, and for a number that is not in the text."""
    (operand,) = instruction.operands[:1] or (None,)
    if instruction.mnemonic == "s_sendmsg":
        named = isinstance(operand, Call) and operand.args[:1] == ("MSG_DEALLOC_VGPRS",)
        packed = isinstance(operand, Imm) and operand.value == _MESSAGE
        return Release(0, True) if named or packed else None
    if instruction.mnemonic == "s_alloc_vgpr" and isinstance(operand, Imm):
        return Release(-(-(operand.value & _COUNT) // _LARGEST_BLOCK) * _LARGEST_BLOCK, False)
    return None


def _vectors(units: frozenset[int], first: int) -> frozenset[int]:
    return frozenset(u for u in units if first <= u < SGPR)

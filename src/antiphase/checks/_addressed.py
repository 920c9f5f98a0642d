"""Registers to whose numbers M0 may add at run time: of relative moves, and of what is in GPR index mode on some path.

How far M0 reaches is not in the text. What it may reach is told apart from what the text names, so that each check
takes the side on which it accuses nobody: compilers know where their arrays end.
"""

from __future__ import annotations

from antiphase.asm import Block, Instruction, Kernel, Modified, Operand, Reg, Special
from antiphase.checks._flow import forward
from antiphase.isa import Alu, Record, find
from antiphase.machine import enable_bits, enables

_ON, _ALL = 16, 15
_SWITCHES = ("s_set_gpr_idx_on", "s_set_gpr_idx_mode", "s_set_gpr_idx_idx", "s_set_gpr_idx_off")

Addressed = tuple[list[Operand], list[Operand]]
"""Operands read and written that M0 may move."""


def addressed(kernel: Kernel, target: str) -> dict[int, Addressed]:
    """Such operands by instruction; a mode that s_setreg sets is not followed."""
    by_name = {name: find(name, target) for name in {i.mnemonic for i in kernel.instructions}}
    records = [by_name[i.mnemonic] for i in kernel.instructions]
    found: dict[int, Addressed] = {}
    for index, record in enumerate(records):
        if isinstance(record, Alu) and record.relative:
            found[index] = _sides(kernel.instructions[index].operands, [bool(one) for one in record.relative], record)
    if any(i.mnemonic == "s_set_gpr_idx_on" for i in kernel.instructions):
        found |= _in_index_mode(kernel, records)
    return found


def _sides(operands: tuple[Operand, ...], chosen: list[bool], record: Alu) -> Addressed:
    """The chosen operands; one that is read and written is on both sides."""
    results = sum(slot.role in ("operand", "mask") for slot in record.signature.results)
    tied = any(slot.role.startswith("tied") for slot in record.signature.sources)
    moved = [(i, operand) for i, (operand, one) in enumerate(zip(operands, chosen, strict=False)) if one]
    written = [operand for i, operand in moved if i < results]
    return [operand for i, operand in moved if i >= results or tied], written


def _in_index_mode(kernel: Kernel, records: list[Record | None]) -> dict[int, Addressed]:
    def through(state: int, block: Block) -> int:
        for index in range(block.start, block.end):
            state = _after(state, kernel.instructions[index])
        return state

    found: dict[int, Addressed] = {}
    entry = forward(kernel, 0, through, int.__or__)
    for block in kernel.blocks:
        state = entry.get(block.index, 0)
        for index in range(block.start, block.end):
            instruction, record = kernel.instructions[index], records[index]
            if state & _ON and isinstance(record, Alu) and record.unit == "valu":
                places = zip(instruction.operands, enable_bits(instruction, record), strict=False)
                chosen = [_is_vector(operand) and bool(state >> bit & 1) for operand, bit in places]
                found[index] = _sides(instruction.operands, chosen, record)
            state = _after(state, instruction)
    return found


def _after(state: int, instruction: Instruction) -> int:
    """The enabled operands after an instruction, with _ON if the mode may be on."""
    operands = instruction.operands
    if instruction.mnemonic == "s_set_gpr_idx_off":
        return 0
    if instruction.mnemonic == "s_set_gpr_idx_on":
        return _ON | enables(operands[-1]).value & _ALL
    if not state & _ON:
        return 0
    if instruction.mnemonic == "s_set_gpr_idx_mode":
        return _ON | enables(operands[-1]).value & _ALL
    return _ON | _ALL if operands[:1] == (Special("m0"),) and instruction.mnemonic not in _SWITCHES else state


def _is_vector(operand: Operand) -> bool:
    plain = operand.operand if isinstance(operand, Modified) else operand
    return isinstance(plain, Reg) and plain.bank in "va"

"""gfx1250: instructions name 256 VGPRs; s_set_vgpr_msb supplies the upper bits, one pair for each operand role.

Roles (AMD CDNA5 ISA 3.3.2.3, LLVM AMDGPULowerVGPREncoding): ALU and matrix sources by position, block scales always in
the first 256; memory addresses go with src0, stored data with src1 (a second DS operand with src2), results and buffer
data with dst. The bits are part of MODE: s_setreg_imm32_b32 of MODE sets them too, on gfx1250 from bits 19:12 of its
immediate whichever field it names (LLVM, FeatureSetregVGPRMSBFixup).
"""

from __future__ import annotations

from dataclasses import replace

from antiphase.asm import Imm, Instruction, Kernel, Modified, Operand, Program, Reg
from antiphase.errors import Unsupported
from antiphase.isa import Alu, Matrix, Memory, Record, find
from antiphase.machine.control._modes import MODE, hardware_register
from antiphase.machine.transfer._operation import returns_old

# bit positions of the roles in the instruction's immediate
_SRC0, _SRC1, _SRC2, _DST = 0, 2, 4, 6
_FIRST = 8
"""The role of operands that no bits apply to."""


def with_full_numbers(program: Program, kernel: Kernel) -> Kernel:
    """The kernel with every VGPR numbered in full. Unsupported where paths disagree about the upper bits."""
    if not any(_setting(i) for i in kernel.instructions):
        return kernel
    entry = {0: 0}
    work = [0]
    instructions = list(kernel.instructions)
    while work:
        block = kernel.blocks[work.pop()]
        bits = entry[block.index]
        for index in range(block.start, block.end):
            instruction = kernel.instructions[index]
            setting = _setting(instruction)
            if setting is not None:
                bits = setting
            else:
                instructions[index] = _renumbered(instruction, program.target, bits)
        for successor in block.successors:
            if successor not in entry:
                entry[successor] = bits
                work.append(successor)
            elif entry[successor] != bits:
                line = kernel.instructions[kernel.blocks[successor].start].line
                raise Unsupported(
                    f"{program.name}:{line}: a block is reached with two different settings of s_set_vgpr_msb"
                )
    return replace(kernel, instructions=tuple(instructions))


def _setting(instruction: Instruction) -> int | None:
    """The bits that an instruction sets, in the order of s_set_vgpr_msb; None if it leaves them alone."""
    if instruction.mnemonic not in ("s_set_vgpr_msb", "s_setreg_imm32_b32"):
        return None
    operand = instruction.operands[-1]
    assert isinstance(operand, Imm)
    if instruction.mnemonic == "s_set_vgpr_msb":
        return operand.value & 0xFF
    if hardware_register(instruction)[0] not in MODE:
        return None
    # MODE has them in another order: dst in bits 13:12, then src0 to src2
    bits = operand.value >> 12 & 0xFF
    return bits >> 2 | (bits & 3) << 6


def _renumbered(instruction: Instruction, target: str, bits: int) -> Instruction:
    if bits == 0:
        return instruction
    record = find(instruction.mnemonic, target)
    roles = operand_roles(instruction, record) if record is not None else []
    operands = tuple(
        _raised(operand, bits >> role & 3) for operand, role in zip(instruction.operands, roles, strict=False)
    )
    rest = instruction.operands[len(operands) :]
    pair = instruction.pair and _renumbered(instruction.pair, target, bits)
    return replace(instruction, operands=operands + rest, pair=pair)


def _raised(operand: Operand, bank: int) -> Operand:
    if isinstance(operand, Modified):
        inner = _raised(operand.operand, bank)
        assert isinstance(inner, Reg) or inner is operand.operand
        return replace(operand, operand=inner)
    if isinstance(operand, Reg) and operand.bank == "v":
        return replace(operand, index=operand.index + 256 * bank)
    return operand


def operand_roles(instruction: Instruction, record: Record) -> list[int]:
    """The role of each operand in text order, as its bit position in s_set_vgpr_msb: src0, src1, src2, dst."""
    sources = [_SRC0, _SRC1, _SRC2]
    count = len(instruction.operands)
    if isinstance(record, Alu):
        results = sum(slot.role in ("operand", "mask") for slot in record.signature.results)
        if any(slot.role == "tied2" for slot in record.signature.sources):
            return [_DST, _SRC0, *sources][:count]  # an exchange: what is written second is the source
        return [_DST] * results + (sources + [_SRC2] * count)[: count - results]
    if isinstance(record, Matrix):
        return [_DST, *sources, *[_FIRST] * count][:count]
    if not isinstance(record, Memory):
        return []
    return _memory_roles(instruction, record, count)


def _memory_roles(instruction: Instruction, record: Memory, count: int) -> list[int]:
    if record.space == "buffer":
        return [_DST, _SRC0] + [_SRC0] * count
    first_is_result = record.access == "load" or returns_old(instruction, record)
    if record.space == "ds":
        return ([_DST] if first_is_result else []) + [_SRC0, _SRC1, _SRC2]
    return ([_DST] if first_is_result else []) + [_SRC0, _SRC1, _SRC1]

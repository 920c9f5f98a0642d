"""The MODE register at every block: known from the descriptor and from s_setreg, so that code is made for it."""

from __future__ import annotations

from antiphase.asm import Call, Imm, Instruction, Kernel
from antiphase.errors import Unsupported
from antiphase.machine._lower import FloatMode

# bit positions: AMD CDNA3 ISA, section 3.8 "Mode register"
_DESCRIPTOR = (
    ("float_round_mode_32", 0, 0), ("float_round_mode_16_64", 2, 0), ("float_denorm_mode_32", 4, 0),
    ("float_denorm_mode_16_64", 6, 3), ("dx10_clamp", 8, 1), ("ieee_mode", 9, 1), ("fp16_overflow", 23, 0),
)  # fmt: skip


def entry_mode(kernel: Kernel) -> int:
    """MODE at kernel start; directives left out have the assembler's defaults (AMDGPUUsage, ".amdhsa_float_*")."""
    return sum(kernel.descriptor.get(name, default) << bit for name, bit, default in _DESCRIPTOR)


def float_mode(mode: int) -> FloatMode:
    return FloatMode(
        round32=mode & 3, round64=mode >> 2 & 3, denormal32=mode >> 4 & 3, denormal64=mode >> 6 & 3,
        dx10_clamp=bool(mode >> 8 & 1), ieee=bool(mode >> 9 & 1), fp16_ovfl=bool(mode >> 23 & 1),
    )  # fmt: skip


def hardware_register(instruction: Instruction) -> tuple[str, int, int]:
    """Name, first bit and width of an s_setreg / s_getreg operand."""
    for operand in instruction.operands:
        if isinstance(operand, Call) and operand.name == "hwreg":
            name, *field = operand.args
            offset, size = (int(field[0], 0), int(field[1], 0)) if len(field) == 2 else (0, 32)
            return name, offset, size
    raise Unsupported("a hardware register given as a number")


def after(mode: int, instruction: Instruction) -> int:
    """MODE after an instruction."""
    if not instruction.mnemonic.startswith("s_setreg"):
        return mode
    name, offset, size = hardware_register(instruction)
    if name != "HW_REG_MODE":
        return mode
    value = instruction.operands[-1]
    if not isinstance(value, Imm):
        raise Unsupported("MODE set from a register; its value must be known when the code is translated")
    field = ((1 << size) - 1) << offset
    return mode & ~field | value.value << offset & field


def block_modes(kernel: Kernel) -> dict[int, int]:
    """MODE on entry of each reachable block; Unsupported where two paths disagree."""
    modes = {0: entry_mode(kernel)}
    work = [0]
    while work:
        block = kernel.blocks[work.pop()]
        mode = modes[block.index]
        for instruction in kernel.instructions[block.start : block.end]:
            mode = after(mode, instruction)
        for successor in block.successors:
            if successor not in modes:
                modes[successor] = mode
                work.append(successor)
            elif modes[successor] != mode:
                raise Unsupported("a block is reached with two different MODE values")
    return modes

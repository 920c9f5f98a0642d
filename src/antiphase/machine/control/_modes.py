"""The MODE register at every block: known from the descriptor and from s_setreg, so that code is made for it."""

from __future__ import annotations

import functools

from antiphase.asm import Call, Imm, Instruction, Kernel
from antiphase.errors import Unsupported
from antiphase.isa import generation
from antiphase.machine.alu._gpr_index import after_switch, enable_bit, is_indexing
from antiphase.machine.llvm._lower import FloatMode

# bit positions: AMD CDNA3 ISA, section 3.8 "Mode register"
_DESCRIPTOR = (
    ("float_round_mode_32", 0, 0), ("float_round_mode_16_64", 2, 0), ("float_denorm_mode_32", 4, 0),
    ("float_denorm_mode_16_64", 6, 3), ("dx10_clamp", 8, 1), ("ieee_mode", 9, 1), ("fp16_overflow", 23, 0),
)  # fmt: skip

# both round modes, or both denormal modes, in one instruction
_SHORTCUTS = {"s_round_mode": 0, "s_denorm_mode": 4}


def entry_mode(kernel: Kernel) -> int:
    """MODE at kernel start; directives left out have the assembler's defaults (AMDGPUUsage, ".amdhsa_float_*")."""
    return sum(kernel.descriptor.get(name, default) << bit for name, bit, default in _DESCRIPTOR)


def float_mode(mode: int) -> FloatMode:
    return FloatMode(
        round32=mode & 3, round64=mode >> 2 & 3, denormal32=mode >> 4 & 3, denormal64=mode >> 6 & 3,
        dx10_clamp=bool(mode >> 8 & 1), ieee=bool(mode >> 9 & 1), fp16_ovfl=bool(mode >> 23 & 1),
    )  # fmt: skip


MODE = ("HW_REG_MODE", "HW_REG_WAVE_MODE")
_NUMBERS = {1: "HW_REG_MODE", 20: "HW_REG_XCC_ID"}
_VGPR_BITS = 0xFF << 12
"""Upper bits of VGPR numbers on gfx1250: `_vgpr_banks` follows them."""
_VSKIP = 1 << 28
_GFX9_TO_11 = 3 << 8
"""DX10_CLAMP and IEEE, which later targets always behave as if set: AMD CDNA5 ISA 3.4.3, 7.2.3.1."""


def hardware_register(instruction: Instruction) -> tuple[str, int, int]:
    """Name, first bit and width of an s_setreg / s_getreg operand; a register it has no name for keeps its number.

    The packed form: the register in bits 5:0, the first bit in 10:6, the width less one in 15:11 (CDNA3 ISA, S_GETREG).
    """
    operand = instruction.operands[0 if instruction.mnemonic.startswith("s_setreg") else -1]
    if isinstance(operand, Call) and operand.name == "hwreg":
        name, *field = operand.args
        offset, size = (int(field[0], 0), int(field[1], 0)) if len(field) == 2 else (0, 32)
        return _NUMBERS.get(int(name, 0), name) if name[:1].isdigit() else name, offset, size
    if isinstance(operand, Imm):
        number = operand.value & 63
        return _NUMBERS.get(number, str(number)), operand.value >> 6 & 31, (operand.value >> 11 & 31) + 1
    raise Unsupported(f"the hardware register {operand}")


def mode_bits(mode: FloatMode, target: str) -> int:
    """The MODE register that float_mode reads as `mode`, as s_getreg gives it."""
    values = (
        mode.round32, mode.round64, mode.denormal32, mode.denormal64, mode.dx10_clamp, mode.ieee, mode.fp16_ovfl,
    )  # fmt: skip
    bits = sum(int(value) << bit for value, (_, bit, _) in zip(values, _DESCRIPTOR, strict=True))
    return bits & ~_GFX9_TO_11 if generation(target) in ("gfx12", "gfx1250") else bits


@functools.cache
def register_bits(mode: int, target: str) -> int:
    """The MODE register as s_getreg gives it."""
    skipping = _VSKIP * skips_vectors(mode, target)
    return mode_bits(float_mode(mode), target) | enable_bit(is_indexing(mode, target)) | skipping


def skips_vectors(mode: int, target: str) -> bool:
    """Whether vector instructions are not issued (AMD CDNA3 ISA, S_SETVSKIP)."""
    return bool(mode & _VSKIP) and generation(target) == "gfx9"


def after(mode: int, instruction: Instruction) -> int:
    """MODE after an instruction."""
    if instruction.mnemonic == "s_setvskip":
        value, bit = instruction.operands
        if not (isinstance(value, Imm) and isinstance(bit, Imm)):
            return mode  # the translator refuses it, so nothing runs after it
        return mode & ~_VSKIP | _VSKIP * (value.value >> (bit.value & 31) & 1)
    shortcut = _SHORTCUTS.get(instruction.mnemonic)
    if shortcut is not None and isinstance(instruction.operands[0], Imm):
        return mode & ~(15 << shortcut) | (instruction.operands[0].value & 15) << shortcut
    if not instruction.mnemonic.startswith("s_setreg"):
        return after_switch(mode, instruction.mnemonic)
    value = instruction.operands[-1]
    try:
        name, offset, size = hardware_register(instruction)
    except Unsupported:
        return mode
    if name not in MODE or not isinstance(value, Imm):
        return mode  # a value in a register is made a constant before (`_known_modes`)
    field = ((1 << size) - 1) << offset
    return (mode & ~field | value.value << offset & field) & ~_VGPR_BITS


def block_modes(kernel: Kernel) -> tuple[dict[int, int], set[int]]:
    """MODE on entry of each reachable block, and the blocks where two paths disagree."""
    modes = {0: entry_mode(kernel)}
    disputed: set[int] = set()
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
                disputed.add(successor)
    return modes, disputed

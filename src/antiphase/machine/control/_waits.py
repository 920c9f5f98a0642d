"""Wait instructions as (counter, largest value left) pairs.

Field positions of the packed immediates: LLVM AMDGPUBaseInfo.cpp (facts: counters of each generation).
"""

from __future__ import annotations

from antiphase.asm import Imm, Instruction, Operand, Waits
from antiphase.errors import Unsupported
from antiphase.isa import COUNTERS, generation

# s_waitcnt immediates: per counter, runs of (bit in the immediate, bit in the count, width)
_PACKED = {
    "gfx9": {"vmcnt": ((0, 0, 4), (14, 4, 2)), "lgkmcnt": ((8, 0, 4),)},
    "gfx11": {"vmcnt": ((10, 0, 6),), "lgkmcnt": ((4, 0, 6),)},
}
_PAIRS = {"s_wait_loadcnt_dscnt": "loadcnt", "s_wait_storecnt_dscnt": "storecnt"}


def waits(instruction: Instruction, target: str) -> tuple[tuple[str, int], ...]:
    """What a wait instruction waits for; counters that a compute kernel does not use are left out."""
    known = COUNTERS[generation(target)]
    return tuple((name, count) for name, count in _all(instruction, target) if name in known)


def _all(instruction: Instruction, target: str) -> tuple[tuple[str, int], ...]:
    mnemonic = instruction.mnemonic
    operand = instruction.operands[-1] if instruction.operands else None
    if mnemonic == "s_wait_idle" or (mnemonic == "s_waitcnt" and generation(target) not in _PACKED):
        return tuple((name, 0) for name in COUNTERS[generation(target)])
    if isinstance(operand, Waits):
        # vmcnt_sat(n) is vmcnt(n), or the field's largest where n is more, which waits for nothing either way
        return tuple((name.removesuffix("_sat"), count) for name, count in operand.counts)
    value = _number(operand, mnemonic)
    if mnemonic == "s_waitcnt":
        return tuple((name, _field(value, runs)) for name, runs in _PACKED[generation(target)].items())
    if mnemonic in _PAIRS:
        return (_PAIRS[mnemonic], value >> 8 & 63), ("dscnt", value & 63)
    return ((mnemonic.removeprefix("s_waitcnt_").removeprefix("s_wait_"), value),)


def _number(operand: Operand | None, mnemonic: str) -> int:
    if not isinstance(operand, Imm):
        raise Unsupported(f"{mnemonic} {operand}")
    return operand.value


def _field(value: int, runs: tuple[tuple[int, int, int], ...]) -> int:
    return sum((value >> at & (1 << width) - 1) << to for at, to, width in runs)

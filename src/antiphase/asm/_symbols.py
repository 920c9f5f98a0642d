"""Address expressions: what a symbol operand such as `f@rel32@lo+4` stands for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from antiphase.asm._instruction import Instruction
from antiphase.asm._operands import Reg, Symbol

_REFERENCE = re.compile(r"([A-Za-z_.$][\w.$]*)@(rel|gotpcrel|abs)(?:32|64)?(?:@(lo|hi))?([+-]\d+)?")
_PROGRAM_COUNTER = ("s_getpc_b64", "s_get_pc_i64")
_KINDS: dict[str, Literal["relative", "slot", "absolute"]] = {
    "rel": "relative",
    "gotpcrel": "slot",
    "abs": "absolute",
}


@dataclass(frozen=True, slots=True)
class Reference:
    """One 32- or 64-bit part of an address.

    kind: 'relative' is the address of `name` plus `offset` bytes, less what s_getpc gave at instruction `base`; 'slot'
    is the address of 8 bytes that hold the address of `name`, less the same; 'absolute' is the address itself.
    part: 'lo' or 'hi' half, or 'all' of 64 bits.
    Source: LLVM AMDGPUUsage, "Relocation Records" (R_AMDGPU_REL32_LO and its like).
    """

    name: str
    kind: Literal["relative", "slot", "absolute"]
    part: Literal["lo", "hi", "all"]
    offset: int = 0
    base: int = 0


def reference(instructions: Sequence[Instruction], index: int, operand: Symbol) -> Reference | None:
    """What a symbol operand of an instruction stands for; None if it is no address with a known meaning."""
    match = _REFERENCE.fullmatch(operand.text)
    if match is None:
        return None
    name, kind, offset = match[1], _KINDS[match[2]], int(match[4] or 0)
    part: Literal["lo", "hi", "all"] = "lo" if match[3] == "lo" else "hi" if match[3] == "hi" else "all"
    if kind == "absolute":
        return Reference(name, kind, part, offset)
    base = next((i for i in range(index - 1, -1, -1) if instructions[i].mnemonic in _PROGRAM_COUNTER), None)
    if base is None:
        return None
    # the number counts from where it stands itself, which is 4 bytes into its instruction
    distance = sum(map(_bytes, instructions[base + 1 : index])) + 4
    return Reference(name, kind, part, offset - distance, base)


def _bytes(instruction: Instruction) -> int:
    """Length of a scalar instruction between s_getpc and an addition: it has a symbol, or no literal."""
    return 8 if any(isinstance(one, Symbol) for one in instruction.operands) else 4


def defined(instruction: Instruction) -> Reg | None:
    """The scalar registers that an instruction's first operand names."""
    first = instruction.operands[0] if instruction.operands else None
    return first if isinstance(first, Reg) and first.bank == "s" else None

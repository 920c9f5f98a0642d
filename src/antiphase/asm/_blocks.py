"""Basic blocks of a kernel, from instruction names and labels alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from antiphase.asm._calls import CALLS, Function, jumps, leaves
from antiphase.asm._instruction import Instruction
from antiphase.asm._operands import Label, Symbol
from antiphase.errors import UserError


@dataclass(frozen=True, slots=True)
class Block:
    """Instructions [start, end) of a kernel, entered only at the first and left only after the last.

    label: the label at its start that some instruction names, or None.
    successors: block indices, the one fallen through to first. Empty at s_endpgm and where the text ends. Those of a
    call are the functions it may call, or its return point where none is known; those of s_setpc what a far branch
    computes, or behind all calls of its function. inside: the same within the function: a call goes on behind itself,
    a return nowhere.
    """

    index: int
    label: str | None
    start: int
    end: int
    successors: tuple[int, ...]
    inside: tuple[int, ...] = ()

    @property
    def calls(self) -> bool:
        """Whether it ends with a call of functions that the file has."""
        return bool(self.inside) and self.successors != self.inside


_JUMPS = ("s_branch", "s_cbranch_", "s_subvector_loop_")
_TO_REGISTERS = ("s_cbranch_g_fork", "s_cbranch_join")
_ENDS = (*_JUMPS, *CALLS)
_NAMES = re.compile(r"[A-Za-z_.$][\w.$]*")


def _named_labels(instructions: Sequence[Instruction], labels: Mapping[str, int]) -> dict[int, str]:
    """Instruction index -> label, for the labels some operand names: not `.Ltmp` and the like."""
    named: set[str] = set()
    for instruction in instructions:
        for operand in instruction.operands:
            if isinstance(operand, Label):
                named.add(operand.name)
            elif isinstance(operand, Symbol):
                named.update(_NAMES.findall(operand.text))
    return {index: label for label, index in reversed(list(labels.items())) if label in named}


def _target(instruction: Instruction, labels: Mapping[str, int], file: str) -> int:
    operand = instruction.operands[-1] if instruction.operands else None
    if not isinstance(operand, Label):
        raise UserError(
            f"'{instruction.text()}' does not branch to a label",
            file=file,
            line=instruction.line,
            remedy="write the target as a label (llvm-objdump --symbolize-operands prints them)",
        )
    if operand.name not in labels:
        raise UserError(f"'{instruction.text()}' branches out of the kernel", file=file, line=instruction.line)
    return labels[operand.name]


def build_blocks(
    instructions: Sequence[Instruction], labels: Mapping[str, int], functions: Sequence[Function], file: str
) -> tuple[Block, ...]:
    """The blocks of a kernel in text order. UserError for a branch that names no label of the kernel."""
    named = _named_labels(instructions, labels)
    named |= {one.start: one.name for one in functions[1:]}
    computed = jumps(instructions, labels, functions)
    borders = {one.end for one in functions}
    ends = {i + 1 for i, one in enumerate(instructions) if one.mnemonic.startswith(_ENDS) or leaves(one)}
    starts = sorted(i for i in {0, *named, *ends} if i < len(instructions))
    block_at = {start: index for index, start in enumerate(starts)}

    def at(indices: Iterable[int]) -> tuple[int, ...]:
        return tuple(dict.fromkeys(block_at[i] for i in indices if i in block_at))

    blocks: list[Block] = []
    for index, start in enumerate(starts):
        end = starts[index + 1] if index + 1 < len(starts) else len(instructions)
        last = instructions[end - 1]
        follows = [] if leaves(last) or end in borders else [end]
        if last.mnemonic.startswith(_JUMPS) and last.mnemonic not in _TO_REGISTERS:
            follows.append(_target(last, labels, file))
        inside = follows
        if jump := computed.get(end - 1):
            follows, inside = jump.targets or follows, jump.inside
        blocks.append(Block(index, named.get(start), start, end, at(follows), at(inside)))
    return tuple(blocks)

"""Basic blocks of a kernel, from instruction names and labels alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from antiphase.asm._instruction import Instruction
from antiphase.asm._operands import Label, Symbol
from antiphase.errors import UserError


@dataclass(frozen=True, slots=True)
class Block:
    """Instructions [start, end) of a kernel, entered only at the first and left only after the last.

    label: the label at its start that some instruction names, or None.
    successors: block indices, the one fallen through to first. Empty at s_endpgm and where the text ends. Those of
    s_setpc (target in a register) are the labels whose distance the block computes with, as a far branch does. A
    call's are its return point and, if named, its target.
    """

    index: int
    label: str | None
    start: int
    end: int
    successors: tuple[int, ...]


_LEAVES = ("s_branch", "s_endpgm", "s_setpc_", "s_rfe_")
_JUMPS = ("s_branch", "s_cbranch_", "s_call_", "s_subvector_loop_")
_ENDS = (*_LEAVES, *_JUMPS, "s_swappc_")
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


def _far_targets(instructions: Sequence[Instruction], labels: Mapping[str, int]) -> list[int]:
    """Where a far branch goes: LLVM writes `(target-here)&mask` and `(target-here)>>32` before the s_setpc."""
    symbols = [o.text for i in instructions for o in i.operands if isinstance(o, Symbol) and o.text[0] == "("]
    return sorted({labels[name] for text in symbols if (name := _NAMES.findall(text)[0]) in labels})


def build_blocks(instructions: Sequence[Instruction], labels: Mapping[str, int], file: str) -> tuple[Block, ...]:
    """The blocks of a kernel in text order. UserError for a branch that names no label of the kernel."""
    named = _named_labels(instructions, labels)
    ends = {i + 1 for i, one in enumerate(instructions) if one.mnemonic.startswith(_ENDS)}
    starts = sorted(i for i in {0, *named, *ends} if i < len(instructions))
    block_at = {start: index for index, start in enumerate(starts)}
    blocks: list[Block] = []
    for index, start in enumerate(starts):
        end = starts[index + 1] if index + 1 < len(starts) else len(instructions)
        last = instructions[end - 1]
        follows = [] if last.mnemonic.startswith(_LEAVES) else [end]
        if last.mnemonic.startswith(_JUMPS):
            follows.append(_target(last, labels, file))
        elif last.mnemonic.startswith("s_setpc_"):
            follows += _far_targets(instructions[start:end], labels)
        successors = dict.fromkeys(block_at[i] for i in follows if i in block_at)
        blocks.append(Block(index, named.get(start), start, end, tuple(successors)))
    return tuple(blocks)

"""The staged loop of a kernel, found by structure: the loop with most rendezvous, cut into pieces by them."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass

from antiphase import isa
from antiphase.asm import Block, Imm, Kernel, Program
from antiphase.errors import UserError


@dataclass(frozen=True, slots=True)
class Segment:
    """Instructions of one block up to a rendezvous, that included, or up to the block's end.

    rendezvous: index of the s_barrier that ends it, or None.
    piece: how many rendezvous of the loop stand before it in the text, None outside the loop.
    instructions, matrix, memory: how many there are; memory is LDS and vector memory, not scalar loads.
    priority_before, priority_after: what s_setprio sets before and after the first matrix or memory
    instruction, None if nothing.
    """

    rendezvous: int | None
    piece: int | None
    instructions: int
    matrix: int
    memory: int
    priority_before: int | None
    priority_after: int | None

    @property
    def works(self) -> bool:
        return self.matrix + self.memory > 0


@dataclass(frozen=True, slots=True)
class StagedLoop:
    """rendezvous: indices of the loop's s_barrier instructions. segments: of every block of the kernel.

    header: index of the block that an iteration starts with.
    """

    header: int
    rendezvous: tuple[int, ...]
    segments: tuple[tuple[Segment, ...], ...]


def staged_loop(program: Program, kernel: Kernel) -> StagedLoop:
    """The loop of `kernel` with the most rendezvous, the inner one of two equals.

    UserError if no loop has any.
    """
    classes = [_class(instruction.mnemonic, program.target) for instruction in kernel.instructions]
    found = [(header, body, _barriers(kernel, body, classes)) for header, body in _loops(kernel.blocks)]
    none = (0, frozenset[int](), ())
    header, body, barriers = max(found, key=lambda loop: (len(loop[2]), -len(loop[1])), default=none)
    if not barriers:
        raise UserError(f"kernel {kernel.name} has no loop with rendezvous in it", file=program.name)
    segments = tuple(tuple(_segments(kernel, block, classes, barriers, block.index in body)) for block in kernel.blocks)
    return StagedLoop(header, barriers, segments)


@functools.cache
def _class(mnemonic: str, target: str) -> str:
    record = isa.find(mnemonic, target)
    if isinstance(record, isa.Matrix):
        return "matrix"
    if isinstance(record, isa.Memory) and record.space != "smem" and record.access not in ("cache", "clock"):
        return "memory"
    return record.action if isinstance(record, isa.Control) else ""


def _loops(blocks: tuple[Block, ...]) -> Iterator[tuple[int, frozenset[int]]]:
    """(header, blocks) of each loop: what reaches a jump backwards in the text without passing its target."""
    before: dict[int, list[int]] = {}
    for block in blocks:
        for successor in block.inside:
            before.setdefault(successor, []).append(block.index)
    for block in blocks:
        for header in block.inside:
            if header <= block.index:
                body, pending = {header}, [block.index]
                while pending:
                    index = pending.pop()
                    if index not in body:
                        body.add(index)
                        pending += before.get(index, [])
                yield header, frozenset(body)


def _barriers(kernel: Kernel, body: frozenset[int], classes: list[str]) -> tuple[int, ...]:
    ranges = (range(kernel.blocks[b].start, kernel.blocks[b].end) for b in sorted(body))
    return tuple(index for indices in ranges for index in indices if classes[index] == "barrier")


def _segments(
    kernel: Kernel, block: Block, classes: list[str], barriers: tuple[int, ...], in_loop: bool
) -> Iterator[Segment]:
    start = block.start
    for index in range(block.start, block.end):
        ends_here = classes[index] == "barrier"
        if not ends_here and index + 1 < block.end:
            continue
        run = classes[start : index + 1]
        piece = sum(b < start for b in barriers) if in_loop else None
        yield Segment(
            index if ends_here else None,
            piece,
            len(run),
            run.count("matrix"),
            run.count("memory"),
            *_priorities(kernel, start, run),
        )
        start = index + 1


def _priorities(kernel: Kernel, start: int, run: list[str]) -> tuple[int | None, int | None]:
    work = next((i for i, kind in enumerate(run) if kind in ("matrix", "memory")), len(run))
    before, after = None, None
    for i, kind in enumerate(run):
        operand = kernel.instructions[start + i].operands[0] if kind == "priority" else None
        if isinstance(operand, Imm):
            before, after = (operand.value, after) if i < work else (before, operand.value)
    return before, after

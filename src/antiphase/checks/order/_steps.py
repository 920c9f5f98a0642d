"""When each memory operation of a wave was issued and proved complete, counted in rendezvous.

The k-th arrival of a wave at the workgroup's barrier pairs with the k-th of every other wave, wherever in the program
that is. An operation is complete when a wait on its own counter proves it, in that counter's order rules. So an
operation x of one wave is before y of another in every interleaving exactly if x was complete when its wave arrived at
a rendezvous that y's wave had passed when it issued y: `y.issued > x.complete`.

Sources: AMD CDNA3 ISA 4.4, LLVM SIInsertWaitcnts and AMDGPUExecutionSynchronization (facts: counters 3, 4 and 11).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antiphase import arch
from antiphase.asm import Imm, Instruction, Kernel, Program
from antiphase.checks._registers import returns_old
from antiphase.checks.order._caches import Cache
from antiphase.errors import Unsupported
from antiphase.isa import COUNTERS, Control, Memory, Record, counters, find, generation
from antiphase.machine import waits


@dataclass(frozen=True, slots=True)
class Operation:
    """A memory instruction. counters: numbers of its counters, the second for the LDS lanes of FLAT. ordered: it
    completes in issue order on them. is_ds: it is a DS instruction."""

    instruction: int
    counters: tuple[int, ...]
    ordered: bool
    is_ds: bool


@dataclass(frozen=True, slots=True)
class Wait:
    """conditions: (counter number, operations that may be left)."""

    instruction: int
    conditions: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Rendezvous:
    """A barrier instruction that arrives or waits. own: it is the workgroup's, not a named or cluster barrier."""

    instruction: int
    arrives: bool
    passes: bool
    own: bool


Step = Operation | Wait | Rendezvous
_FIRST = 0
"""The number of the counter of loads in every generation."""


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """What a wave executed, as far as order is concerned. Arrays are over its executed memory instructions, in order.

    instruction: index in the kernel. issued: rendezvous passed before. arrived: rendezvous arrived at before.
    complete: operations x 2, arrivals before it was proved complete, by its first and by its last counter. The end of
    the wave completes everything. since, done: the same counted in completions of the wave itself: what completed
    before an operation y issued has done < y.since.
    sequence: operations x 2, in-order operations issued before on those counters; -1 if it completes in any order.
    before: operations x counters, in-order operations issued before.
    starts: first operation of each executed block. arrivals: the instruction of each arrival. counted: arrivals x
    counters, in-order operations issued before the arrival.
    others: it met barriers other than the workgroup's. blocks: what it executed.
    sync: its arrivals (True) and passes in order, with the operation where that is an atomic or a cache instruction,
    else -1. early: cache instructions that were issued while loads were outstanding.
    """

    instruction: NDArray[np.int64]
    issued: NDArray[np.int64]
    arrived: NDArray[np.int64]
    complete: NDArray[np.int64]
    since: NDArray[np.int64]
    done: NDArray[np.int64]
    sequence: NDArray[np.int64]
    before: NDArray[np.int64]
    starts: NDArray[np.int64]
    arrivals: NDArray[np.int64]
    counted: NDArray[np.int64]
    others: bool
    blocks: Sequence[int]
    sync: Sequence[tuple[bool, int]]
    early: Collection[int] = ()


class Steps:
    """The instructions of a kernel that bear on order, block by block.

    every: count all barriers as rendezvous, not the workgroup's alone.
    exchanges: atomics that count as an arrival when they issue; acquires: those that count as a pass when complete.
    caches: cache instructions that are looked at; they count as both when they issue, and as a pass when complete.
    rank: by instruction, its number among the memory operations of its block, -1 for others.
    odd: waits whose count cannot be read. barriers: actions of barrier instructions, by instruction; of_joined: those
    that mean the named barrier joined last.
    """

    def __init__(
        self, program: Program, kernel: Kernel, every: bool = False, exchanges: Collection[int] = (),
        acquires: Collection[int] = (), caches: Mapping[int, Cache] | None = None,
    ) -> None:  # fmt: skip
        self.every, self.exchanges, self.acquires, self.caches = every, exchanges, acquires, caches or {}
        self.target = program.target
        self.generation = generation(self.target)
        self.names = COUNTERS[self.generation]
        largest = {c.name: c.largest for c in arch.target(self.target).counters}
        self.capacity = [largest.get(name) or 63 for name in self.names]
        self.rank = np.full(len(kernel.instructions), -1, np.int64)
        self.odd: list[int] = []
        self.barriers: dict[int, str] = {}
        self.of_joined: set[int] = set()
        self.blocks: list[list[Step]] = []
        self.operations: dict[int, Operation] = {}
        for block in kernel.blocks:
            steps = [s for i in range(block.start, block.end) if (s := self._step(i, kernel.instructions[i]))]
            operations = [s for s in steps if isinstance(s, Operation)]
            for rank, operation in enumerate(operations):
                self.rank[operation.instruction] = rank
                self.operations[operation.instruction] = operation
            self.blocks.append(steps)
        self._by_instruction = {s.instruction: s for steps in self.blocks for s in steps}

    def _step(self, index: int, instruction: Instruction) -> Step | None:
        record = find(instruction.mnemonic, self.target)
        if isinstance(record, Memory):
            names = counters(record, self.target, returns_old(instruction, record))
            numbers = tuple(self.names.index(n) for n in names if n in self.names)
            return Operation(index, numbers, _ordered(record, self.generation), record.space == "ds")
        if not isinstance(record, Control):
            return None
        if record.action == "wait":
            return self._wait(index, instruction)
        if record.action.startswith("barrier"):
            self.barriers[index] = record.action
            if record.action == "barrier_leave" or (record.action == "barrier_wait" and 0 < _number(instruction) <= 16):
                self.of_joined.add(index)
        return _rendezvous(index, instruction, record)

    def _wait(self, index: int, instruction: Instruction) -> Wait | None:
        try:
            conditions = waits(instruction, self.target)
        except Unsupported:
            self.odd.append(index)
            return None
        return Wait(index, tuple((self.names.index(name), n) for name, n in conditions))

    def is_ds(self, instruction: int) -> bool:
        """Whether an instruction is a DS instruction."""
        return self.operations[instruction].is_ds

    def at(self, instruction: int) -> Step | None:
        """What an instruction does about order."""
        return self._by_instruction.get(instruction)

    def path(self, blocks: Sequence[int], without: Collection[int] = ()) -> Path:
        """The path of a wave that executed these blocks. without: waits that are to count for nothing."""
        return _Walk(self, without).through(blocks)


def _ordered(record: Record, generation_: str) -> bool:
    assert isinstance(record, Memory)
    flat = record.space == "flat" and generation_ == "gfx9"
    return not (flat or record.space == "smem" or (record.asynchronous and record.access == "store"))


def _rendezvous(index: int, instruction: Instruction, record: Control) -> Rendezvous | None:
    action = record.action
    if action == "barrier":
        return Rendezvous(index, True, True, True)
    if action not in ("barrier_signal", "barrier_signal_isfirst", "barrier_wait", "barrier_leave"):
        return None
    return Rendezvous(index, action != "barrier_wait", action == "barrier_wait", _number(instruction) == -1)


def _number(instruction: Instruction) -> int:
    """The barrier that an instruction names, 0 for one in M0."""
    operand = instruction.operands[-1] if instruction.operands else None
    value = operand.value if isinstance(operand, Imm) else 0
    return value - (1 << 16 if value > 32767 else 0)


class _Walk:
    """One pass over a path with the operations that are out on each counter, oldest first."""

    def __init__(self, steps: Steps, without: Collection[int] = ()) -> None:
        self.steps, self.without = steps, without
        count = len(steps.names)
        self.in_order: list[deque[tuple[int, int]]] = [deque() for _ in range(count)]
        self.any_order: list[list[tuple[int, int]]] = [[] for _ in range(count)]
        self.early: set[int] = set()
        self.unfollowed: list[tuple[int, int]] = []
        self.issued_on = [0] * count
        self.rows: list[tuple[int, int, int, int]] = []
        self.complete: list[list[int]] = []
        self.done: list[list[int]] = []
        self.at: list[int] = []
        self.counted: list[list[int]] = []
        self.sync: list[tuple[bool, int]] = []
        self.passed = 0
        self.completions = 0

    @property
    def arrivals(self) -> int:
        return len(self.at)

    def through(self, blocks: Sequence[int]) -> Path:
        sequence: list[list[int]] = []
        before: list[list[int]] = []
        starts: list[int] = []
        others = False
        for block in blocks:
            starts.append(len(self.rows))
            for step in self.steps.blocks[block]:
                if isinstance(step, Operation):
                    self._make_room(step)
                    if step.instruction in self.steps.exchanges:
                        self._arrive(step.instruction, len(self.rows))
                    if step.instruction in self.steps.caches:
                        self._cache(step.instruction)
                    self.rows.append((step.instruction, self.passed, self.arrivals, self.completions))
                    before.append(self.issued_on.copy())
                    sequence.append(self._issue(step, len(self.rows) - 1))
                elif isinstance(step, Wait):
                    self._wait(step)
                else:
                    others |= not step.own
                    if step.own or self.steps.every:
                        self._meet(step)
        for counter in range(len(self.issued_on)):
            self._leave(counter, 0)
        self._acknowledge(0)
        width = len(self.issued_on)
        table = _table(self.rows, 4)
        twice = np.array([len(self.steps.operations[i].counters) == 2 for i in table[:, 0].tolist()], bool)
        complete, done, sequences = (_both(t, twice) for t in (self.complete, self.done, sequence))
        return Path(
            table[:, 0], table[:, 1], table[:, 2], complete, table[:, 3], done, sequences, _table(before, width),
            np.array(starts, np.int64), np.array(self.at, np.int64), _table(self.counted, width), others,
            blocks, self.sync, self.early,
        )  # fmt: skip

    def _meet(self, step: Rendezvous) -> None:
        if step.arrives:
            self._arrive(step.instruction, -1)
        if step.passes:
            self._pass(-1)

    def _arrive(self, instruction: int, operation: int) -> None:
        self.at.append(instruction)
        self.counted.append(self.issued_on.copy())
        self.sync.append((True, operation))

    def _cache(self, instruction: int) -> None:
        self._arrive(instruction, len(self.rows))
        self.passed += 1
        if self.in_order[_FIRST] or self.any_order[_FIRST]:
            self.early.add(len(self.rows))

    def _pass(self, operation: int) -> None:
        self.passed += 1
        self.sync.append((False, operation))

    def _make_room(self, step: Operation) -> None:
        """Issue stalls while a counter is full: the oldest in-order operation is complete before this one."""
        for counter in step.counters:
            self._leave(counter, self.steps.capacity[counter] - 1, any_order=False)

    def _issue(self, step: Operation, index: int) -> list[int]:
        """Enter the operation in its counters' queues; its sequence numbers on them."""
        # what no counter follows is there at once
        self.complete.append([self.arrivals] * 2)
        self.done.append([self.completions - 1] * 2)
        numbers = [-1, -1]
        for column, counter in enumerate(step.counters):
            if step.ordered:
                numbers[column] = self.issued_on[counter]
                self.issued_on[counter] += 1
            (self.in_order if step.ordered else self.any_order)[counter].append((index, column))
        cache = self.steps.caches.get(step.instruction)
        if cache is not None and cache.writes_back and not step.counters:
            self.unfollowed.append((index, self.issued_on[_FIRST]))
        return numbers

    def _wait(self, step: Wait) -> None:
        if step.instruction in self.without:
            return
        for counter, left in step.conditions:
            self._leave(counter, left)
            if counter == _FIRST:
                self._acknowledge(left)

    def _acknowledge(self, left: int) -> None:
        """Write-backs of CDNA answer on vmcnt, although LLVM counts them nowhere."""
        done = [entry for entry in self.unfollowed if left <= self.issued_on[_FIRST] - entry[1]]
        self.unfollowed = [entry for entry in self.unfollowed if entry not in done]
        for index, _ in done:
            self._pass(index)

    def _leave(self, counter: int, left: int, any_order: bool = True) -> None:
        queue, changed = self.in_order[counter], False
        while len(queue) > left:
            self._finish(*queue.popleft())
            changed = True
        if left == 0 and any_order:
            for entry in self.any_order[counter]:
                self._finish(*entry)
                changed = True
            self.any_order[counter].clear()
        self.completions += changed

    def _finish(self, index: int, column: int) -> None:
        self.complete[index][column], self.done[index][column] = self.arrivals, self.completions
        instruction = self.rows[index][0]
        if column == 0 and (instruction in self.steps.acquires or instruction in self.steps.caches):
            self._pass(index)


def _table(rows: Sequence[Sequence[int]], width: int) -> NDArray[np.int64]:
    return np.array(rows, np.int64).reshape(len(rows), width)


def _both(rows: Sequence[Sequence[int]], twice: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Rows of two columns, the second like the first for operations on one counter."""
    table = _table(rows, 2)
    table[~twice, 1] = table[~twice, 0]
    return table

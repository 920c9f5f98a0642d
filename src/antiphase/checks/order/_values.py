"""What becomes of a loaded value: followed along what a wave executed, register by register.

Two questions rest on it. A load whose value goes nowhere harms nobody, early or late: Triton gives a block of fewer
elements than the workgroup has lanes to several waves alike, all of them load, and all but one store with no lane
active. And an atomic puts things in order only if its result decides what its wave does.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from antiphase.asm import Kernel, Special
from antiphase.checks._registers import Uses, units, uses_of
from antiphase.isa import Alu, Matrix, Memory, find
from antiphase.machine import WaveTrace
from antiphase.machine.recording import BLOCK, MEMORY, MEMORY_WIDE

_EXEC = units(Special("exec"))
_INERT = ("cache", "clock")
CONTROL, LDS, MASKED, OTHER = "control", "lds", "masked", "memory"
"""Where a value goes: it decides a branch or EXEC; it is stored in LDS; it would be stored, but with no lane active; or
it is an operand of any other memory instruction."""


class Values:
    """Follows values of a kernel, those of one instruction once a wave and question."""

    def __init__(self, kernel: Kernel, target: str) -> None:
        self.kernel = kernel
        self.target = target
        self.records = [find(instruction.mnemonic, target) for instruction in kernel.instructions]
        self.uses: list[Uses] = []
        self._idle: dict[tuple[int, int, int], bool] = {}

    def is_idle(self, trace: WaveTrace, block: int, instruction: int) -> bool:
        """Whether what a load of a wave read has no effect. block: the executed block it is in, by number in order.

        A load with no use at all is not excused: no compiler leaves one, and a half-written kernel may have it.
        """
        key = trace.workgroup, trace.wave, instruction
        # one that has an effect once is not looked at again
        if self._idle.get(key, True):
            record = self.records[instruction]
            loads = isinstance(record, Memory) and record.access == "load"
            self._idle[key] = loads and set(self.effects(trace, block, instruction)) == {MASKED}
        return self._idle[key]

    def decides(self, trace: WaveTrace, block: int, instruction: int) -> bool:
        """Whether a result decides what its wave does, or goes to LDS, where other waves may read it and decide."""
        return any(effect in (CONTROL, LDS) for effect in self.effects(trace, block, instruction))

    def effects(self, trace: WaveTrace, block: int, instruction: int) -> Iterator[str]:
        """Where the result of a memory instruction goes, as it goes there."""
        self.uses = self.uses or uses_of(self.kernel, self.target)
        followed = set(self.uses[instruction].results)
        starts = np.flatnonzero(trace.events["kind"] == BLOCK)
        loaded = -1
        for first, end in zip(starts[block:], [*starts[block + 1 :], len(trace.events)], strict=True):
            executed = self.kernel.blocks[int(trace.events["number"][first])]
            masks = _Masks(trace.events[first:end])
            from_ = executed.start
            if loaded < 0:
                from_, loaded = instruction + 1, masks.of(instruction)
            for i in range(from_, executed.end):
                if not followed:
                    return
                yield from self._step(i, followed, loaded, masks)

    def _step(self, i: int, followed: set[int], loaded: int, masks: _Masks) -> Iterator[str]:
        """Go past an instruction; what a followed register does there."""
        record, uses = self.records[i], self.uses[i]
        if uses.writes & _EXEC:
            masks.exec = None
        used = not followed.isdisjoint(uses.reads | uses.may_read)
        moves_lanes = isinstance(record, Memory) and record.lanes is not None
        if isinstance(record, Memory) and not moves_lanes:
            if used and record.access not in _INERT:
                yield _effect(record, masks.of(i))
        elif isinstance(record, Alu | Matrix) or moves_lanes:
            if used:
                followed |= uses.writes | uses.may_write
                if not followed.isdisjoint(_EXEC):
                    yield CONTROL
            elif _replaces(record) and not uses.may_write and (_is_scalar(record) or masks.covers(loaded)):
                followed -= uses.writes
        elif used:
            yield CONTROL


def _effect(record: Memory, active: int) -> str:
    if not active and record.space not in ("smem", "tensor"):
        return MASKED
    return LDS if record.space == "ds" and record.access != "load" else OTHER


def _is_scalar(record: object) -> bool:
    return isinstance(record, Alu) and (record.unit == "salu" or record.ignores_exec)


def _replaces(record: object) -> bool:
    """Whether a result leaves nothing of what its register held."""
    return not isinstance(record, Alu) or record.rest == "zero"


class _Masks:
    """Lanes active at the instructions of an executed block. exec: EXEC as far as it is known."""

    def __init__(self, events: NDArray) -> None:
        self.exec: int | None = int(events["exec"][0])
        memory = events[(events["kind"] == MEMORY) | (events["kind"] == MEMORY_WIDE)]
        self._by_instruction: dict[int, int] = {}
        for number, mask in zip(memory["number"].tolist(), memory["exec"].tolist(), strict=True):
            self._by_instruction[number] = self._by_instruction.get(number, 0) | mask

    def of(self, instruction: int) -> int:
        """Lanes that a memory instruction accessed; none if nothing was recorded of it."""
        return self._by_instruction.get(instruction, 0)

    def covers(self, lanes: int) -> bool:
        """Whether all of some lanes are known to be active."""
        return self.exec is not None and not lanes & ~self.exec

"""Atomics as synchronization: which of them hand over what, in the order in which the launch did them.

An atomic that changes a place releases what its wave has completed before; one with a result acquires what earlier ones
at that place released, once its result is there. So do loads and stores that are coherent beyond the workgroup. This is
the order of the run that was recorded. It counts only where the result decides what a wave does, through a branch, EXEC
or LDS: then a wave that got another result would not have come this way. What caches need besides is for `_views`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antiphase.asm import Kernel
from antiphase.checks.order._bytes import LDS_BYTES, Touched
from antiphase.checks.order._steps import Path
from antiphase.checks.order._values import Values
from antiphase.isa import Memory, find
from antiphase.machine import Recording, WaveTrace
from antiphase.machine.recording import BLOCK, ORDER

AT_MOST = 200_000
"""Exchanges that are followed; more are left unjudged."""
_SAMPLES = 4
LDS_PLACES = 1 << 50
"""Places from here on are in LDS."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """An atomic that a wave executed. number: in the order of the launch. places: dwords that it reads or changes."""

    number: int
    places: tuple[int, ...]
    changes: bool
    acquires: bool


class Exchanging:
    """Instructions of a recorded launch that may hand over. numbered: all that the recording has the order of.
    acquires: those whose results decide something. count: how many were executed."""

    def __init__(self, recording: Recording, kernel: Kernel) -> None:
        target = recording.program.target
        records = [find(instruction.mnemonic, target) for instruction in kernel.instructions]
        self.changes = np.array([isinstance(r, Memory) and r.access != "load" for r in records], bool)
        seen: dict[int, list[tuple[WaveTrace, int]]] = {}
        self.count = 0
        for trace in recording.waves:
            order = np.flatnonzero(trace.events["kind"] == ORDER)
            self.count += len(order)
            numbers, first = np.unique(trace.events["number"][order], return_index=True)
            for number, at in zip(numbers.tolist(), order[first].tolist(), strict=True):
                seen.setdefault(number, []).append((trace, int((trace.events["kind"][:at] == BLOCK).sum()) - 1))
        values = Values(kernel, target)
        self.acquires = frozenset(
            number for number, places in seen.items()
            if any(values.decides(trace, block, number) for trace, block in places[:_SAMPLES])
        )  # fmt: skip
        self.numbered = frozenset(seen)
        # with nobody to acquire there is nothing to hand over
        self.instructions = self.numbered if self.acquires else frozenset[int]()

    def of(
        self, trace: WaveTrace, path: Path, rank: NDArray[np.int64], lds: Touched, memory: Touched
    ) -> dict[int, Exchange]:
        """Those of a wave, by operation."""
        if not self.instructions:
            return {}
        kind = trace.events["kind"]
        order = np.flatnonzero(kind == ORDER)
        order = order[np.isin(trace.events["number"][order], list(self.instructions))]
        blocks = np.cumsum(kind == BLOCK) - 1
        instruction = trace.events["number"][order].astype(np.int64)
        operation = path.starts[blocks[order]] + rank[instruction]
        numbers = trace.events["base"][order].astype(np.int64).tolist()
        places = _places(trace.workgroup, lds, memory, operation)
        return {
            op: Exchange(number, tuple(places.get(op, ())), bool(self.changes[i]), i in self.acquires)
            for op, number, i in zip(operation.tolist(), numbers, instruction.tolist(), strict=True)
        }


def _places(workgroup: int, lds: Touched, memory: Touched, operations: NDArray[np.int64]) -> dict[int, set[int]]:
    """Dwords touched by operations; those of LDS with numbers of their own for each workgroup."""
    found: dict[int, set[int]] = {}
    start = LDS_PLACES + workgroup * LDS_BYTES
    for touched, offset in ((lds, start), (memory, 0)):
        mine = touched.of(np.isin(touched.access // 2, operations))
        place = offset + (mine.start % LDS_BYTES if offset else mine.start) // 4
        for op, at in zip((mine.access // 2).tolist(), place.tolist(), strict=True):
            found.setdefault(op, set()).add(at)
    return found


def shared(exchanges: Mapping[int, Mapping[int, Exchange]]) -> dict[int, dict[int, Exchange]]:
    """By wave and operation, those with a place that one wave acquires and another changes, with such places alone."""
    acquire: dict[int, set[int]] = {}
    change: dict[int, set[int]] = {}
    for wave, mine in exchanges.items():
        for one in mine.values():
            for wanted, sides in ((one.acquires, acquire), (one.changes, change)):
                for place in one.places if wanted else ():
                    sides.setdefault(place, set()).add(wave)
    both = {p for p, waves in acquire.items() if p in change and len(waves | change[p]) > 1}
    return {wave: dict(_of_places(mine, both)) for wave, mine in exchanges.items()}


def _of_places(mine: Mapping[int, Exchange], wanted: set[int]) -> Iterable[tuple[int, Exchange]]:
    for operation, one in mine.items():
        if places := tuple(place for place in one.places if place in wanted):
            yield operation, Exchange(one.number, places, one.changes, one.acquires)

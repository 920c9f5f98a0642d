"""`init`: global memory read that nothing has written, neither before the launch nor by then in it.

A write of another workgroup may come first in some interleaving: only what none of them writes is told.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from antiphase.checks._finding import Finding, Severity, Site
from antiphase.checks.init._order import too_early
from antiphase.checks.order import ATOMIC, WRITE, Group, Touched, grain, spread
from antiphase.machine import Execution

_EXCHANGES = ("_swap", "_wrxchg", "_storexchg")
"""Atomics whose result in memory does not depend on what was there; a compare-and-swap is none."""


@dataclass(frozen=True, slots=True, eq=False)
class _Early:
    """Reads by a workgroup of bytes that it has not written by then, rows alike: byte, bytes, instruction, wave."""

    workgroup: int
    byte: NDArray[np.int64]
    size: int
    instruction: NDArray[np.int64]
    wave: NDArray[np.int64]


@dataclass(slots=True, eq=False)
class GlobalReads:
    """What workgroup after workgroup reads of memory that holds nothing, and where they write."""

    execution: Execution
    runs: NDArray[np.int64] = field(init=False)
    exchanges: NDArray[np.bool_] = field(init=False)
    early: list[_Early] = field(default_factory=list)
    written: list[tuple[int, NDArray[np.int64], NDArray[np.int64]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.runs = self.execution.memory.unwritten
        names = [i.mnemonic for i in self.execution.kernel.instructions]
        self.exchanges = np.array([any(e in n for e in _EXCHANGES) and "cmpswap" not in n for n in names], bool)

    def add(self, group: Group) -> None:
        """The accesses of one more workgroup."""
        if not len(self.runs):
            return
        touched = group.memory.of(_meets(group.memory, self.runs[:, 0], self.runs[:, 1]))
        if not len(touched.start):
            return
        instruction = group.instructions()
        changes = (touched.kind == WRITE) | ((touched.kind == ATOMIC) & self.exchanges[instruction[touched.access]])
        writes, reads = touched.of(changes), touched.of(~changes)
        low, high = _merged(writes)
        self.written.append((group.number, low, high))
        if len(reads.start):
            self.early.append(_early(group, reads, writes, instruction, self.runs))

    def findings(self) -> Iterator[Finding]:
        """By instruction; count is pieces of memory read."""
        places: dict[int, list[tuple[int, int, int, int]]] = {}
        for early in self.early:
            kept = ~self._written_by_others(early)
            rows = zip(
                early.instruction[kept].tolist(), early.byte[kept].tolist(), early.wave[kept].tolist(), strict=True
            )
            for instruction, byte, wave in rows:
                places.setdefault(instruction, []).append((early.workgroup, wave, byte, early.size))
        x, y, z = self.execution.recording.grid if self.execution.recording else (1, 1, 1)
        recorded = {trace.workgroup for trace in self.execution.recording.waves} if self.execution.recording else set()
        # workgroups that were not recorded may write it
        severity: Severity = "error" if len(recorded) == x * y * z else "warning"
        for instruction, seen in sorted(places.items()):
            yield self._finding(instruction, sorted(seen), severity)

    def _written_by_others(self, early: _Early) -> NDArray[np.bool_]:
        found = np.zeros(len(early.byte), bool)
        for workgroup, low, high in self.written:
            if workgroup != early.workgroup and len(low):
                at = np.searchsorted(low, early.byte, "right") - 1
                found |= (at >= 0) & (high[np.maximum(at, 0)] > early.byte)
        return found

    def _finding(self, instruction: int, seen: list[tuple[int, int, int, int]], severity: Severity) -> Finding:
        workgroup, wave, byte, size = seen[0]
        facts: dict[str, object] = {"address": byte, "unwritten_bytes": size, "workgroup": workgroup, "wave": wave}
        if (nearest := self.execution.memory.nearest(byte)) is not None:
            facts |= {"nearest": nearest.name, "offset": byte - nearest.address}
        waves = tuple(sorted({w for _, w, _, _ in seen}))
        site = Site(instruction, "read", waves)
        return Finding("init", "memory_never_written", severity, (site,), facts, None, len(seen))


def _early(
    group: Group, reads: Touched, writes: Touched, instruction: NDArray[np.int64], runs: NDArray[np.int64]
) -> _Early:
    low, high = _merged(reads)
    near = writes.of(_meets(writes, low, high))
    size = grain(Touched.joined([reads, near]))
    unit, access, _ = spread(reads, size)
    own, own_access, _ = spread(near, size)
    _, which = np.unique(np.concatenate([unit, own]), return_inverse=True)
    byte = unit * size
    at = np.searchsorted(runs[:, 0], byte, "right") - 1
    nothing_there = (at >= 0) & (runs[np.maximum(at, 0), 1] > byte)
    early = nothing_there & too_early(group, (which[: len(unit)], access), (which[len(unit) :], own_access))
    chosen = access[early]
    return _Early(group.number, byte[early], size, instruction[chosen], group.wave[chosen] % group.per_member)


def _meets(touched: Touched, low: NDArray[np.int64], high: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether runs of bytes meet one of the sorted, disjoint intervals."""
    if not len(low):
        return np.zeros(len(touched.start), bool)
    at = np.searchsorted(high, touched.start, "right")
    inside = at < len(low)
    return inside & (low[np.minimum(at, len(low) - 1)] < touched.start + touched.size)


def _merged(touched: Touched) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The intervals that runs of bytes cover, by address."""
    if not len(touched.start):
        return touched.start, touched.start
    order = np.argsort(touched.start)
    start, end = touched.start[order], (touched.start + touched.size)[order]
    reach = np.maximum.accumulate(end)
    begins = np.flatnonzero(np.r_[True, start[1:] > reach[:-1]])
    return start[begins], reach[np.r_[begins[1:], len(start)] - 1]

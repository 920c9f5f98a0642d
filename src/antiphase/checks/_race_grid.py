"""Races between workgroups: bytes of memory that several touch, one of them changing them, and not all by atomics.

No rendezvous orders workgroups. Atomics may: where workgroups share places that they change atomically with a result,
as locks and counters are, conflicts are not judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antiphase.asm import Kernel
from antiphase.checks._finding import Finding, Severity, Site
from antiphase.checks._race_atomics import comparing
from antiphase.checks._race_bytes import ATOMIC, READ, WRITE, Touched
from antiphase.checks._race_group import Group
from antiphase.checks._race_overlap import grain, spread
from antiphase.checks._registers import returns_old
from antiphase.isa import Memory, find

_KINDS = {READ: "read", WRITE: "write", ATOMIC: "atomic"}


@dataclass(frozen=True, slots=True)
class _Cells:
    """Rows by unit: what one instruction did to a unit in all workgroups. low, high: the first and last of them."""

    unit: NDArray[np.int64]
    what: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]


class GridTally:
    """Memory accesses of workgroup after workgroup. what: 8 * instruction + kind."""

    def __init__(self, kernel: Kernel, target: str) -> None:
        self.kernel = kernel
        self.compares = comparing(kernel)
        records = [find(i.mnemonic, target) for i in kernel.instructions]
        self.returning = np.array(
            [isinstance(r, Memory) and returns_old(i, r) for i, r in zip(kernel.instructions, records, strict=True)],
            bool,
        )
        self.runs: list[Touched] = []
        self.locked = False

    def add(self, group: Group) -> None:
        """The memory accesses of one more workgroup."""
        what = 8 * group.instructions()[group.memory.access] + group.memory.kind
        self.runs.append(_merged(group.memory, what, group.number))

    def findings(self) -> Iterator[Finding]:
        """Conflicts by pair of instructions; count is the units of memory in conflict."""
        touched = _conflicting(Touched.joined(self.runs))
        if not len(touched.start):
            return
        size = grain(touched)
        cells = _cells(touched, size)
        self.locked = self._locked(cells)
        if self.locked:
            return
        found: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
        for a, b, unit, low, high in self._pairs(_clashing(cells)):
            found.setdefault((a, b), []).append((unit * size, low, high))
        for (a, b), places in sorted(found.items()):
            yield _finding(a, b, places, size)

    def incomplete(self) -> Iterator[str]:
        """Why conflicts were not judged; after `findings`."""
        if self.locked:
            yield "race: workgroups share atomics with results, which may order what they do to memory"

    def _locked(self, cells: _Cells) -> bool:
        """Whether some place is changed with a result by several workgroups, and not only as a guess is."""
        atomic = (cells.what % 8 == ATOMIC) & self.returning[cells.what // 8] & ~self.compares[cells.what // 8]
        return bool((atomic & (cells.low != cells.high)).any())

    def _pairs(self, cells: _Cells) -> Iterator[tuple[int, int, int, int, int]]:
        """(what, what, unit, workgroup, another) of conflicts, unit by unit."""
        if not len(cells.unit):
            return
        starts = np.flatnonzero(np.r_[True, cells.unit[1:] != cells.unit[:-1]])
        for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(cells.unit)], strict=True):
            guessed = bool(self.compares[cells.what[start:end] // 8].any())
            for i in range(start, end):
                for j in range(i, end):
                    kinds = {int(cells.what[i] % 8), int(cells.what[j] % 8)}
                    low, high = min(cells.low[i], cells.low[j]), max(cells.high[i], cells.high[j])
                    harmless = kinds in ({READ}, {ATOMIC}) or (guessed and kinds == {READ, ATOMIC})
                    if low != high and not harmless and not (i == j and cells.low[i] == cells.high[i]):
                        yield int(cells.what[i]), int(cells.what[j]), int(cells.unit[i]), int(low), int(high)


def _finding(a: int, b: int, places: list[tuple[int, int, int]], size: int) -> Finding:
    byte, low, high = places[0]
    conflict = f"{_KINDS[a % 8]}_{_KINDS[b % 8]}"
    # one store of all workgroups to a place is harmless if they store the same, which a recording does not say
    severity: Severity = "warning" if a == b else "error"
    facts = {"space": "memory", "conflict": conflict, "bytes": (byte, byte + size), "workgroups": (low, high)}
    sites = (Site(a // 8, _KINDS[a % 8]), Site(b // 8, _KINDS[b % 8]))
    return Finding("race", "between_workgroups", severity, sites, facts, None, len(places))


def _merged(touched: Touched, what: NDArray[np.int64], workgroup: int) -> Touched:
    """Neighbouring runs of one instruction as one; accesses are workgroups now, kinds are `what`."""
    order = np.lexsort((touched.start, what))
    start, what = touched.start[order], what[order]
    end = start + touched.size[order]
    if not len(start):
        return Touched.joined([])
    fresh = np.r_[True, what[1:] != what[:-1]]
    # the furthest end so far, begun anew for each instruction: addresses have 48 bits
    above = np.cumsum(fresh) << 48
    reach = np.maximum.accumulate(end + above) - above
    begins = np.flatnonzero(fresh | np.r_[True, start[1:] > reach[:-1]])
    ends = np.maximum.reduceat(end, begins)
    n = len(begins)
    return Touched(start[begins], ends - start[begins], np.full(n, workgroup), what[begins], np.zeros(n, np.int64))


def _conflicting(touched: Touched) -> Touched:
    """The runs that meet one of another workgroup that changes memory."""
    changes = touched.of(touched.kind % 8 != READ)
    if not len(changes.start):
        return changes
    order = np.argsort(changes.start)
    reach = np.maximum.accumulate((changes.start + changes.size)[order])
    starts = changes.start[order]
    last = np.searchsorted(starts, touched.start + touched.size)
    meets = (last > 0) & (reach[np.maximum(last - 1, 0)] > touched.start)
    return touched.of(meets)


def _cells(touched: Touched, size: int) -> _Cells:
    """Rows sorted by unit."""
    unit, workgroup, what = spread(touched, size)
    order = np.lexsort((workgroup, what, unit))
    unit, workgroup, what = unit[order], workgroup[order], what[order]
    starts = np.flatnonzero(np.r_[True, (unit[1:] != unit[:-1]) | (what[1:] != what[:-1])])
    return _Cells(unit[starts], what[starts], workgroup[starts], workgroup[np.r_[starts[1:], len(unit)] - 1])


def _clashing(cells: _Cells) -> _Cells:
    """The rows of units that one workgroup changes and another touches, not all by atomics."""
    edges = np.flatnonzero(np.r_[True, cells.unit[1:] != cells.unit[:-1]])
    kinds = np.bitwise_or.reduceat(cells.what % 8, edges)
    several = np.minimum.reduceat(cells.low, edges) != np.maximum.reduceat(cells.high, edges)
    clash = several & ((kinds & WRITE != 0) | (kinds == ATOMIC | READ))
    kept = np.repeat(clash, np.diff(np.r_[edges, len(cells.unit)]))
    return _Cells(cells.unit[kept], cells.what[kept], cells.low[kept], cells.high[kept])

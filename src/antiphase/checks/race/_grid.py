"""Races between workgroups: bytes of memory that several touch, one of them changing them, and not all by atomics.

No rendezvous orders workgroups, but for those of a cluster. Atomics may: where they do, `_whole` judges.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antiphase.asm import Kernel
from antiphase.checks._finding import Finding, Severity, Site
from antiphase.checks.order import ATOMIC, READ, WRITE, Group, Touched, distinct
from antiphase.checks.race._atomics import comparing
from antiphase.isa import Memory, find

_KINDS = {READ: "read", WRITE: "write", ATOMIC: "atomic"}


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """Rows by stretch of memory that no access begins or ends within: what one instruction did to it in all workgroups.

    start, end: its bytes. low, high: the first and last of the workgroups.
    """

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    what: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]

    def of(self, chosen: NDArray[np.bool_]) -> _Cells:
        """Some of the rows."""
        return _Cells(self.start[chosen], self.end[chosen], self.what[chosen], self.low[chosen], self.high[chosen])

    def edges(self) -> NDArray[np.int64]:
        """The first row of every stretch."""
        return np.flatnonzero(np.r_[True, self.start[1:] != self.start[:-1]]) if len(self.start) else self.start


@dataclass(frozen=True, slots=True)
class _Place:
    """Bytes in conflict, and two workgroups that conflict there."""

    start: int
    end: int
    workgroups: tuple[int, int]


class GridTally:
    """Memory accesses of workgroup after workgroup. what: 8 * instruction + kind."""

    def __init__(self, kernel: Kernel, target: str) -> None:
        self.kernel = kernel
        self.compares = comparing(kernel)
        records = [find(i.mnemonic, target) for i in kernel.instructions]
        # tensor transfers and formats have elements of several sizes: dwords stand for them
        self.size = np.array([(isinstance(r, Memory) and not r.format and r.bits // 8) or 4 for r in records])
        self.runs: list[Touched] = []
        self.cluster = 1

    def add(self, group: Group) -> None:
        """The memory accesses of one more workgroup, or of a cluster of them."""
        self.cluster = len(group.members)
        what = 8 * group.instructions()[group.memory.access] + group.memory.kind
        self.runs.append(_merged(group.memory, what, group.number))

    def findings(self) -> Iterator[Finding]:
        """Conflicts by pair of instructions; count is elements of memory in conflict, of the narrower access."""
        cells = _cells(self.meeting())
        found: dict[tuple[int, int], list[_Place]] = {}
        for a, b, place in self._pairs(_clashing(cells)):
            found.setdefault((a, b), []).append(place)
        for (a, b), places in sorted(found.items()):
            yield _finding(a, b, places, min(int(self.size[a // 8]), int(self.size[b // 8])), self.cluster)

    def meeting(self) -> Touched:
        """The runs of bytes in which one workgroup changes what another touches."""
        return _conflicting(Touched.joined(self.runs))

    def _pairs(self, cells: _Cells) -> Iterator[tuple[int, int, _Place]]:
        """(what, what, where) of conflicts, in the order of memory."""
        starts = cells.edges()
        for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(cells.start)], strict=False):
            guessed = bool(self.compares[cells.what[start:end] // 8].any())
            for i in range(start, end):
                for j in range(i, end):
                    kinds = {int(cells.what[i] % 8), int(cells.what[j] % 8)}
                    low, high = min(cells.low[i], cells.low[j]), max(cells.high[i], cells.high[j])
                    harmless = kinds in ({READ}, {ATOMIC}) or (guessed and kinds == {READ, ATOMIC})
                    if low != high and not harmless and not (i == j and cells.low[i] == cells.high[i]):
                        place = _Place(int(cells.start[i]), int(cells.end[i]), (int(low), int(high)))
                        yield int(cells.what[i]), int(cells.what[j]), place


def _finding(a: int, b: int, places: list[_Place], element: int, cluster: int) -> Finding:
    conflict = f"{_KINDS[a % 8]}_{_KINDS[b % 8]}"
    # one store of all workgroups to a place is harmless if they store the same, which a recording does not say
    severity: Severity = "warning" if a == b else "error"
    facts = {
        "space": "memory", "conflict": conflict, "bytes": _first_run(places), "workgroups": places[0].workgroups,
        "cluster": cluster,
    }  # fmt: skip
    sites = (Site(a // 8, _KINDS[a % 8]), Site(b // 8, _KINDS[b % 8]))
    count = -(-sum(place.end - place.start for place in places) // element)
    return Finding("race", "between_workgroups", severity, sites, facts, None, count)


def _first_run(places: list[_Place]) -> tuple[int, int]:
    """The first bytes in conflict, as far as they lie one after the other."""
    end = places[0].end
    for place in places[1:]:
        if place.start != end:
            break
        end = place.end
    return places[0].start, end


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


def _cells(touched: Touched) -> _Cells:
    """Rows sorted by place."""
    borders = distinct(np.r_[touched.start, touched.start + touched.size])
    first = np.searchsorted(borders, touched.start)
    length = np.searchsorted(borders, touched.start + touched.size) - first
    row = np.repeat(np.arange(len(first)), length)
    at = first[row] + np.arange(len(row)) - np.repeat(np.cumsum(length) - length, length)
    what, workgroup = touched.kind[row], touched.access[row]
    order = np.lexsort((workgroup, what, at))
    at, what, workgroup = at[order], what[order], workgroup[order]
    starts = np.flatnonzero(np.r_[True, (at[1:] != at[:-1]) | (what[1:] != what[:-1])][: len(at)])
    ends = np.r_[starts[1:], len(at)][: len(starts)] - 1
    return _Cells(borders[at[starts]], borders[at[starts] + 1], what[starts], workgroup[starts], workgroup[ends])


def _clashing(cells: _Cells) -> _Cells:
    """The rows of stretches that one workgroup changes and another touches, not all by atomics."""
    edges = cells.edges()
    if not len(edges):
        return cells
    kinds = np.bitwise_or.reduceat(cells.what % 8, edges)
    several = np.minimum.reduceat(cells.low, edges) != np.maximum.reduceat(cells.high, edges)
    clash = several & ((kinds & WRITE != 0) | (kinds == ATOMIC | READ))
    return cells.of(np.repeat(clash, np.diff(np.r_[edges, len(cells.start)])))

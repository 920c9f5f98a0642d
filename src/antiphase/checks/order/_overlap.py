"""Pairs of accesses that touch a byte in common, one of them changing it, with nothing to put them in order.

An access has an interval of moments, [first, last], in which it may take effect; two of different agents are unordered
exactly if their intervals meet. A cell is a unit of memory at a moment. Almost all cells have one agent or only reads,
so that only the few others are looked at pair by pair.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antiphase.checks.order._bytes import ATOMIC, READ, WRITE, Touched

_CELLS_AT_ONCE = 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Unordered pairs of accesses. a, b: access numbers. byte: the first byte in common. bytes_: how many."""

    a: NDArray[np.int64]
    b: NDArray[np.int64]
    byte: NDArray[np.int64]
    bytes_: NDArray[np.int64]

    def of(self, chosen: NDArray[np.bool_]) -> Pairs:
        """Some of them."""
        return Pairs(self.a[chosen], self.b[chosen], self.byte[chosen], self.bytes_[chosen])


def unordered(touched: Touched, agent: NDArray[np.int64], first: NDArray[np.int64], last: NDArray[np.int64]) -> Pairs:
    """All unordered conflicting pairs. agent, first, last: by access number."""
    size = grain(touched)
    unit, access, kind = _units(touched, size)
    found = [
        _in_cells(unit[part], access[part], kind[part], agent, first, last)
        for part in _portions(unit, last[access] - first[access] + 1)
    ]
    if not found:
        return Pairs(*(np.empty(0, np.int64) for _ in range(4)))
    a, b, units = (np.concatenate(column) for column in zip(*found, strict=True))
    key, index, counts = np.unique(a * len(agent) + b, return_index=True, return_counts=True)
    return Pairs(key // len(agent), key % len(agent), units[index] * size, counts * size)


def distinct(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sorted, each once: several times as fast as np.unique for millions of integers."""
    ordered = np.sort(values)
    return ordered[np.r_[True, ordered[1:] != ordered[:-1]]] if len(ordered) else ordered


def grain(touched: Touched) -> int:
    """The largest power of two that divides all starts and sizes."""
    bits = int(np.bitwise_or.reduce(touched.start, initial=64) | np.bitwise_or.reduce(touched.size, initial=0))
    return bits & -bits


def spread(touched: Touched, grain: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """(unit, access, kind) of every unit of `grain` bytes touched."""
    starts, accesses, kinds = [touched.start[:0]], [touched.access[:0]], [touched.kind[:0]]
    for size in distinct(touched.size).tolist():
        mine = touched.size == size
        steps = size // grain
        starts.append((touched.start[mine][:, None] // grain + np.arange(steps)).ravel())
        accesses.append(np.repeat(touched.access[mine], steps))
        kinds.append(np.repeat(touched.kind[mine], steps))
    return np.concatenate(starts), np.concatenate(accesses), np.concatenate(kinds)


def _units(touched: Touched, grain: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """What `spread` gives, each once, sorted by unit, without units that are only read."""
    unit, access, kind = spread(touched, grain)
    changed = distinct(unit[kind != READ])
    if not len(changed):
        return unit[:0], access[:0], kind[:0]
    at = np.minimum(np.searchsorted(changed, unit), len(changed) - 1)
    kept = changed[at] == unit
    # dense numbers keep the key in 63 bits
    width = 8 * (int(access.max()) + 1)
    key = distinct(at[kept] * width + access[kept] * 8 + kind[kept])
    return changed[key // width], key % width // 8, key % 8


def _portions(unit: NDArray[np.int64], cells: NDArray[np.int64]) -> Iterator[slice]:
    """Slices of whole units with a bounded number of cells each."""
    ends = np.cumsum(cells)
    start = 0
    while start < len(unit):
        limit = (ends[start - 1] if start else 0) + _CELLS_AT_ONCE
        end = max(start + 1, int(np.searchsorted(ends, limit)))
        end = int(np.searchsorted(unit, unit[end - 1], "right"))
        yield slice(start, end)
        start = end


def _in_cells(
    unit: NDArray[np.int64], access: NDArray[np.int64], kind: NDArray[np.int64], agent: NDArray[np.int64],
    first: NDArray[np.int64], last: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:  # fmt: skip
    length = last[access] - first[access] + 1
    row = np.repeat(np.arange(len(unit)), length)
    moment = first[access][row] + np.arange(len(row)) - np.repeat(np.cumsum(length) - length, length)
    moments = int(last[access].max()) + 1
    cell = unit[row] * moments + moment
    order = np.argsort(cell, kind="stable")
    cell, row, moment = cell[order], row[order], moment[order]
    starts = np.flatnonzero(np.r_[True, cell[1:] != cell[:-1]])
    kinds, agents = kind[row], agent[access[row]]
    seen = np.bitwise_or.reduceat(kinds, starts)
    several = np.minimum.reduceat(agents, starts) != np.maximum.reduceat(agents, starts)
    clash = several & ((seen & WRITE != 0) | (seen == ATOMIC | READ))
    number = np.cumsum(np.r_[False, cell[1:] != cell[:-1]])
    sizes = np.diff(np.r_[starts, len(cell)])
    changes = np.flatnonzero(clash[number] & (kinds != READ))
    work = np.cumsum(sizes[number[changes]])
    bounds = np.unique(np.searchsorted(work, np.arange(_CELLS_AT_ONCE, work[-1] if len(work) else 0, _CELLS_AT_ONCE)))
    parts = []
    for some in np.split(changes, bounds):
        i, j = _joined(some, starts[number[some]], sizes[number[some]])
        a, b = access[row[i]], access[row[j]]
        # two changes are met twice; and a pair counts in the first moment that it shares
        wanted = (agent[a] != agent[b]) & (kinds[i] | kinds[j] != ATOMIC) & ((kinds[j] == READ) | (a < b))
        wanted &= np.maximum(first[a], first[b]) == moment[i]
        a, b = a[wanted], b[wanted]
        parts.append((np.minimum(a, b), np.maximum(a, b), unit[row[i[wanted]]]))
    a, b, units = (np.concatenate(column) for column in zip(*parts, strict=True))
    return a, b, units


def _joined(
    rows: NDArray[np.int64], starts: NDArray[np.int64], sizes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each of some rows with every row of its run."""
    i = np.repeat(rows, sizes)
    return i, np.arange(len(i)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + np.repeat(starts, sizes)

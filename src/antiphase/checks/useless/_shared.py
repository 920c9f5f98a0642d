"""How far an operation's bytes are shared: whether other waves of the launch could tell when it completes.

What changes memory is told apart by dwords. A load counts with whole cache lines: one that is still out when its line
is invalidated may bring the old content back. Allocations share no line, as those of a GPU do not, wherever the host
has placed them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from antiphase.checks.order import READ, WRITE, Group, Touched, distinct, of_host
from antiphase.machine.memory import Memory

ALONE, WAVES, WORKGROUPS = range(3)
"""Levels: nobody else touches the bytes in conflict; waves of the same workgroup do; waves of another one do."""
_LINE, _DWORD = 256, 4  # no target has longer lines
_WAVE_BITS = 16
_NO_ROWS = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Sharing:
    """levels: of memory accesses by workgroup, over its access numbers. abroad: instructions with one that another
    workgroup shares. loads, stores: some that are no atomics are shared, so that caches matter to them."""

    levels: dict[int, NDArray[np.int64]]
    abroad: frozenset[int]
    loads: bool
    stores: bool

    @classmethod
    def of(cls, groups: Iterable[Group], memory: Memory, passive: frozenset[int], whole: bool) -> Sharing:
        """Of a launch. passive: atomics without result that may change places with each other. whole: all of its
        workgroups are there; if not, those that are not may touch anything."""
        parts, sizes = list[Touched](), dict[int, int]()
        waves, instructions = [_NO_ROWS], [_NO_ROWS]
        base = 0
        for group in groups:
            runs = _joined_runs(group.memory)
            parts.append(runs.moved(base))
            waves.append(group.number << _WAVE_BITS | group.wave[runs.access])
            instructions.append(group.instructions()[runs.access])
            sizes[group.number] = len(group.wave)
            base += len(group.wave)
        runs, wave, instruction = Touched.joined(parts), np.concatenate(waves), np.concatenate(instructions)
        hosts = of_host(runs.start, [(a.address, a.address + a.size) for a in memory.allocations if a.host])
        runs = replace(runs, start=_on_own_lines(runs.start, memory))
        levels = np.full(base, ALONE)
        swap = np.isin(instruction, list(passive))
        for level, agent in ((WAVES, wave), (WORKGROUPS, wave >> _WAVE_BITS)):
            levels[runs.access[_shared(runs, agent, swap) | (not whole) | hosts]] = level
        loads, stores = (bool((levels[runs.access[runs.kind == kind]] > ALONE).any()) for kind in (READ, WRITE))
        abroad = instruction[levels[runs.access] == WORKGROUPS]
        ends = np.cumsum(list(sizes.values()))
        return cls(
            dict(zip(sizes, np.split(levels, ends[:-1]), strict=True)), frozenset(abroad.tolist()), loads, stores
        )


def shared_lds(group: Group) -> NDArray[np.bool_]:
    """By access: whether another wave touches its bytes of LDS in conflict."""
    found = np.zeros(len(group.wave), bool)
    runs = _joined_runs(group.lds)
    wave, reads = group.wave[runs.access], runs.kind == READ
    found[runs.access[_met(runs, wave, _DWORD, reads, ~reads) | _met(runs, wave, _DWORD, ~reads, reads | ~reads)]] = (
        True
    )
    return found


def _on_own_lines(addresses: NDArray[np.int64], memory: Memory) -> NDArray[np.int64]:
    """The same addresses with each allocation moved to the start of a line behind the one before."""
    starts, moves = list[int](), list[int]()
    reach = end = 0
    for low, high in sorted((a.address, a.address + a.size) for a in memory.allocations):
        if not starts or low >= reach:  # those that overlap stay together
            place = -(-end // _LINE) * _LINE
            starts.append(low)
            moves.append(place - low)
        reach = max(reach, high)
        end = reach + moves[-1]
    if not starts:
        return addresses
    return addresses + np.array(moves)[np.searchsorted(starts, addresses, "right") - 1]


def _shared(runs: Touched, agent: NDArray[np.int64], swap: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Runs that another agent touches in conflict. swap: those that do not conflict with each other."""
    reads = runs.kind == READ
    found = _met(runs, agent, _LINE, reads, ~reads)
    # dwords are many: only those of lines that several touch
    near = _met(runs, agent, _LINE, ~reads, np.ones(len(reads), bool))
    unit, row = _spread(runs, _LINE, np.ones(len(reads), bool))
    close = np.zeros(len(reads), bool)
    close[row[np.isin(unit, distinct(_spread(runs, _LINE, near)[0]))]] = True
    found |= _met(runs, agent, _DWORD, near & ~swap, close)
    return found | _met(runs, agent, _DWORD, near & swap, close & ~swap)


def _met(
    runs: Touched, agent: NDArray[np.int64], unit: int, asked: NDArray[np.bool_], others: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Those of the asked runs that have a unit of memory in common with one of `others` of another agent."""
    found = np.zeros(len(asked), bool)
    place, row = _spread(runs, unit, others)
    units = distinct(place)
    if not len(units):
        return found
    at = np.searchsorted(units, place)
    low, high = np.full(len(units), np.iinfo(np.int64).max), np.full(len(units), -1)
    np.minimum.at(low, at, agent[row])
    np.maximum.at(high, at, agent[row])
    place, row = _spread(runs, unit, asked)
    at = np.minimum(np.searchsorted(units, place), len(units) - 1)
    mine = agent[row]
    found[row[(units[at] == place) & ((low[at] != mine) | (high[at] != mine))]] = True
    return found


def _spread(runs: Touched, unit: int, chosen: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(unit, run) of everything that the chosen runs touch."""
    rows = np.flatnonzero(chosen)
    first = runs.start[rows] // unit
    count = (runs.start[rows] + runs.size[rows] - 1) // unit - first + 1
    ends = np.cumsum(count)
    inside = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - count, count)
    return np.repeat(first, count) + inside, np.repeat(rows, count)


def _joined_runs(touched: Touched) -> Touched:
    """The same with neighbouring lanes of an access as one run."""
    order = np.lexsort((touched.start, touched.access))
    start, end, access = touched.start[order], (touched.start + touched.size)[order], touched.access[order]
    if not len(start):
        return touched
    begins = np.flatnonzero(np.r_[True, (access[1:] != access[:-1]) | (start[1:] > end[:-1])])
    ends, rows = np.maximum.reduceat(end, begins), order[begins]
    return Touched(start[begins], ends - start[begins], access[begins], touched.kind[rows], touched.engine[rows])

"""Loads that a wave turns around: the same place again and again until it holds what another wave puts there."""

from __future__ import annotations

from collections import deque

from antiphase.asm import Kernel, Special
from antiphase.checks._registers import units, uses_of
from antiphase.isa import Control, Memory, find

_EXEC = units(Special("exec"))


def spinning(kernel: Kernel, target: str) -> frozenset[int]:
    """Loads in a loop that has no other memory access and no barrier, and leaves their address alone."""
    records = [find(instruction.mnemonic, target) for instruction in kernel.instructions]
    found: set[int] = set()
    uses = None
    for block in kernel.blocks:
        inside = [i for number in _round_trip(kernel, block.index) for i in _instructions(kernel, number)]
        accesses = [i for i in inside if _is_access(records[i])]
        if len(accesses) != 1 or any(_is_barrier(records[i]) for i in inside):
            continue
        (load,) = accesses
        record = records[load]
        uses = uses or uses_of(kernel, target)
        changed = frozenset().union(*(uses[i].writes | uses[i].may_write for i in inside)) - uses[load].results
        address = uses[load].reads - uses[load].results - _EXEC
        if isinstance(record, Memory) and record.access == "load" and address.isdisjoint(changed):
            found.add(load)
    return frozenset(found)


def _round_trip(kernel: Kernel, start: int) -> list[int]:
    """The blocks of the shortest way from a block back to it, none if there is no such way."""
    came: dict[int, int] = {}
    todo = deque([start])
    while todo:
        at = todo.popleft()
        for following in kernel.blocks[at].inside:
            if following == start:
                way = [at]
                while way[-1] != start:
                    way.append(came[way[-1]])
                return way
            if following not in came:
                came[following] = at
                todo.append(following)
    return []


def _instructions(kernel: Kernel, block: int) -> range:
    return range(kernel.blocks[block].start, kernel.blocks[block].end)


def _is_access(record: object) -> bool:
    return isinstance(record, Memory) and record.access not in ("cache", "clock") and record.lanes is None


def _is_barrier(record: object) -> bool:
    return isinstance(record, Control) and record.action.startswith("barrier")

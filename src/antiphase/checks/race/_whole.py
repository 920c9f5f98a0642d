"""Races between workgroups that hand over by atomics: the waves of a launch as one group, with one clock."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from antiphase.checks.order import AT_MOST, CacheModel, Group, Pairs, Steps, Touched, unordered, whole
from antiphase.checks.race._handover import Ordered
from antiphase.checks.race._release import in_memory

_MOST_PAIRS = 50_000_000


def hands_over(groups: Sequence[Group]) -> bool:
    """Whether some place is changed by an atomic of one group, and acquired by one of another."""
    acquire: dict[int, set[int]] = {}
    change: dict[int, set[int]] = {}
    for number, group in enumerate(groups):
        for one in (one for own in group.exchanges.values() for one in own.values()):
            for wanted, sides in ((one.acquires, acquire), (one.changes, change)):
                for place in one.places if wanted else ():
                    sides.setdefault(place, set()).add(number)
    return any(len(numbers | change.get(place, numbers)) > 1 for place, numbers in acquire.items() if place in change)


def too_many(groups: Iterable[Group]) -> bool:
    """Whether following all atomics would take too long."""
    return sum(len(own) for group in groups for own in group.exchanges.values()) > AT_MOST


@dataclass(frozen=True, slots=True)
class Between:
    """Accesses to memory of different groups of a launch: pairs that nothing puts in order, and pairs in order."""

    group: Group
    touched: Touched
    open: Pairs
    ordered: Ordered


def between(groups: Sequence[Group], hot: Touched, steps: Steps, model: CacheModel) -> Between | None:
    """What different groups do where they meet. hot: the bytes of that.

    None if looking at all of it would take too long.
    """
    together = whole(groups, [_within(group.memory, hot) for group in groups], steps, model)
    touched = together.memory
    if len(touched.start) * len(groups) > _MOST_PAIRS:
        return None
    size = len(groups[0].members) * together.per_member
    agent = together.wave // size
    now = np.zeros(len(agent), np.int64)
    pairs = unordered(touched, agent, now, now)
    released = in_memory(together, steps, one_workgroup=False)
    a, b = pairs.a, pairs.b
    ahead, behind = together.seen(b, a) > released[a], together.seen(a, b) > released[b]
    kind, engine = np.zeros(len(agent), np.int64), np.zeros(len(agent), np.int64)
    kind[touched.access], engine[touched.access] = touched.kind, touched.engine
    ordered = Ordered(together, np.where(ahead, a, b), np.where(ahead, b, a), pairs, kind, engine, released)
    return Between(together, touched, pairs.of(~ahead & ~behind), ordered.of(ahead | behind))


def _within(touched: Touched, hot: Touched) -> Touched:
    """The runs that have bytes in common with hot ones."""
    order = np.argsort(hot.start)
    start, end = hot.start[order], np.maximum.accumulate((hot.start + hot.size)[order])
    before = np.searchsorted(start, touched.start + touched.size)
    return touched.of((before > 0) & (end[np.maximum(before - 1, 0)] > touched.start))

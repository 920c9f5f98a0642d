"""Races between workgroups that hand over by atomics: the waves of a launch as one group, with one clock."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from antiphase.checks.order import AT_MOST, Group, Pairs, Steps, Touched, unordered, whole
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


def between(groups: Sequence[Group], hot: Touched, steps: Steps) -> tuple[Group, Touched, Pairs] | None:
    """Accesses to memory of different groups that nothing puts in order. hot: the bytes where they meet.

    None if looking at all that meet would take too long.
    """
    together = whole(groups, [_within(group.memory, hot) for group in groups], steps)
    touched = together.memory
    if len(touched.start) * len(groups) > _MOST_PAIRS:
        return None
    size = len(groups[0].members) * together.per_member
    agent = together.wave // size
    now = np.zeros(len(agent), np.int64)
    pairs = unordered(touched, agent, now, now)
    released = in_memory(together, steps, one_workgroup=False)
    a, b = pairs.a, pairs.b
    open_ = (together.seen(b, a) <= released[a]) & (together.seen(a, b) <= released[b])
    return together, touched, pairs.of(open_)


def _within(touched: Touched, hot: Touched) -> Touched:
    """The runs that have bytes in common with hot ones."""
    order = np.argsort(hot.start)
    start, end = hot.start[order], np.maximum.accumulate((hot.start + hot.size)[order])
    before = np.searchsorted(start, touched.start + touched.size)
    return touched.of((before > 0) & (end[np.maximum(before - 1, 0)] > touched.start))

"""`useless`: barriers that put no bytes in order.

Where all waves meet the same barriers in the same order, one is needed if it alone lies between an access and the next
in conflict with it. In a kernel of two groups that run some rendezvous apart, taking a barrier out changes which of
their rendezvous meet; so the recorded accesses are put in order anew without it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from antiphase.asm import Kernel
from antiphase.checks._finding import Finding, Fix, Site
from antiphase.checks.order import Group, Path, Rendezvous, Steps, unordered
from antiphase.checks.stage import offset_groups
from antiphase.checks.useless._needs import arrival_needs
from antiphase.checks.useless._shared import WORKGROUPS
from antiphase.checks.useless._streams import NEVER


class Barriers:
    """What the workgroups of a recording need of each barrier.

    needed: barriers that alone put some bytes in order. publishing: those that may alone put in order what other
    workgroups see. pairing: barriers that the two groups meet at different times.
    judged: the waves of every workgroup are in step, or in two such groups.
    """

    def __init__(self, kernel: Kernel, steps: Steps) -> None:
        self.kernel, self.steps = kernel, steps
        self.needed: set[int] = set()
        self.publishing: set[int] = set()
        self.pairing: set[int] = set()
        self.judged = True
        self.seen: set[tuple[int, ...]] = set()

    def add(self, group: Group, level: NDArray[np.int64]) -> None:
        """One more workgroup. level: how far its accesses to memory are shared."""
        # waves of a CU share a vector memory queue on CDNA: to arrive is enough, as `race` has it
        in_memory = group.arrived if self.steps.generation == "gfx9" else group.complete
        first = next(iter(group.paths.values()))
        if any(path.others for path in group.paths.values()):
            self.judged = False
        elif all(np.array_equal(path.arrivals, first.arrivals) for path in group.paths.values()):
            self._in_step(group, in_memory)
            self._publishing(group, level == WORKGROUPS)
        elif offset_groups(group.paths) is not None:
            # most workgroups do the same in LDS
            key = *map(id, group.paths.values()), hash(group.lds.start.tobytes())
            if level.any() or key not in self.seen:
                self._offset(group, in_memory)
            self.seen |= set() if level.any() else {key}
            self.judged &= not (level == WORKGROUPS).any()
        else:
            self.judged = False

    def _in_step(self, group: Group, in_memory: NDArray[np.int64]) -> None:
        arrivals = next(iter(group.paths.values())).arrivals
        for touched, done in ((group.lds, group.complete), (group.memory, in_memory)):
            last = arrival_needs(group, touched, done)
            self.needed |= _alone_between(arrivals, done, last)

    def _publishing(self, group: Group, chosen: NDArray[np.bool_]) -> None:
        """Of what other workgroups share, one wave's access is kept before the next of another."""
        arrivals = next(iter(group.paths.values())).arrivals
        for wave in group.paths if chosen.any() else ():
            mine = chosen & (group.wave == wave)
            moments = np.append(np.sort(group.issued[chosen & (group.wave != wave)]), NEVER)
            last = moments[np.searchsorted(moments, group.complete[mine], "right")]
            self.publishing |= _alone_between(arrivals, group.complete[mine], np.where(last < NEVER, last - 1, NEVER))

    def _offset(self, group: Group, in_memory: NDArray[np.int64]) -> None:
        counts = [Counter(path.arrivals.tolist()) for path in group.paths.values()]
        today = _pairs(group, in_memory, None)
        for barrier in sorted(set().union(*counts) - self.needed):
            places = {np.flatnonzero(path.arrivals == barrier).tobytes() for path in group.paths.values()}
            if len(places) > 1:
                self.pairing.add(barrier)
            if _pairs(group, in_memory, barrier) > today:
                self.needed.add(barrier)

    def findings(self, executed: Counter[int], judged: Callable[[int], bool]) -> Iterator[Finding]:
        """Barriers that are judged and without which all recorded accesses would be ordered as before."""
        met = [i for i in executed if isinstance(self.steps.at(i), Rendezvous)]
        for instruction in sorted(met):
            if instruction in self.needed or not judged(instruction):
                continue
            # half a split barrier cannot go alone, and a fix is of one instruction
            whole = self.kernel.instructions[instruction].mnemonic == "s_barrier"
            pairing = instruction in self.pairing
            yield Finding(
                "useless", "barrier_keeps_offset" if pairing else "barrier_orders_nothing", "info",
                (Site(instruction, "barrier"),), {"executed": executed[instruction]},
                Fix("delete", instruction) if whole and not pairing else None,
            )  # fmt: skip


def _alone_between(arrivals: NDArray[np.int64], done: NDArray[np.int64], last: NDArray[np.int64]) -> set[int]:
    """The barriers that alone lie between some arrival `done` and its `last`."""
    found = set[int]()
    for start, end in np.unique(np.stack([done, last], 1)[last < NEVER], axis=0).tolist():
        between = set(arrivals[start : end + 1].tolist())
        found |= between if len(between) == 1 else set()
    return found


def _pairs(group: Group, in_memory: NDArray[np.int64], barrier: int | None) -> int:
    """Unordered pairs of accesses, without one barrier."""
    issued, complete, in_memory = (
        _fewer(group, moments, barrier) for moments in (group.issued, group.complete, in_memory)
    )
    sides = (group.lds, complete), (group.memory, in_memory)
    return sum(len(unordered(t, group.wave, issued, np.maximum(issued, done)).a) for t, done in sides)


def _fewer(group: Group, moments: NDArray[np.int64], barrier: int | None) -> NDArray[np.int64]:
    """Moments counted without one barrier."""
    if barrier is None:
        return moments
    found = moments.copy()
    for wave, path in group.paths.items():
        mine = group.wave == wave
        found[mine] -= _passed(path, barrier)[moments[mine]]
    return found


def _passed(path: Path, barrier: int) -> NDArray[np.int64]:
    return np.r_[0, np.cumsum(path.arrivals == barrier)]

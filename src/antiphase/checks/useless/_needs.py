"""When the completion of each memory operation of a wave is needed, as places in what the wave executed.

By its registers: where they are used. By other waves: at the last rendezvous before another wave touches its bytes in
conflict. By the wave itself: where another engine touches its bytes. And where it may be published, if other waves
share its bytes (`_shared`): at the first atomic, cache instruction or store to what other workgroups share that
finds it complete today; and, since another wave may publish it, at the first rendezvous that does.

That loads still out at an invalidation may undo it, and that write-backs and invalidations have to be waited for where
something follows: LLVM AMDGPUUsage, memory model tables, and SIMemoryLegalizer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antiphase.checks.order import READ, Group, Path, Touched, distinct, grain, spread
from antiphase.checks.useless._shared import ALONE, WORKGROUPS, Sharing, shared_lds
from antiphase.checks.useless._streams import NEVER, Stream, Streams


@dataclass(frozen=True, slots=True)
class Publishing:
    """What may publish. flags: atomics, and stores to what other workgroups share. caches: cache instructions that
    matter to what is shared."""

    sharing: Sharing
    flags: frozenset[int]
    caches: frozenset[int]

    @classmethod
    def of(cls, sharing: Sharing, streams: Streams) -> Publishing:
        """In a launch with this sharing."""
        stores = sharing.abroad - streams.reads
        return cls(sharing, frozenset(streams.atomic) | stores, frozenset(streams.cache))


class Needs:
    """Of the operations of one workgroup."""

    def __init__(self, group: Group, publishing: Publishing) -> None:
        self.group, self.publishing = group, publishing
        sides = (arrival_needs(group, touched, group.complete) for touched in (group.lds, group.memory))
        self.rendezvous = np.minimum.reduce(list(sides))
        self.own = _own_needs(group)
        self.level = publishing.sharing.levels[group.number]
        self.lds = shared_lds(group) if publishing.flags else np.zeros(len(group.wave), bool)

    def hard(self, wave: int, path: Path, stream: Stream) -> NDArray[np.int64]:
        """By operation of a wave, the place by which registers and waves of the workgroup need it, NEVER if none do."""
        mine = self.group.wave == wave
        by_access = np.minimum(_at(self.rendezvous[mine], stream.arrivals), _at(self.own[mine], stream.issued))
        return np.minimum(by_access.reshape(-1, 2).min(1), stream.used)

    def published(self, wave: int, path: Path, stream: Stream) -> NDArray[np.int64]:
        """By operation of a wave, the place by which it may be published, NEVER if it is not."""
        mine = self.group.wave == wave
        level = self.level[mine].reshape(-1, 2).max(1)
        lds = self.lds[mine].reshape(-1, 2).any(1)
        caches, flags = (
            np.isin(path.instruction, list(some)) for some in (self.publishing.caches, self.publishing.flags)
        )
        # what invalidates and writes back has no bytes, but is there for those that are shared
        level[caches] = WORKGROUPS
        found = np.minimum(
            _published(path, stream, (level > ALONE) | lds, np.flatnonzero(flags)),
            _published(path, stream, level > ALONE, np.flatnonzero(caches)),
        )
        if self.publishing.flags:
            arrivals = _at(path.complete.max(1), stream.arrivals)
            found = np.minimum(found, np.where(level == WORKGROUPS, arrivals, NEVER))
        return found


def _published(path: Path, stream: Stream, chosen: NDArray[np.bool_], points: NDArray[np.int64]) -> NDArray[np.int64]:
    """By operation, the place of the first of these points that finds it complete; NEVER for those not chosen."""
    found = np.full(len(chosen), NEVER, np.int64)
    rows = np.flatnonzero(chosen)
    first = np.searchsorted(path.since[points], path.done[rows].max(1), "right")
    first = np.maximum(first, np.searchsorted(points, rows, "right"))
    found[rows] = np.append(stream.issued[points], NEVER)[first]
    return found


def next_conflicts(
    touched: Touched, agent: NDArray[np.int64], moment: NDArray[np.int64], after: NDArray[np.int64]
) -> NDArray[np.int64]:
    """By access: the first moment above `after` at which another agent touches a byte of it in conflict, or NEVER."""
    found = np.full(len(agent), NEVER, np.int64)
    if not len(touched.start):
        return found
    unit, access, kind = spread(touched, grain(touched))
    changed = distinct(unit[kind != READ])
    if not len(changed):
        return found
    at = np.minimum(np.searchsorted(changed, unit), len(changed) - 1)
    kept = changed[at] == unit
    at, access, kind = at[kept], access[kept], kind[kept]
    moments = int(max(moment.max(), after.max())) + 2
    for one in distinct(agent[access]).tolist():
        mine = agent[access] == one
        for reading in (True, False):
            asking = np.flatnonzero(mine & ((kind == READ) == reading))
            others = ~mine & ((kind != READ) if reading else True)
            keys = distinct(at[others] * moments + moment[access[others]])
            if not len(asking) or not len(keys):
                continue
            wanted = at[asking] * moments + after[access[asking]] + 1
            position = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            good = (keys[position] >= wanted) & (keys[position] // moments == at[asking])
            np.minimum.at(found, access[asking[good]], keys[position[good]] % moments)
    return found


def arrival_needs(group: Group, touched: Touched, done: NDArray[np.int64]) -> NDArray[np.int64]:
    """By access: the last arrival before another wave touches its bytes in conflict, NEVER if none does.

    done: arrivals of its wave before an access is done with.
    """
    moment = next_conflicts(touched, group.wave, group.issued, np.maximum(done, group.issued))
    return np.where(moment == NEVER, NEVER, moment - 1)


def _own_needs(group: Group) -> NDArray[np.int64]:
    """By access: the operation of the same wave by which it has to be complete, since another engine makes it."""
    engine = np.zeros(len(group.wave), np.int64)
    engine[group.lds.access] = group.lds.engine
    found = np.full(len(group.wave), NEVER, np.int64)
    for wave, path in group.paths.items():
        touched = group.lds.of(group.wave[group.lds.access] == wave)
        if len(np.unique(touched.engine)) > 1:
            after = np.zeros(len(group.wave), np.int64)
            after[group.wave == wave] = np.searchsorted(path.since, path.done.ravel(), "right") - 1
            needs = next_conflicts(touched, engine, group.operation, np.maximum(after, group.operation))
            found = np.where(group.wave == wave, needs, found)
    return found


def _at(index: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.int64]:
    """places[index], NEVER for NEVER and what lies behind the last."""
    return np.append(places, NEVER)[np.minimum(index, len(places))]

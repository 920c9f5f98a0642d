"""The waves of a recorded workgroup, or of a cluster of them, together: when each did what to which bytes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from antiphase.checks.order._bytes import Accesses, Touched
from antiphase.checks.order._caches import CacheModel
from antiphase.checks.order._clock import Clock, clock
from antiphase.checks.order._exchange import Exchange, Exchanging, shared
from antiphase.checks.order._marks import Member, Together, marks, together
from antiphase.checks.order._steps import Path, Steps
from antiphase.checks.order._views import Leniency, Views
from antiphase.machine import Recording, WaveTrace


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Waves that share barriers: their paths by wave, and what they touched.

    number: the workgroup, the first of a cluster. members: the workgroup of each place in it; the waves of the second
    have the numbers after those of the first, and its LDS lies `LDS_BYTES` further on. clock: the order of
    its waves where it is not that of the workgroup's own barrier alone. clustered: workgroups of each cluster, where
    it is a whole launch.
    Arrays are over access numbers, which count through the group, two an operation, waves in order.
    """

    number: int
    members: tuple[int, ...]
    per_member: int
    paths: dict[int, Path]
    lds: Touched
    memory: Touched
    wave: NDArray[np.int64]
    operation: NDArray[np.int64]
    issued: NDArray[np.int64]
    arrived: NDArray[np.int64]
    complete: NDArray[np.int64]
    since: NDArray[np.int64]
    done: NDArray[np.int64]
    waves: Together
    exchanges: dict[int, dict[int, Exchange]]
    clock: Clock | None = None
    clustered: int = 1

    def instructions(self) -> NDArray[np.int64]:
        """The instruction of every access."""
        return np.concatenate([np.repeat(path.instruction, 2) for path in self.paths.values()])

    def instruction(self, access: int) -> int:
        """The instruction of an access."""
        return int(self.paths[int(self.wave[access])].instruction[self.operation[access]])

    def block(self, access: int) -> int:
        """The number, in order of execution, of the block that an access is in."""
        starts = self.paths[int(self.wave[access])].starts
        return int(np.searchsorted(starts, self.operation[access], "right")) - 1

    def workgroup(self, access: int) -> int:
        """The workgroup of an access."""
        return self.members[int(self.wave[access]) // self.per_member]

    def seen(self, y: NDArray[np.int64], x: NDArray[np.int64]) -> NDArray[np.int64]:
        """Arrivals of the waves of accesses x that came before accesses y, in all interleavings."""
        if self.clock is None:
            return self.issued[y]
        return self.clock.seen(self.wave[y], self.issued[y], self.wave[x])


def groups(recording: Recording, steps: Steps) -> Iterator[Group]:
    """The workgroups of a recording. Waves that took the same blocks share a path."""
    maker = _Maker(recording, steps)
    for number, traces in itertools.groupby(recording.waves, lambda trace: trace.workgroup):
        yield maker.group((number,), {trace.wave: Member(trace, 0) for trace in traces})


def clusters(recording: Recording, steps: Steps, exchanging: Exchanging | None = None) -> Iterator[Group]:
    """The clusters of a recording, workgroups by themselves being clusters of one, with a clock where they need one."""
    maker = _Maker(recording, steps, exchanging)
    for members, waves in together(recording):
        yield maker.group(members, waves)


def viewed(group: Group, steps: Steps, model: CacheModel, leniency: Leniency) -> Clock:
    """The clock of a group with what caches let its waves see."""
    views = Views(model, len(group.waves), (group.per_member, group.clustered), leniency)
    return clock(marks(group.waves, steps, group.paths, shared(group.exchanges)), group.per_member, views)


def whole(parts: Sequence[Group], memory: Sequence[Touched], steps: Steps, model: CacheModel) -> Group:
    """Groups of a launch as one, for what they do to memory, with what caches let them see of it. memory: of each, as
    much of it as is looked at."""
    paths, waves, exchanges = dict[int, Path](), dict[int, Member](), dict[int, dict[int, Exchange]]()
    touched: list[Touched] = []
    shift, base = 0, 0
    shifts: list[int] = []
    for group, mine in zip(parts, memory, strict=True):
        paths |= {shift + wave: path for wave, path in group.paths.items()}
        waves |= {shift + wave: member for wave, member in group.waves.items()}
        exchanges |= {shift + wave: own for wave, own in group.exchanges.items()}
        touched.append(mine.moved(base))
        shifts.append(shift)
        shift, base = shift + group.per_member * len(group.members), base + len(group.wave)
    first = parts[0]
    found = Group(
        first.number, tuple(m for group in parts for m in group.members), first.per_member, paths, Touched.joined([]),
        Touched.joined(touched), np.concatenate([g.wave + s for g, s in zip(parts, shifts, strict=True)]),
        np.concatenate([g.operation for g in parts]), np.concatenate([g.issued for g in parts]),
        np.concatenate([g.arrived for g in parts]), np.concatenate([g.complete for g in parts]),
        np.concatenate([g.since for g in parts]), np.concatenate([g.done for g in parts]), waves, exchanges,
        clustered=len(first.members),
    )  # fmt: skip
    return replace(found, clock=viewed(found, steps, model, Leniency()))


class _Maker:
    def __init__(self, recording: Recording, steps: Steps, exchanging: Exchanging | None = None) -> None:
        self.each, self.steps, self.exchanging = recording.waves_per_workgroup, steps, exchanging
        self.accesses = Accesses(recording.program.kernel(recording.kernel), recording.program.target)
        self.known: dict[bytes, Path] = {}

    def path(self, trace: WaveTrace) -> Path:
        blocks = trace.blocks()
        key = blocks.tobytes()
        if key not in self.known:
            self.known[key] = self.steps.path(blocks.tolist())
        return self.known[key]

    def group(self, members: Sequence[int], waves: Together) -> Group:
        paths, lds, memory = dict[int, Path](), list[Touched](), list[Touched]()
        exchanges: dict[int, dict[int, Exchange]] = {}
        base = 0
        for wave, member in waves.items():
            trace, place = member.trace, members.index(member.workgroup)
            path = self.path(trace)
            touched = self.accesses.of(trace, path, self.steps.rank, place)
            for parts, some in zip((lds, memory), touched, strict=True):
                parts.append(some.moved(base))
            paths[wave] = path
            exchanges[wave] = self.exchanging.of(trace, path, self.steps.rank, *touched) if self.exchanging else {}
            base += 2 * len(path.instruction)
        all_ = list(paths.values())
        twos = [2 * len(path.instruction) for path in all_]
        by_atomics = any(exchanges.values())
        clocked = self.steps.every and (len(members) > 1 or by_atomics or any(path.others for path in all_))
        return Group(
            members[0], tuple(members), self.each, paths, Touched.joined(lds), Touched.joined(memory),
            np.repeat(np.array(list(paths), np.int64), twos),
            np.concatenate([np.repeat(np.arange(len(p.instruction)), 2) for p in all_]),
            np.concatenate([np.repeat(p.issued, 2) for p in all_]),
            np.concatenate([np.repeat(p.arrived, 2) for p in all_]),
            np.concatenate([p.complete.ravel() for p in all_]),
            np.concatenate([np.repeat(p.since, 2) for p in all_]),
            np.concatenate([p.done.ravel() for p in all_]),
            waves, exchanges,
            clock(marks(waves, self.steps, paths, shared(exchanges)), self.each) if clocked else None,
        )  # fmt: skip

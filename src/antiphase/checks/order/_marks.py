"""The barriers that waves met, with the phase of each arrival and the phase that a wait must have waited for; and the
atomics by which they hand over."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from antiphase.checks.order._caches import Cache
from antiphase.checks.order._exchange import Exchange
from antiphase.checks.order._steps import Path, Rendezvous, Steps
from antiphase.machine import Recording, WaveTrace

Phase = tuple[int, int, int]
"""Scope (a workgroup, or -1 - a cluster), barrier number, and how often the barrier was completed before."""
WORKGROUP, CLUSTER, NULL = -1, -3, 0


@dataclass(frozen=True, slots=True)
class Member:
    """A wave and where it belongs."""

    trace: WaveTrace
    cluster: int

    @property
    def workgroup(self) -> int:
        return self.trace.workgroup


Together = Mapping[int, Member]
"""Waves that are looked at together, by number; those of the second workgroup come after those of the first."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What a wave did at one barrier instruction, or its end (instruction -1). An `s_barrier` makes two.

    arrives: the phases it arrives in; a wave that ends has arrived in all later ones. passes: the phase it waits for,
    None if that is none. is_arrival, is_pass: what it counts as. sets, joins: the barrier it initializes or joins, as
    one of its phases. members: of the barrier just then. unjoined: it is for the barrier joined last, and none was.
    exchange: an atomic that arrives; takes: the operation of one whose result is there, and acquires, or of a cache
    instruction that is complete. cache: a cache instruction, its operation, and whether
    loads were outstanding.
    """

    instruction: int
    arrives: tuple[Phase, ...] = ()
    passes: Phase | None = None
    is_arrival: bool = False
    is_pass: bool = False
    sets: Phase | None = None
    joins: Phase | None = None
    members: int = 0
    unjoined: bool = False
    exchange: tuple[int, Exchange] | None = None
    takes: int = -1
    cache: tuple[int, Cache, bool] | None = None


def together(recording: Recording) -> Iterator[tuple[tuple[int, ...], Together]]:
    """The workgroups of each cluster, by their place, and its waves; a workgroup by itself is a cluster of one."""
    each = recording.waves_per_workgroup
    in_order = sorted(recording.waves, key=lambda trace: (*recording.place(trace.workgroup), trace.wave))
    for _, traces in itertools.groupby(in_order, lambda trace: recording.place(trace.workgroup)[0]):
        waves = list(traces)
        members = tuple(dict.fromkeys(trace.workgroup for trace in waves))
        yield (
            members,
            {members.index(t.workgroup) * each + t.wave: Member(t, recording.place(t.workgroup)[0]) for t in waves},
        )


def marks(
    waves: Together, steps: Steps, paths: Mapping[int, Path], exchanges: Mapping[int, Mapping[int, Exchange]]
) -> list[list[Mark]]:
    """Of each wave in its order. exchanges: by wave and operation."""
    found = [
        list(_in_order(_barriers(member, steps), paths[wave], exchanges.get(wave, {}), steps.caches))
        for wave, member in waves.items()
    ]
    return [[*one, end] for one, end in zip(found, _ends(found, list(waves.values())), strict=True)]


def _in_order(
    barriers: Sequence[Mark], path: Path, exchanges: Mapping[int, Exchange], caches: Mapping[int, Cache]
) -> Iterator[Mark]:
    """Barriers, atomics and cache instructions of a wave."""
    rest = iter(barriers)
    for is_arrival, operation in path.sync:
        one = exchanges.get(operation)
        if operation >= 0 and is_arrival:
            cache = caches.get(int(path.instruction[operation]))
            yield Mark(
                -1, is_arrival=True, is_pass=cache is not None, exchange=None if one is None else (operation, one),
                cache=None if cache is None else (operation, cache, operation in path.early),
            )  # fmt: skip
        elif operation >= 0:
            yield Mark(-1, is_pass=True, takes=operation)
        else:
            # what is set up and joined on the way counts as neither
            for mark in rest:
                yield mark
                if mark.is_arrival or mark.is_pass:
                    break
    yield from rest


def _barriers(member: Member, steps: Steps) -> list[Mark]:
    met = member.trace.barriers(steps.barriers)
    columns = (met.instruction, met.number, met.phase, met.members)
    consumed: dict[int, int] = {}
    arrived: dict[int, int] = {}
    found: list[Mark] = []
    for instruction, number, phase, members in zip(*(column.tolist() for column in columns), strict=True):
        scope = -1 - member.cluster if number == CLUSTER else member.workgroup
        here = scope, number, phase
        step, action = steps.at(instruction), steps.barriers[instruction]
        mark = Mark(instruction, members=members, unjoined=number == NULL and instruction in steps.of_joined)
        if action == "barrier_init" and number != NULL:
            found.append(replace(mark, sets=here))
        if action == "barrier_join":
            consumed[number] = phase
            found.append(replace(mark, joins=here))
        if not isinstance(step, Rendezvous):
            continue
        if step.arrives:
            arrived[number] = phase
            found.append(replace(mark, is_arrival=True, arrives=(here,) if number != NULL else ()))
        if step.passes:
            # each wait takes one completion, and never one before the wave's own arrival
            awaited = max(consumed.get(number, 0), arrived.get(number, 0))
            consumed[number] = awaited + 1
            found.append(replace(mark, is_pass=True, passes=(scope, number, awaited) if number != NULL else None))
    return found


def _ends(found: Sequence[Sequence[Mark]], members: Sequence[Member]) -> list[Mark]:
    """The ends of the waves: a wave that has ended counts as arrived at its workgroup's barrier, and a workgroup of
    which all waves have ended at its cluster's (named barriers go on waiting)."""
    mine = [{phase for mark in wave for phase in mark.arrives} for wave in found]
    of_workgroup: dict[int, set[Phase]] = {}
    of_barrier: dict[tuple[int, int], set[Phase]] = {}
    for member, phases in zip(members, mine, strict=True):
        of_workgroup.setdefault(member.workgroup, set()).update(phases)
        for phase in phases:
            of_barrier.setdefault(phase[:2], set()).add(phase)
    ends: list[Mark] = []
    for member, phases in zip(members, mine, strict=True):
        own = of_barrier.get((member.workgroup, WORKGROUP), set()) - phases
        shared = of_barrier.get((-1 - member.cluster, CLUSTER), set()) - of_workgroup[member.workgroup]
        ends.append(Mark(-1, tuple(sorted(own | shared)), is_arrival=True))
    return ends

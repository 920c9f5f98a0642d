"""Order through any barriers: which arrivals of every wave came before a moment of another, in all interleavings.

The workgroup's own barrier alone needs no more than counting. Named barriers and those of clusters order some waves and
not others, so each wave carries a vector clock: by wave, the number of its arrivals that came before. An arrival joins
the clock of its wave to that of the barrier's phase, and a wait takes over the phase that it must have waited for.
Atomics do the same by the places that they change, in the order of the run.

Source: LLVM AMDGPUExecutionSynchronization, barrier-participates-in and barrier-executes-before.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from antiphase.checks.order._exchange import Exchange
from antiphase.checks.order._marks import Mark, Phase
from antiphase.checks.order._misuse import Judge, Meeting, Misuse
from antiphase.checks.order._views import Views


@dataclass(frozen=True, slots=True, eq=False)
class Clock:
    """rows: states x waves, how many arrivals of every wave came before; a wave that has passed n waits is in the state
    states[base[wave] + n].

    known: by pass, phases of the chain that came before. chain: its phases x waves, the arrivals before each; one
    comes after another, so that counting them is a time that all waves share. stuck: some wait could not be followed.
    misuses: what was seen on the way that barriers do not allow. views: of every state, by wave, the arrivals before
    which all is written back as far as known, and those before which no load of the wave finds anything stale; empty
    if that was not asked for.
    """

    rows: NDArray[np.int32]
    states: NDArray[np.int64]
    base: NDArray[np.int64]
    known: NDArray[np.int64]
    chain: NDArray[np.int32]
    stuck: bool
    misuses: tuple[Misuse, ...] = ()
    views: NDArray[np.int32] = field(default_factory=lambda: np.zeros((0, 2, 0), np.int32))

    def seen(self, wave: NDArray[np.int64], passes: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
        """Arrivals of another wave that came before a wave went on from its last wait."""
        return self.rows[self.states[self.base[wave] + passes], other].astype(np.int64)

    def written(
        self, wave: NDArray[np.int64], passes: NDArray[np.int64], other: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Arrivals of another wave before which all was written back when a wave went on from its last wait."""
        return self.views[self.states[self.base[wave] + passes], 0, other].astype(np.int64)

    def fresh(self, wave: NDArray[np.int64], passes: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
        """Arrivals of another wave before which nothing is stale for a wave that went on from its last wait."""
        return self.views[self.states[self.base[wave] + passes], 1, other].astype(np.int64)

    def first(self, wave: NDArray[np.int64], passes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The moment of the chain from which on a wave may go on from its last wait."""
        return self.known[self.base[wave] + passes]

    def last(self, wave: NDArray[np.int64], arrivals: NDArray[np.int64]) -> NDArray[np.int64]:
        """The last moment of the chain before that many arrivals and one more of a wave."""
        found = np.zeros(len(wave), np.int64)
        for one in np.unique(wave).tolist():
            mine = wave == one
            found[mine] = np.searchsorted(self.chain[:, one], arrivals[mine], "right")
        return found


@dataclass(slots=True, eq=False)
class _Walker:
    """A wave on its way. level, latest: the length of the longest chain of phases it has passed, and its end."""

    marks: Sequence[Mark]
    vector: NDArray[np.int32]
    at: int = 0
    arrivals: int = 0
    level: int = 0
    latest: Phase | None = None
    states: list[int] = field(default_factory=lambda: [0])


class _Walk:
    """Follows all waves at once, each as far as what it waits for has come."""

    def __init__(self, marks: Sequence[Sequence[Mark]], per_member: int, views: Views | None) -> None:
        count = len(marks)
        self.views = views
        self.walkers = [_Walker(m, np.zeros(count, np.int32)) for m in marks]
        self.rows = [np.zeros(count, np.int32)]
        self.meetings: dict[Phase, Meeting] = {}
        for mark in (m for wave in marks for m in wave):
            for phase in mark.arrives:
                self.meetings.setdefault(phase, Meeting(np.zeros(count, np.int32))).left += 1
        self.order: list[tuple[int, Mark]] = []
        self.judge = Judge(marks, per_member)
        self.turns = deque(sorted(m.exchange[1].number for wave in marks for m in wave if m.exchange))
        self.released: dict[int, NDArray[np.int32]] = {}
        self.taken: dict[tuple[int, int], NDArray[np.int32]] = {}
        self.stuck = False

    def run(self) -> Clock:
        waiting = range(len(self.walkers))
        while waiting:
            moved = [self._go(wave) for wave in waiting]
            waiting = [wave for wave in waiting if self.walkers[wave].at < len(self.walkers[wave].marks)]
            if waiting and not any(moved):
                # waits that only a misuse explains: go on without the order they would have given
                self.stuck = True
                self._step(waiting[0])
        chain = self._chain()
        known = list(self._known({phase: i for i, phase in enumerate(chain)}))
        states = [walker.states for walker in self.walkers]
        base = np.cumsum([0, *(len(one) for one in states[:-1])])
        table = np.stack([self.meetings[p].vector for p in chain]) if chain else np.zeros((0, len(states)), np.int32)
        return Clock(
            np.stack(self.rows), np.concatenate(states), base, np.concatenate(known), table, self.stuck,
            tuple(self.judge.misuses), *([np.stack(self.views.rows)] if self.views else []),
        )  # fmt: skip

    def _go(self, wave: int) -> bool:
        walker = self.walkers[wave]
        start = walker.at
        while walker.at < len(walker.marks):
            mark = walker.marks[walker.at]
            if mark.passes in self.meetings and self.meetings[mark.passes].left:
                break
            if mark.exchange and mark.exchange[1].number != self.turns[0]:
                break
            self._step(wave)
        return walker.at > start

    def _step(self, wave: int) -> None:
        walker = self.walkers[wave]
        mark = walker.marks[walker.at]
        walker.at += 1
        self.order.append((wave, mark))
        self.judge.see(wave, mark, walker.vector, self.meetings)
        if mark.is_arrival:
            walker.arrivals += 1
            walker.vector[wave] = walker.arrivals
        if mark.cache and self.views:
            coming = [vector for (who, _), vector in self.taken.items() if who == wave]
            self.views.issue(wave, mark.cache, walker.vector, coming)
        for phase in mark.arrives:
            if self.views:
                self.views.arrive(wave, phase)
            meeting = self.meetings[phase]
            meeting.came.append((wave, mark.instruction))
            np.maximum(meeting.vector, walker.vector, out=meeting.vector)
            meeting.left -= 1
            if walker.level >= meeting.level:
                meeting.level, meeting.before = walker.level + 1, walker.latest
        if mark.exchange:
            self._exchange(wave, walker.vector, *mark.exchange)
        if mark.is_pass:
            self._pass(wave, walker, mark)

    def _pass(self, wave: int, walker: _Walker, mark: Mark) -> None:
        meeting = self.meetings.get(mark.passes) if mark.passes else None
        self.stuck |= bool(mark.passes) and meeting is None
        before = self.rows[walker.states[-1]]
        if meeting is not None and mark.passes and not meeting.left:
            if self.views:
                self.views.pass_(wave, mark.passes)
            np.maximum(walker.vector, meeting.vector, out=walker.vector)
            if meeting.level > walker.level:
                walker.level, walker.latest = meeting.level, mark.passes
        taken = self.taken.pop((wave, mark.takes), None)
        if taken is not None:
            np.maximum(walker.vector, taken, out=walker.vector)
        if self.views and mark.takes >= 0:
            self.views.take(wave, mark.takes)
        # a wave's own arrivals do not count here: waves that turn in place stay in one state
        others = walker.vector.copy()
        others[wave] = 0
        if (others == before).all() and not (self.views and self.views.is_new(wave, walker.states[-1])):
            walker.states.append(walker.states[-1])
        else:
            walker.states.append(len(self.rows))
            self.rows.append(others)
            if self.views:
                self.views.keep(wave)

    def _exchange(self, wave: int, vector: NDArray[np.int32], operation: int, exchange: Exchange) -> None:
        """Take what was released at the places of an atomic, and release there what its wave knows."""
        self.turns.remove(exchange.number)
        known = [self.released[place] for place in exchange.places if place in self.released]
        if exchange.acquires and known:
            self.taken[wave, operation] = np.maximum.reduce(known)
            if self.views:
                self.views.acquire(wave, operation, exchange.places)
        if exchange.changes:
            if self.views:
                self.views.release(wave, exchange.places)
            for place in exchange.places:
                self.released[place] = np.maximum(vector, self.released.get(place, 0))

    def _chain(self) -> list[Phase]:
        """The longest series of phases in which each comes before the next."""
        end = max(self.walkers, key=lambda walker: walker.level).latest
        chain: list[Phase] = []
        while end is not None:
            chain.append(end)
            end = self.meetings[end].before
        return chain[::-1]

    def _known(self, place: dict[Phase, int]) -> Iterator[NDArray[np.int64]]:
        """By wave and row, how many phases of the chain came before."""
        of_wave = [0] * len(self.walkers)
        of_phase: dict[Phase, int] = {}
        found: list[list[int]] = [[0] for _ in self.walkers]
        for wave, mark in self.order:
            for phase in mark.arrives:
                of_phase[phase] = max(of_phase.get(phase, 0), of_wave[wave])
            if mark.is_pass:
                if mark.passes in of_phase:
                    reached = place.get(mark.passes, -1) + 1
                    of_wave[wave] = max(of_wave[wave], of_phase[mark.passes], reached)
                found[wave].append(of_wave[wave])
        return (np.array(rows, np.int64) for rows in found)


def clock(marks: Sequence[Sequence[Mark]], per_member: int, views: Views | None = None) -> Clock:
    """The clock of waves that met these barriers, by wave. per_member: waves of each workgroup. views: to be followed
    beside it."""
    return _Walk(marks, per_member, views).run()

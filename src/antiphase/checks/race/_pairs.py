"""Unordered pairs of accesses as findings: which came first, what is missing between them, and where it would go."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from antiphase.asm import Kernel
from antiphase.checks._finding import Finding, Fix, Severity, Site
from antiphase.checks.order import ATOMIC, LDS_BYTES, READ, WRITE, Group, Pairs, Steps, Touched, Values
from antiphase.checks.race._atomics import Synchronization, comparing
from antiphase.checks.race._spins import spinning
from antiphase.checks.wait import wait_text

KINDS = {READ: "read", WRITE: "write", ATOMIC: "atomic"}
_BARRIER = {
    "gfx9": ("s_barrier",), "gfx11": ("s_barrier",), "gfx12": ("s_barrier_signal -1", "s_barrier_wait -1"),
    "gfx1250": ("s_barrier_signal -1", "s_barrier_wait -1"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Missing:
    """What a pair lacks. at: the instruction before which it would have to be; crossed: rendezvous that the wave of the
    first access takes before that one. counter: a number, or -1 if nothing is to be waited for; left: how many younger
    operations it may leave. own: the workgroup's barrier is the only one there, so one more of it would do."""

    rule: str
    crossed: int
    at: int
    counter: int
    left: int
    own: bool = True


@dataclass(slots=True)
class _Equal:
    """Pairs with the same instructions, kinds and rule. workgroups, bytes_: of the first, bytes as [start, end)."""

    workgroups: tuple[int, int]
    bytes_: tuple[int, int]
    count: int = 0
    first_waves: set[int] = field(default_factory=set)
    second_waves: set[int] = field(default_factory=set)
    missing: set[Missing] = field(default_factory=set)


Key = tuple[str, int, int, str]
"""Space, first and second instruction, conflict such as 'write_read'."""


class Tally:
    """Pairs as they are found, equal ones together."""

    def __init__(self, kernel: Kernel, steps: Steps, numbered: Collection[int] = ()) -> None:
        self.kernel, self.steps, self.numbered = kernel, steps, numbered
        self.found: dict[Key, dict[str, _Equal]] = {}
        self.compares = comparing(kernel)
        self.spins = spinning(kernel, steps.target)
        self.values = Values(kernel, steps.target)
        self.not_judged: dict[str, set[int]] = {}

    def add(self, group: Group, space: str, touched: Touched, pairs: Pairs, within_wave: bool = False) -> None:
        """Unordered pairs of a workgroup."""
        if not len(pairs.a):
            return
        kind = np.zeros(len(group.wave), np.int64)
        kind[touched.access] = touched.kind
        x, y = _oriented(group, pairs, within_wave)
        sync = Synchronization(group, self.compares, self.numbered)
        judged = self._meant(group, space, x, y, kind, pairs.byte, sync)
        if group.clock is not None and group.clock.stuck and not within_wave:
            self.not_judged.setdefault("barriers", set()).update(group.instruction(a) for a in x[judged].tolist())
            return
        if space == "memory":
            judged &= ~self._idle(group, x, y, kind, judged)
        excused = judged & sync.may_order(x, y)
        for access in x[excused].tolist():
            self.not_judged.setdefault("atomics", set()).add(group.instruction(access))
        judged &= ~excused
        for i in np.flatnonzero(judged).tolist():
            self._one(group, space, int(x[i]), int(y[i]), kind, (int(pairs.byte[i]), int(pairs.bytes_[i])), within_wave)

    def judged(
        self, group: Group, space: str, x: NDArray[np.int64], y: NDArray[np.int64], kind: NDArray[np.int64],
        byte: NDArray[np.int64],
    ) -> NDArray[np.bool_]:  # fmt: skip
        """Pairs whose order matters: no guesses, no flags, and no loads whose value goes nowhere. byte: in common."""
        sync = Synchronization(group, self.compares, self.numbered)
        meant = self._meant(group, space, x, y, kind, byte, sync)
        return meant & ~self._idle(group, x, y, kind, meant)

    def _meant(
        self, group: Group, space: str, x: NDArray[np.int64], y: NDArray[np.int64], kind: NDArray[np.int64],
        byte: NDArray[np.int64], sync: Synchronization,
    ) -> NDArray[np.bool_]:  # fmt: skip
        return ~sync.guesses(x, y, kind, space, byte) & ~self._both_atomic(group, x, y, kind)

    def _both_atomic(
        self, group: Group, x: NDArray[np.int64], y: NDArray[np.int64], kind: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Pairs of an atomic and a load or store that may be an atomic one: it is coherent, or waits for a change."""
        instruction = group.instructions()
        x_is, y_is = (np.isin(instruction[one], [*self.numbered, *self.spins]) for one in (x, y))
        return x_is & y_is & ((kind[x] | kind[y]) & ATOMIC != 0)

    def _idle(
        self, group: Group, x: NDArray[np.int64], y: NDArray[np.int64], kind: NDArray[np.int64],
        wanted: NDArray[np.bool_],
    ) -> NDArray[np.bool_]:  # fmt: skip
        """Pairs in which one is a load whose value goes nowhere."""
        found = np.zeros(len(x), bool)
        for i in np.flatnonzero(wanted).tolist():
            for access in (int(x[i]), int(y[i])):
                if kind[access] == READ:
                    trace = group.waves[int(group.wave[access])].trace
                    found[i] |= self.values.is_idle(trace, group.block(access), group.instruction(access))
        return found

    def _one(
        self, group: Group, space: str, x: int, y: int, kind: NDArray[np.int64], at: tuple[int, int], within_wave: bool
    ) -> None:
        missing = self._within_wave(group, x, y) if within_wave else self._between(group, x, y)
        key = (space, group.instruction(x), group.instruction(y), f"{KINDS[kind[x]]}_{KINDS[kind[y]]}")
        rules = self.found.setdefault(key, {})
        byte = at[0] % LDS_BYTES if space == "lds" else at[0]
        equal = rules.setdefault(missing.rule, _Equal((group.workgroup(x), group.workgroup(y)), (byte, byte + at[1])))
        equal.count += 1
        equal.first_waves.add(int(group.wave[x]) % group.per_member)
        equal.second_waves.add(int(group.wave[y]) % group.per_member)
        equal.missing.add(missing)

    def _between(self, group: Group, x: int, y: int) -> Missing:
        """For accesses of two waves: the last rendezvous that lies between them, if there is one, needed a wait."""
        path, operation, column = group.paths[int(group.wave[x])], int(group.operation[x]), x & 1
        arrival = int(group.seen(np.array([y]), np.array([x]))[0]) - 1
        if arrival >= group.arrived[x]:
            counter, sequence = self._counter(group, x), path.sequence[operation, column]
            left = int(path.counted[arrival, counter] - sequence - 1) if sequence >= 0 else 0
            return Missing(
                "missing_completion",
                arrival - int(group.arrived[x]),
                int(path.arrivals[arrival]),
                counter,
                max(0, left),
            )
        alike = group.operation[x] == group.operation[y] and group.instruction(x) == group.instruction(y)
        if alike and group.workgroup(x) == group.workgroup(y):
            # waves that do the same at the same time: harmless if they store the same, which a recording does not say
            return Missing("same_store", 0, group.instruction(y), -1, 0)
        counter, left = self._open(group, x, y)
        return Missing("missing_rendezvous", 0, group.instruction(y), counter, left, group.clock is None)

    def _open(self, group: Group, x: int, y: int) -> tuple[int, int]:
        """The wait that x needs before a new rendezvous at y, if their waves run the same code up to there."""
        path, first, second = group.paths[int(group.wave[x])], int(group.operation[x]), int(group.operation[y])
        alike = second < len(path.instruction) and path.instruction[second] == group.instruction(y)
        if not alike or second <= first or path.done[first, x & 1] < path.since[second]:
            return -1, 0
        return self._counter(group, x), self._left(group, x, second)

    def _left(self, group: Group, x: int, second: int) -> int:
        path, first = group.paths[int(group.wave[x])], int(group.operation[x])
        sequence = path.sequence[first, x & 1]
        return int(path.before[second, self._counter(group, x)] - sequence - 1) if sequence >= 0 else 0

    def _within_wave(self, group: Group, x: int, y: int) -> Missing:
        """For two engines of one wave: a wait is all that is needed."""
        left = self._left(group, x, int(group.operation[y]))
        counter = self._counter(group, x)
        both = [self.steps.operations[group.instruction(access)] for access in (x, y)]
        # asynchronous stores complete in any order; two operations in order here are two loads
        alike = all(one.ordered and self.steps.names[one.counters[0]] == "asynccnt" for one in both)
        return Missing("landing_order" if alike else "missing_wait", 0, group.instruction(y), counter, left)

    def _counter(self, group: Group, x: int) -> int:
        numbers = self.steps.operations[group.instruction(x)].counters
        return numbers[min(x & 1, len(numbers) - 1)] if numbers else -1

    def findings(self) -> Iterator[Finding]:
        """One for each pair of instructions and rule."""
        for (space, first, second, conflict), rules in sorted(self.found.items()):
            for rule, equal in rules.items():
                # one place for all of them: the earliest, with the smallest count
                missing = min(equal.missing, key=lambda m: (m.crossed, m.left))
                facts: dict[str, object] = {
                    "space": space, "conflict": conflict, "bytes": equal.bytes_, "workgroup": equal.workgroups[0],
                    "at": missing.at,
                }  # fmt: skip
                if equal.workgroups[0] != equal.workgroups[1]:
                    facts["workgroups"] = equal.workgroups
                if self.spins & {first, second}:
                    facts["polled"] = True
                if missing.at in self.steps.exchanges and rule == "missing_completion":
                    facts["atomic"] = True
                if missing.counter >= 0:
                    facts |= {"counter": self.steps.names[missing.counter], "count": missing.left}
                sites = (
                    Site(first, conflict.split("_")[0], tuple(sorted(equal.first_waves))),
                    Site(second, conflict.split("_")[1], tuple(sorted(equal.second_waves))),
                )
                yield Finding("race", rule, _SEVERITY.get(rule, "error"), sites, facts, self._fix(missing), equal.count)

    def incomplete(self) -> Iterator[str]:
        """Why some pairs were not judged, with the first of the instructions."""
        for why, instructions in sorted(self.not_judged.items()):
            lines = sorted(self.kernel.instructions[i].line for i in instructions)
            yield f"race: {_NOT_JUDGED[why]} (line {lines[0]}{' and others' if len(lines) > 1 else ''})"

    def _fix(self, missing: Missing) -> Fix | None:
        text: tuple[str, ...] = ()
        if missing.counter >= 0:
            text = (wait_text(self.steps.names[missing.counter], missing.left, self.steps.generation),)
        if missing.rule == "missing_rendezvous":
            if not missing.own:
                return None
            text += _BARRIER[self.steps.generation]
        return Fix("insert", missing.at, text) if text else None


def _oriented(group: Group, pairs: Pairs, within_wave: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The access that was meant to come first, and the other: by rendezvous, then by place in the wave's program."""
    a, b = pairs.a, pairs.b
    if group.clock is None:
        earlier, later = group.issued[b] < group.issued[a], group.issued[b] > group.issued[a]
    else:
        earlier, later = group.seen(a, b) > group.arrived[b], group.seen(b, a) > group.arrived[a]
    equal = np.ones(len(a), bool) if within_wave else earlier == later
    swap = np.where(equal, group.operation[b] < group.operation[a], earlier)
    return np.where(swap, b, a), np.where(swap, a, b)


# the order in which asynchronous loads land rests on one public model of the hardware, rocjitsu's
_SEVERITY: dict[str, Severity] = {"same_store": "info", "landing_order": "warning"}
_NOT_JUDGED = {
    "atomics": "atomics may order what is not ordered by rendezvous",
    "barriers": "some wave waits at a barrier for arrivals that the launch did not have (`sync` says where)",
}

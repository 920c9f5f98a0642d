"""What barriers do not allow, seen while the vector clocks of waves are followed (`_clock`).

Source: LLVM AMDGPUExecutionSynchronization: initialization comes first in a barrier's modification order; a join must
come before some arrival that its wait depends on; phases are separate, so that an arrival in one must come after the
completion of the one before; one wave of a workgroup signals a cluster's barrier for all of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from antiphase.checks.order._marks import CLUSTER, Mark, Phase

Vector = NDArray[np.int32]
Barrier = tuple[int, int]
"""Scope and number."""


@dataclass(slots=True)
class Meeting:
    """A phase of a barrier while it is followed.

    vector: by wave, the arrivals before it. left: arrivals to come. came: wave and instruction of each that has. level,
    before: length of the longest chain of phases that ends here, and the one before in it.
    """

    vector: Vector
    left: int = 0
    came: list[tuple[int, int]] = field(default_factory=list)
    level: int = 1
    before: Phase | None = None


@dataclass(frozen=True, slots=True)
class Misuse:
    """Something undefined that a wave did. instruction: where. before: an earlier instruction that bears on it, -1 for
    none. number, members: of the barrier."""

    rule: str
    wave: int
    instruction: int
    number: int
    members: int
    before: int = -1


class Judge:
    """Looks at each mark just before it is followed. per_member: waves of each workgroup of a cluster."""

    def __init__(self, marks: Sequence[Sequence[Mark]], per_member: int) -> None:
        self.each = per_member
        self.setters: dict[Barrier, set[int]] = {}
        for wave, mine in enumerate(marks):
            for mark in mine:
                if mark.sets:
                    self.setters.setdefault(mark.sets[:2], set()).add(wave)
        self.set: dict[Barrier, tuple[int, Vector]] = {}
        self.joined: dict[tuple[int, Barrier], int] = {}
        self.misuses: list[Misuse] = []

    def see(self, wave: int, mark: Mark, vector: Vector, meetings: Mapping[Phase, Meeting]) -> None:
        """Judge a mark. vector: what its wave knows by then."""
        if mark.instruction < 0:
            return
        if mark.sets:
            self.set[mark.sets[:2]] = wave, vector.copy()
        if mark.joins:
            self.joined[wave, mark.joins[:2]] = int(vector[wave])
        if mark.unjoined:
            self._note("nothing_joined", wave, mark, 0)
        named = next((phase for phase in (*mark.arrives, mark.joins, mark.passes) if phase and phase[1] > 0), None)
        if named and not self._usable(wave, mark, vector, named[:2]):
            return
        for phase in mark.arrives:
            self._arrival(wave, mark, vector, meetings, phase)
        meeting = meetings.get(mark.passes) if mark.passes else None
        if meeting is not None and named:
            joined = self.joined.get((wave, named[:2]))
            if joined is not None and meeting.vector[wave] <= joined:
                self._note("joined_too_late", wave, mark, named[1])

    def _usable(self, wave: int, mark: Mark, vector: Vector, barrier: Barrier) -> bool:
        """Whether a named barrier was initialized, by this wave or before something that this wave waited for."""
        if not mark.members:
            self._note("not_initialized", wave, mark, barrier[1])
            return False
        by, then = self.set.get(barrier, (wave, vector))
        strangers = self.setters.get(barrier, set()) - {wave}
        in_order = by == wave and not (strangers and barrier not in self.set)
        if in_order or vector[by] > then[by]:
            return True
        self._note("initialized_in_no_order", wave, mark, barrier[1])
        return False

    def _arrival(self, wave: int, mark: Mark, vector: Vector, meetings: Mapping[Phase, Meeting], phase: Phase) -> None:
        scope, number, turn = phase
        if number == CLUSTER and any(who // self.each == wave // self.each for who, _ in meetings[phase].came):
            self._note("cluster_signalled_twice", wave, mark, number, meetings[phase].came[-1][1])
        again = [instruction for who, instruction in meetings[phase].came if who == wave]
        if again and number > 0:
            self._note("signal_without_wait", wave, mark, number, again[-1])
        before = meetings.get((scope, number, turn - 1))
        if before is None or not (before.left or (before.vector > vector).any()):
            return
        own = [instruction for who, instruction in before.came if who == wave]
        rule = "signal_without_wait" if own else "phase_not_separate"
        earlier = own or [instruction for _, instruction in before.came]
        self._note(rule, wave, mark, number, earlier[0] if earlier else -1)

    def _note(self, rule: str, wave: int, mark: Mark, number: int, before: int = -1) -> None:
        self.misuses.append(Misuse(rule, wave, mark.instruction, number, mark.members, before))

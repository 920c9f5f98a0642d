"""`useless`: waits and barriers that could go or be looser, as far as the recorded launch shows, and kept only if no
path of the program has a register used too early with all of these changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Literal

import numpy as np

from antiphase.asm import Kernel
from antiphase.checks._finding import Finding
from antiphase.checks._loops import loops
from antiphase.checks.order import Group, Path, Rendezvous, Steps, groups
from antiphase.checks.useless._barriers import Barriers
from antiphase.checks.useless._needs import Needs, Publishing
from antiphase.checks.useless._shared import Sharing
from antiphase.checks.useless._streams import Stream, Streams
from antiphase.checks.useless._waits import Charges, Verdict, safe_on_all_paths
from antiphase.machine import Execution, Recording

ENOUGH = 3
"""Times that code in a loop must have run to be judged: what one pass leaves is needed by the next."""
Open = Literal["few_passes", "cache", "published", "not_in_step"]
"""Why `useless` does not judge a wait or barrier: its loop ran too few times; it may wait for a cache instruction, and
waves share memory; other workgroups see an order that it may be part of; its waves meet different barriers."""


def check_useless(execution: Execution) -> list[Finding]:
    """Waits and barriers of a recorded launch that could go or be looser, all of severity 'info'."""
    recording = _recording(execution)
    judge = _judge(execution)
    kernel = recording.program.kernel(recording.kernel)
    looser = safe_on_all_paths(recording, kernel, judge.steps, judge.charges.looser(judge.is_judged))
    waits = judge.charges.findings(looser, judge.executed, judge.publishes)
    return [*waits, *judge.barriers.findings(judge.executed, judge.is_judged)]


class UselessProofs:
    """What `useless` knows of each wait and barrier by itself; its findings hold all together."""

    def __init__(self, execution: Execution) -> None:
        self._judge = _judge(execution)

    def open(self, instruction: int) -> Open | None:
        """Why a wait or barrier is not judged, None if it is."""
        return self._judge.open(instruction)

    def wait(self, instruction: int, counts: Mapping[str, int]) -> Verdict:
        """Of a wait that asks for these counts instead."""
        numbers = {self._judge.steps.names.index(name): n for name, n in counts.items()}
        return self._judge.charges.verdict({instruction: dict(numbers)})


def _recording(execution: Execution) -> Recording:
    assert execution.recording is not None
    return execution.recording


def _judge(execution: Execution) -> _Judge:
    recording = _recording(execution)
    kernel = recording.program.kernel(recording.kernel)
    steps = Steps(recording.program, kernel)
    whole = len({trace.workgroup for trace in recording.waves}) == int(np.prod(recording.grid))
    streams = Streams(kernel, steps)
    sharing = Sharing.of(groups(recording, steps), execution.memory, streams.passive, whole)
    streams.without_caches(sharing.loads, sharing.stores)
    judge = _Judge(kernel, streams, sharing)
    for group in groups(recording, steps):
        judge.add(group)
    return judge


class _Judge:
    """Goes through the workgroups. executed: by wait or barrier, how often the wave that ran it most often did."""

    def __init__(self, kernel: Kernel, streams: Streams, sharing: Sharing) -> None:
        self.streams, self.steps = streams, streams.steps
        self.publishing = Publishing.of(sharing, self.streams)
        self.charges = Charges(self.steps)
        self.barriers = Barriers(kernel, self.steps)
        self.known: dict[int, tuple[Path, Stream]] = {}
        self.executed: Counter[int] = Counter()
        self.looping = {i for loop in loops(kernel) for i in loop.instructions}

    def add(self, group: Group) -> None:
        """One more workgroup."""
        needs = Needs(group, self.publishing)
        for wave, path in group.paths.items():
            stream = self._stream(path)
            hard, published = needs.hard(wave, path, stream), needs.published(wave, path, stream)
            self.charges.charge(path, stream, hard, published)
        self.barriers.add(group, needs.level)

    def _stream(self, path: Path) -> Stream:
        if id(path) not in self.known:
            stream = self.streams.of(path.blocks)
            self.known[id(path)] = path, stream  # with the path, so that its id stays its own
            self.charges.meet(stream)
            met = Counter(i for _, i in {(place, i) for place, i, _, _ in stream.waits})
            met |= Counter(path.arrivals.tolist()) | Counter(path.instruction.tolist())
            self.executed |= met
        return self.known[id(path)][1]

    @property
    def publishes(self) -> bool:
        """Whether something in the launch may publish what came before it."""
        return any(self.executed[i] for i in self.publishing.flags | self.publishing.caches)

    def open(self, instruction: int) -> Open | None:
        """Why the launch does not show enough of a wait or barrier, None if it does."""
        if self.executed[instruction] < (ENOUGH if instruction in self.looping else 1):
            return "few_passes"
        if isinstance(self.steps.at(instruction), Rendezvous):
            if not self.barriers.judged:
                return "not_in_step"
            return "published" if instruction in self.barriers.publishing else None
        return "cache" if instruction in self.streams.after_cache else None

    def is_judged(self, instruction: int) -> bool:
        return self.open(instruction) is None

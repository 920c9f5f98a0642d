"""`useless`: waits that complete nothing anyone needs before a later wait does, and waits stricter than needed.

Each operation is charged to the last wait that completes it before it is needed; a wait that nothing is charged to can
go, and one with charges can leave as many operations as the least of them allows. All such changes hold together. What
a full counter completes in time is charged to none.
"""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from antiphase.asm import Kernel, parse_instruction
from antiphase.checks._finding import Finding, Fix, Site
from antiphase.checks.order import Operation, Path, Steps
from antiphase.checks.useless._streams import NEVER, Stream
from antiphase.checks.wait import check_waits, wait_text
from antiphase.machine import Recording

Looser = dict[int, dict[int, int | None]]
"""By wait instruction: each counter's safe count, None for no need to wait, where any could be looser."""
Verdict = Literal["redundant", "published", "needed"]
"""Of a looser wait: all that is complete in time today still is; all but what may be published; or not all."""
_Met = tuple[int, int, int, int]
"""A wait that was met: place, instruction, the count it leaves, in-order operations issued before."""


@dataclass(frozen=True, slots=True, eq=False)
class _Case:
    path: Path
    stream: Stream
    hard: NDArray[np.int64]
    published: NDArray[np.int64]


def _covering(waits: list[_Met], step: Operation, sequence: int, between: tuple[int, int]) -> _Met | None:
    """The last of the waits on a counter that completes an operation between two places."""
    issued, last = between
    at = bisect.bisect_left(waits, (last,))
    while at and waits[at - 1][0] > issued:
        at -= 1
        _, _, left, counted = waits[at]
        if left <= (counted - sequence - 1 if step.ordered else 0):
            return waits[at]
    return None


class Charges:
    """What waves of a recording need of each wait.

    cases: what was charged: path, stream, and by operation the places by which registers and waves need it, and by
    which it may be published.
    loosest: by wait instruction and counter, the largest count that is safe, NEVER where nothing is charged to it;
    given: the count it has. decisive: the operation that allows no larger one.
    """

    def __init__(self, steps: Steps) -> None:
        self.steps = steps
        self.loosest: dict[tuple[int, int], int] = {}
        self.given: dict[tuple[int, int], int] = {}
        self.decisive: dict[tuple[int, int], int] = {}
        self.cases: dict[tuple[int, bytes, bytes], _Case] = {}

    def meet(self, stream: Stream) -> None:
        """Waits of one more stream; a count as large as the counter waits for nothing."""
        for _, instruction, counter, n in stream.waits:
            if n < self.steps.capacity[counter]:
                self.given[instruction, counter] = n
                self.loosest.setdefault((instruction, counter), NEVER)

    def charge(self, path: Path, stream: Stream, hard: NDArray[np.int64], published: NDArray[np.int64]) -> None:
        """Give every operation that is needed by some place to the last wait that completes it in time."""
        key = id(path), hard.tobytes(), published.tobytes()
        if key in self.cases:
            return
        self.cases[key] = case = _Case(path, stream, hard, published)
        waits = self._waits(stream, {})
        for step, sequence, counter, between in self._asked(case, np.minimum(hard, published)):
            self._charge(waits.get(counter, []), step, counter, sequence, between)

    def _waits(self, stream: Stream, changes: Looser) -> dict[int, list[_Met]]:
        """By counter, the waits of a stream with these changes; a count as large as the counter waits for nothing."""
        found: dict[int, list[_Met]] = {}
        for (place, instruction, counter, n), counted in zip(stream.waits, stream.counted, strict=True):
            left = changes[instruction].get(counter) if instruction in changes else n
            if left is not None and left < self.steps.capacity[counter]:
                found.setdefault(counter, []).append((place, instruction, left, counted))
        return found

    def _asked(self, case: _Case, deadline: NDArray[np.int64]) -> Iterator[tuple[Operation, int, int, tuple[int, int]]]:
        """(operation, sequence number, counter, (issued, deadline)) of all that waits have to complete."""
        for operation in np.flatnonzero(deadline < NEVER).tolist():
            step = self.steps.operations[int(case.path.instruction[operation])]
            issued, last = int(case.stream.issued[operation]), int(deadline[operation])
            for column, counter in enumerate(step.counters):
                sequence = int(case.path.sequence[operation, column])
                if not (step.ordered and self._is_full(case.stream, counter, sequence, last)):
                    yield step, sequence, counter, (issued, last)

    def verdict(self, changes: Looser) -> Verdict:
        """Of waits with these counts instead, a counter that is left out being one not waited for."""
        lost = False
        for case in self.cases.values():
            today, then = self._waits(case.stream, {}), self._waits(case.stream, changes)
            for deadline in (case.hard, case.published):
                for step, sequence, counter, between in self._asked(case, deadline):
                    asked = step, sequence, between
                    if _covering(then.get(counter, []), *asked) or not _covering(today.get(counter, []), *asked):
                        continue
                    if deadline is case.hard:
                        return "needed"
                    lost = True
        return "published" if lost else "redundant"

    def _is_full(self, stream: Stream, counter: int, sequence: int, last: int) -> bool:
        """Whether so many operations follow in time that the counter has no room left for this one."""
        places, newer = stream.in_order[counter], sequence + self.steps.capacity[counter]
        return newer < len(places) and places[newer] <= last

    def _charge(
        self, waits: list[_Met], step: Operation, counter: int, sequence: int, between: tuple[int, int]
    ) -> None:
        met = _covering(waits, step, sequence, between)
        if met is not None:
            _, instruction, _, counted = met
            key, younger = (instruction, counter), counted - sequence - 1 if step.ordered else 0
            if younger < self.loosest[key]:
                self.loosest[key], self.decisive[key] = younger, step.instruction

    def looser(self, judged: Callable[[int], bool]) -> Looser:
        """Of the waits that can be judged."""
        found: Looser = {}
        for instruction, counter in self.given:
            safe = self.loosest[instruction, counter]
            usable = safe < self.steps.capacity[counter]
            found.setdefault(instruction, {})[counter] = safe if usable else None
        return {
            i: counts for i, counts in found.items()
            if judged(i) and any(counts[c] != self.given[i, c] for c in counts)
        }  # fmt: skip

    def findings(self, looser: Looser, executed: Counter[int], publishes: bool) -> Iterator[Finding]:
        """Of waits that could be looser. publishes: something in the launch may publish what came before."""
        names = self.steps.names
        for instruction, counts in sorted(looser.items()):
            text = _texts(self.steps, counts)
            rule = "wait_stricter_than_needed" if text else "wait_completes_nothing_needed"
            decisive = {names[c]: self.decisive.get((instruction, c)) for c in counts}
            facts = {
                "given": {names[c]: self.given[instruction, c] for c in counts},
                "loosest": {names[c]: n for c, n in counts.items()},
                "decisive": decisive,
                "executed": executed[instruction],
                "publishes": publishes,
            }
            needing = dict.fromkeys(decisive[names[c]] for c, n in counts.items() if n is not None)
            sites = Site(instruction, "wait"), *(Site(i, "operation") for i in needing if i is not None)
            fix = Fix("replace" if text else "delete", instruction, text)
            yield Finding("useless", rule, "info", sites, facts, fix)


def safe_on_all_paths(recording: Recording, kernel: Kernel, steps: Steps, looser: Looser) -> Looser:
    """Those changes that leave no register used too early on any path, all together."""
    program = recording.program

    def harm(changes: Looser) -> int:
        edits = {i: [parse_instruction(t) for t in _texts(steps, counts)] for i, counts in changes.items()}
        edited = program.edit(edits, kernel.name)
        return len(check_waits(edited, edited.kernel(kernel.name)))

    before = harm({})
    if harm(looser) <= before:
        return looser
    kept: Looser = {}
    for instruction, counts in looser.items():
        if harm(kept | {instruction: counts}) <= before:
            kept[instruction] = counts
    return kept


def _texts(steps: Steps, counts: Mapping[int, int | None]) -> tuple[str, ...]:
    """Wait instructions for these counts."""
    wanted = [(steps.names[c], n) for c, n in counts.items() if n is not None]
    texts = [wait_text(name, n, steps.generation) for name, n in wanted]
    together = [t.removeprefix("s_waitcnt ") for t in texts if t.startswith("s_waitcnt ")]
    apart = [t for t in texts if not t.startswith("s_waitcnt ")]
    return (*([f"s_waitcnt {' '.join(together)}"] if together else []), *apart)

"""`useless`: waits that complete nothing anyone needs before a later wait does, waits stricter than needed, and
barriers that put no bytes in order.

Each operation is charged to the last wait that completes it before it is needed; a wait that nothing is charged to can
go, and one with charges can leave as many operations as the least of them allows. All such changes hold together. They
are judged in the recording, and only kept if no path of the program has a register used too early with them.
"""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from antiphase.asm import Kernel, parse_instruction
from antiphase.checks._finding import Finding, Fix, Site
from antiphase.checks._loops import loops
from antiphase.checks._race_group import Group, groups
from antiphase.checks._race_order import Path, Rendezvous, Steps
from antiphase.checks._useless_needs import NEVER, Stream, Streams, next_conflicts, rendezvous_needs
from antiphase.checks._wait import check_waits, wait_text
from antiphase.machine import Recording

_ENOUGH = 3
"""Times that code in a loop must have run to be judged: what one pass leaves is needed by the next."""


def check_useless(recording: Recording) -> list[Finding]:
    """Waits and barriers that could go or be looser, all of severity 'info'."""
    kernel = recording.program.kernel(recording.kernel)
    steps = Steps(recording.program, kernel)
    judge = _Judge(kernel, steps)
    for group in groups(recording, steps):
        judge.add(group)
    looser = _safe_on_all_paths(recording, kernel, steps, judge.looser())
    return [*_wait_findings(steps, judge, looser), *judge.barriers()]


class _Judge:
    """What waves of a recording need of each wait and barrier.

    loosest: by wait instruction and counter, the largest count that is safe, NEVER where nothing is charged to it;
    given: the count it has. decisive: the operation that allows no larger one. executed: by wait or barrier
    instruction, how often the wave that ran it most did. alike: all waves met the same barriers in the same order.
    """

    def __init__(self, kernel: Kernel, steps: Steps) -> None:
        self.kernel, self.steps = kernel, steps
        self.streams = Streams(kernel, steps)
        self.known: dict[int, tuple[Path, Stream]] = {}
        self.seen: set[tuple[int, bytes]] = set()
        self.loosest: dict[tuple[int, int], int] = {}
        self.given: dict[tuple[int, int], int] = {}
        self.decisive: dict[tuple[int, int], int] = {}
        self.executed: Counter[int] = Counter()
        self.needed_barriers: set[int] = set()
        self.alike = True
        self.looping = {i for loop in loops(kernel) for i in loop.instructions}

    def add(self, group: Group) -> None:
        """One more workgroup."""
        arrival = rendezvous_needs(group)
        operation = own_needs(group)
        first = next(iter(group.paths.values()))
        for wave, path in group.paths.items():
            mine = group.wave == wave
            stream = self._stream(path)
            self.alike &= np.array_equal(path.arrivals, first.arrivals) and not path.others
            self._barriers(path, arrival[mine], group.complete[mine])
            by_access = np.minimum(_at(arrival[mine], stream.arrivals), _at(operation[mine], stream.issued))
            deadline = np.minimum(by_access.reshape(-1, 2).min(1), np.minimum(stream.used, stream.published))
            key = (id(path), deadline.tobytes())
            if key not in self.seen:
                self.seen.add(key)
                self._charge(path, stream, deadline)

    def _stream(self, path: Path) -> Stream:
        if id(path) not in self.known:
            stream = self.streams.of(path.blocks)
            self.known[id(path)] = path, stream  # with the path, so that its id stays its own
            for _, instruction, counter, n in stream.waits:
                if n < self.steps.capacity[counter]:
                    self.given[instruction, counter] = n
                    self.loosest.setdefault((instruction, counter), NEVER)
            met = Counter(i for _, i in {(place, i) for place, i, _, _ in stream.waits})
            met |= Counter(path.arrivals.tolist()) | Counter(path.instruction.tolist())
            self.executed |= met
        return self.known[id(path)][1]

    def _charge(self, path: Path, stream: Stream, deadline: NDArray[np.int64]) -> None:
        """Give every operation that is needed to the last wait that completes it in time."""
        waits: dict[int, list[tuple[int, int, int, int]]] = {}
        for (place, instruction, counter, n), counted in zip(stream.waits, stream.counted, strict=True):
            if (instruction, counter) in self.given:  # a count as large as the counter waits for nothing
                waits.setdefault(counter, []).append((place, instruction, n, counted))
        for operation in np.flatnonzero(deadline < NEVER).tolist():
            step = self.steps.operations[int(path.instruction[operation])]
            for column, counter in enumerate(step.counters):
                sequence = int(path.sequence[operation, column])
                on = waits.get(counter, [])
                at = bisect.bisect_left(on, (int(deadline[operation]),))
                while at and on[at - 1][0] > stream.issued[operation]:
                    at -= 1
                    _, instruction, n, counted = on[at]
                    younger = counted - sequence - 1 if step.ordered else 0
                    if n <= younger:
                        key = instruction, counter
                        if younger < self.loosest[key]:
                            self.loosest[key], self.decisive[key] = younger, step.instruction
                        break

    def _barriers(self, path: Path, arrival: NDArray[np.int64], complete: NDArray[np.int64]) -> None:
        """A barrier is needed if nothing else lies between an access and the next one in conflict with it."""
        asked = np.unique(np.stack([complete, arrival], 1)[arrival < NEVER], axis=0)
        for first, last in asked.tolist():
            between = set(path.arrivals[first : last + 1].tolist())
            if len(between) == 1:
                self.needed_barriers |= between

    def looser(self) -> dict[int, dict[int, int | None]]:
        """By wait instruction: each counter's safe count, None for no need to wait, where any could be looser."""
        found: dict[int, dict[int, int | None]] = {}
        for instruction, counter in self.given:
            safe = self.loosest[instruction, counter]
            usable = safe < self.steps.capacity[counter]
            found.setdefault(instruction, {})[counter] = safe if usable else None
        return {
            i: counts for i, counts in found.items()
            if self._judged(i) and any(counts[c] != self.given[i, c] for c in counts)
        }  # fmt: skip

    def barriers(self) -> Iterator[Finding]:
        """Barriers without which all recorded accesses would be ordered as before."""
        met = [i for i in self.executed if isinstance(self.steps.at(i), Rendezvous)]
        # a barrier before an atomic may be what a release to other workgroups rests on
        publishing = any(self.executed[i] for i in self.streams.atomic)
        for instruction in sorted(met) if self.alike and not publishing else ():
            if instruction not in self.needed_barriers and self._judged(instruction):
                # half a split barrier cannot go alone, and a fix is of one instruction
                whole = self.kernel.instructions[instruction].mnemonic == "s_barrier"
                yield Finding(
                    "useless", "barrier_orders_nothing", "info", (Site(instruction, "barrier"),),
                    {"executed": self.executed[instruction]}, Fix("delete", instruction) if whole else None,
                )  # fmt: skip

    def _judged(self, instruction: int) -> bool:
        if instruction in self.streams.after_cache:
            return False
        return self.executed[instruction] >= (_ENOUGH if instruction in self.looping else 1)


def own_needs(group: Group) -> NDArray[np.int64]:
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
    """places[index], NEVER for NEVER."""
    return np.where(index == NEVER, NEVER, np.append(places, NEVER)[np.minimum(index, len(places))])


Looser = dict[int, dict[int, int | None]]


def _safe_on_all_paths(recording: Recording, kernel: Kernel, steps: Steps, looser: Looser) -> Looser:
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


def _wait_findings(steps: Steps, judge: _Judge, looser: Looser) -> Iterator[Finding]:
    for instruction, counts in sorted(looser.items()):
        text = _texts(steps, counts)
        rule = "wait_stricter_than_needed" if text else "wait_completes_nothing_needed"
        names = steps.names
        facts = {
            "given": {names[c]: judge.given[instruction, c] for c in counts},
            "loosest": {names[c]: n for c, n in counts.items()},
            "decisive": {names[c]: judge.decisive.get((instruction, c)) for c in counts},
            "executed": judge.executed[instruction],
        }
        fix = Fix("replace" if text else "delete", instruction, text)
        yield Finding("useless", rule, "info", (Site(instruction, "wait"),), facts, fix)

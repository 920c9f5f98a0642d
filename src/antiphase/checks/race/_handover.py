"""Hand-overs between workgroups whose release or acquisition lacks a part: pairs of accesses that atomics put in order,
but of which the second may not see what the first did, since it stayed in a cache or an old line was found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from antiphase.asm import Kernel
from antiphase.checks._finding import Finding, Fix, Severity, Site
from antiphase.checks.order import DMA, READ, VECTOR, WRITE, CacheModel, Clock, Group, Leniency, Pairs, Steps, viewed
from antiphase.checks.race._pairs import KINDS, Tally
from antiphase.checks.race._parties import Handover, handover
from antiphase.checks.wait import wait_text

_RULES = {
    ("release", 0): "release_without_write_back",
    ("release", 1): "release_before_completion",
    ("acquire", 0): "acquire_without_invalidate",
    ("acquire", 1): "acquire_before_completion",
    ("acquire", 2): "invalidation_outstanding",
}
"""By side, and by what it lacks (`_late`, `_early`)."""


@dataclass(frozen=True, slots=True, eq=False)
class Ordered:
    """Pairs in order, x before y. released: by access, arrivals before it counts as complete to other workgroups."""

    group: Group
    x: NDArray[np.int64]
    y: NDArray[np.int64]
    pairs: Pairs
    kind: NDArray[np.int64]
    engine: NDArray[np.int64]
    released: NDArray[np.int64]

    def of(self, chosen: NDArray[np.bool_]) -> Ordered:
        """Some of them."""
        return Ordered(
            self.group, self.x[chosen], self.y[chosen], self.pairs.of(chosen), self.kind, self.engine, self.released
        )

    def unwritten(self, clock: Clock) -> NDArray[np.bool_]:
        """Those whose first access is not known to be written back."""
        group = self.group
        return clock.written(group.wave[self.y], group.issued[self.y], group.wave[self.x]) <= group.arrived[self.x]

    def stale(self, clock: Clock) -> NDArray[np.bool_]:
        """Those whose second access may find what was there before the first."""
        group = self.group
        return clock.fresh(group.wave[self.y], group.issued[self.y], group.wave[self.x]) <= self.released[self.x]


class Handovers:
    """Judges hand-overs of a launch. tally: what it leaves out of races is left out here."""

    def __init__(self, kernel: Kernel, steps: Steps, model: CacheModel, tally: Tally) -> None:
        self.kernel, self.steps, self.model, self.tally = kernel, steps, model, tally
        self.found: dict[tuple[str, int], Finding] = {}

    def add(self, ordered: Ordered) -> None:
        """Pairs of a launch that are in order."""
        clock = ordered.group.clock
        assert clock is not None
        plain = self._plain(ordered)
        writes, reads = ordered.kind[ordered.x] == WRITE, ordered.kind[ordered.y] == READ
        if self.model.write_back:
            some = ordered.of(writes & plain[ordered.x])
            self._add("release", some.of(some.unwritten(clock)))
        some = ordered.of(reads & plain[ordered.y])
        self._add("acquire", some.of(some.stale(clock)))

    def _plain(self, ordered: Ordered) -> NDArray[np.bool_]:
        """By access, whether it goes through caches that are not coherent over the device. Asynchronous and tensor
        operations are not in LLVM's memory model."""
        by_atomics = np.isin(ordered.group.instructions(), list(self.tally.numbered))
        return ~by_atomics & np.isin(ordered.engine, (VECTOR, DMA))

    def _add(self, side: str, open_: Ordered) -> None:
        """Pairs that lack something on one side."""
        group = open_.group
        if len(open_.x):
            open_ = open_.of(self.tally.judged(group, "memory", open_.x, open_.y, open_.kind, open_.pairs.byte))
        if not len(open_.x):
            return
        lacks = self._late(open_) if side == "release" else self._early(open_)
        data, other = (open_.x, open_.y) if side == "release" else (open_.y, open_.x)
        # the first in the program stand for the others
        instruction = group.instructions()
        what = np.stack([lacks, instruction[data], instruction[other]])
        keys, index, counts = np.unique(what, axis=1, return_index=True, return_counts=True)
        for lack, i, count in zip(keys[0].tolist(), index.tolist(), counts.tolist(), strict=True):
            self._one(side, _RULES[side, lack], open_, i, count)

    def _late(self, open_: Ordered) -> NDArray[np.int64]:
        """Of releases, whether the write-back is there, but not complete."""
        in_time = viewed(open_.group, self.steps, self.model, Leniency(caches=True))
        return np.where(open_.unwritten(in_time), 0, 1)

    def _early(self, open_: Ordered) -> NDArray[np.int64]:
        """Of acquisitions, whether the invalidation is there: too early, or not complete."""
        in_time, both = (
            viewed(open_.group, self.steps, self.model, Leniency(caches=True, atomics=atomics))
            for atomics in (False, True)
        )
        return np.where(open_.stale(both), 0, np.where(open_.stale(in_time), 1, 2))

    def _one(self, side: str, rule: str, open_: Ordered, i: int, count: int) -> None:
        group, x, y = open_.group, int(open_.x[i]), int(open_.y[i])
        by = handover(group, x, y, int(open_.released[x]), self.steps.caches, self.model.refills)
        data, other = (x, by.release) if side == "release" else (y, by.acquire)
        key = rule, other
        if key not in self.found:
            byte, size = int(open_.pairs.byte[i]), int(open_.pairs.bytes_[i])
            facts: dict[str, object] = {
                "space": "memory", "conflict": f"{KINDS[open_.kind[x]]}_{KINDS[open_.kind[y]]}",
                "bytes": (byte, byte + size), "workgroups": (group.workgroup(x), group.workgroup(y)),
            }  # fmt: skip
            sites = (
                Site(group.instruction(data), KINDS[open_.kind[data]], (int(group.wave[data]) % group.per_member,)),
                Site(other, side),
            )
            severity: Severity = "warning" if rule == "invalidation_outstanding" else "error"
            fix = self._fix(rule, by, group.instruction(y))
            self.found[key] = Finding("race", rule, severity, sites, facts | self._missing(rule, by), fix, 0)
        self.found[key] = replace(self.found[key], count=self.found[key].count + count)

    def _missing(self, rule: str, by: Handover) -> dict[str, object]:
        counter = {
            "release_before_completion": self.model.written,
            "invalidation_outstanding": self.model.dropped,
            "acquire_before_completion": self._counter(by.acquire),
        }.get(rule)
        caches = {
            "release_without_write_back": self.model.write_back,
            "acquire_without_invalidate": self.model.invalidate,
        }
        return {"counter": counter} if counter else {"caches": caches[rule]} if rule in caches else {}

    def _fix(self, rule: str, by: Handover, second: int) -> Fix:
        model = self.model
        match rule:
            case "release_without_write_back":
                return Fix("insert", by.release, (*model.write_back, self._wait(model.written)))
            case "release_before_completion":
                return Fix("insert", by.release, (self._wait(model.written),))
            case "acquire_before_completion":
                return Fix("insert", by.invalidation, (self._wait(self._counter(by.acquire)),))
            case "invalidation_outstanding":
                return Fix("insert", by.invalidation + 1, (self._wait(model.dropped),))
        waited = (self._wait(model.dropped),) if model.own == "completion" else ()
        return Fix("insert", second, (*model.invalidate, *waited))

    def _wait(self, counter: str) -> str:
        return wait_text(counter, 0, self.steps.generation)

    def _counter(self, instruction: int) -> str:
        return self.steps.names[self.steps.operations[instruction].counters[0]]

    def findings(self) -> Iterator[Finding]:
        """One for each rule and instruction that hands over."""
        return (finding for _, finding in sorted(self.found.items(), key=lambda item: item[0]))

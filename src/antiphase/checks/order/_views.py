"""What waves can see of each other's memory, followed beside their clocks (`_clock`).

A clock says what came before; a view says which of that the caches let through. Each wave carries, by wave and in
arrivals like its clock: what is written back as far as it knows; what has been dropped from the caches that workgroups
share, and from all that its own workgroup shares; and what its own loads can no longer find stale.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antiphase.checks.order._caches import Cache, CacheModel
from antiphase.checks.order._exchange import LDS_PLACES
from antiphase.checks.order._marks import Phase

Vector = NDArray[np.int32]
_WRITTEN, _BEYOND, _TOGETHER, _FRESH = range(4)
_KEPT = [_WRITTEN, _FRESH]


@dataclass(frozen=True, slots=True)
class Leniency:
    """What is taken to be complete as soon as it is issued, to tell what is late from what is not there."""

    caches: bool = False
    atomics: bool = False


class Views:
    """The views of all waves of a launch, `count` of them. sizes: waves of a workgroup, and workgroups of a cluster.
    rows: of each state of the clock, what is written back and what is fresh."""

    def __init__(self, model: CacheModel, count: int, sizes: tuple[int, int], leniency: Leniency) -> None:
        self.model, self.leniency = model, leniency
        self.each, self.cluster = sizes[0], sizes[0] * sizes[1]
        self.now = [np.zeros((4, count), np.int32) for _ in range(count)]
        self.rows = [np.zeros((2, count), np.int32)]
        self.phases: dict[Phase, NDArray[np.int32]] = {}
        self.places: dict[int, NDArray[np.int32]] = {}
        self.taken: dict[tuple[int, int], list[NDArray[np.int32]]] = {}
        self.issued: dict[tuple[int, int], tuple[Cache, Vector, Vector]] = {}

    def issue(self, wave: int, at: tuple[int, Cache, bool], before: Vector, coming: Iterable[Vector]) -> None:
        """A cache instruction: operation, what it does, and whether loads were outstanding. before: the clock of its
        wave. coming: what its outstanding atomics will add."""
        operation, cache, loads_out = at
        if self.leniency.atomics:
            before = np.maximum.reduce([before, *coming])
        elif loads_out and self.model.refills and not cache.writes_back:
            return
        mine, early = self.now[wave], self.leniency.caches
        entry = cache, before.copy(), mine[_BEYOND].copy()
        if not early:
            self.issued[wave, operation] = entry
        if cache.writes_back and early:
            self._written(wave, before)
        self._dropped(
            mine, *entry, own=early or self.model.own == "issue", others=early or self.model.others == "issue"
        )

    def finish(self, wave: int, operation: int) -> None:
        """It is complete."""
        entry = self.issued.pop((wave, operation), None)
        if entry is None:
            return
        if entry[0].writes_back:
            self._written(wave, entry[1])
        self._dropped(self.now[wave], *entry, own=True, others=True)

    def _written(self, wave: int, before: Vector) -> None:
        """A write-back reaches what its own cluster did; what others did may be in another cache of its kind."""
        own = _part(wave, self.cluster)
        np.maximum(self.now[wave][_WRITTEN, own], before[own], out=self.now[wave][_WRITTEN, own])

    def _dropped(
        self, mine: NDArray[np.int32], cache: Cache, before: Vector, beyond: Vector, own: bool, others: bool
    ) -> None:
        gained = before if cache.beyond else beyond
        if cache.beyond and others:
            np.maximum(mine[_BEYOND], before, out=mine[_BEYOND])
        if cache.nearest and own:
            np.maximum(mine[_FRESH], gained, out=mine[_FRESH])
        if cache.nearest and others and self.model.shared:
            np.maximum(mine[_TOGETHER], gained, out=mine[_TOGETHER])

    def arrive(self, wave: int, phase: Phase) -> None:
        """Bring what the wave knows to a barrier: of caches, only to one of its workgroup."""
        mine = self.now[wave][: _FRESH if phase[0] >= 0 else _BEYOND]
        self.phases[phase] = np.maximum(mine, self.phases.get(phase, 0))

    def pass_(self, wave: int, phase: Phase) -> None:
        """Take what was brought to a barrier."""
        if phase in self.phases:
            self._learn(wave, self.phases[phase])

    def release(self, wave: int, places: Iterable[int]) -> None:
        """Leave what is known at the places that an atomic changes: of caches, only for those in one LDS."""
        for place in places:
            mine = self.now[wave][: _FRESH if place >= LDS_PLACES else _BEYOND]
            self.places[place] = np.maximum(mine, self.places.get(place, 0))

    def acquire(self, wave: int, operation: int, places: Iterable[int]) -> None:
        """What an atomic will know once it is complete."""
        self.taken[wave, operation] = [self.places[place] for place in places if place in self.places]

    def take(self, wave: int, operation: int) -> None:
        """An atomic or a cache instruction is complete."""
        self.finish(wave, operation)
        for known in self.taken.pop((wave, operation), ()):
            self._learn(wave, known)

    def _learn(self, wave: int, known: NDArray[np.int32]) -> None:
        mine = self.now[wave]
        np.maximum(mine[: len(known)], known, out=mine[: len(known)])
        if len(known) > _TOGETHER:
            np.maximum(mine[_FRESH], known[_TOGETHER], out=mine[_FRESH])

    def is_new(self, wave: int, state: int) -> bool:
        """Whether a wave stands otherwise than in that state."""
        return not np.array_equal(self._row(wave), self.rows[state])

    def keep(self, wave: int) -> None:
        """Make how a wave stands the next state."""
        self.rows.append(self._row(wave))

    def _row(self, wave: int) -> NDArray[np.int32]:
        # its own workgroup's entries are not asked for: waves that turn in place stay in one state
        row = self.now[wave][_KEPT]
        row[:, _part(wave, self.each)] = 0
        return row


def _part(wave: int, size: int) -> slice:
    """The waves of parts of that size, of the one that a wave is in."""
    first = wave - wave % size
    return slice(first, first + size)

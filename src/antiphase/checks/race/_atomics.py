"""What may hand over and is no atomic, so that a recording does not number it: such pairs are not judged.

A wave that changes a place of atomics after x may release what it did; one that looks at that place before y may have
waited for it. Where both do so by atomics, `order._exchange` has the order. And a load whose place the same wave then
compares and swaps is a guess that a race cannot hurt.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from antiphase.asm import Kernel
from antiphase.checks.order import ATOMIC, READ, WRITE, Group, Touched, distinct


def comparing(kernel: Kernel) -> NDArray[np.bool_]:
    """By instruction: whether it compares and swaps."""
    return np.array(["atomic_cmp" in i.mnemonic or "ds_cmp" in i.mnemonic for i in kernel.instructions], bool)


class Synchronization:
    """The atomics of a workgroup. Places are dwords, even numbers for LDS and odd ones for memory."""

    def __init__(self, group: Group, compares: NDArray[np.bool_], numbered: Collection[int]) -> None:
        self.group = group
        parts = [_places(group.lds, 0), _places(group.memory, 1)]
        place, access, kind = (np.concatenate(column) for column in zip(*parts, strict=True))
        self.atomic = distinct(place[kind == ATOMIC])
        mine = np.isin(place, self.atomic)
        self.place, self.access, self.kind = place[mine], access[mine], kind[mine]
        self.wave, self.operation = group.wave[self.access], group.operation[self.access]
        instructions = group.instructions()[self.access] if len(self.access) else self.access
        self.compares = compares[instructions]
        self.numbered = np.isin(instructions, list(numbered)) | (self.kind == ATOMIC)

    def guesses(
        self, x: NDArray[np.int64], y: NDArray[np.int64], kinds: NDArray[np.int64], space: str, byte: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Pairs of a load and an atomic in which the load's wave goes on to compare and swap there. kinds: by access;
        byte: that the pair has in common."""
        place = byte // 4 * 2 + (space == "memory")
        found = np.zeros(len(x), bool)
        for i in np.flatnonzero((kinds[x] | kinds[y]) == READ | ATOMIC).tolist():
            load = x[i] if kinds[x[i]] == READ else y[i]
            later = (self.place == place[i]) & self.compares & (self.wave == self.group.wave[load])
            found[i] = bool((self.operation[later] > self.group.operation[load]).any())
        return found

    def may_order(self, x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Pairs that a release after x and an acquisition before y may have put in order."""
        found = np.zeros(len(x), bool)
        if not len(self.atomic):
            return found
        wave, operation = self.group.wave, self.group.operation
        for first, second in np.unique(np.stack([wave[x], wave[y]]), axis=1).T.tolist():
            mine = (wave[x] == first) & (wave[y] == second)
            found[mine] = self._between(first, second, operation[x[mine]], operation[y[mine]])
        return found

    def _between(self, first: int, second: int, x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Of accesses x of one wave and y of another: one side at least must not be numbered."""
        changes = (self.wave == first) & (self.kind != READ)
        looks = (self.wave == second) & (self.kind != WRITE)
        plainly = self._handed_over(changes, looks & ~self.numbered, x, y)
        return plainly | self._handed_over(changes & ~self.numbered, looks, x, y)

    def _handed_over(
        self, changes: NDArray[np.bool_], looks: NDArray[np.bool_], x: NDArray[np.int64], y: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        never = np.iinfo(np.int64).max
        release, acquire = np.full(len(self.atomic), -1, np.int64), np.full(len(self.atomic), never, np.int64)
        np.maximum.at(release, np.searchsorted(self.atomic, self.place[changes]), self.operation[changes])
        np.minimum.at(acquire, np.searchsorted(self.atomic, self.place[looks]), self.operation[looks])
        order = np.argsort(release)
        earliest = np.r_[np.minimum.accumulate(acquire[order][::-1])[::-1], never]
        return earliest[np.searchsorted(release[order], x, "right")] < y


def _places(touched: Touched, space: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    return touched.start // 4 * 2 + space, touched.access, touched.kind

"""Memory that the host reads and writes while waves do: in which order is not the kernel's affair."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from antiphase.checks.order._group import Group


def of_host(addresses: NDArray[np.int64], places: Iterable[tuple[int, int]]) -> NDArray[np.bool_]:
    """Which addresses lie in such places: (first byte, one past the last)."""
    found = np.zeros(len(addresses), bool)
    for first, end in places:
        found |= (addresses >= first) & (addresses < end)
    return found


def without_host(group: Group, places: Iterable[tuple[int, int]]) -> Group:
    """A group without what it did there."""
    theirs = of_host(group.memory.start, places)
    return replace(group, memory=group.memory.of(~theirs)) if theirs.any() else group

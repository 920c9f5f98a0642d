"""From which arrival on an access is in order with what comes after it: once complete, or earlier by a queue."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from antiphase.checks.order import DS, Group, Path, Steps


def in_lds(group: Group, steps: Steps) -> NDArray[np.int64]:
    """By access, arrivals of its wave before it is in order, for LDS.

    DS instructions of a wave take effect in order, so that an atomic of LDS hands over what they did without a wait
    (AMDGPUUsage, memory model: release of the local address space).
    """
    if not steps.exchanges:
        return group.complete
    found = _earliest(group, lambda path, operation: operation >= 0 and steps.is_ds(int(path.instruction[operation])))
    other = np.ones(len(found), bool)
    other[group.lds.access[group.lds.engine == DS]] = False
    return np.where(other, group.complete, found)


def in_memory(group: Group, steps: Steps, one_workgroup: bool) -> NDArray[np.int64]:
    """The same for memory. Waves of a CDNA compute unit share a queue to it: between waves of a workgroup any arrival
    will do, and towards another workgroup the next barrier (LLVM's workgroup fences wait for LDS only, AMDGPUUsage)."""
    if steps.generation != "gfx9":
        return group.complete
    return group.arrived if one_workgroup else _earliest(group, lambda path, operation: operation < 0)


def _earliest(group: Group, wanted: Callable[[Path, int], bool]) -> NDArray[np.int64]:
    """Completion, or the first arrival of a wanted kind behind the access if that is earlier."""
    known: dict[int, NDArray[np.int64]] = {}
    for path in group.paths.values():
        if id(path) not in known:
            arrivals = [operation for arrives, operation in path.sync if arrives]
            which = np.array([wanted(path, operation) for operation in arrivals], bool)
            places = np.r_[np.flatnonzero(which), len(arrivals)]
            following = places[np.searchsorted(places, path.arrived)]
            known[id(path)] = np.minimum(path.complete, following[:, None]).ravel()
    return np.concatenate([known[id(path)] for path in group.paths.values()])

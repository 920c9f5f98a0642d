"""Buffers kept from one launch for the next: fresh memory costs a page fault for every 4 KiB that a launch touches."""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

KEPT = 12
"""Buffers kept in all, the newest ones; a recording launch uses three a host thread."""

_lock = threading.Lock()
_free: list[NDArray[np.uint8]] = []


def take(size: int) -> NDArray[np.uint8]:
    """`size` bytes that start at a cache line, with whatever they held before."""
    with _lock:
        for i, buffer in enumerate(_free):
            if len(buffer) == size:
                return _free.pop(i)
    raw = np.empty(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size]


def give_back(*buffers: NDArray[np.uint8]) -> None:
    """Keep buffers of `take` that nothing points into any more."""
    with _lock:
        _free.extend(buffers)
        del _free[:-KEPT]

"""Global memory that nothing has written yet: filled with a pattern, and found again by it.

The pattern is a NaN in every float type of 16 bits and more, so that a result made of it shows; eight bytes of data are
equal to it by chance once in 2**64.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

_PATTERN = np.uint64(0xFFFB_FFFA_FFFC_FFFD)
_BYTES = 8


def leave_unwritten(array: NDArray) -> NDArray:
    """Fill a contiguous array with the pattern; the last bytes that are no whole pattern become 0. The array itself."""
    raw = array.reshape(-1).view(np.uint8)
    whole = len(raw) // _BYTES * _BYTES
    raw[:whole] = np.resize(np.array([_PATTERN]).view(np.uint8), whole)
    raw[whole:] = 0
    return array


def leave_bytes_unwritten(address: int, size: int) -> None:
    """The same for `size` bytes of this process."""
    leave_unwritten(_bytes(address, size))


def unwritten(allocations: Iterable[tuple[int, int]]) -> NDArray[np.int64]:
    """Rows (first byte, one past the last) of memory that holds the pattern, by address, for (address, size) pairs."""
    rows = [_runs(address, size) for address, size in allocations]
    return np.concatenate(rows) if rows else np.empty((0, 2), np.int64)


def _runs(address: int, size: int) -> NDArray[np.int64]:
    whole = size // _BYTES
    words = _bytes(address, whole * _BYTES).view(np.uint64) == _PATTERN
    edges = np.flatnonzero(np.diff(np.r_[False, words, False])).reshape(-1, 2)
    return address + _BYTES * edges.astype(np.int64)


def _bytes(address: int, size: int) -> NDArray[np.uint8]:
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))

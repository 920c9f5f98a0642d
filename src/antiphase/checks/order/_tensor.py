"""The bytes of LDS and memory that a tensor descriptor names.

Source: AMD CDNA5 ISA 10.11 and its tables 61-67 (descriptor groups 0 to 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_GROUPS = (4, 8, 4, 4)


@dataclass(frozen=True, slots=True, eq=False)
class TensorTile:
    """Runs of bytes in LDS and in memory; in memory only those that exist there, in LDS what a store takes from it or
    all that a load fills. A multicast fills the LDS of no other workgroup, each loads for itself (10.7)."""

    lds: NDArray[np.int64]
    lds_sizes: NDArray[np.int64]
    memory: NDArray[np.int64]
    memory_sizes: NDArray[np.int64]


class _Fields:
    def __init__(self, words: Sequence[int]) -> None:
        self.bits = sum((word & 0xFFFFFFFF) << 32 * i for i, word in enumerate(words[: sum(_GROUPS)]))

    def __call__(self, group: int, first: int, width: int) -> int:
        """Bits of a group of the descriptor."""
        return self.bits >> 32 * sum(_GROUPS[:group]) + first & (1 << width) - 1


def barrier_of(words: Sequence[int]) -> int | None:
    """LDS address of the barrier that the transfer arrives at, None for none."""
    field = _Fields(words)
    wanted = field(1, 18, 1) and field(0, 0, 2)
    return field(1, 32, 16) << 3 if wanted else None


def tiles(words: Sequence[int], load: bool) -> TensorTile:
    """What a transfer with these descriptor words touches. load: to LDS, with padding, and zeros for what does not
    exist in memory; a store ignores padding and drops what does not exist (10.11.6)."""
    field = _Fields(words)
    if not field(0, 0, 2) or not field(1, 112, 16):
        nothing = np.empty(0, np.int64)
        return TensorTile(nothing, nothing, nothing, nothing)
    scale = field(1, 16, 2)
    gather = bool(field(0, 31, 1))
    iterate = bool(field(1, 19, 1)) and not gather
    extents, limits, strides = _shape(field, gather, iterate or gather)
    outer = np.indices(extents[:0:-1], dtype=np.int64).reshape(len(extents) - 1, -1)[::-1]
    row_bytes = extents[0] << scale
    inside = min(extents[0], limits[0]) << scale
    written = np.arange(outer.shape[1], dtype=np.int64) * row_bytes
    rows = [_gathered(field, outer[0]) if gather else outer[0], *outer[1:]]
    offset, valid = np.zeros_like(written), np.full_like(written, inside)
    for row, stride, limit in zip(rows, strides, limits[1:], strict=True):
        offset += row * stride << scale
        valid = np.where(row < limit, valid, 0)
    turns = np.arange(field(2, 112, 16) + 1 if iterate else 1)[:, None]
    memory = field(0, 64, 57) + (turns * (field(2, 64, 48) if iterate else 0) << scale) + offset
    target = field(0, 32, 32) + (turns * (field(2, 32, 32) if iterate else 0) << scale)
    exists = np.broadcast_to(valid > 0, memory.shape)
    present = np.broadcast_to(valid, memory.shape)[exists]
    if not load:
        return TensorTile((target + written)[exists], present, memory[exists], present)
    lds, sizes = _padded(field, written, row_bytes)
    return TensorTile((target + lds).ravel(), np.tile(sizes, len(turns)), memory[exists], present)


def _shape(field: _Fields, gather: bool, flat: bool) -> tuple[list[int], list[int], list[int]]:
    """Tile size and tensor extent of each dimension, innermost first, and strides of all but the innermost."""
    sizes = [field(1, 112, 16), field(1, 128, 16), 0 if gather else field(1, 144, 16)]
    sizes += [0 if flat else field(2, 112, 16), 0 if flat else field(3, 80, 16)]
    bounds = [field(1, 48, 32), field(1, 80, 32), field(2, 0, 32), field(2, 32, 32), field(3, 48, 32)]
    extents = [sizes[0], *(size or 1 for size in sizes[1:])]
    limits = [bounds[0], *(bound if size else 1 << 32 for size, bound in zip(sizes[1:], bounds[1:], strict=True))]
    return extents, limits, [field(1, 160, 48), field(1, 208, 48), field(2, 64, 48), field(3, 0, 48)]


def _gathered(field: _Fields, row: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows that the list in groups 2 and 3 names: 16 of 16 bits, or 8 of 32."""
    if field(0, 30, 1):
        table = np.array([field(2, 32 * i, 32) for i in range(8)], np.int64)
        return table[row & 7]
    table = np.array([field(2, 16 * i, 16) for i in range(16)], np.int64)
    return table[row & 15]


def _padded(field: _Fields, written: NDArray[np.int64], row_bytes: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Runs that a load fills in LDS: rows one after the other, cut where it puts padding."""
    if not field(1, 20, 1):
        return written, np.full(len(written), row_bytes, np.int64)
    shift = field(1, 22, 3) + 3
    total = len(written) * row_bytes
    starts = np.unique(np.r_[np.arange(0, total, row_bytes), np.arange(0, total, 1 << shift)])
    gap = (field(1, 25, 7) + 1) << 2
    return starts + (starts >> shift) * gap, np.diff(np.r_[starts, total])

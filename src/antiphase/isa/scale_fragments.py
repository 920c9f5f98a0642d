"""Scale operands of block-scaled matrix instructions: an 8-bit scale for a row or column and a block of k.

Sources: for CDNA 4, Triton 3.9's code for tt.dot_scaled on gfx950 (one scale a lane, a byte of its register); for
CDNA 5, AMD CDNA5 ISA 7.12.6.2 (all scales of a row in one lane, in order of k).
"""

from __future__ import annotations

import functools

import numpy as np

from antiphase.arch import Fragment, OperandLayout
from antiphase.isa._record import Matrix

SCALE_BITS = 8
HALF = 16  # lanes that a WMMA reads the scales of 16 rows from
UNUSED = -1


@functools.cache
def scale_fragments(record: Matrix, select: tuple[int, int] = (0, 0)) -> tuple[Fragment, Fragment]:
    """Scales of A and B: outer is the row or column, inner the block of k.

    select: for A and B, what of the registers is read: an MFMA's byte (0 to 3, from OP_SEL and OP_SEL_HI), a WMMA's
    half of the lanes (MATRIX_SCALE_ROW0, ROW1).
    """
    one = _byte_of_lane if record.family == "mfma" else _row_of_lane
    return one(record, record.m, select[0]), one(record, record.n, select[1])


def scale_choices(record: Matrix) -> tuple[int, int]:
    """Values that `select` can take for A and for B."""
    if record.family == "mfma":
        return 4, 4
    return 32 // record.m, 32 // record.n


def _byte_of_lane(record: Matrix, outer: int, byte: int) -> Fragment:
    lane = np.arange(64)[:, None]
    layout = OperandLayout(lane % outer, lane // outer, np.zeros_like(lane))
    return Fragment(layout, SCALE_BITS, SCALE_BITS, SCALE_BITS * byte)


def _row_of_lane(record: Matrix, outer: int, half: int) -> Fragment:
    lane, block = np.indices((32, record.k // record.scale_block))
    row = lane - HALF * half
    used = (row >= 0) & (row < outer)
    row, block = np.where(used, row, UNUSED), np.where(used, block, UNUSED)
    return Fragment(OperandLayout(row, block, np.zeros_like(row)), SCALE_BITS, SCALE_BITS)


__all__ = ["scale_choices", "scale_fragments"]

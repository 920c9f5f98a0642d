"""Operands that an MFMA reads from other places than its own: CBSZ and ABID for A, BLGP for B.

Source: AMD's matrix instruction calculator (ROCm/amd_matrix_instruction_calculator @2ef91896,
_get_cbsz_abid_transformed_block and _get_blgp_transformed_lane).
"""

from __future__ import annotations

import numpy as np

from antiphase.arch._layouts import OperandLayout

GROUP = 16  # lanes that BLGP moves together
UNUSED = -1

BLGP_GROUPS = (
    (0, 1, 2, 3), (0, 1, 0, 1), (2, 3, 2, 3), (1, 2, 3, 0),
    (0, 0, 0, 0), (1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 3, 3),
)  # fmt: skip
"""By BLGP: for each group of 16 lanes of B, the group whose registers it takes."""


def broadcast_blocks(layout: OperandLayout, cbsz: int, abid: int) -> tuple[OperandLayout, ...]:
    """A where block ABID of every 2 ** CBSZ blocks stands for all of them.

    A register then serves several blocks: one layout for each, in order, that says of every place which element
    of that block it is. Places that serve none hold nothing.
    """
    if not cbsz:
        return (layout,)
    served = layout.block % (1 << cbsz) == abid
    first = layout.block - abid
    return tuple(
        OperandLayout(*(np.where(served, each, UNUSED) for each in (layout.outer, layout.inner, first + number)))
        for number in range(1 << cbsz)
    )


def regroup_lanes(layout: OperandLayout, blgp: int) -> tuple[OperandLayout, ...]:
    """B whose groups of 16 lanes are read as BLGP says: a layout for each use of a group, as broadcast_blocks."""
    if not blgp:
        return (layout,)
    readers = [[g for g, read in enumerate(BLGP_GROUPS[blgp]) if read == group] for group in range(4)]
    return tuple(_use(layout, readers, number) for number in range(max(map(len, readers))))


def _use(layout: OperandLayout, readers: list[list[int]], number: int) -> OperandLayout:
    arrays = []
    for each in (layout.outer, layout.inner, layout.block):
        moved = np.full_like(each, UNUSED)
        for group, reading in enumerate(readers):
            if number < len(reading):
                moved[GROUP * group : GROUP * (group + 1)] = each[GROUP * reading[number] :][:GROUP]
        arrays.append(moved)
    return OperandLayout(*arrays)

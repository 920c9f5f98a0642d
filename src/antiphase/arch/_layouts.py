"""Where the elements of matrix instructions live: lane and position within the lane's registers.

The formulas are those of AMD's matrix instruction calculator (ROCm/amd_matrix_instruction_calculator,
matrix_calculator.py, InstCalcGfx9), which states them for CDNA1 to CDNA3. CDNA4's larger K follow the same
rule, except that 8-bit operands of the F8F6F4 instructions come in runs of 16: so Triton 3.9 lays out
tt.dot_scaled for gfx950 (operands kWidth = 16, one scale a lane for each row and block of 32 k).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LANES = 64  # of CDNA's waves

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class OperandLayout:
    """Coordinates of every element a wave holds of one operand, each an array of shape (lanes, positions).

    For A: outer is the row, inner is k. For B: outer is the column, inner is k. For C and D: outer is the
    row, inner the column. A position counts elements from bit 0 of the lane's first register upwards.
    Negative coordinates mark places that hold nothing.
    """

    outer: Indices
    inner: Indices
    block: Indices

    @property
    def positions(self) -> int:
        """Elements a lane holds."""
        return self.outer.shape[1]

    @functools.cached_property
    def _where(self) -> dict[tuple[int, int, int], list[tuple[int, int]]]:
        found: dict[tuple[int, int, int], list[tuple[int, int]]] = {}
        for lane, position in np.ndindex(self.outer.shape):
            element = self.element(lane, position)
            if element is not None:
                found.setdefault(element, []).append((lane, position))
        return found

    def places(self, outer: int, inner: int, block: int = 0) -> tuple[tuple[int, int], ...]:
        """Every (lane, position) of one element, lowest lane first. KeyError if there is no such element."""
        return tuple(self._where[outer, inner, block])

    def locate(self, outer: int, inner: int, block: int = 0) -> tuple[int, int]:
        """The first (lane, position) of one element. KeyError if the operand has no such element."""
        return self._where[outer, inner, block][0]

    def element(self, lane: int, position: int) -> tuple[int, int, int] | None:
        """(outer, inner, block) at a place, None where it holds nothing."""
        place = lane, position
        found = int(self.outer[place]), int(self.inner[place]), int(self.block[place])
        return None if found[0] < 0 else found


@functools.cache
def input_layout(outer: int, k: int, blocks: int = 1, run: int = 0) -> OperandLayout:
    """A (outer = M) or B (outer = N) of a product with depth k.

    run: consecutive k a lane holds before the next lanes take over; 0 for all it holds.
    """
    lanes, positions = np.indices((LANES, k * outer * blocks // LANES))
    run = run or positions.shape[1]
    width = outer * blocks
    group, groups = lanes // width, LANES // width
    inner = (positions // run * groups + group) * run + positions % run
    return OperandLayout(lanes % outer, inner, lanes // outer % blocks)


@functools.cache
def output_layout(m: int, n: int, blocks: int = 1, bits: int = 32) -> OperandLayout:
    """C or D of a product.

    4 rows by n columns (1 row for 64-bit elements) fill the first lanes of as many registers, the next blocks
    and rows follow in the next lanes, and a full set of registers is followed by the next.
    """
    lanes, positions = np.indices((LANES, m * n * blocks // LANES))
    height = 1 if bits == 64 else 4
    shared = max(1, LANES * height // (m * n))  # blocks that live in one register
    strips = LANES // (n * shared)  # row strips of one block in one register
    per_block = max(height, m * n // LANES)  # positions from one set of blocks to the next
    column = lanes % n
    strip = lanes // (n * shared)
    row = (positions % per_block // height * strips + strip) * height + positions % height
    block = positions // per_block + lanes // n % shared if shared > 1 else positions // per_block
    return OperandLayout(row, column, block)

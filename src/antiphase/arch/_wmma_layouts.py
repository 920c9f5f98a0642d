"""Where the elements of WMMA and SWMMAC live on RDNA 3, RDNA 3.5, RDNA 4 and CDNA 5.

Sources: RDNA 3 and RDNA 4 as AMD's matrix instruction calculator states them
(ROCm/amd_matrix_instruction_calculator @2ef91896, InstCalcGfx11 and InstCalcGfx12), with the figures of the
RDNA 3.5 ISA, 7.9, and of the RDNA 4 ISA, pages 101 to 106. CDNA 5 as ROCm/rocm-systems @f319585b has it
(emulation/rocjitsu, isa/arch/amdgpu/shared/mma/layout.h).
"""

from __future__ import annotations

import functools

import numpy as np

from antiphase.arch._layouts import Indices, OperandLayout

SIDE = 16  # rows or columns of a tile, and lanes that hold one k of it
UNUSED = -1


@functools.cache
def replicated_input_layout(lanes: int, k: int) -> OperandLayout:
    """A or B of RDNA 3: every group of 16 lanes holds a copy of all k, lane t row or column t."""
    lane, position = np.indices((lanes, k))
    return OperandLayout(lane % SIDE, position, np.zeros_like(lane))


@functools.cache
def partitioned_input_layout(lanes: int, outer: int, k: int, run: int, bits: int) -> OperandLayout:
    """A or B of RDNA 4 and CDNA 5: lane groups hold complementary k, `run` consecutive ones at a time.

    outer: 16, or 32 for two tiles of 16 rows one after the other in registers. Wave64 moves the upper half
    of a wave32 lane's registers to lane + 32; where there is one register only, the upper lanes are unused.
    """
    lane, position = np.indices((32, outer * k // 32))
    per_tile = k // 2
    within = position % per_tile
    inner = (within // run * 2 + lane // SIDE) * run + within % run
    row = lane % SIDE + position // per_tile * SIDE
    return _spread(lanes, row, inner, bits)


@functools.cache
def alternating_output_layout(lanes: int) -> OperandLayout:
    """C or D of RDNA 3, 16 x 16: a register holds one row for each group of 16 lanes, in order."""
    groups = lanes // SIDE
    lane, position = np.indices((lanes, SIDE // groups))
    return OperandLayout(position * groups + lane // SIDE, lane % SIDE, np.zeros_like(lane))


@functools.cache
def halves_output_layout(lanes: int, m: int, bits: int) -> OperandLayout:
    """C or D of RDNA 4 and CDNA 5, m x 16: lanes 0 to 15 hold rows 0 to 7 of a tile, lanes 16 to 31 rows 8
    to 15.

    m: 16, or 32 for two tiles one after the other in registers. Wave64 as for inputs.
    """
    lane, position = np.indices((32, m // 2))
    row = position // 8 * SIDE + lane // SIDE * 8 + position % 8
    return _spread(lanes, row, lane % SIDE, bits)


@functools.cache
def index_layout(lanes: int, k: int) -> OperandLayout:
    """The sparse index of CDNA 5: lane group q holds the indices of stored k from q * k / 4 on (A stores k /
        2 a row).

    RDNA 4 and CDNA keep the index of an element in the lane that holds the element. That CDNA 5 does not is
    what rocjitsu took from Tensile kernels; its note says that the public ISA text reads otherwise.
    """
    lane, position = np.indices((lanes, k // 2 // 2))
    return OperandLayout(lane % SIDE, lane // SIDE * (k // 4) + position, np.zeros_like(lane))


def _spread(lanes: int, outer: Indices, inner: Indices, bits: int) -> OperandLayout:
    """A wave32 layout as it is, or over 64 lanes."""
    if lanes == 64 and outer.shape[1] * bits <= 32:
        unused = np.full_like(outer, UNUSED)
        outer, inner = np.concatenate((outer, unused)), np.concatenate((inner, unused))
    elif lanes == 64:
        outer, inner = (np.concatenate(np.split(each, 2, axis=1)) for each in (outer, inner))
    return OperandLayout(outer, inner, np.zeros_like(outer))

"""Moves: within a lane, between lanes, between VGPRs, AGPRs and SGPRs."""

from __future__ import annotations

import functools

from antiphase.isa._expr import (
    U32,
    Expr,
    const,
    first_lane,
    lane_id,
    popcount,
    read_lane,
    select,
    shuffle,
    wave_size,
)  # fmt: skip
from antiphase.isa._families import GFX950, GFX1250
from antiphase.isa._record import valu

CITE = "AMD Instinct MI300 CDNA3 ISA, chapter 12 (VOP1, VOP2, VOP3)"
CDNA4 = "AMD CDNA4 ISA, chapter 12.8 (VOP1)"
op = functools.partial(valu, cite=CITE)

op("v_mov_b32", "u32 -> u32", lambda a: a)
op("v_mov_b64", "u64 -> u64", lambda a: a)
op("v_accvgpr_read_b32 v_accvgpr_write_b32 v_accvgpr_mov_b32", "u32 -> u32", lambda a: a)
op("v_cndmask_b32", "u32 u32 mask -> u32", lambda a, b, mask: select(mask, b, a))
op("v_swap_b32", "d:u32 e:u32 -> u32 u32", lambda a, b: (b, a))

op("v_readfirstlane_b32", "u32 -> u32", first_lane, ignores_exec=True)
op("v_readlane_b32", "u32 u32 -> u32", read_lane, ignores_exec=True)
op(
    "v_writelane_b32",
    "u32 u32 d:u32 -> u32",
    lambda value, lane, old: select(lane_id() == (lane & (wave_size() - 1)), value, old),
    ignores_exec=True,
)


def lanes_below(first_lane_of_half: int, mask: Expr, base: Expr) -> Expr:
    """base plus the set bits of the mask below this lane; the mask covers 32 lanes from the given one."""
    lane = lane_id()
    start = const(U32, first_lane_of_half)
    inside = (const(U32, 1) << (lane - start)) - 1
    below = select(lane < start, const(U32, 0), select(lane >= start + 32, const(U32, -1), inside))
    return popcount(mask & below) + base


op("v_mbcnt_lo_u32_b32", "u32 u32 -> u32", functools.partial(lanes_below, 0))
op("v_mbcnt_hi_u32_b32", "u32 u32 -> u32", functools.partial(lanes_below, 32))


def permlane_swap(row: int, destination: Expr, source: Expr) -> tuple[Expr, Expr]:
    """Odd rows of the destination change places with the even rows before them of the source."""
    odd = (lane_id() & row) != const(U32, 0)
    lanes = [i ^ row for i in range(64)]
    return select(odd, shuffle(source, lanes), destination), select(odd, source, shuffle(destination, lanes))


for row, targets in ((16, GFX950 | GFX1250), (32, GFX950)):
    op(
        f"v_permlane{row}_swap_b32",
        "d:u32 e:u32 -> u32 u32",
        functools.partial(permlane_swap, row),
        targets=targets,
        cite=CDNA4,
    )

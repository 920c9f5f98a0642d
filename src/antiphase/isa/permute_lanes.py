"""Vector permutes between lanes of GFX11, GFX12, gfx1250: in rows of 16, between rows and halves, in groups.

Fetch-inactive and bound control of the row permutes are op_sel[0] and op_sel[1]. As in DPP, a lane whose
source is inactive writes 0 with bound control and keeps its register without (LLVM AMDGPUUsage, permlane16).
"""

from __future__ import annotations

import functools

from antiphase.isa._expr import (
    B1,
    U32,
    U64,
    Expr,
    ballot,
    concat,
    const,
    fetch_lanes,
    lane_id,
    select,
    shuffle,
    wave_size,
)  # fmt: skip
from antiphase.isa._families import GFX12, GFX1250, WAVE32
from antiphase.isa._record import valu

RDNA3 = "AMD RDNA3 ISA (15-Aug-2023), pp. 432-433 (V_PERMLANE16_B32); RDNA3.5 ISA pp. 458-459"
RDNA4 = "AMD RDNA4 ISA (7-Apr-2025), p. 94 and pp. 513-514 (V_PERMLANE16_VAR_B32)"
CDNA5 = "AMD CDNA5 ISA (27-Jul-2026), section 15.14 (V_PERMLANE_BCAST, _UP, _DOWN, _XOR, _IDX_GEN)"
FETCH_INACTIVE, BOUND_CONTROL = 1, 2


def from_row(value: Expr, selector: Expr, old: Expr, controls: Expr, other_row: int) -> Expr:
    """Each lane takes the lane of its row, or of the row beside it, that its selector's low 4 bits number."""
    lane = lane_id()
    source = ((lane & 0x30) ^ other_row) | (selector & 15)
    fetched = fetch_lanes(value, source)
    active = ((ballot(const(B1, 1)) >> source.to(U64)) & 1) != 0
    valid = active | ((controls & FETCH_INACTIVE) != 0)
    otherwise = select((controls & BOUND_CONTROL) != 0, const(U32, 0), old)
    return select(valid, fetched, otherwise)


def pattern_permute(other_row: int, value: Expr, low: Expr, high: Expr, old: Expr, controls: Expr) -> Expr:
    """All rows share one pattern of sixteen 4-bit selectors in two scalars."""
    shift = (lane_id() & 15) << 2
    selector = (concat(low, high) >> shift.to(U64)).to(U32)
    return from_row(value, selector, old, controls, other_row)


def variable_permute(other_row: int, value: Expr, selector: Expr, old: Expr, controls: Expr) -> Expr:
    """Every lane has a selector of its own."""
    return from_row(value, selector, old, controls, other_row)


for name, other_row in (("16", 0), ("x16", 16)):
    valu(
        f"v_permlane{name}_b32",
        "u32 u32 u32 d:u32 op_sel -> u32",
        functools.partial(pattern_permute, other_row),
        targets=WAVE32,
        cite=RDNA3,
    )
    valu(
        f"v_permlane{name}_var_b32",
        "u32 u32 d:u32 op_sel -> u32",
        functools.partial(variable_permute, other_row),
        targets=GFX12,
        cite=RDNA4,
    )

valu(
    "v_permlane64_b32",
    "u32 d:u32 -> u32",
    lambda value, old: select(wave_size() == 64, shuffle(value, [i ^ 32 for i in range(64)]), old),
    targets=WAVE32,
    cite="AMD RDNA3 ISA (15-Aug-2023), chapter 16.8 (V_PERMLANE64_B32)",
)

grouped = functools.partial(valu, targets=GFX1250, cite=CDNA5)


def within_group(kind: str, value: Expr, selector: Expr, width: Expr) -> Expr:
    """A lane of the same group: a fixed one, one some way below or above, or the lane's number with bits flipped, which
    may be of an earlier group. A lane that would reach beyond keeps its own. Widths are powers of two."""
    lane = lane_id()
    base, place = lane & ~(width - 1), lane & (width - 1)
    if kind == "bcast":
        return fetch_lanes(value, base + (selector & (width - 1)))
    if kind == "up":
        source, exists = lane - selector, selector <= place
    elif kind == "down":
        source, exists = lane + selector, selector < width - place
    else:
        source = lane ^ selector
        exists = (selector < 32) & (source < base + width)
    return fetch_lanes(value, select(exists, source, lane))


for kind in ("bcast", "up", "down", "xor"):
    grouped(f"v_permlane_{kind}_b32", "u32 u32 u32 -> u32", functools.partial(within_group, kind))


def bpermute_address(index: Expr, width: Expr) -> Expr:
    """The address ds_bpermute takes to reach a lane of the group by its place in it."""
    return ((lane_id() & ~(width - 1)) + (index & 63 & (width - 1))) << 2


grouped("v_permlane_idx_gen_b32", "u32 u32 -> u32", bpermute_address)

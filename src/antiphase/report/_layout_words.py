"""Words and cells of layouts: ranges, lane groups, places, and what a register holds in a few characters."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from antiphase.arch import Place
from antiphase.layouts import Element, LaneGroup, Layout, Operand, lane_groups
from antiphase.report._words import times

BANKS = {"v": "VGPR", "a": "AGPR", "s": "SGPR"}
TYPES = {"index": "2-bit indices", "scale": "8-bit scales"}
NOTHING = "-"
MOST_GROUPS = 8  # lines of lane groups before the rest is left to the table
_COORDINATES = {
    "A": ("row", "k"), "B": ("k", "column"), "index": ("row", "stored k"),
    "scale_a": ("row", "k block"), "scale_b": ("k block", "column"),
}  # fmt: skip


def coordinates(operand: Operand, *, sparse: bool = False) -> tuple[str, str]:
    """What the rows and columns of an operand count."""
    if operand.name == "A" and sparse:
        return "row", "stored k"
    return _COORDINATES.get(operand.name, ("row", "column"))


def ranges(values: Iterable[int]) -> str:
    """`0-3, 8-11`; `0-14 by 2` for a run with one step."""
    values = sorted(values)
    steps = {after - before for before, after in itertools.pairwise(values)}
    if len(values) > 2 and len(steps) == 1 and steps != {1}:
        return f"{values[0]}-{values[-1]} by {steps.pop()}"
    runs: list[list[int]] = []
    for value in values:
        if runs and value == runs[-1][1] + 1:
            runs[-1][1] = value
        else:
            runs.append([value, value])
    return ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)


def group_line(group: LaneGroup, operand: Operand, *, sparse: bool = False) -> str:
    """`lanes 16-31: column = lane - 16, row 1-15 by 2`."""
    lanes = f"lanes {group.first}-{group.last}" if group.last > group.first else f"lane {group.first}"
    if not group.rows:
        return f"{lanes}: nothing"
    names = coordinates(operand, sparse=sparse)
    parts = []
    for coordinate, name, values in (("row", names[0], group.rows), ("column", names[1], group.columns)):
        if coordinate == group.steps:
            parts.insert(0, f"{name} = {_stepping(values, group.first)}")
        else:
            parts.append(f"{name} {ranges(values)}")
    if operand.shape[2] > 1:
        parts.append(f"block {ranges(group.blocks)}")
    return f"{lanes}: {', '.join(parts)}"


def group_lines(layout: Layout, operand: Operand) -> list[str]:
    """The first lines of what lanes hold alike."""
    groups = lane_groups(operand)
    lines = [group_line(group, operand, sparse=layout.record.sparse) for group in groups[:MOST_GROUPS]]
    return [*lines, f"and {times(len(groups) - MOST_GROUPS, 'group')} more"] if len(groups) > MOST_GROUPS else lines


def _stepping(values: Sequence[int], first: int) -> str:
    """`lane - 16`, and further rows with the same step after it."""
    texts = [f"lane{value - first:+d}".replace("+0", "").replace("-", " - ").replace("+", " + ") for value in values]
    return ", ".join(texts)


def c_like_d(layout: Layout) -> bool:
    """Whether every element of C lies where that of D does."""
    c, d = layout.operand("C").views[0], layout.operand("D").views[0]
    return c.layout is d.layout and (c.bits, c.stride, c.offset) == (d.bits, d.stride, d.offset)


def size_line(layout: Layout, operand: Operand) -> str:
    """`f16, 16 x 16, 8 VGPRs (or AGPRs), 16 elements a lane`."""
    rows, columns, blocks = operand.shape
    plural = "s" if operand.registers > 1 else ""
    banks = " or ".join(f"{BANKS[bank]}{plural}" for bank in operand.banks)
    several = f", {blocks} blocks" if blocks > 1 else ""
    text = f"{TYPES.get(operand.type, operand.type)}, {rows} x {columns}{several}, {operand.registers} {banks}"
    text += f", {times(operand.per_lane, 'element')} a lane"
    view = operand.views[0]
    if view.stride > operand.bits:
        text += f", bits {view.offset + operand.bits - 1}:{view.offset} of each register"
    if operand.same_as:
        text += f", the registers of {operand.same_as}"
    found = layout.builtin_type(operand.name)
    return f"{text}, builtin type {found[0]} x {found[1]}" if found else text


def element(operand: Operand, one: Element) -> str:
    """`D[3,0]`, and the block where there are several."""
    block = f" of block {one.block}" if operand.shape[2] > 1 else ""
    return f"{operand.name}[{one.row},{one.column}]{block}"


def place(operand: Operand, one: Place) -> str:
    """`lane 16, VGPR 1, bits 15:0`; without bits where the register is full."""
    last = one.bit + operand.bits - 1
    if operand.bits == 32:
        return f"lane {one.lane}, VGPR {one.register}"
    if operand.bits == 64:
        return f"lane {one.lane}, VGPRs {one.register}-{one.register + 1}"
    if last < 32:
        return f"lane {one.lane}, VGPR {one.register}, bits {last}:{one.bit}"
    rest = f"VGPR {one.register + 1}, bits {last - 32}:0"
    return f"lane {one.lane}, VGPR {one.register}, bits 31:{one.bit} (low), {rest} (high)"


def cell(operand: Operand, lane: int, register: int) -> str:
    """Elements of a register in short: `3,0`, `0,4-7` for a run of columns, `2-3,0` for a run of rows."""
    found = operand.elements(lane, register)
    if not found:
        return NOTHING
    blocks: dict[tuple[Element, ...], list[int]] = {}
    for block in dict.fromkeys(one.block for one in found):
        alike = tuple(one._replace(block=0) for one in found if one.block == block)
        blocks.setdefault(alike, []).append(block)
    several = operand.shape[2] > 1
    return " ".join(f"{_run(alike)}{f' b{ranges(which)}' if several else ''}" for alike, which in blocks.items())


def _run(found: Sequence[Element]) -> str:
    rows, columns = [one.row for one in found], [one.column for one in found]
    if len(set(rows)) == 1 and columns == list(range(columns[0], columns[0] + len(columns))):
        return f"{rows[0]},{columns[0]}" + (f"-{columns[-1]}" if len(columns) > 1 else "")
    if len(set(columns)) == 1 and rows == list(range(rows[0], rows[0] + len(rows))):
        return f"{rows[0]}-{rows[-1]},{columns[0]}"
    return " ".join(f"{one.row},{one.column}" for one in found)

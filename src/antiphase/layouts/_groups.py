"""Lanes that hold alike: what a table of lanes and registers says in a few lines."""

from __future__ import annotations

from typing import NamedTuple

from antiphase.layouts._operand import Element, Operand


class LaneGroup(NamedTuple):
    """Consecutive lanes first to last whose elements differ in one coordinate only, by one from lane to lane.

    rows, columns, blocks: what the first lane holds. steps: 'row', 'column' or 'block', '' in a group of one lane or
    of copies. With steps 'row' lane l holds rows + (l - first). Empty tuples where the lanes hold nothing.
    """

    first: int
    last: int
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    blocks: tuple[int, ...]
    steps: str


_COORDINATES = ("row", "column", "block")

_Sets = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]


def lane_groups(operand: Operand) -> tuple[LaneGroup, ...]:
    """The fewest such groups, lowest lane first."""
    held = [_sets(operand, lane) for lane in range(operand.lanes)]
    groups: list[LaneGroup] = []
    first, steps = 0, ""
    for lane in range(1, operand.lanes + 1):
        step = _step(held[lane - 1], held[lane]) if lane < operand.lanes else None
        if step is None or (lane - first > 1 and step != steps):
            groups.append(LaneGroup(first, lane - 1, *held[first], steps if lane - first > 1 else ""))
            first = lane
        else:
            steps = step
    return tuple(groups)


def _sets(operand: Operand, lane: int) -> _Sets:
    found: set[Element] = set()
    for rows, columns, blocks in operand.arrays:
        triples = zip(rows[lane].flat, columns[lane].flat, blocks[lane].flat, strict=True)
        found.update(Element(*map(int, triple)) for triple in triples if triple[0] >= 0)
    rows, columns, blocks = ({element[i] for element in found} for i in range(3))
    return tuple(sorted(rows)), tuple(sorted(columns)), tuple(sorted(blocks))


def _step(before: _Sets, after: _Sets) -> str | None:
    """The coordinate that grows by one, '' where nothing changes, None if it is anything else."""
    changed = [i for i in range(3) if before[i] != after[i]]
    if not changed:
        return ""
    grown = tuple(value + 1 for value in before[changed[0]])
    return _COORDINATES[changed[0]] if len(changed) == 1 and grown == after[changed[0]] else None

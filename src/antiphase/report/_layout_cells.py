"""A matrix cut into cells: the elements of each register of each lane, where they are neighbours."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

from antiphase.layouts import Operand
from antiphase.report._layout_tables import places_cell


@dataclass(frozen=True, slots=True)
class Cell:
    """Neighbours in the matrix that share a register: the first one, how many, where they lie.

    lane: the first of those that hold it, -1 where none does.
    """

    row: int
    column: int
    rows: int
    columns: int
    text: str
    lane: int


def register_cells(operand: Operand, block: int) -> list[Cell]:
    """Cells along the rows or down the columns, whichever are fewer."""
    return min(_cells(operand, block, across=False), _cells(operand, block, across=True), key=len)


def _cells(operand: Operand, block: int, *, across: bool) -> list[Cell]:
    """Runs of elements of one register, along the rows (across) or down the columns."""
    rows, columns, _ = operand.shape
    found = []
    for line in range(rows if across else columns):
        at = [(line, k) if across else (k, line) for k in range(columns if across else rows)]
        places = [operand.places(row, column, block) for row, column in at]
        for _, run in itertools.groupby(range(len(at)), lambda k, p=places: [(one.lane, one.register) for one in p[k]]):
            first, *rest = run
            count = len(rest) + 1
            text = places_cell(operand, *at[first], block)
            # a register of its own needs no slots, they are in order
            text = text if count == 1 else re.sub(r"\.\d+", "", text)
            lane = places[first][0].lane if places[first] else -1
            found.append(Cell(*at[first], *((1, count) if across else (count, 1)), text, lane))
    return found

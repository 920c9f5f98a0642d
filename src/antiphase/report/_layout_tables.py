"""Tables of a layout: lanes by registers, the matrix itself, and their forms as text, Markdown and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from antiphase.layouts import Layout, Operand
from antiphase.report._layout_words import cell, coordinates

GAP = 2


@dataclass(frozen=True)
class Table:
    """corner: what the rows and columns are. columns, rows: their headings. cells: [row][column]."""

    corner: str
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]


def register_table(operand: Operand, lane: int | None = None, register: int | None = None) -> Table:
    """Lanes down, registers across; one lane or one register only, if given."""
    lanes = range(operand.lanes) if lane is None else (lane,)
    registers = range(operand.registers) if register is None else (register,)
    cells = tuple(tuple(cell(operand, each, r) for r in registers) for each in lanes)
    return Table("lane", tuple(f"v{r}" for r in registers), tuple(map(str, lanes)), cells)


def matrix_tables(operand: Operand) -> Iterator[tuple[int, Table]]:
    """(block, the matrix with `lane:register` in every cell), `.slot` after it where a register holds several."""
    rows, columns, blocks = operand.shape
    down, across = coordinates(operand)
    for block in range(blocks):
        cells = tuple(tuple(places_cell(operand, i, j, block) for j in range(columns)) for i in range(rows))
        yield block, Table(f"{down}\\{across}", tuple(map(str, range(columns))), tuple(map(str, range(rows))), cells)


def places_cell(operand: Operand, row: int, column: int, block: int) -> str:
    """`16:1`, `0,16:1.0` where two lanes hold copies; every place apart where they differ in more than the lane."""
    found: dict[str, list[int]] = {}
    for place in operand.places(row, column, block):
        slot = f".{place.bit // operand.bits}" if operand.slots > 1 else ""
        found.setdefault(f"{place.register}{slot}", []).append(place.lane)
    return " ".join(f"{','.join(map(str, lanes))}:{where}" for where, lanes in found.items()) or "-"


def text_lines(table: Table, width: int | None) -> Iterator[str]:
    """The table in columns; below each other as many as fit the width, all in one without a width."""
    head = max(map(len, (table.corner, *table.rows)))
    widths = [max(len(name), *(len(row[i]) for row in table.cells)) for i, name in enumerate(table.columns)]
    for number, span in enumerate(_spans(widths, head, width)):
        if number:
            yield ""
        for title, row in ((table.corner, table.columns), *zip(table.rows, table.cells, strict=True)):
            texts = [row[i].ljust(widths[i]) for i in span]
            yield (" " * GAP).join((title.rjust(head), *texts)).rstrip()


def _spans(widths: Sequence[int], head: int, width: int | None) -> Iterator[range]:
    start, used = 0, head
    for i, one in enumerate(widths):
        if width is not None and i > start and used + GAP + one > width:
            yield range(start, i)
            start, used = i, head
        used += GAP + one
    yield range(start, len(widths))


def markdown(table: Table) -> str:
    lines = [f"| {' | '.join((table.corner, *table.columns))} |", f"|{'---|' * (len(table.columns) + 1)}"]
    lines += (f"| {' | '.join((title, *row))} |" for title, row in zip(table.rows, table.cells, strict=True))
    return "\n".join(line.replace("\\", "\\\\") for line in lines) + "\n"


def csv_text(layout: Layout, operands: Sequence[Operand]) -> str:
    """One line for each register that an element has bits in: operand, lane, register, bits, coordinates."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("operand", "lane", "register", "low_bit", "high_bit", "row", "column", "block"))
    for operand in operands:
        for held in operand.held():
            writer.writerow((operand.name, held.lane, held.register, held.low, held.high, *held.element))
    return out.getvalue()

"""A layout as a picture: B above, A to the left, D between them, a cell for each register, colours for lanes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from antiphase.layouts import Layout, Operand
from antiphase.report._layout_cells import Cell, register_cells
from antiphase.report._layout_words import c_like_d, coordinates, size_line

CELL_HEIGHT = 18
CHARACTER = 6.2  # of the cells' font, wide
MARGIN = 38  # beside a matrix, for its row numbers
GAP = 36
TITLE = 34
STYLE = """
svg { color-scheme: light dark; background: var(--ground); --ground: #ffffff; --ink: #1b1f24; --quiet: #6a737d;
  --tone: 86%; --chroma: 62%; }
@media (prefers-color-scheme: dark) { svg { --ground: #14171b; --ink: #eef1f4; --quiet: #8f99a3;
  --tone: 28%; --chroma: 48%; } }
text { font: 10px ui-monospace, "DejaVu Sans Mono", monospace; fill: var(--ink); }
.cell { text-anchor: middle; } .number { fill: var(--quiet); text-anchor: middle; font-size: 9px; }
.title { font: 600 14px system-ui, sans-serif; } .name { font: 600 12px system-ui, sans-serif; }
.note { font: 11px system-ui, sans-serif; fill: var(--quiet); }
rect { stroke: var(--ground); stroke-width: 1; }
"""


def layout_svg(layout: Layout, operands: Sequence[Operand]) -> str:
    """An SVG document of those operands; it follows the reader's light or dark colour scheme."""
    drawn = [each for each in operands if len(operands) == 1 or not (each.name == "C" and c_like_d(layout))]
    pictures = [_Picture(operand, block, layout) for operand in drawn for block in range(operand.shape[2])]
    placed = list(_arranged(pictures))
    width = max(x + p.width for p, x, _ in placed) + GAP
    height = max(y + p.height for p, _, y in placed) + GAP
    title = f"{layout.mnemonic} on {layout.target}, wave{layout.wave}"
    note = "cells: lane:register, the elements of a register in order; colours: lanes"
    note += "; C lies as D" if len(drawn) < len(operands) else ""
    hues = "\n".join(f".l{lane} {{ fill: hsl({lane * 360 // layout.wave} var(--chroma) var(--tone)); }}"
                     for lane in range(layout.wave))  # fmt: skip
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
            f'height="{height:.0f}" role="img" aria-label="{escape(title)}">',
            f"<title>{escape(title)}</title><style>{STYLE}{hues}</style>",
            f'<text class="title" x="{GAP}" y="28">{escape(title)}</text>',
            f'<text class="note" x="{GAP}" y="46">{note}</text>',
            *(line for picture, x, y in placed for line in picture.lines(x, y)),
            "</svg>",
            "",
        )
    )


class _Picture:
    """One block of one operand, a cell for each register."""

    def __init__(self, operand: Operand, block: int, layout: Layout) -> None:
        self.name, self.block = operand.name, block
        self.rows, self.columns, blocks = operand.shape
        self.cells = register_cells(operand, block)
        longest = (max(len(c.text), len(_numbers(c.column, c.columns))) for c in self.cells)
        widths = (count * CHARACTER + 8 for count in longest)
        self.unit_width = max(width / c.columns for width, c in zip(widths, self.cells, strict=True))
        self.unit_height = max(CELL_HEIGHT / c.rows for c in self.cells)
        self.title = f"{operand.name}{f', block {block}' if blocks > 1 else ''}"
        self.note = "" if block else size_line(layout, operand)
        self.axes = coordinates(operand, sparse=layout.record.sparse)
        self.width = max(MARGIN + self.columns * self.unit_width, 6 * len(self.note))
        self.height = TITLE + MARGIN + self.rows * self.unit_height

    def lines(self, x: float, y: float) -> Iterator[str]:
        yield f'<text class="name" x="{x:.0f}" y="{y + 12:.0f}">{escape(self.title)}</text>'
        yield f'<text class="note" x="{x:.0f}" y="{y + 28:.0f}">{escape(self.note)}</text>'
        left, top = x + MARGIN, y + TITLE + MARGIN
        yield f'<text class="number" x="{x + 18:.0f}" y="{top - 6:.0f}">{self.axes[0][0]}\\{self.axes[1][0]}</text>'
        for j, count in sorted({(c.column, c.columns) for c in self.cells}):
            middle = left + (j + count / 2) * self.unit_width
            yield f'<text class="number" x="{middle:.1f}" y="{top - 6:.0f}">{_numbers(j, count)}</text>'
        for i, count in sorted({(c.row, c.rows) for c in self.cells}):
            middle = top + (i + count / 2) * self.unit_height + 4
            yield f'<text class="number" x="{x + 18:.0f}" y="{middle:.1f}">{_numbers(i, count)}</text>'
        for cell in self.cells:
            yield from self._cell(cell, left + cell.column * self.unit_width, top + cell.row * self.unit_height)

    def _cell(self, cell: Cell, x: float, y: float) -> Iterator[str]:
        width, height = cell.columns * self.unit_width, cell.rows * self.unit_height
        lane = f'class="l{cell.lane}"' if cell.lane >= 0 else 'fill="none"'
        yield f'<rect {lane} x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"/>'
        yield f'<text class="cell" x="{x + width / 2:.1f}" y="{y + height / 2 + 4:.1f}">{cell.text}</text>'


def _numbers(first: int, count: int) -> str:
    return f"{first}" if count == 1 else f"{first}-{first + count - 1}"


def _arranged(pictures: Sequence[_Picture]) -> Iterator[tuple[_Picture, float, float]]:
    """(picture, x, y): for each block A left of D and B above it, what is left in a row below."""
    y = float(TITLE + GAP)
    rest = list(pictures)
    for block in sorted({p.block for p in pictures}):
        of_block = {p.name: p for p in rest if p.block == block}
        a, b, d = (of_block.get(name) for name in "ABD")
        x, top = (a.width if a else 0) + 2 * GAP if a else GAP, y + (b.height + GAP if b else 0)
        if b:
            yield b, x, y
        if a:
            yield a, GAP, top
        if d:
            yield d, x, top
        product = [p for p in (a, b, d) if p]
        rest = [p for p in rest if p not in product]
        y = top + max((p.height for p in (a, d) if p), default=0) + GAP
    x = float(GAP)
    for picture in rest:
        yield picture, x, y
        x += picture.width + GAP


__all__ = ["layout_svg"]

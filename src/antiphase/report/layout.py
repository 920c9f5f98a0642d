"""`antiphase layout` in words: whole layouts, and answers about one place or element."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rich.console import Console

from antiphase.arch import Place
from antiphase.layouts import Held, Layout, Operand
from antiphase.report._layout_tables import markdown, matrix_tables, register_table, text_lines
from antiphase.report._layout_words import c_like_d, coordinates, element, group_lines, place, size_line
from antiphase.report._words import times


def print_layout(layout: Layout, operands: Sequence[Operand], console: Console, *, matrix: bool = False) -> None:
    """Print the layout in short and the table of every operand: lanes by registers, or the matrix."""
    width = console.width if console.is_terminal else None
    for line in (*_head(layout), ""):
        say(console, line)
    for operand in operands:
        if operand.name == "C" and len(operands) > 1 and c_like_d(layout):
            say(console, f"C: {size_line(layout, operand)}\n  every element where that of D lies\n")
            continue
        for line in _operand_lines(layout, operand):
            say(console, line)
        for title, table in _tables(layout, operand, matrix=matrix):
            say(console, f"\n{title}")
            for line in text_lines(table, width):
                say(console, line)
        say(console, "")


def print_register_rows(operand: Operand, lane: int | None, register: int | None, console: Console) -> None:
    """Print one lane or one register of an operand."""
    for line in text_lines(register_table(operand, lane, register), console.width if console.is_terminal else None):
        say(console, f"{line}")


def print_elements(operand: Operand, found: Sequence[Held], console: Console) -> None:
    """Print the elements of one register of one lane, a line each, lowest bits first."""
    for held in found:
        say(console, element(operand, held.element) + _part(operand, held))
    if not found:
        say(console, "nothing")


def _part(operand: Operand, held: Held) -> str:
    if operand.bits == 64:
        return f"  {('low', 'high')[held.register % 2]} 32 bits"
    return "" if operand.bits == 32 else f"  bits {held.high}:{held.low}"


def print_places(layout: Layout, operand: Operand, found: Iterable[Place], console: Console) -> None:
    """Print every place of an element, a line each."""
    for one in found:
        index, type_ = layout.builtin_index(operand.name, one), layout.builtin_type(operand.name)
        note = f"  (element {index} of {type_[0]} x {type_[1]})" if index is not None and type_ and type_[0] > 1 else ""
        say(console, place(operand, one) + note)


def markdown_text(layout: Layout, operands: Sequence[Operand], *, matrix: bool = False) -> str:
    """Headings, lane groups and tables of the operands in Markdown."""
    parts = [f"## {layout.mnemonic} on {layout.target}, wave{layout.wave}\n"]
    for operand in operands:
        parts.append(f"### {operand.name}: {size_line(layout, operand)}\n")
        parts.append("\n".join(f"- {line}" for line in group_lines(layout, operand)) + "\n")
        parts += (f"{title}:\n\n{markdown(table)}" for title, table in _tables(layout, operand, matrix=matrix))
    return "\n".join(parts)


def print_forms(target: str, names: Sequence[str], console: Console) -> None:
    """Print the matrix instructions of a target."""
    for name in names:
        say(console, name)
    console.print(f"[dim]{times(len(names), 'matrix instruction')} on {target}[/]", highlight=False)


def _head(layout: Layout) -> Iterator[str]:
    record = layout.record
    blocks = f", {record.blocks} blocks" if record.blocks > 1 else ""
    yield f"{layout.mnemonic} on {layout.target}, wave{layout.wave}: {record.m} x {record.n} x {record.k}{blocks}"
    if layout.aliases:
        yield f"  also {', '.join(layout.aliases)}"
    for builtin in layout.builtins:
        yield f"  {layout.compiler}: {builtin.name}({', '.join(builtin.parameters)}) -> {builtin.result}"
        yield f"    {builtin.intrinsic}"
    for source in layout.sources:
        yield f"  source: {source}"


def _operand_lines(layout: Layout, operand: Operand) -> Iterator[str]:
    yield f"{operand.name}: {size_line(layout, operand)}"
    for line in group_lines(layout, operand):
        yield f"  {line}"
    if operand.name in ("A", "index") and layout.record.sparse:
        yield "  stored k s is k 4 * (s // 2) + its index"


def _tables(layout: Layout, operand: Operand, *, matrix: bool) -> Iterator[tuple[str, Any]]:
    """(what it is, table)."""
    down, across = coordinates(operand, sparse=layout.record.sparse)
    if not matrix:
        yield f"{operand.name}, {down},{across} in each register", register_table(operand)
        return
    slot = ".slot" if operand.slots > 1 else ""
    for block, table in matrix_tables(operand):
        which = f", block {block}" if operand.shape[2] > 1 else ""
        yield f"{operand.name}{which}, lane:register{slot} of each element", table


def say(console: Console, line: str) -> None:
    """Print a line as it is, however wide."""
    console.print(line, markup=False, highlight=False, soft_wrap=True)

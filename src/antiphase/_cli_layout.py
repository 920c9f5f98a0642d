"""`antiphase layout`: where the operands of a matrix instruction lie."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

import click

from antiphase._cli_shared import OutputFile, json_option, target_option, write_json, write_text
from antiphase.errors import UserError

if TYPE_CHECKING:
    from antiphase.layouts import Layout, Operand


class Numbers(click.ParamType):
    """So many whole numbers with commas between them: `3,0`."""

    def __init__(self, count: int) -> None:
        self.name = ",".join("N" * count)
        self.count = count

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        parts = str(value).strip("[]()").split(",")
        if len(parts) != self.count or not all(part.strip().isdecimal() for part in parts):
            self.fail(f"{value!r} is not {self.count} numbers with commas between them", param, ctx)
        return tuple(map(int, parts))


@click.command()
@click.argument("mnemonic", required=False)
@target_option
@click.option("--operand", metavar="NAME", help="Only this operand: A, B, C, D, index, scale_a or scale_b.")
@click.option("--lane", type=int, help="Only this lane.")
@click.option("--vgpr", type=int, help="Only this register, counted from the operand's first.")
@click.option("--at", type=Numbers(2), help="Where this row and column of the operand lie.")
@click.option("--block", type=int, help="With --at: of this block, 0 by default.")
@click.option("--wave", type=int, help="Lanes of the wave; the target's default otherwise.")
@click.option("--format", "formats", metavar="A[,B]", help="Formats of A and B where they can be chosen, such as fp4.")
@click.option("--opsel", type=Numbers(3), default=(0, 0, 0), help="As in op_sel:[0,0,1].")
@click.option("--cbsz", type=int, default=0, help="As in the assembly text.")
@click.option("--abid", type=int, default=0, help="As in the assembly text.")
@click.option("--blgp", type=int, default=0, help="As in the assembly text.")
@click.option("--index-set", type=int, help="Which set of a sparse index register (ABID, index_key).")
@click.option("--scale-select", type=Numbers(2), default=(0, 0), help="Byte or half of lanes of the scales of A and B.")
@click.option("--matrix", is_flag=True, help="Show each operand as a matrix of places, not lanes by registers.")
@click.option("--csv", "as_csv", is_flag=True, help="Print every place as CSV.")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print tables in Markdown.")
@click.option(
    "--svg",
    "svg_to",
    type=OutputFile(),
    metavar="FILE",
    help="Draw the layout; - is standard output.",
)
@click.option("--diff", "other", metavar="TARGET[:MNEMONIC]", help="What changes there.")
@json_option
def layout(
    mnemonic: str | None,
    target: str,
    operand: str | None,
    lane: int | None,
    vgpr: int | None,
    at: tuple[int, int] | None,
    block: int | None,
    matrix: bool,
    as_csv: bool,
    as_markdown: bool,
    svg_to: IO[str] | None,
    other: str | None,
    json_to: IO[str] | None,
    formats: str | None,
    **modifiers: Any,
) -> None:
    """Show where a wave keeps the operands of matrix instruction MNEMONIC, or list the target's.

    MNEMONIC may be a clang builtin or an LLVM intrinsic. With --lane and --vgpr the answer is what lies there, with
    --at where an element lies; otherwise it is the whole table.
    """
    from antiphase.layouts import layout as find_layout

    asked = at is not None, lane is not None or vgpr is not None, other is not None
    _check_together(asked, block, drawn=bool(as_csv or as_markdown or svg_to))
    if mnemonic is None:
        _list(target, json_to)
        return
    pair = None if formats is None else _pair(formats)
    found = find_layout(mnemonic, target, formats=pair, **modifiers)
    operands = [found.operand(operand)] if operand else list(found.operands)
    if other is not None:
        _diff(found, other, {"formats": pair, **modifiers}, json_to)
    elif at is not None:
        _where(found, operands, (*at, block or 0), json_to)
    elif lane is not None or vgpr is not None:
        _what(operands, lane, vgpr, json_to)
    else:
        _whole(found, operands, matrix=matrix, csv=as_csv, markdown=as_markdown, svg_to=svg_to, json_to=json_to)


def _check_together(asked: tuple[bool, bool, bool], block: int | None, *, drawn: bool) -> None:
    """UserError for options that ask different things at once."""
    if sum(asked) > 1:
        raise UserError("--at, --lane with --vgpr, and --diff are three questions", remedy="ask one at a time")
    if any(asked) and drawn:
        raise UserError("--csv, --markdown and --svg are for whole tables", remedy="use --json - for one answer")
    if block is not None and not asked[0]:
        raise UserError("--block is for --at", remedy="say which row and column")


def _pair(text: str) -> tuple[str, str]:
    first, _, second = text.partition(",")
    return first, second or first


def _list(target: str, json_to: IO[str] | None) -> None:
    from antiphase import arch
    from antiphase.layouts import forms
    from antiphase.report import terminal
    from antiphase.report.layout import print_forms

    name = arch.target(target).name
    if json_to:
        write_json({"target": name, "forms": list(forms(name))}, json_to)
    else:
        print_forms(name, forms(name), terminal())


def _diff(found: Layout, other: str, modifiers: dict[str, Any], json_to: IO[str] | None) -> None:
    from antiphase import arch
    from antiphase.layouts import difference
    from antiphase.layouts import layout as find_layout
    from antiphase.report import layout_difference as report
    from antiphase.report import terminal

    target, _, mnemonic = other.partition(":")
    if not mnemonic and found.wave in arch.target(target).wave_sizes:
        modifiers |= {"wave": found.wave}  # which a builtin's name may have decided
    compared = difference(found, find_layout(mnemonic or found.mnemonic, target, **modifiers))
    if json_to:
        write_json(report.difference_as_json(compared), json_to)
    else:
        report.print_difference(compared, terminal())


def _where(found: Layout, operands: list[Operand], element: tuple[int, int, int], json_to: IO[str] | None) -> None:
    from antiphase.layouts import Element
    from antiphase.report import terminal
    from antiphase.report.layout import print_places
    from antiphase.report.layout_json import places_as_json

    if len(operands) > 1:
        raise UserError("--at needs an operand", remedy=f"--operand {', '.join(each.name for each in operands)}")
    places = operands[0].places(*element)
    if json_to:
        write_json(places_as_json(operands[0], Element(*element), places), json_to)
    else:
        print_places(found, operands[0], places, terminal())


def _what(operands: list[Operand], lane: int | None, vgpr: int | None, json_to: IO[str] | None) -> None:
    from antiphase.report import terminal
    from antiphase.report.layout import print_elements, print_register_rows
    from antiphase.report.layout_json import held_as_json

    # without --operand the answer is for those that have such a register
    fitting = [each for each in operands if vgpr is None or vgpr < each.registers] or operands[:1]
    found = [(each, each.held_in(lane, vgpr)) for each in fitting]
    if json_to:
        write_json([answer for each, elements in found for answer in held_as_json(each, elements)], json_to)
        return
    console = terminal()
    for each, elements in found:
        if lane is not None and vgpr is not None:
            print_elements(each, elements, console)
        else:
            print_register_rows(each, lane, vgpr, console)


def _whole(
    found: Layout,
    operands: list[Operand],
    *,
    matrix: bool,
    csv: bool,
    markdown: bool,
    svg_to: IO[str] | None,
    json_to: IO[str] | None,
) -> None:
    from antiphase.report import layout as report
    from antiphase.report import terminal
    from antiphase.report._layout_tables import csv_text
    from antiphase.report.layout_json import layout_as_json
    from antiphase.report.layout_svg import layout_svg

    if json_to:
        write_json(layout_as_json(found, operands), json_to)
    if svg_to:
        write_text(layout_svg(found, operands), svg_to)
    if csv:
        click.echo(csv_text(found, operands), nl=False)
    if markdown:
        click.echo(report.markdown_text(found, operands, matrix=matrix), nl=False)
    if not (json_to or svg_to or csv or markdown):
        report.print_layout(found, operands, terminal(), matrix=matrix)

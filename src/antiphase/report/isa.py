"""`antiphase isa` in words: the list of instructions, one instruction, what is covered of a target."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from antiphase.coverage import CLASSES, GRAPHICS, Entry, Meaning, Row, Sheet, Survey

_MARKS = {"exact": "[green]exact[/]", "modelled": "[yellow]modelled[/]", "unsupported": "[red]unsupported[/]"}


def list_as_json(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """The listed instructions as plain data."""
    return msgspec.to_builtins(list(rows))


def print_list(rows: Iterable[Row], console: Console) -> None:
    """Print one line an instruction."""
    table = _table("instruction", "class", "record", "accepted for")
    for row in rows:
        table.add_row(row.name, row.group, row.status, " ".join(families(row.targets)) or "no target")
    console.print(table, highlight=False)


def sheet_as_json(sheet: Sheet) -> dict[str, Any]:
    """One instruction as plain data."""
    return msgspec.to_builtins(sheet)


def print_sheet(sheet: Sheet, console: Console) -> None:
    """Print one instruction: where it is, with the evidence, then what it means and how it counts."""
    console.print(f"[bold]{sheet.name}[/], {sheet.group}", highlight=False)
    for line in (*_availability(sheet), *_probes(sheet)):
        console.print(line, highlight=False, soft_wrap=True)
    for meaning in sheet.meanings:
        _print_meaning(meaning, console)
    if not sheet.meanings:
        console.print("antiphase has no record of what it means, so a kernel with it is refused.")


def _availability(sheet: Sheet) -> Iterable[str]:
    """One line for targets of one form and outcome."""
    same: dict[Entry, list[str]] = {}
    for target, entry in sheet.availability.items():
        same.setdefault(entry, []).append(target)
    for entry, targets in same.items():
        reason = f": {escape(entry.reason)}" if entry.reason else ""
        where = " ".join(families(targets))
        yield f"  {where}  {_MARKS[entry.status]}{reason}  [dim]{escape(entry.form)}[/]"
    yield f"    [dim]accepted by {escape(sheet.source)}[/]"


def _probes(sheet: Sheet) -> Iterable[str]:
    for probe in sheet.probes:
        where = " ".join(families(probe.targets)) or "no target"
        yield f"  {escape(probe.what)}: accepted for {where}  [dim]{escape(' | '.join(probe.forms))}[/]"
    if sheet.probes:
        yield f"    [dim]{escape(sheet.probe_source)}[/]"


def _print_meaning(meaning: Meaning, console: Console) -> None:
    console.print(f"On {' '.join(families(meaning.targets))}: {_MARKS[meaning.status]}", highlight=False)
    for part in meaning.description.parts:
        implied = "" if part.written else ", implied"
        console.print(f"  {escape(part.name)}: {part.role}, {part.type}{implied}", highlight=False)
    lines = [*meaning.description.words, *_counted(meaning)]
    if meaning.note:
        lines.append(f"Note: {meaning.note.rstrip('.')}.")
    for line in (*lines, f"Source: {meaning.cite}"):
        console.print(f"    {escape(line)}", highlight=False, soft_wrap=True)


def _counted(meaning: Meaning) -> Iterable[str]:
    same: dict[tuple[str, ...], list[str]] = {}
    for target, names in meaning.counters.items():
        same.setdefault(names, []).append(target)
    for names, targets in same.items():
        counters = " and ".join(names) or "no counter"
        yield f"Counts on {counters}" + (f" ({' '.join(families(targets))})." if len(same) > 1 else ".")


def coverage_as_json(surveys: Iterable[Survey]) -> dict[str, Any]:
    """Under `targets`: counts of accepted, parsed and executed non-graphics mnemonics, and their lists."""
    return {"targets": {survey.target: _survey_as_json(survey) for survey in surveys}}


def _survey_as_json(survey: Survey) -> dict[str, Any]:
    compute = survey.compute
    return {
        "source": survey.source,
        "accepted": len(compute),
        "parsed": sum(entry.parsed for entry in compute),
        "executed": sum(entry.executed for entry in compute),
        "classes": {group: _counts(entries) for group, entries in _by_class(survey).items()},
        "accepted_names": [entry.name for entry in compute],
        "parsed_names": [entry.name for entry in compute if entry.parsed],
        "executed_names": {entry.name: entry.status for entry in compute if entry.executed},
        "unsupported": {entry.name: entry.reason for entry in compute if not entry.executed},
        "graphics": [entry.name for entry in survey.entries if entry.group == GRAPHICS],
    }


def _by_class(survey: Survey) -> dict[str, list[Entry]]:
    groups = {group: [entry for entry in survey.entries if entry.group == group] for group in CLASSES}
    return {group: entries for group, entries in groups.items() if entries}


def _counts(entries: Sequence[Entry]) -> dict[str, int]:
    statuses = Counter(entry.status for entry in entries)
    parsed = sum(entry.parsed for entry in entries)
    return {"accepted": len(entries), "parsed": parsed, **{status: statuses[status] for status in _MARKS}}


def print_coverage(surveys: Sequence[Survey], console: Console, *, reasons: bool) -> None:
    """Print a table a target, and with `reasons` every unsupported compute instruction with its reason."""
    for survey in surveys:
        columns = ("accepted", "parsed", *_MARKS)
        table = _table(survey.target, *columns)
        for group, entries in _by_class(survey).items():
            table.add_row(group, *(str(_counts(entries)[column]) for column in columns))
        total = _counts(survey.compute)
        table.add_row("all but graphics", *(str(total[column]) for column in columns), style="bold")
        for column in table.columns[1:]:
            column.justify = "right"
        console.print(table, highlight=False)
        if reasons:
            _print_reasons(survey, console)
        console.print()
    if surveys:
        console.print(f"[dim]Accepted by {escape(surveys[0].source)}[/]", highlight=False, soft_wrap=True)


def _print_reasons(survey: Survey, console: Console) -> None:
    same: dict[str, list[str]] = {}
    for entry in survey.compute:
        if entry.reason:
            same.setdefault(entry.reason, []).append(entry.name)
    for reason, names in sorted(same.items(), key=lambda item: -len(item[1])):
        console.print(f"  {escape(reason)} ({len(names)}):", highlight=False, soft_wrap=True)
        console.print(f"    [dim]{' '.join(names)}[/]", highlight=False)


def families(targets: Iterable[str]) -> list[str]:
    """Targets in short: gfx1100-1103 where several follow each other."""
    groups: dict[str, list[str]] = {}
    for target in targets:
        groups.setdefault(target[:-1], []).append(target)
    return [
        names[0]
        if len(names) == 1
        else f"{names[0]}-{names[-1].removeprefix('gfx')}"
        if int(names[-1][-1]) - int(names[0][-1]) == len(names) - 1
        else " ".join(names)
        for names in groups.values()
    ]


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading)
    return table

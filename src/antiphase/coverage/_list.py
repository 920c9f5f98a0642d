"""The list of all instructions, from their names and records alone."""

from __future__ import annotations

import msgspec

from antiphase import arch
from antiphase.coverage._classes import CLASSES, instruction_class
from antiphase.coverage._sheet import known_names
from antiphase.errors import UserError
from antiphase.isa import find


class Row(msgspec.Struct, frozen=True):
    """One instruction. status: its record's, or 'no record'. targets: where the assembler accepts it."""

    name: str
    group: str
    status: str
    targets: tuple[str, ...]


def instructions(target: str | None = None, group: str | None = None) -> tuple[Row, ...]:
    """Instructions by name, of one target and of one class if given.

    UserError for a target or class that does not exist. The beginning of a class will do, in any letter case.
    """
    scope = [each.name for each in arch.targets()] if target is None else [arch.target(target).name]
    wanted = None if group is None else _class(group)
    rows = (_row(name, scope) for name in known_names())
    return tuple(row for row in rows if (row.targets or target is None) and wanted in (None, row.group))


def _class(group: str) -> str:
    found = [each for each in CLASSES if each.lower().startswith(group.lower())]
    exact = [each for each in found if each.lower() == group.lower()]
    if len(exact or found) != 1:
        raise UserError(f"unknown class {group!r}", remedy=f"classes: {'; '.join(CLASSES)}")
    return (exact or found)[0]


def _row(name: str, scope: list[str]) -> Row:
    known = arch.assembler_inventory().mnemonics.get(name)
    targets = tuple(each for each in scope if known is not None and each in known.forms)
    records = (find(name, each) for each in targets or scope)
    status = next((record.status for record in records if record is not None), "no record")
    return Row(name, instruction_class(name), status, targets)

"""Everything known about one instruction: where it is, what it means, how far antiphase executes it."""

from __future__ import annotations

import difflib
import re

import msgspec

from antiphase import arch
from antiphase.coverage._classes import instruction_class
from antiphase.coverage._survey import Entry, entry
from antiphase.errors import UserError
from antiphase.isa import REGISTRY, Description, Memory, Record, counters, describe, find

_SUFFIX = re.compile(r"(?:_e64_dpp|_e32|_e64|_sdwa|_dpp)$")


class Meaning(msgspec.Struct, frozen=True):
    """What an instruction does on some targets.

    counters: target to the wait counters it counts on; () where it counts on none.
    """

    targets: tuple[str, ...]
    status: str
    note: str
    cite: str
    counters: dict[str, tuple[str, ...]]
    description: Description


class Sheet(msgspec.Struct, frozen=True):
    """One instruction.

    availability: target to what antiphase does with it, of the targets for which the assembler accepts it.
    source: that assembler. probes: forms of it tried with another LLVM, which probe_source names.
    meanings: one for each record, none where antiphase has no record.
    """

    name: str
    group: str
    source: str
    availability: dict[str, Entry]
    probe_source: str
    probes: tuple[arch.Probe, ...]
    meanings: tuple[Meaning, ...]


def known_names() -> list[str]:
    """Every mnemonic that the assembler accepts for some target or that antiphase has a record of."""
    return sorted(set(arch.assembler_inventory().mnemonics) | set(REGISTRY.records))


def sheet(name: str, target: str | None = None) -> Sheet:
    """The instruction of that name, on one target or on all.

    UserError, with the nearest names, for one that nobody knows or that the target does not have.
    """
    inventory = arch.assembler_inventory()
    spelled = _spelling(name)
    scope = [each.name for each in arch.targets()] if target is None else [arch.target(target).name]
    forms = inventory.mnemonics[spelled].forms if spelled in inventory.mnemonics else {}
    meanings = _meanings(spelled, scope)
    if target is not None and target not in forms and not meanings:
        raise UserError(f"{target} has no instruction {spelled}", remedy=f"it is one of {', '.join(forms)}")
    probe_source, probes = arch.assembler_probes()
    return Sheet(
        spelled,
        instruction_class(spelled),
        inventory.source,
        {each: entry(spelled, forms[each], each) for each in scope if each in forms},
        probe_source,
        tuple(probe for probe in probes if probe.what.split()[0] == spelled),
        meanings,
    )


def _spelling(name: str) -> str:
    names = known_names()
    lower = name.lower()
    for spelled in (lower, _SUFFIX.sub("", lower)):
        if spelled in names:
            return spelled
    near = [each for each in names if lower and each.startswith(lower)][:4] or difflib.get_close_matches(
        lower, names, 4
    )
    remedy = f"did you mean {' or '.join(near)}?" if near else "see antiphase isa list"
    raise UserError(f"unknown instruction {name!r}", remedy=remedy)


def _meanings(name: str, scope: list[str]) -> tuple[Meaning, ...]:
    """One a record, for the targets whose record it is."""
    found: dict[int, tuple[Record, list[str]]] = {}
    accepted = arch.assembler_inventory().mnemonics
    for target in scope:
        record = find(name, target)
        if record is not None and (name not in accepted or target in accepted[name].forms):
            found.setdefault(id(record), (record, []))[1].append(target)
    return tuple(_meaning(record, targets) for record, targets in found.values())


def _meaning(record: Record, targets: list[str]) -> Meaning:
    counted = {each: counters(record, each) for each in targets} if isinstance(record, Memory) else {}
    return Meaning(tuple(targets), record.status, record.note, record.cite, counted, describe(record))

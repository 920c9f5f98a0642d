"""What LLVM's assembler accepts: its mnemonics, the targets of each, and a line that assembles."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import msgspec

from antiphase.arch._registry import targets


class Mnemonic(msgspec.Struct, frozen=True):
    """One mnemonic as the assembler spells it, encoding suffix included where it has one of its own.

    forms: target name to a line that assembles for it; '' where none is known.
    """

    name: str
    forms: Mapping[str, str]


class Inventory(msgspec.Struct, frozen=True):
    """All mnemonics, by name, and the LLVM that was asked.

    Acceptance by an assembler is no proof that the hardware has an instruction.
    """

    source: str
    mnemonics: Mapping[str, Mnemonic]

    def accepted(self, target: str) -> dict[str, str]:
        """Mnemonic to the line that assembles, of those that a target has."""
        return {m.name: m.forms[target] for m in self.mnemonics.values() if target in m.forms}


class Probe(msgspec.Struct, frozen=True):
    """One question to another assembler. targets: those for which it assembles one of the forms."""

    what: str
    targets: tuple[str, ...]
    forms: tuple[str, ...]


@cache
def assembler_inventory() -> Inventory:
    """The inventory in data/assembler.tsv, which tools/assembler_forms.py remakes."""
    source, rows = table("assembler.tsv")
    forms: dict[str, dict[str, str]] = {}
    for name, where, line in rows:
        forms.setdefault(name, {}).update(dict.fromkeys(expanded(where), line))
    return Inventory(source, {name: Mnemonic(name, lines) for name, lines in forms.items()})


@cache
def assembler_probes() -> tuple[str, tuple[Probe, ...]]:
    """The source and the rows of data/availability.tsv: forms tried with a released LLVM, accepted or not."""
    source, rows = table("availability.tsv")
    return source, tuple(Probe(what, tuple(expanded(where)), tuple(forms.split(" | "))) for what, where, forms in rows)


def table(name: str) -> tuple[str, list[list[str]]]:
    """First comment line and the rows of a table, tab-separated."""
    first, *lines = (files("antiphase.arch") / "data" / name).read_text(encoding="utf-8").splitlines()
    return first.removeprefix("# "), [line.split("\t") for line in lines if not line.startswith("#")]


def expanded(patterns: str) -> list[str]:
    """`gfx110x` as all known targets that differ from it in the last digit, in the order of the targets."""
    wanted = patterns.split()
    return [each.name for each in targets() if each.name in wanted or f"{each.name[:-1]}x" in wanted]

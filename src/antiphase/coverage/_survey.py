"""What antiphase does with each mnemonic the assembler accepts: parse it, execute it, how faithfully."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from antiphase import arch, asm
from antiphase.coverage._classes import GRAPHICS, instruction_class
from antiphase.isa import Record, find, generation, reason
from antiphase.machine import refusal

Status = Literal["exact", "modelled", "unsupported"]


class Entry(msgspec.Struct, frozen=True):
    """One mnemonic on one target.

    form: a line that LLVM assembles, or the bare name. parsed: whether asm reads that line.
    status: 'exact' or 'modelled', as its record says, where the machine translates that line.
    reason: why it is unsupported, '' otherwise.
    """

    name: str
    group: str
    form: str
    parsed: bool
    status: Status
    reason: str

    @property
    def executed(self) -> bool:
        return self.status != "unsupported"


class Survey(msgspec.Struct, frozen=True):
    """One target. entries: in order of name, graphics instructions among them. source: who accepts them."""

    target: str
    source: str
    entries: tuple[Entry, ...]

    @property
    def compute(self) -> tuple[Entry, ...]:
        """The entries of all classes but graphics."""
        return tuple(entry for entry in self.entries if entry.group != GRAPHICS)


def survey(target: str) -> Survey:
    """Every mnemonic of a target. UserError for a target that is not known."""
    name = arch.target(target).name
    inventory = arch.assembler_inventory()
    accepted = sorted(inventory.accepted(name).items())
    return Survey(name, inventory.source, tuple(entry(each, line, name) for each, line in accepted))


def entry(name: str, line: str, target: str) -> Entry:
    """One mnemonic; line: one that LLVM assembles for the target, or ''."""
    group, form = instruction_class(name), line or name
    try:
        instruction = asm.parse_instruction(form)
    except ValueError as error:
        return Entry(name, group, form, False, "unsupported", f"not parsed: {error}")
    return Entry(name, group, form, True, *_execution(instruction, group, line, target))


def _execution(instruction: asm.Instruction, group: str, line: str, target: str) -> tuple[Status, str]:
    if group == GRAPHICS:
        return "unsupported", "a graphics instruction"
    found = [find(half.mnemonic, target) for half in (instruction, instruction.pair) if half]
    records = [record for record in found if record is not None]
    if len(records) < len(found):
        return "unsupported", str(reason(instruction.mnemonic, target) or "no record of its meaning")
    if not line:
        return "unsupported", "no line known to try it with"
    if refused := _refusal(instruction, records, target):
        return "unsupported", refused
    return "modelled" if any(record.status == "modelled" for record in records) else "exact", ""


_refusals: dict[tuple[object, ...], str] = {}


def _refusal(instruction: asm.Instruction, records: Sequence[Record], target: str) -> str:
    """Asked once for the targets of a generation that share the records: the machine tells no more apart."""
    key = (instruction, *map(id, records), generation(target))
    if key not in _refusals:
        _refusals[key] = refusal(instruction, target)
    return _refusals[key]

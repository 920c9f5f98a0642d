"""Checks that antiphase answers from its layouts, records and checks; those that run instructions are in `_runs`."""

from __future__ import annotations

from functools import cache

from antiphase import asm
from antiphase.arch._check_specs import Counts, Layout, Spaced
from antiphase.checks import check_program
from antiphase.errors import AntiphaseError, Incomplete
from antiphase.isa import Memory, counters, find
from antiphase.layouts.probe import Probed, probe
from antiphase.machine import returns_old
from antiphase.verify._answers import Found
from antiphase.verify._kernel import kernel


def layout(spec: Layout, target: str) -> Found:
    """Expected and got: the element there. The machine's one-hot probe of the instruction must agree as well."""
    asked = f"{spec.instruction} {spec.operand}, lane {spec.lane}, VGPR {spec.register}"
    expected = list(spec.element)
    try:
        probed = _probed(spec.instruction, target, spec.wave, spec.opsel)
        operand = probed.layout.operand(spec.operand)
    except AntiphaseError as error:
        return Found(None, asked, expected, None, str(error))
    try:
        held = operand.elements(spec.lane, spec.register, None if spec.half < 0 else 16 * spec.half)
    except AntiphaseError as error:
        return Found(False, asked, expected, None, str(error))
    got = list(held[0][:2]) if held else None
    moved = probed.wrong[:1]
    note = f"the machine has {moved[0].operand} {moved[0].element} elsewhere" if moved else ""
    return Found(not moved and got == expected, asked, expected, got, note)


_probes: dict[object, Probed] = {}


@cache
def _probed(instruction: str, target: str, wave: int, opsel: int) -> Probed:
    """Targets that share the record of an instruction share its code, which is probed once."""
    key = id(find(instruction, target)), wave, opsel
    if key not in _probes:
        _probes[key] = probe(instruction, target, wave=wave, opsel=(0, 0, opsel))
    return _probes[key]


def spaced(spec: Spaced, target: str) -> Found:
    """Expected and got: the separators that the check asks for, with none there."""
    asked = "; ".join((*spec.lines[:-1], f"? x {spec.separator}", spec.lines[-1]))
    try:
        got, left = _missing(spec, target, 0), _missing(spec, target, spec.count)
        short = _missing(spec, target, spec.count - 1) if spec.count else 1
    except AntiphaseError as error:
        return Found(None, asked, spec.count, None, str(error))
    note = f"with {spec.count} in place it asks for {left} more" if left else ""
    if short != 1:
        note = f"with {spec.count - 1} in place it asks for {short} more"
    return Found(got == spec.count and not note, asked, spec.count, got, note)


def counts(spec: Counts, target: str) -> Found:
    """Expected and got: the counters, in alphabetical order."""
    try:
        instruction = asm.parse_instruction(spec.line)
    except (ValueError, AntiphaseError) as error:
        return Found(False, spec.line, sorted(spec.counters), None, str(error))
    record = find(instruction.mnemonic, target)
    if record is None:
        return Found(None, spec.line, sorted(spec.counters), None, "antiphase has no record of it")
    entered = counters(record, target, returns_old(instruction, record)) if isinstance(record, Memory) else ()
    return Found(set(entered) == set(spec.counters), spec.line, sorted(spec.counters), sorted(entered))


def _missing(spec: Spaced, target: str, separators: int) -> int:
    body = (*spec.lines[:-1], *[spec.separator] * separators, spec.lines[-1])
    found = check_program(kernel(target, spec.wave, body), ["spacing"]).checked
    if found.incomplete:
        raise Incomplete(found.incomplete[0])
    asked = [finding.facts.get("missing", 0) for finding in found.findings]
    return max((number for number in asked if isinstance(number, int)), default=0)

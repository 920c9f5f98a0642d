"""Checks that an assembler answers. Each says which lines it asks about, and judges what came back."""

from __future__ import annotations

from collections.abc import Callable

from antiphase import asm
from antiphase.arch._check_specs import Assembles, OffsetRange
from antiphase.errors import AntiphaseError
from antiphase.machine import refusal
from antiphase.verify._answers import Found
from antiphase.verify._llvm import Code

Line = tuple[int, str]
"""Wave size, 0 for the target's own, and text."""
Assembled = Callable[[Line], Code]


def assembles_lines(spec: Assembles, target: str) -> list[Line]:
    """The line itself."""
    return [(spec.wave, spec.line)]


def assembles(spec: Assembles, target: str, code: Assembled) -> Found:
    """Expected and got: whether the line is accepted."""
    made = code((spec.wave, spec.line))
    return Found(made.accepted == spec.accepted, spec.line, spec.accepted, made.accepted, made.refusal)


def offset_lines(spec: OffsetRange, target: str) -> list[Line]:
    """Both ends, the values beyond them, and what an end becomes if one of its bits is dropped."""
    ends = (spec.least, spec.most)
    values = {*ends, spec.least - 1, spec.most + 1, *(less for end in ends for less in _with_a_bit_less(end))}
    return [(0, spec.line.format(value)) for value in sorted(values)]


def offset(spec: OffsetRange, target: str, code: Assembled) -> Found:
    """Expected and got: of four values, both ends and those beyond them, the ones the assembler encodes in full."""

    def kept(value: int) -> bool:
        made = code((0, spec.line.format(value)))
        others = (code((0, spec.line.format(less))) for less in _with_a_bit_less(value))
        return made.accepted and all(other.code != made.code for other in others)

    inside, outside = [spec.least, spec.most], [spec.least - 1, spec.most + 1]
    beyond = [value for value in outside if code((0, spec.line.format(value))).accepted]
    got = [value for value in inside if kept(value)] + beyond
    notes = (code((0, spec.line.format(value))).refusal for value in (inside if len(got) < 2 else outside))
    return Found(got == inside, spec.line, inside, got, next(filter(None, notes), ""))


def own_offset(spec: OffsetRange, target: str) -> Found:
    """The same from antiphase's reader and machine: a value that does not fit is refused, never cut."""
    inside, outside = [spec.least, spec.most], [spec.least - 1, spec.most + 1]
    reasons = {value: _own_refusal(spec.line.format(value), target) for value in (*inside, *outside)}
    got = [value for value, reason in reasons.items() if not reason]
    return Found(got == inside, spec.line, inside, got, next(filter(None, reasons.values()), ""))


def _own_refusal(line: str, target: str) -> str:
    try:
        return refusal(asm.parse_instruction(line), target)
    except (ValueError, AntiphaseError) as error:
        return str(error)


def _with_a_bit_less(value: int) -> list[int]:
    """What an encoding that drops one bit of a value would hold instead."""
    if value == 0:
        return []
    size = abs(value)
    dropped = [size & ~(1 << bit) for bit in range(size.bit_length()) if size >> bit & 1]
    return [-less if value < 0 else less for less in dropped]

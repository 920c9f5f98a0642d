"""Whether a check asks for what its fact states: a check carries numbers of its own, and both must not drift apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from antiphase.arch import CheckSpec, Fact
from antiphase.arch._check_specs import Counts, OffsetRange, Registers, Spaced, Spacing
from antiphase.verify._answers import Answer

RECORD = "record"
"""Stands for the tool where the fact file contradicts itself."""


def contradictions(fact: Fact) -> Iterator[Answer]:
    """One disagreement for each check whose numbers or counters are not among those of the fact's value.

    Values without numbers state in words what a check counts, and are not compared; nor are checks marked `aside`.
    """
    values = list(_scalars(fact.value))
    counts: set[Any] = {value for value in values if isinstance(value, int | float) and not isinstance(value, bool)}
    names: set[Any] = {value for value in values if isinstance(value, str)}
    for spec in fact.checks:
        have = names if isinstance(spec, Counts) else counts
        asked = _asked(spec)
        # None needed is as well said by leaving it out.
        if have and not asked <= have | {0}:
            yield Answer(
                str(type(spec).__struct_config__.tag),
                RECORD,
                "disagree",
                getattr(spec, "line", getattr(spec, "instruction", "")),
                fact.value,
                sorted(asked),
                "the check asks for what the fact does not state",
            )


def _asked(spec: CheckSpec) -> set[Any]:
    match spec:
        case Registers(aside=False, count=count) | Spacing(count=count) | Spaced(aside=False, count=count):
            return {count}
        case OffsetRange(aside=False, least=least, most=most):
            return {least, most}
        case Counts(counters=counters):
            return set(counters)
    return set()


def _scalars(value: object) -> Iterator[object]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from _scalars(item)
    else:
        yield value

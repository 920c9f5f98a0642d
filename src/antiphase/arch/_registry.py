"""The targets, built once from the data files."""

from __future__ import annotations

import difflib
from functools import cache
from typing import Any

import msgspec

from antiphase.arch._fact_files import TargetEntry, fact_files, read_sources, read_stamps, read_targets
from antiphase.arch._facts import Fact, facts_of
from antiphase.arch._target import Target
from antiphase.errors import UserError


def target(name: str) -> Target:
    """The target of that name ("gfx942"; letter case does not matter).

    Raises UserError, with the nearest names, if there is none.
    """
    if not isinstance(name, str):
        raise UserError(f"target is {name!r}", remedy="give its name, such as 'gfx942'")
    found = _by_name().get(name.lower())
    if found is not None:
        return found
    near = _nearest(name)
    guess = f"did you mean {' or '.join(near)}? " if near else ""
    raise UserError(f"unknown target {name!r}", remedy=f"{guess}known targets: {', '.join(_by_name())}")


def targets() -> tuple[Target, ...]:
    """Every known target, in the order of their list."""
    return tuple(_by_name().values())


def _nearest(name: str) -> list[str]:
    """A few targets whose own name, or one of whose products, begins like `name` or else looks like it."""
    spellings = {each.name: each.name for each in targets()}
    spellings |= {product.lower(): each.name for each in targets() for product in each.products}
    lower = name.lower()
    begin = [spelling for spelling in spellings if lower and spelling.startswith(lower)]
    close = begin or difflib.get_close_matches(lower, spellings, n=3)
    return list(dict.fromkeys(spellings[spelling] for spelling in close))[:4]


@cache
def _by_name() -> dict[str, Target]:
    entries = read_targets()
    own: dict[str, dict[str, Fact]] = {name: {} for name in entries}
    for fact in facts_of(fact_files("machine"), entries, read_sources(), read_stamps()):
        own[fact.target][fact.subject] = fact
    return {name: _build(name, entry, own[name]) for name, entry in entries.items()}


def _build(name: str, entry: TargetEntry, own: dict[str, Fact]) -> Target:
    # A fact need not be about a field: the reference holds more than the emulator computes with.
    values: dict[str, Any] = {about: fact.value for about, fact in own.items() if about in Target.__struct_fields__}
    try:
        return msgspec.convert({"name": name, "generation": entry.generation, "facts": own, **values}, Target)
    except msgspec.ValidationError as error:
        raise UserError(f"facts about {name}: {error}") from error

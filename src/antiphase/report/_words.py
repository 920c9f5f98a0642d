"""What the words of a rule are made of, and numbers and names as a reader wants them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

Facts = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Wording:
    """title: one line, (1) and (2) being the sites. details: more of this finding's numbers, a line each.
    meaning: why it matters, for all findings of the rule. cite: where the rule stands, of which `cited` chooses."""

    title: Callable[[Facts], str]
    meaning: str
    cite: str
    details: Callable[[Facts], Iterable[str]] = lambda facts: ()


_MANUAL = re.compile(r"AMD ((?:CDNA|RDNA) [\d.]+) ISA")


def cited(sources: str, generations: Collection[str]) -> str:
    """Of sources, parted by semicolons, those that are no AMD manual of another generation; all if that leaves none."""
    parts = sources.split("; ")
    kept = [part for part in parts if not (match := _MANUAL.search(part)) or match[1] in generations]
    return "; ".join(kept or parts)


CONFLICTS = {
    "read_write": "may overwrite what (1) has yet to read",
    "read_atomic": "may change what (1) has yet to read",
    "write_read": "may read before (1) has written",
    "write_write": "may write before (1) does",
    "write_atomic": "may change it before (1) has written",
    "atomic_read": "may read before (1) has changed it",
    "atomic_write": "may write before (1) has changed it",
}
"""What (2) does to (1), by what both do: 'write_read' is a read that should come after a write."""


def distance(address: int, start: int, size: int) -> str:
    """Where an address lies to an allocation of `size` bytes: 'just past the end of', '4 bytes before the start of'.

    Empty for one that has nothing to do with it: over 4 GiB away.
    """
    past, before = address - (start + size), start - address
    if max(past, before) > 1 << 32:
        return ""
    if past >= 0:
        return f"{past:,} bytes past the end of" if past else "just past the end of"
    return f"{before:,} bytes before the start of" if before > 0 else "in"


def registers(names: Iterable[str]) -> str:
    """Register names in short: v[8:11], s4, vcc."""
    runs: list[tuple[str, int, int]] = []
    others = []
    for name in names:
        match = re.fullmatch(r"([a-z]+)(\d+)", name)
        if match is None:
            others.append(name)
        elif runs and runs[-1][0] == match[1] and runs[-1][2] + 1 == int(match[2]):
            runs[-1] = (match[1], runs[-1][1], int(match[2]))
        else:
            runs.append((match[1], int(match[2]), int(match[2])))
    texts = [f"{bank}{first}" if first == last else f"{bank}[{first}:{last}]" for bank, first, last in runs]
    return ", ".join([*texts, *others])


def times(count: int, noun: str) -> str:
    """`1 wave`, `1,024 waves`, `2 launches`."""
    plural = "" if count == 1 else "es" if noun.endswith(("ch", "s")) else "s"
    return f"{count:,} {noun}{plural}"


def counted(count: int, unit: str) -> str:
    """ "1 wait state", "3 wait states"."""
    if count == 1:
        unit = re.sub(r"\b(state|instruction|wait|write|result)s\b", r"\1", unit, count=1)
    return f"{count:,} {unit}"

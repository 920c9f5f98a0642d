"""Groups of waves that run the same code some rendezvous apart, found from the barriers that each wave took."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from antiphase.checks.order import Path


@dataclass(frozen=True, slots=True)
class OffsetGroups:
    """leading, trailing: waves. gap: rendezvous that the trailing ones take before, to fall behind. opening: the
    instructions of those. closed: the leading ones take as many more at the end."""

    leading: tuple[int, ...]
    trailing: tuple[int, ...]
    gap: int
    opening: tuple[int, ...]
    closed: bool


def offset_groups(paths: Mapping[int, Path]) -> OffsetGroups | None:
    """The two groups of a workgroup, None if its waves are in step or do different things."""
    kinds: dict[tuple[int, ...], list[int]] = {}
    for wave, path in paths.items():
        kinds.setdefault(tuple(path.arrivals.tolist()), []).append(wave)
    if len(kinds) != 2:
        return None
    (a, a_waves), (b, b_waves) = kinds.items()
    for leading, trailing, first, second in ((a, b, a_waves, b_waves), (b, a, b_waves, a_waves)):
        found = _gap(leading, trailing)
        if found is not None:
            start, gap = found
            opening = trailing[start : start + gap]
            return OffsetGroups(tuple(first), tuple(second), gap, opening, len(leading) == len(trailing))
    return None


def _gap(leading: Sequence[int], trailing: Sequence[int]) -> tuple[int, int] | None:
    """Where the trailing waves begin to take extra barriers, and how many, before both go on alike."""
    start = next((i for i, (x, y) in enumerate(zip(leading, trailing, strict=False)) if x != y), None)
    if start is None or leading[start] not in trailing[start:]:
        return None
    gap = trailing[start:].index(leading[start])
    pairs = zip(leading[start:], trailing[start + gap :], strict=False)
    alike = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
    # behind the loop the leading waves take their extra ones, and what follows is in step again
    return (start, gap) if 2 * alike >= len(trailing) - start - gap else None

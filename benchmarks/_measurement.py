"""A measured quantity over repeated runs, and the file that results are written to."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec


class Measurement(msgspec.Struct, frozen=True):
    """Median and extremes of `runs` values of one quantity."""

    median: float
    min: float
    max: float
    runs: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Measurement:
        """Summary of the values, at least one of them."""
        return cls(statistics.median(values), min(values), max(values), len(values))

    @classmethod
    def ratio(cls, numerators: Sequence[float], denominators: Sequence[float]) -> Measurement:
        """Summary of the quotients run by run: what slows one run of a pair slows the other too.

        Raises ValueError if the runs do not pair up.
        """
        return cls.of([top / bottom for top, bottom in zip(numerators, denominators, strict=True)])


Results = dict[str, Measurement]
"""Measurements by key; dots in a key are levels of the file, as in "families.gfx942.cold_start_s"."""


def write(results: Mapping[str, Measurement], path: Path) -> None:
    """Write {key: {median, min, max, runs}} as JSON, keys with dots as objects in objects."""
    tree: dict[str, Any] = {}
    for key, measurement in results.items():
        *levels, last = key.split(".")
        level = tree
        for name in levels:
            level = level.setdefault(name, {})
        level[last] = msgspec.to_builtins(measurement)
    path.write_text(json.dumps(tree, indent=2) + "\n")


def read(path: Path) -> Results:
    """What `write` wrote."""
    return dict(_measurements(json.loads(path.read_text()), ""))


def _measurements(tree: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Measurement]]:
    for key, value in tree.items():
        if "median" in value:
            yield prefix + key, msgspec.convert(value, Measurement)
        else:
            yield from _measurements(value, f"{prefix}{key}.")

"""A measured quantity over repeated runs, and the file that results are written to."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

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


def write(results: Mapping[str, Measurement], path: Path) -> None:
    """Write {key: {median, min, max, runs}} as JSON."""
    path.write_text(json.dumps({key: msgspec.to_builtins(m) for key, m in results.items()}, indent=2) + "\n")


def read(path: Path) -> Results:
    """What `write` wrote."""
    return msgspec.json.decode(path.read_bytes(), type=Results)

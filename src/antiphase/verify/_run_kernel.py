"""One kernel that does several checks in turn: sets registers, runs lines, stores registers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from antiphase.arch._check_specs import Runs
from antiphase.frontends import launch_asm
from antiphase.verify._kernel import kernel
from antiphase.verify._values import Row, bits, each, is_vector, lanes
from antiphase.verify._wave_text import WaveText

_MASKS = ("exec", "vcc")
_LAST = ("mode", "scc", "exec")  # set in this order, after everything else
_MOST_INSTRUCTIONS = 1_000_000


def registers_after(specs: Sequence[Runs], target: str, wave: int) -> list[dict[str, Row]] | None:
    """What each check leaves in the registers it expects something of; None if one of them faults.

    Raises AntiphaseError or ValueError for lines that cannot be read or run.
    """
    text = WaveText(target, wave)
    body, given, kept = text.start(), [], 0
    places: list[dict[str, int]] = []
    for spec in specs:
        rows: dict[str, int] = {}
        for name in spec.expect:
            rows[name] = kept
            kept += _height(name, wave)
        body += _section(text, spec, given, rows, wave)
        places.append(rows)
    out = np.zeros((max(1, kept), wave), np.uint32)
    data = np.array(given or [(0,) * wave], np.uint32)
    execution = launch_asm(
        kernel(target, wave, body, 2), grid=1, args=[out, data], threads=wave, workers=1,
        max_instructions=_MOST_INSTRUCTIONS,
    )  # fmt: skip
    if execution.fault_count:
        return None
    return [{name: _read(out[row : row + _height(name, wave)], name) for name, row in rows.items()} for rows in places]


def _section(text: WaveText, spec: Runs, given: list[Row], rows: dict[str, int], wave: int) -> Iterator[str]:
    """One check. given: rows of input, to which this adds its own. rows: where each register is kept."""
    scalars = [name for name in spec.given if not is_vector(name)]
    for name, value in spec.given.items():
        if is_vector(name):
            given.append(lanes(value, wave))
            yield from text.give(name, len(given) - 1)
    yield from text.waits
    for name in sorted(scalars, key=lambda name: _LAST.index(name) if name in _LAST else -1):
        yield from text.set(name, bits(each(spec.given[name], 1)[0]))
    yield from spec.lines
    yield from text.save()
    for name, row in rows.items():
        yield from text.keep(name, row)


def _height(name: str, wave: int) -> int:
    """Rows that a register takes."""
    return wave // 32 if name in _MASKS else 1


def _read(rows: np.ndarray, name: str) -> Row:
    if is_vector(name):
        return tuple(map(int, rows[0]))
    return (sum(int(row[0]) << 32 * half for half, row in enumerate(rows)),)

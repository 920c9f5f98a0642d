"""Layouts for the browser: every matrix instruction of a generation, its operands as sums over bits.

An element's coordinates are the sum of what each set bit of the lane and of the position adds: eleven small
vectors instead of a table of some thousand entries. Layouts of which that is not true are given as tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

from antiphase import arch, layouts
from antiphase.arch import Fragment
from antiphase.layouts import Layout, Operand

FORMATS = ("fp8", "fp6", "fp4")
"""Of the instructions that choose them: one of each width, which is what moves elements."""


def layout_file(generation: str) -> str:
    """Name of the data file of a generation."""
    return f"layouts-{generation.lower().replace(' ', '')}"


@cache
def layout_data(generation: str) -> dict[str, Any]:
    """`forms` of the generation's first target, and the `layouts` that their operands name by number."""
    target = next(each for each in arch.targets() if each.generation == generation)
    held: dict[str, int] = {}
    encoded: list[dict[str, Any]] = []

    def number(operand: Operand) -> int:
        layout = _encoded(operand.views[0], operand.by_column)
        key = repr(layout)
        if key not in held:
            held[key] = len(encoded)
            encoded.append(layout)
        return held[key]

    forms = [
        {
            "name": one.mnemonic,
            "variant": variant,
            "wave": one.wave,
            "aliases": one.aliases,
            "builtins": [builtin.name for builtin in one.builtins],
            "sources": one.sources,
            "operands": [_operand(each, number(each)) for each in one.operands],
        }
        for one, variant in _forms(target)
    ]
    return {"generation": generation, "target": target.name, "forms": forms, "layouts": encoded}


def _forms(target: arch.Target) -> Iterator[tuple[Layout, str]]:
    """Each form with the choices that move its elements, and those in words."""
    for name in layouts.forms(target.name):
        for wave in target.wave_sizes:
            plain = layouts.layout(name, target.name, wave=wave)
            if plain.record.a == "f8f6f4":
                yield from ((layouts.layout(name, target.name, wave=wave, formats=f), f) for f in FORMATS)
                continue
            halves = plain.record.family == "rdna3" and plain.operand("D").bits == 16
            yield plain, "op_sel:[0,0,0]" if halves else ""
            if halves:
                yield layouts.layout(name, target.name, wave=wave, opsel=(0, 0, 1)), "op_sel:[0,0,1]"


def _operand(operand: Operand, layout: int) -> dict[str, Any]:
    view = operand.views[0]
    return {
        "name": operand.name,
        "type": operand.type,
        "bits": operand.bits,
        "shape": operand.shape,
        "registers": operand.registers,
        "stride": view.stride,
        "offset": view.offset,
        "same": operand.same_as,
        "layout": layout,
    }


def _encoded(fragment: Fragment, by_column: bool) -> dict[str, Any]:
    layout = fragment.layout
    sides = (layout.inner, layout.outer) if by_column else (layout.outer, layout.inner)
    table = np.stack((*sides, layout.block), axis=-1)
    lanes, positions = table.shape[:2]
    found: dict[str, Any] = {"lanes": lanes, "positions": positions}
    lane_steps, position_steps = _steps(table[:, 0]), _steps(table[0])
    if np.array_equal(_sums(lanes, lane_steps)[:, None] + _sums(positions, position_steps)[None], table):
        return found | {"lane": lane_steps, "position": position_steps}
    return found | {"table": table.reshape(-1, 3).tolist()}


def _steps(values: Any) -> list[list[int]]:
    """What each bit of the index adds: the values at its powers of two, the value at 0 being (0, 0, 0)."""
    count = len(values)
    return [values[1 << bit].tolist() for bit in range(count.bit_length() - 1)]


def _sums(count: int, steps: Sequence[Sequence[int]]) -> Any:
    total = np.zeros((count, 3), np.int64)
    for bit, step in enumerate(steps):
        total[(np.arange(count) >> bit & 1) == 1] += step
    return total

"""Layouts as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from antiphase.arch import Place
from antiphase.layouts import Element, Held, Layout, Operand
from antiphase.report._layout_words import group_lines


def layout_as_json(layout: Layout, operands: Sequence[Operand]) -> dict[str, Any]:
    """The layout as plain data, every element of those operands with its places."""
    record, m = layout.record, layout.modifiers
    return {
        "mnemonic": layout.mnemonic,
        "aliases": list(layout.aliases),
        "target": layout.target,
        "wave": layout.wave,
        "shape": {"m": record.m, "n": record.n, "k": record.k, "blocks": record.blocks},
        "modifiers": {name: getattr(m, name) for name in m.__slots__},
        "operands": [operand_as_json(layout, operand) for operand in operands],
        "builtins": [
            {"name": b.name, "intrinsic": b.intrinsic, "result": b.result, "parameters": list(b.parameters)}
            for b in layout.builtins
        ],
        "compiler": layout.compiler,
        "sources": list(layout.sources),
    }


def operand_as_json(layout: Layout, operand: Operand) -> dict[str, Any]:
    rows, columns, blocks = operand.shape
    return {
        "name": operand.name,
        "type": operand.type,
        "bits": operand.bits,
        "rows": rows,
        "columns": columns,
        "blocks": blocks,
        "lanes": operand.lanes,
        "registers": operand.registers,
        "elements_per_lane": operand.per_lane,
        "banks": list(operand.banks),
        "same_as": operand.same_as or None,
        "groups": group_lines(layout, operand),
        "held": held_as_json(operand, operand.held()),
    }


def held_as_json(operand: Operand, found: Iterable[Held]) -> list[dict[str, Any]]:
    """What registers hold as plain data."""
    return [
        {
            "operand": operand.name, "lane": held.lane, "register": held.register, "low": held.low, "high": held.high,
            **held.element._asdict(),
        }
        for held in found
    ]  # fmt: skip


def places_as_json(operand: Operand, element: Element, places: Iterable[Place]) -> list[dict[str, Any]]:
    """Every place of an element as plain data."""
    return [
        {"operand": operand.name, **element._asdict(), "lane": at.lane, "register": at.register, "bit": at.bit}
        for at in places
    ]

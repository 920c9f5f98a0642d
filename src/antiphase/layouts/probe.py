"""A layout checked against the CPU machine: one element at a time is set, and the result says where it lay.

The machine runs its compiled instruction on whole register files. Every place of every operand is probed:
A and B one element each against ones on the other side, which gives its row or column and its block; the k of A and
B against each other; C, the sparse index and the scales one element each. All of D is compared every time.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antiphase.layouts._layout import Layout, layout
from antiphase.layouts._machine import SCALE_ONE, Coordinates, Machine, Parts, Registers
from antiphase.layouts._operand import Element

SCALE_TWO = SCALE_ONE + 1
CHUNK = 128  # probes at a time, so that their registers stay in the cache
BOTH_PICKS = ((0, 1), (2, 3))


@dataclass(frozen=True, slots=True)
class Wrong:
    """An element that did not act from where the layout has it: the operand it is of, and the element."""

    operand: str
    element: Element


@dataclass(frozen=True, slots=True)
class Probed:
    """probes: elements tried. wrong: those that the machine has somewhere else."""

    layout: Layout
    probes: int
    wrong: tuple[Wrong, ...]

    @property
    def ok(self) -> bool:
        return not self.wrong


def probe(mnemonic: str, target: str, *, only: Collection[str] = (), **modifiers: Any) -> Probed:
    """Run the one-hot probe of one instruction; modifiers as `layout` has them. UserError as there.

    only: operands to probe, all of them by default (D is compared in every probe). A probe takes some hundredths of a
    second, and up to a second more to compile an instruction for the first time.
    """
    found = layout(mnemonic, target, **modifiers)
    machine = Machine(found)
    chosen = only or [operand.name for operand in found.operands]
    tried = [each for name in chosen for each in _probes(machine, name)]
    wrong = (Wrong(name, element) for name, element, agrees in tried if not agrees)
    return Probed(found, len(tried), tuple(wrong))


Meets = Callable[[Coordinates, Element], NDArray[np.bool_]]
"""Which elements of D an element of A or B has a part in."""
Tried = tuple[str, Element, bool]
"""Operand, element, whether it acted where it should."""


def _probes(m: Machine, name: str) -> Iterator[Tried]:
    match name:
        case "A":
            yield from _outer(m, "A", "B", lambda d, a: (d.row == a.row) & (d.block == a.block))
            yield from _depths(m)
        case "B":
            yield from _outer(m, "B", "A", lambda d, b: (d.column == b.column) & (d.block == b.block))
        case "C":
            yield from _starts(m)
        case "index":
            yield from _indices(m)
        case "scale_a":
            yield from _scales(m, "scale_a", "A")
        case "scale_b":
            yield from _scales(m, "scale_b", "B")


def _chunks(parts: Parts) -> Iterator[NDArray[np.int64]]:
    """Numbers of places, some at a time."""
    count = len(parts.elements)
    return (np.arange(start, min(start + CHUNK, count)) for start in range(0, count, CHUNK))


def _tried(name: str, parts: Parts, places: NDArray[np.int64], got: Registers, expected: Registers) -> Iterator[Tried]:
    agree = (got == expected).all(axis=(1, 2))
    return ((name, parts.elements[place][0], bool(ok)) for place, ok in zip(places.tolist(), agree, strict=True))


def _outer(m: Machine, side: str, other: str, meets: Meets) -> Iterator[Tried]:
    """One element of A or B against ones: what of D is not zero."""
    ones, parts, d = m.ones(other), m.operands[side], m.operands["D"].coordinates
    indices = [(picks, {"index": _picking(m, picks)}) for picks in BOTH_PICKS] if m.record.sparse else [((), {})]
    for places, (picks, index) in itertools.product(_chunks(parts), indices):
        got = m.run(len(places), **{side: parts.each(m.one(side), places)}, **ones, **index)
        times = np.stack([np.sum([meets(d, each) for each in parts.elements[p]], axis=0) for p in places])
        if picks and side == "B":
            # an element of B that the index does not name takes no part
            times *= np.array([[parts.elements[p][0].row % 4 in picks] for p in places])
        yield from _tried(side, parts, places, got, m.counted(times))


def _picking(m: Machine, picks: tuple[int, ...]) -> Registers:
    """An index that names those two of every four k."""
    index = m.operands["index"]
    odd = index.coordinates.column % 2 == 1
    return index.filled(picks[0], ~odd) | index.filled(picks[1], odd)


def _depths(m: Machine) -> Iterator[Tried]:
    """All of A with one k against all of B with that k, and against all of B with every other k."""
    a, b, d = (m.operands[name] for name in "ABD")
    given = m.ones() | ({"index": _picking(m, (0, 1))} if m.record.sparse else {})
    # BLGP can make one register serve several k
    alike: dict[int, set[int]] = {}
    for together in b.elements:
        rows = {each.row for each in together}
        for row in rows:
            alike.setdefault(row, set()).update(rows)
    for k in range(m.record.depth):
        column = a.filled(m.one("A"), a.coordinates.column == k)
        of_b = k // 2 * 4 + k % 2 if m.record.sparse else k
        with_k = np.isin(b.coordinates.row, list(alike[of_b]))
        both = np.stack([b.filled(m.one("B"), with_k), b.filled(m.one("B"), ~with_k)])
        got = m.run(2, A=column, B=both, **given)
        expected = m.counted(np.repeat([[1], [0]], len(d.place), axis=1))
        for ok in (got == expected).all(axis=(1, 2)):
            yield "A", Element(0, k), bool(ok)


def _starts(m: Machine) -> Iterator[Tried]:
    """One element of C: it comes out as that element of D."""
    c, d, ones = m.operands["C"], m.operands["D"], m.ones()
    for places in _chunks(c):
        got = m.run(len(places), c.each(m.one("C"), places), **ones)
        times = np.stack([_equal(d.coordinates, c.elements[p][0]) for p in places]).astype(int)
        yield from _tried("C", c, places, got, m.counted(times))


def _equal(e: Coordinates, one: Element) -> NDArray[np.bool_]:
    return (e.row == one.row) & (e.column == one.column) & (e.block == one.block)


def _indices(m: Machine) -> Iterator[Tried]:
    """One element of the index points at the only row of B that is not zero."""
    index, d = m.operands["index"], m.operands["D"].coordinates
    numbers = {element: number for number, (element,) in enumerate(index.elements)}
    a, b = m.operands["A"], m.operands["B"]
    for k, pick in itertools.product(range(m.record.depth), (1, 2)):
        column = a.filled(m.one("A"), a.coordinates.column == k)
        row = b.filled(m.one("B"), b.coordinates.row == k // 2 * 4 + pick)
        places = np.array([numbers[Element(i, k)] for i in range(m.record.m)])
        got = m.run(len(places), A=column, B=row, index=index.each(pick, places))
        times = (d.row == np.arange(m.record.m)[:, None]).astype(int)
        yield from _tried("index", index, places, got, m.counted(times))


def _scales(m: Machine, name: str, side: str) -> Iterator[Tried]:
    """One scale of two, with ones in a single k of its block: its row or column of D doubles."""
    along, across = (1, 0) if side == "A" else (0, 1)  # which coordinate counts k, which names the row or column
    scale, parts, d, ones = m.operands[name], m.operands[side], m.operands["D"].coordinates, m.ones("A", "B")
    for block in range(scale.operand.shape[along]):
        k = block * m.record.scale_block
        narrow = parts.filled(m.one(side), parts.coordinates[along] == k)
        places = np.array([p for p, (element,) in enumerate(scale.elements) if element[along] == block])
        one_each = {side: narrow, name: scale.each(SCALE_TWO, places, SCALE_ONE)}
        got = m.run(len(places), **(ones | one_each))
        own = np.array([[scale.elements[p][0][across]] for p in places])
        yield from _tried(name, scale, places, got, m.counted(1 + (d[across] == own)))

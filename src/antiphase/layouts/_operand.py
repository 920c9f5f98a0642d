"""One operand of a matrix instruction: index arrays from registers to elements, and the way back."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antiphase.arch import Fragment, Place
from antiphase.errors import UserError

REGISTER_BITS = 32
UNUSED = -1

Indices = NDArray[np.int64]


class Element(NamedTuple):
    """Coordinates of an element in its matrix: A[i, k], B[k, j], C and D[i, j], of one of the independent products.

    A of a sparse instruction counts the k it stores. The index is addressed as that A; scales are A[i, block of k]
    and B[block of k, j].
    """

    row: int
    column: int
    block: int = 0


class Held(NamedTuple):
    """Bits of one register of one lane, low to high inclusive, that hold an element or a part of one."""

    lane: int
    register: int
    low: int
    high: int
    element: Element


@dataclass(frozen=True, eq=False)
class Operand:
    """What a wave holds of one operand.

    name: A, B, C, D, index, scale_a or scale_b. type, bits: of an element. shape: rows, columns, blocks.
    views: fragments of the same registers. There are several where CBSZ or BLGP give a register several uses, and
    then each view holds one use of every place. by_column: the fragments count columns first (B and its scales).
    banks: register files it may be in, 'v' VGPRs, 'a' AGPRs, 's' SGPRs. same_as: the operand in the same registers.
    """

    name: str
    type: str
    shape: tuple[int, int, int]
    views: tuple[Fragment, ...]
    by_column: bool
    banks: tuple[str, ...]
    same_as: str = ""

    def __repr__(self) -> str:
        return f"<Operand {self.name} type={self.type!r} shape={self.shape} registers={self.registers}>"

    @property
    def bits(self) -> int:
        return self.views[0].bits

    @property
    def lanes(self) -> int:
        return self.views[0].lanes

    @property
    def registers(self) -> int:
        """Registers the operand takes in every lane."""
        return self.views[0].registers

    @property
    def per_lane(self) -> int:
        """Elements a lane holds; some of them unused in a few operands."""
        return self.views[0].layout.positions

    @functools.cached_property
    def slots(self) -> int:
        """Places for elements in a register: 2 for 16 bits, 1 for 32 and 64, 6 for 6 bits, which cross registers."""
        return -(-REGISTER_BITS // self.bits)

    @property
    def rows(self) -> Indices:
        """Row of the element in each [lane, register, slot], -1 where there is none.

        Slot s of 16-bit elements is the low or the high half of the register. An element that crosses into the next
        register, or fills two, stands in both. Where registers have several uses this is the first.
        """
        return self.arrays[0][0]

    @property
    def columns(self) -> Indices:
        """Column of the element in each [lane, register, slot], as `rows`."""
        return self.arrays[0][1]

    @property
    def blocks(self) -> Indices:
        """Block of the element in each [lane, register, slot], as `rows`."""
        return self.arrays[0][2]

    @functools.cached_property
    def arrays(self) -> tuple[tuple[Indices, Indices, Indices], ...]:
        """(rows, columns, blocks) of every use of the registers, each [lane, register, slot]."""
        return tuple(self._arrays(view) for view in self.views)

    def _arrays(self, view: Fragment) -> tuple[Indices, Indices, Indices]:
        out = np.full((3, self.lanes, self.registers, self.slots), UNUSED, np.int64)
        layout = view.layout
        sides = (layout.inner, layout.outer) if self.by_column else (layout.outer, layout.inner)
        unused = layout.outer < 0
        for position in range(layout.positions):
            for register, low, _ in self._parts(position):
                slot = -(-low // self.bits)
                for target, values in zip(out, (*sides, layout.block), strict=True):
                    target[:, register, slot] = np.where(unused[:, position], UNUSED, values[:, position])
        return out[0], out[1], out[2]

    def _parts(self, position: int) -> Iterator[tuple[int, int, int]]:
        """(register, low bit, high bit) of each register that a position has bits in."""
        register, low = self.views[0].start(position)
        left = self.bits
        while left > 0:
            count = min(left, REGISTER_BITS - low)
            yield register, low, low + count - 1
            register, low, left = register + 1, 0, left - count

    def held(self) -> Iterator[Held]:
        """Everything the operand holds, by lane, register and bit; once for each use."""
        for lane in range(self.lanes):
            for position in range(self.per_lane):
                for view in self.views:
                    found = view.layout.element(lane, position)
                    if found is not None:
                        for register, low, high in self._parts(position):
                            yield Held(lane, register, low, high, self._named(found))

    @functools.cached_property
    def _by_register(self) -> dict[tuple[int, int], list[Held]]:
        found: dict[tuple[int, int], list[Held]] = {}
        for held in self.held():
            found.setdefault((held.lane, held.register), []).append(held)
        return found

    def elements(self, lane: int, register: int, bit: int | None = None) -> tuple[Element, ...]:
        """Elements with bits in a register of a lane, lowest first; with `bit`, those that this bit is part of.

        UserError if there is no such lane, register or bit.
        """
        self._check("bit", bit or 0, REGISTER_BITS)
        found = self.held_in(lane, register)
        return tuple(held.element for held in found if bit is None or held.low <= bit <= held.high)

    def held_in(self, lane: int | None = None, register: int | None = None) -> tuple[Held, ...]:
        """What a register holds in a lane, in every lane, or what all registers of a lane hold.

        UserError if there is no such lane or register.
        """
        self._check("lane", lane or 0, self.lanes)
        self._check("VGPR", register or 0, self.registers)
        lanes = range(self.lanes) if lane is None else (lane,)
        registers = range(self.registers) if register is None else (register,)
        return tuple(held for each in lanes for r in registers for held in self._by_register.get((each, r), ()))

    def places(self, row: int, column: int, block: int = 0) -> tuple[Place, ...]:
        """Every place of an element: lane, register, and the bit it starts at; several where lanes hold copies.

        UserError if there is no such element.
        """
        for what, value, count in zip(("row", "column", "block"), (row, column, block), self.shape, strict=True):
            self._check(what, value, count)
        outer, inner = (column, row) if self.by_column else (row, column)
        found: list[Place] = []
        for view in self.views:
            try:
                found.extend(view.places(outer, inner, block))
            except KeyError:
                continue  # this use of the registers does not include the element
        return tuple(sorted(found))

    def _named(self, found: tuple[int, int, int]) -> Element:
        outer, inner, block = found
        return Element(inner, outer, block) if self.by_column else Element(outer, inner, block)

    def _check(self, what: str, value: int, count: int) -> None:
        if not 0 <= value < count:
            raise UserError(f"operand {self.name} has no {what} {value}", remedy=f"it has 0 to {count - 1}")


__all__ = ["Element", "Held", "Indices", "Operand"]

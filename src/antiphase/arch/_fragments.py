"""Operands of matrix instructions in registers: from an element to its places, and back."""

from __future__ import annotations

from dataclasses import dataclass

from antiphase.arch._layouts import OperandLayout

REGISTER_BITS = 32


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where an element starts: lane, register counted from the operand's first, and bit of that register."""

    lane: int
    register: int
    bit: int


@dataclass(frozen=True, eq=False)
class Fragment:
    """What a wave holds of one operand.

    layout: the element at every lane and position. bits: width of an element. stride: bits from one position
    of a lane to the next, more than `bits` where registers are filled by halves only. offset: bit of
    position 0.
    """

    layout: OperandLayout
    bits: int
    stride: int
    offset: int = 0

    @property
    def lanes(self) -> int:
        return self.layout.outer.shape[0]

    @property
    def registers(self) -> int:
        """Registers the operand takes."""
        return -(-self.layout.positions * self.stride // REGISTER_BITS)

    def start(self, position: int) -> tuple[int, int]:
        """(register, bit) at which a position starts; elements of 6 bits may go on in the next register."""
        return divmod(self.offset + position * self.stride, REGISTER_BITS)

    def places(self, outer: int, inner: int, block: int = 0) -> tuple[Place, ...]:
        """Every place of an element, lowest lane first; several where lanes hold copies.

        outer, inner: row and k of A, column and k of B, row and column of C and D. KeyError if there is no
        such element.
        """
        found = self.layout.places(outer, inner, block)
        return tuple(Place(lane, *self.start(position)) for lane, position in found)

    def element(self, lane: int, register: int, bit: int = 0) -> tuple[int, int, int] | None:
        """(outer, inner, block) of the element that a bit of a register is part of; None if of none."""
        position, within = divmod(register * REGISTER_BITS + bit - self.offset, self.stride)
        if not (0 <= position < self.layout.positions and within < self.bits and 0 <= lane < self.lanes):
            return None
        return self.layout.element(lane, position)

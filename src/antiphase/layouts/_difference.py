"""What changes for the operands of an instruction from one target to another, or to another instruction."""

from __future__ import annotations

from dataclasses import dataclass

from antiphase.layouts._layout import Layout
from antiphase.layouts._operand import Element, Operand

Places = frozenset[tuple[int, int, int]]


@dataclass(frozen=True, eq=False)
class OperandDifference:
    """One operand in two layouts, None where one of them does not have it.

    common: elements both have. moved: those of them that lie in other lanes, registers or bits. copies: places of an
    element before and after.
    """

    name: str
    before: Operand | None
    after: Operand | None
    common: int
    moved: int
    copies: tuple[int, int]

    @property
    def same(self) -> bool:
        """Nothing to change: type, shape, registers and every place are alike."""
        before, after = self.before, self.after
        if before is None or after is None or self.moved:
            return False
        return (before.type, before.shape, before.registers) == (after.type, after.shape, after.registers)


@dataclass(frozen=True, eq=False)
class Difference:
    before: Layout
    after: Layout
    operands: tuple[OperandDifference, ...]

    @property
    def same(self) -> bool:
        return self.before.wave == self.after.wave and all(each.same for each in self.operands)


def difference(before: Layout, after: Layout) -> Difference:
    """Operand by operand, those of `before` first."""
    names = dict.fromkeys(each.name for layout in (before, after) for each in layout.operands)
    return Difference(before, after, tuple(_compared(name, before, after) for name in names))


def _compared(name: str, before: Layout, after: Layout) -> OperandDifference:
    left, right = (next((o for o in layout.operands if o.name == name), None) for layout in (before, after))
    old, new = _places(left), _places(right)
    common = old.keys() & new.keys()
    moved = sum(old[element] != new[element] for element in common)
    return OperandDifference(name, left, right, len(common), moved, (_copies(old), _copies(new)))


def _places(operand: Operand | None) -> dict[Element, Places]:
    found: dict[Element, set[tuple[int, int, int]]] = {}
    for held in operand.held() if operand is not None else ():
        found.setdefault(held.element, set()).add((held.lane, held.register, held.low))
    return {element: frozenset(places) for element, places in found.items()}


def _copies(places: dict[Element, Places]) -> int:
    """Lanes that hold one element."""
    return max((len({lane for lane, _, _ in where}) for where in places.values()), default=0)

"""What a description is made of, and the words for functions in formulas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_GLOSSARY = {
    "canonical": "canonical(x): x, its denormals made zero where MODE says so.",
    "first_lane": "first_lane(x): x of the lowest active lane.",
    "read_lane": "read_lane(x, l): x of lane l, active or not.",
    "gather_lanes": "gather_lanes(x, l): x of lane l; 0 if that lane is inactive, unless it says inactive.",
    "scatter_lanes": "scatter_lanes(x, l): each active lane sends x to lane l; 0 where nothing arrives.",
    "shuffle": "shuffle(x, lanes): x of the lane that the pattern names, active or not.",
    "ballot": "ballot(x): a lane mask of x over the active lanes.",
    "truth_table": "truth_table(a, b, c, t): each bit is bit 4a + 2b + c of t.",
}
"""What the functions of formulas mean that no one would guess."""


@dataclass(frozen=True, slots=True)
class Part:
    """One operand. name: as the formulas call it; role: 'result' or 'source'; type: as 'f32' or 'u32 x 6'.

    written: whether the text of the instruction has it, rather than the instruction implying it."""

    name: str
    role: str
    type: str
    written: bool


@dataclass(frozen=True, slots=True)
class Description:
    """parts: results first, as the text has them. words: lines of plain sentences and formulas."""

    parts: tuple[Part, ...]
    words: tuple[str, ...]


def glossary(lines: Sequence[str]) -> list[str]:
    """A line for each function in these formulas that needs one."""
    return [meaning for name, meaning in _GLOSSARY.items() if any(f"{name}(" in line for line in lines)]

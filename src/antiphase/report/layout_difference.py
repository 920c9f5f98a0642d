"""The difference of two layouts, in words and as plain data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Console

from antiphase.layouts import Difference, OperandDifference
from antiphase.report._layout_words import c_like_d, group_lines
from antiphase.report.layout import say


def print_difference(found: Difference, console: Console) -> None:
    """Print what an author who ports from the first to the second layout has to change."""
    before, after = found.before, found.after
    say(console, f"{before.mnemonic} on {before.target} -> {after.mnemonic} on {after.target}")
    if before.wave != after.wave:
        say(console, f"  wave{before.wave} -> wave{after.wave}")
    for one in found.operands:
        for line in _difference_lines(found, one):
            say(console, line)
    names = [" ".join(b.name for b in side.builtins) or "no builtin" for side in (before, after)]
    if names[0] != names[1]:
        say(console, f"  builtin: {names[0]} -> {names[1]}")


def difference_as_json(found: Difference) -> dict[str, Any]:
    """The difference as plain data."""
    return {
        "same": found.same,
        **{
            side: {"mnemonic": layout.mnemonic, "target": layout.target, "wave": layout.wave}
            for side, layout in (("before", found.before), ("after", found.after))
        },
        "operands": [
            {
                "name": one.name, "same": one.same, "common": one.common, "moved": one.moved,
                "copies": list(one.copies),
                "registers": [each and each.registers for each in (one.before, one.after)],
                "elements_per_lane": [each and each.per_lane for each in (one.before, one.after)],
                "groups": [
                    group_lines(layout, each) if each else []
                    for layout, each in ((found.before, one.before), (found.after, one.after))
                ],
            }
            for one in found.operands
        ],
    }  # fmt: skip


def _difference_lines(found: Difference, one: OperandDifference) -> Iterator[str]:
    before, after = one.before, one.after
    if before is None or after is None:
        side = found.after if before is None else found.before
        yield f"{one.name}: only on {side.target}"
        return
    if one.name == "C" and c_like_d(found.before) and c_like_d(found.after):
        yield "C: as D"
        return
    if one.same:
        yield f"{one.name}: the same"
        return
    changes = [
        (f"{a} {what}" if a == b else f"{a} -> {b} {what}")
        for a, b, what in (
            (before.type, after.type, ""),
            ("{} x {}".format(*before.shape), "{} x {}".format(*after.shape), ""),
            (str(before.registers), str(after.registers), "registers"),
            (str(before.per_lane), str(after.per_lane), "elements a lane"),
            (_sharing(one.copies[0]), _sharing(one.copies[1]), ""),
        )
        if a != b
    ]
    moved = f"{one.moved} of {one.common} common elements move" if one.moved else "no element moves"
    moved = "every common element moves" if one.moved == one.common else moved
    yield f"{one.name}: {'; '.join([*(text.strip() for text in changes), moved])}"
    for layout, operand in ((found.before, before), (found.after, after)):
        for line in group_lines(layout, operand):
            yield f"    {layout.target}  {line}"


def _sharing(copies: int) -> str:
    return f"{copies} lanes hold copies of an element" if copies > 1 else "every element in one lane"

"""All instructions for the browser: class, status, and the targets whose assembler accepts each."""

from __future__ import annotations

from typing import Any

from antiphase import arch
from antiphase.coverage import CLASSES, instructions


def instruction_rows() -> dict[str, Any]:
    """`targets` and `classes` by number, `rows` of name, class, status and a bit a target."""
    targets = [each.name for each in arch.targets()]
    classes = list(CLASSES)
    rows = [
        [row.name, classes.index(row.group), row.status, sum(1 << targets.index(name) for name in row.targets)]
        for row in instructions()
    ]
    return {"targets": targets, "classes": classes, "rows": rows}

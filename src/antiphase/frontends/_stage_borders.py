"""Stage marks that Triton's compiler left unused, carried into the assembly text as comments.

Gluon's `warp_pipeline_stage` leaves a border in the IR, which the pass `warp-pipeline` takes out where it forms stages:
in `for` loops and in straight code. Borders within `if` or `while` stay, and mean nothing to later passes.
"""

from __future__ import annotations

import re
from pathlib import Path

_BORDER = re.compile(r'triton\.warp_pipeline\.border = "(?P<label>[^"]*)".* loc\((?P<loc>.*)\)$', re.MULTILINE)
_NAMED = re.compile(r"^(#loc\d*) = loc\((.*)\)$", re.MULTILINE)
_PLACE = re.compile(r'"(?P<file>[^"]*)":(?P<line>\d+):\d+')
_REFERENCE = re.compile(r"#loc\d*")
_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+(?:"[^"]*"\s+)?"([^"]*)"', re.MULTILINE)
_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)")

MARK = "unused stage"
"""What the comment `; antiphase: unused stage LABEL` begins with."""


def with_unused_stages(text: str, ttgir: str) -> str:
    """Assembly text with a comment for each border left in the IR, before the first instruction of its lines."""
    borders = list(_BORDER.finditer(ttgir)) if "triton.warp_pipeline.border" in ttgir else []
    if not borders:
        return text
    places = dict(_NAMED.findall(ttgir))
    rows = text.splitlines()
    comments: dict[int, list[str]] = {}
    for border in borders:
        at = _row(rows, dict(_FILE.findall(text)), _place(border["loc"], places))
        comments.setdefault(at, []).append(f"\t; antiphase: {MARK} {border['label']}")
    return "\n".join(line for number, row in enumerate(rows) for line in (row, *comments.get(number, ()))) + "\n"


def _place(location: str, named: dict[str, str]) -> tuple[str, int] | None:
    """File and line of a location: the innermost one of code that was inlined."""
    for _ in range(100):
        if found := _PLACE.search(location):
            return found["file"], int(found["line"])
        if not (reference := _REFERENCE.search(location)) or reference[0] not in named:
            return None
        location = named[reference[0]]
    return None


def _row(rows: list[str], files: dict[str, str], place: tuple[str, int] | None) -> int:
    """The row of the line's `.loc`, of the next line that has one, or else of the first line of all."""
    known: list[tuple[int, int, int]] = []
    for number, row in enumerate(rows):
        if (found := _LOC.match(row)) and int(found[2]):
            same = place is not None and files.get(found[1]) == Path(place[0]).name and int(found[2]) >= place[1]
            known.append((0 if same else 1, int(found[2]) if same else 0, number))
    if known:
        return min(known)[2]
    return next((number for number, row in enumerate(rows) if row.rstrip().endswith(":")), 0)

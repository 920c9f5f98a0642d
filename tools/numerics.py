"""Remakes docs/numerics.md: what the notes of the instruction records say about sums of products.

python tools/numerics.py > docs/numerics.md
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from antiphase import isa

_INTRO = """# Sums of products

How the machine takes the sums of matrix and dot product instructions, and what is known of hardware. This page is
made from the instruction records by `python tools/numerics.py`; `antiphase isa show NAME` prints the same of one.

Products are exact before they are added: two elements of at most 16 bits fit f32, wider ones are added by a fused
multiply-add. What can differ from hardware is the order of the additions, where a sum is rounded, and what becomes of
denormals. The difference is in the last bits of a sum, or larger where terms cancel: compare results with a tolerance
that follows from the size of the terms, as the tests here do, not bit for bit.

Integer forms are exact: the sum is taken modulo 2^32, or saturated with `clamp`.
"""
_FAMILIES = (
    ("CDNA 3: MFMA and SMFMAC", "gfx942"),
    ("CDNA 4: MFMA, scaled MFMA and SMFMAC", "gfx950"),
    ("RDNA 3 and 3.5: WMMA", "gfx1100"),
    ("RDNA 4: WMMA and SWMMAC", "gfx1201"),
    ("CDNA 5: WMMA, scaled WMMA and SWMMAC", "gfx1250"),
)
_PART = re.compile(r"(Order|Rounding|Denormals|Hardware): (.*?)\.(?= [A-Z][a-z]+: |$)")
_OLD = re.compile(r"x\d+(?:f|bf|xf|i)\d+(?:_1k)?$")
"""The spelling of before GFX940, of which each has a newer one."""


def page() -> str:
    """The whole page."""
    parts = [_INTRO]
    for title, target in _FAMILIES:
        records = (r for r in isa.REGISTRY.all() if isinstance(r, isa.Matrix) and _on(r, target))
        parts += [f"## {title}\n", *_groups(r for r in records if not _OLD.search(r.name))]
    dots = (r for r in isa.REGISTRY.all() if r.name.startswith("v_dot"))
    parts += ["## Dot products\n", *_groups(dots)]
    return "\n".join(parts)


def _on(record: isa.Record, target: str) -> bool:
    return isa.find(record.name, target) is record


def _groups(records: Iterable[isa.Record]) -> Iterable[str]:
    """Instructions that share a note, then the note."""
    names: dict[str, dict[str, None]] = {}
    cites: dict[str, dict[str, None]] = {}
    for record in records:
        names.setdefault(record.note, {})[record.name] = None
        cites.setdefault(record.note, {})[record.cite] = None
    for note in names:
        lines = [" ".join(f"`{name}`" for name in names[note]), ""]
        lines += [f"- {name}: {text}" for name, text in _PART.findall(note)] or ["- exact"]
        yield "\n".join([*lines, f"- Meaning: {'; '.join(cites[note])}", ""])


if __name__ == "__main__":
    print(page(), end="")

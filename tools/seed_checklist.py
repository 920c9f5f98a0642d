"""Remake docs/seed-000-facts.md: every table and row of seed 000 with the facts that hold it.

The rows stand in docs/seed-000-rows.txt as `chapter.table / row`, written down from the seed by hand; a fact says in
its `seed` which of them it holds. Run it after a row or a fact changes: python tools/seed_checklist.py
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from antiphase.arch import reference

DOCS = Path(__file__).parent.parent / "docs"
HEAD = """# Seed 000, row by row

Every table, row, note, formula and diagram of seed 000 with the subjects of the reference that hold it; a subject has
one fact a target, and `antiphase arch show SUBJECT` prints them. What of it is executed, and by which test, stands in
[seed-000.md](seed-000.md). Made by `tools/seed_checklist.py`.
"""


def held() -> dict[str, list[str]]:
    """Row of the seed to the subjects that name it."""
    found: dict[str, list[str]] = {}
    for row in reference().subjects.values():
        for entry in row.seed:
            found.setdefault(entry, []).append(row.name)
    return found


def rows() -> list[str]:
    """The rows of the seed, in their order."""
    return (DOCS / "seed-000-rows.txt").read_text(encoding="utf-8").splitlines()


def checklist() -> str:
    """The document. KeyError for a row that no fact holds."""
    subjects = held()
    lines = [HEAD]
    for table, entries in groupby(rows(), key=lambda row: row.partition(" / ")[0]):
        lines += [f"## {table}", "| row | subjects |", "|---|---|"]
        for entry in entries:
            names = ", ".join(f"`{name}`" for name in subjects[entry])
            lines.append(f"| {entry.partition(' / ')[2].replace('|', '/')} | {names} |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    (DOCS / "seed-000-facts.md").write_text(checklist(), encoding="utf-8")

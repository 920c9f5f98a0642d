"""The record of a run in the reference's data: which tool ran what and found it right."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from antiphase.arch._fact_files import DATA, read_sources
from antiphase.errors import UserError
from antiphase.verify._answers import Verified

_HEAD = (
    "# What `antiphase arch verify --stamp` ran and found right: tool (a key of sources.toml) to subject to targets.\n"
)

Stamps = dict[str, dict[str, list[str]]]
"""Source of a tool, subject, targets."""


def stamps(verified: Verified) -> Stamps:
    """What may be stamped: facts that agree in everything, each by the tools that ran something of it."""
    known = read_sources()
    found: Stamps = {}
    for fact in verified.facts:
        if fact.verdict == "agree":
            for tool in fact.ran:
                if tool in known:
                    found.setdefault(tool, {}).setdefault(fact.subject, []).append(fact.target)
    return found


def write_stamps(found: Mapping[str, Mapping[str, list[str]]], path: Path | None = None) -> Path:
    """Replace all stamps, those in the package if no path is given. UserError where that cannot be written."""
    where = Path(str(DATA / "checked.toml")) if path is None else path
    rows = [_HEAD]
    for tool in sorted(found):
        rows.append(f"[{tool}]")
        rows += [f"{json.dumps(subject)} = {json.dumps(targets)}" for subject, targets in sorted(found[tool].items())]
        rows.append("")
    try:
        where.write_text("\n".join(rows), encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot write: {error.strerror}", file=str(where), remedy="stamp a checkout") from error
    return where

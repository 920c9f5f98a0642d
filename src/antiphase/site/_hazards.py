"""The spacing rules of the checks as rows: what must stand between which two instructions, and who says so."""

from __future__ import annotations

from dataclasses import dataclass

from antiphase.checks import SpacingRule, spacing_rules
from antiphase.report.spacing import needed_text, pair_text, source_text
from antiphase.site._columns import generations


@dataclass(frozen=True)
class Hazard:
    """A rule, and the generations that have it. pair, needed, source: in words."""

    rule: SpacingRule
    pair: str
    needed: str
    source: str
    generations: tuple[str, ...]


def hazards() -> list[Hazard]:
    """Every rule of every generation, rules that say the same thing once."""
    found: list[Hazard] = []
    for rule in spacing_rules():
        held = tuple(name for name in generations() if name in rule.targets)
        found.append(Hazard(rule, pair_text(rule), needed_text(rule), source_text(rule.source), held))
    return found

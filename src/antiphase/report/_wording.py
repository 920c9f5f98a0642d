"""The words of every rule: what is wrong, with the numbers of one finding, what that means, and who says so."""

from __future__ import annotations

from antiphase.checks import Finding
from antiphase.report import _wording_launch, _wording_program, _wording_stage
from antiphase.report._words import Wording, value

RULES = {**_wording_program.RULES, **_wording_launch.RULES, **_wording_stage.RULES}
"""By 'check/rule'; those of `spacing` are in its table."""


def wording(finding: Finding) -> Wording:
    """The words of a finding's rule; a rule without its own is told by its name and facts."""
    if finding.check == "spacing":
        return _wording_program.spacing(finding)
    return RULES.get(f"{finding.check}/{finding.rule}") or _plain(finding)


def _plain(finding: Finding) -> Wording:
    name = finding.rule.replace("_", " ")
    words = ", ".join(f"{key.replace('_', ' ')} {value(fact)}" for key, fact in finding.facts.items())
    return Wording(lambda facts: f"{name}: {words}" if words else name, "", "")

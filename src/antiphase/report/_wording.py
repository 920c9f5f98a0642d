"""The words of every rule: what is wrong, with the numbers of one finding, what that means, and who says so."""

from __future__ import annotations

from antiphase import arch
from antiphase.checks import Finding
from antiphase.report import _wording_cost, _wording_launch, _wording_program, _wording_stage
from antiphase.report._words import Wording, cited

RULES = {**_wording_program.RULES, **_wording_launch.RULES, **_wording_stage.RULES, **_wording_cost.RULES}
"""By 'check/rule'; those of `spacing` are in its table."""


def wording(finding: Finding) -> Wording:
    """The words of a finding's rule; KeyError for a rule that no check has."""
    if finding.check == "spacing":
        return _wording_program.spacing(finding)
    return RULES[f"{finding.check}/{finding.rule}"]


def citation(finding: Finding, target: str) -> str:
    """Where a finding's rule stands, for the target of its kernel; of `port` for the target of the move too."""
    targets = [target, finding.facts["to"]] if finding.check == "port" else [target]
    return cited(wording(finding).cite, {arch.target(str(each)).generation for each in targets})

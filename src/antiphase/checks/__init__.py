"""Checks: functions from a program or a recording to findings. They decide; report words what they found."""

from antiphase.checks._causes import Cause, causes
from antiphase.checks._finding import Checked, Finding, Fix, Severity, Site, Verdict
from antiphase.checks._result import CheckResult, Found
from antiphase.checks._run import (
    CHECKS,
    STATIC_CHECKS,
    CheckedKernel,
    check_execution,
    check_program,
    chosen,
    together,
    verdict,
)
from antiphase.checks._suppress import Suppression, load_suppressions, source_line, suppress
from antiphase.checks.spacing import Rule as SpacingRule
from antiphase.checks.spacing import separation_unit, spacing_rules
from antiphase.checks.useless import UselessProofs
from antiphase.checks.wait import check_waits

__all__ = [
    "CHECKS",
    "STATIC_CHECKS",
    "Cause",
    "CheckResult",
    "Checked",
    "CheckedKernel",
    "Finding",
    "Fix",
    "Found",
    "Severity",
    "Site",
    "SpacingRule",
    "Suppression",
    "UselessProofs",
    "Verdict",
    "causes",
    "check_execution",
    "check_program",
    "check_waits",
    "chosen",
    "load_suppressions",
    "separation_unit",
    "source_line",
    "spacing_rules",
    "suppress",
    "together",
    "verdict",
]

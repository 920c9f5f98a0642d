"""Checks: functions from a program or a recording to findings. They decide; report words what they found."""

from antiphase.checks._finding import Checked, Finding, Fix, Severity, Site, Verdict
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
from antiphase.checks._suppress import Suppressed, Suppression, load_suppressions, source_line, suppress
from antiphase.checks._wait import check_waits

__all__ = [
    "CHECKS",
    "STATIC_CHECKS",
    "Checked",
    "CheckedKernel",
    "Finding",
    "Fix",
    "Severity",
    "Site",
    "Suppressed",
    "Suppression",
    "Verdict",
    "check_execution",
    "check_program",
    "check_waits",
    "chosen",
    "load_suppressions",
    "source_line",
    "suppress",
    "together",
    "verdict",
]

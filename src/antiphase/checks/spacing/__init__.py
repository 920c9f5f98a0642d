"""`spacing`: what must separate two instructions, counted on every path."""

from antiphase.checks.spacing._check import check_spacing
from antiphase.checks.spacing._kinds import depctr_waits
from antiphase.checks.spacing._roles import hardware_register
from antiphase.checks.spacing._rules import Rule, spacing_rules
from antiphase.checks.spacing._separation import separation_unit

__all__ = [
    "Rule",
    "check_spacing",
    "depctr_waits",
    "hardware_register",
    "separation_unit",
    "spacing_rules",
]

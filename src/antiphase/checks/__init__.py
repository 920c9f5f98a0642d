"""Checks: functions from a program or a recording to findings. They decide; report words what they found."""

from antiphase.checks._finding import Checked, Finding, Fix, Site
from antiphase.checks._wait import check_waits

__all__ = ["Checked", "Finding", "Fix", "Site", "check_waits"]

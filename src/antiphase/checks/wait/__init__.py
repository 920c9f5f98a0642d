"""`wait`: registers used, overwritten or given back while an operation on them is outstanding."""

from antiphase.checks.wait._check import check_waits, wait_text
from antiphase.checks.wait._counters import counts_on, in_order

__all__ = [
    "check_waits",
    "counts_on",
    "in_order",
    "wait_text",
]

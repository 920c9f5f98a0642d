"""`bank`: LDS bank conflicts, by the phases of each target."""

from antiphase.checks.bank._check import check_banks

__all__ = [
    "check_banks",
]

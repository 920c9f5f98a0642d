"""`sync`: barriers that waves disagree about or use out of turn."""

from antiphase.checks.sync._check import check_sync

__all__ = [
    "check_sync",
]

"""`race`: accesses of LDS and memory that nothing orders, over every interleaving of a recording."""

from antiphase.checks.race._check import check_races
from antiphase.checks.race._pairs import KINDS

__all__ = [
    "KINDS",
    "check_races",
]

"""Mutants of a kernel: one wait, barrier or nop deleted or loosened at a time, and which of them the checks catch.

Also a measure of a test suite: run it on the programs that `mutants` makes, and see which it lets pass.
"""

from antiphase.mutate._judge import Judged, Outcome, Reason, Status, mutate
from antiphase.mutate._mutants import Kind, Mutant, mutants

__all__ = ["Judged", "Kind", "Mutant", "Outcome", "Reason", "Status", "mutants", "mutate"]

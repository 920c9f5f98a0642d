"""`useless`: waits and barriers that order nothing, with the proof."""

from antiphase.checks.useless._check import ENOUGH, UselessProofs, check_useless

__all__ = [
    "ENOUGH",
    "UselessProofs",
    "check_useless",
]

"""`useless`: waits and barriers that order nothing, with the proof."""

from antiphase.checks.useless._check import UselessProofs, check_useless

__all__ = [
    "UselessProofs",
    "check_useless",
]

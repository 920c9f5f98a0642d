"""Re-checking the architecture reference: what a machine can re-run of each fact, and what it found.

>>> from antiphase import arch
>>> from antiphase.verify import verify
>>> verify(arch.reference(), query="matrix.ab_fragment", target="gfx1201").count("disagree")
0
"""

from antiphase.verify._answers import Answer, FactResult, Outcome, Reason, ToolState, Verified
from antiphase.verify._stamps import stamps, write_stamps
from antiphase.verify._tools import Tools, find_tools
from antiphase.verify._verify import verify

__all__ = [
    "Answer",
    "FactResult",
    "Outcome",
    "Reason",
    "ToolState",
    "Tools",
    "Verified",
    "find_tools",
    "stamps",
    "verify",
    "write_stamps",
]

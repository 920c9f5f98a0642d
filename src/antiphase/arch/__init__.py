"""The architecture reference: targets, the facts known about them, and where each fact comes from.

>>> from antiphase import arch
>>> arch.target("gfx942").lds_bytes_per_cu
65536
>>> arch.target("gfx942").fact("lds_bytes_per_cu").status
'Documented'
"""

from antiphase.arch._facts import Citation, Fact, Source, Status
from antiphase.arch._layouts import OperandLayout, input_layout, output_layout
from antiphase.arch._registry import runnable_target, target, targets
from antiphase.arch._target import Counter, Target

__all__ = [
    "Citation",
    "Counter",
    "Fact",
    "OperandLayout",
    "Source",
    "Status",
    "Target",
    "input_layout",
    "output_layout",
    "runnable_target",
    "target",
    "targets",
]

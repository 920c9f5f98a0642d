"""The architecture reference: targets, the facts known about them, and where each fact comes from.

>>> from antiphase import arch
>>> arch.target("gfx942").lds_bytes_per_cu
65536
>>> arch.target("gfx942").fact("lds_bytes_per_cu").status
'Documented'
"""

from antiphase.arch._assembler import Inventory, Mnemonic, Probe, assembler_inventory, assembler_probes
from antiphase.arch._facts import Citation, Fact, Source, Status
from antiphase.arch._fragments import Fragment, Place
from antiphase.arch._layouts import OperandLayout, input_layout, output_layout
from antiphase.arch._registry import target, targets
from antiphase.arch._target import Counter, Target
from antiphase.arch._wmma_layouts import (
    alternating_output_layout,
    halves_output_layout,
    index_layout,
    partitioned_input_layout,
    replicated_input_layout,
)

__all__ = [
    "Citation",
    "Counter",
    "Fact",
    "Fragment",
    "Inventory",
    "Mnemonic",
    "OperandLayout",
    "Place",
    "Probe",
    "Source",
    "Status",
    "Target",
    "alternating_output_layout",
    "assembler_inventory",
    "assembler_probes",
    "halves_output_layout",
    "index_layout",
    "input_layout",
    "output_layout",
    "partitioned_input_layout",
    "replicated_input_layout",
    "target",
    "targets",
]

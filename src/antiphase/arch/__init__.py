"""The architecture reference: targets, the facts known about them, and where each fact comes from.

>>> from antiphase import arch
>>> arch.target("gfx942").lds_bytes_per_cu
65536
>>> arch.target("gfx942").fact("lds_bytes_per_cu").evidence.mechanism
'Documented'
"""

from antiphase.arch._assembler import Inventory, Mnemonic, Probe, assembler_inventory, assembler_probes
from antiphase.arch._broadcast import BLGP_GROUPS, broadcast_blocks, regroup_lanes
from antiphase.arch._check_specs import CheckSpec
from antiphase.arch._evidence import Citation, Evidence, Source
from antiphase.arch._fact_files import Chapter, Topic, fact_schema
from antiphase.arch._facts import Fact
from antiphase.arch._fragments import Fragment, Place
from antiphase.arch._layouts import OperandLayout, input_layout, output_layout
from antiphase.arch._matrix_builtins import Builtin, matrix_builtins
from antiphase.arch._operand_forms import ENCODINGS, OperandForm, operand_forms
from antiphase.arch._query import Answer, ask, named_together, target_names
from antiphase.arch._reference import Reference, Subject, reference
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
    "BLGP_GROUPS",
    "ENCODINGS",
    "Answer",
    "Builtin",
    "Chapter",
    "CheckSpec",
    "Citation",
    "Counter",
    "Evidence",
    "Fact",
    "Fragment",
    "Inventory",
    "Mnemonic",
    "OperandForm",
    "OperandLayout",
    "Place",
    "Probe",
    "Reference",
    "Source",
    "Subject",
    "Target",
    "Topic",
    "alternating_output_layout",
    "ask",
    "assembler_inventory",
    "assembler_probes",
    "broadcast_blocks",
    "fact_schema",
    "halves_output_layout",
    "index_layout",
    "input_layout",
    "matrix_builtins",
    "named_together",
    "operand_forms",
    "output_layout",
    "partitioned_input_layout",
    "reference",
    "regroup_lanes",
    "replicated_input_layout",
    "target",
    "target_names",
    "targets",
]

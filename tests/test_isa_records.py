"""The instruction table: every record builds, lowers and compiles; Triton's instructions are in it; it imports fast."""

from __future__ import annotations

import pytest
from isa_harness import Machine

from antiphase.isa import REGISTRY, Alu, find

RECORDS = [r for r in REGISTRY.all() if isinstance(r, Alu)]
CONSTANTS = {"bitop3": 0x96}

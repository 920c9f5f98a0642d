"""The machine: kernels as native code, waves and workgroups, memory, recordings. It judges nothing that it runs."""

from antiphase.machine._launch import Execution, run
from antiphase.machine._refusal import refusal
from antiphase.machine._rules import check_lines
from antiphase.machine.alu._gpr_index import enables
from antiphase.machine.alu._relative import enable_bits
from antiphase.machine.alu._vgpr_banks import with_full_numbers
from antiphase.machine.control._waits import waits
from antiphase.machine.memory import Allocation, Fault, Memory
from antiphase.machine.recording import Recording, WaveTrace
from antiphase.machine.transfer._operation import is_scoped, returns_old
from antiphase.machine.waves._room import free_memory

__all__ = [
    "Allocation",
    "Execution",
    "Fault",
    "Memory",
    "Recording",
    "WaveTrace",
    "check_lines",
    "enable_bits",
    "enables",
    "free_memory",
    "is_scoped",
    "refusal",
    "returns_old",
    "run",
    "waits",
    "with_full_numbers",
]

"""Which registers an instruction reads and writes, in units that dependence is tracked in.

A unit is half a vector register, since 16-bit results leave the other half alone, or one scalar register.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from antiphase.asm import Instruction, Kernel, Modified, Operand, Reg, RegList, Special
from antiphase.checks._addressed import addressed
from antiphase.isa import IMPLICIT, Alu, Control, Matrix, Memory, Record, find
from antiphase.machine import returns_old

AGPR, SGPR, SCC = 1 << 12, 1 << 13, (1 << 13) + 200
_SPECIAL = {
    "vcc": (106, 107), "vcc_lo": (106,), "vcc_hi": (107,), "exec": (126, 127), "exec_lo": (126,), "exec_hi": (127,),
    "m0": (124,), "flat_scratch": (102, 103), "flat_scratch_lo": (102,), "flat_scratch_hi": (103,),
    "xnack_mask": (104, 105), "xnack_mask_lo": (104,), "xnack_mask_hi": (105,), "vccz": (106, 107),
    "execz": (126, 127),
}  # fmt: skip
_TTMP = 108
_ENDS = (2 * 1024, AGPR + 2 * 256, SGPR + _TTMP, SGPR + _TTMP + 16)
"""Behind the last VGPR, AGPR, SGPR with VCC, and TTMP."""


@dataclass(frozen=True, slots=True)
class Uses:
    """Units an instruction reads and writes. results: the written units that are delivered later, as a load's are.

    may_read, may_write: where M0 adds to register numbers at run time, all that may be meant; `reads` and `writes` have
    what the text names, which is part of the array in what compilers make.
    """

    reads: frozenset[int]
    writes: frozenset[int]
    results: frozenset[int] = frozenset()
    may_read: frozenset[int] = frozenset()
    may_write: frozenset[int] = frozenset()


NOTHING = Uses(frozenset(), frozenset())


def units(operand: Operand | None) -> frozenset[int]:
    """The units of an operand; none for constants and labels."""
    if isinstance(operand, Modified):
        operand = operand.operand
    if isinstance(operand, RegList):
        return frozenset().union(*map(units, operand.regs))
    if isinstance(operand, Special):
        if operand.name == "scc":
            return frozenset((SCC,))
        return frozenset(SGPR + word for word in _SPECIAL.get(operand.name, ()))
    if not isinstance(operand, Reg):
        return frozenset()
    if operand.bank in "va":
        base = AGPR if operand.bank == "a" else 0
        halves = {"l": (0,), "h": (1,)}.get(operand.half or "", (0, 1))
        return frozenset(base + 2 * (operand.index + k) + h for k in range(operand.count) for h in halves)
    first = operand.index + (_TTMP if operand.bank == "ttmp" else 0)
    return frozenset(SGPR + first + k for k in range(operand.count))


def name(unit: int) -> str:
    """A unit as a reader knows it: the register it is part of."""
    if unit == SCC:
        return "scc"
    if unit >= SGPR:
        word = unit - SGPR
        return {106: "vcc", 107: "vcc", 124: "m0", 126: "exec", 127: "exec"}.get(word) or f"s{word}"
    return f"a{(unit - AGPR) // 2}" if unit >= AGPR else f"v{unit // 2}"


def uses_of(kernel: Kernel, target: str) -> list[Uses]:
    """Registers read and written by every instruction of a kernel; an unknown one uses none."""
    found = [_uses(instruction, target) for instruction in kernel.instructions]
    for index, (read, written) in addressed(kernel, target).items():
        reads = found[index].reads | units(Special("m0"))
        found[index] = replace(found[index], reads=reads, may_read=_from(read), may_write=_from(written))
    return found


def _from(operands: Iterable[Operand]) -> frozenset[int]:
    """The first unit of each operand and all behind it of the same kind."""
    firsts = [min(found) for found in map(units, operands) if found]
    return frozenset(
        unit for first in firsts for unit in range(first, min((e for e in _ENDS if e > first), default=first))
    )


def _uses(instruction: Instruction, target: str) -> Uses:
    record = find(instruction.mnemonic, target)
    if record is None:
        return NOTHING
    first = _one(instruction, record)
    if instruction.pair is None:
        return first
    second = _uses(instruction.pair, target)
    return Uses(first.reads | second.reads, first.writes | second.writes)


def _one(instruction: Instruction, record: Record) -> Uses:
    if isinstance(record, Alu):
        return _alu(instruction, record)
    if isinstance(record, Memory):
        return _memory(instruction, record)
    if isinstance(record, Matrix):
        result, *sources = instruction.operands
        tied = [result] if record.sparse else []
        return Uses(_all([*sources, *tied]), units(result))
    assert isinstance(record, Control)
    return _control(instruction, record)


def _all(operands: Iterable[Operand | None]) -> frozenset[int]:
    return frozenset().union(*map(units, operands))


def _alu(instruction: Instruction, record: Alu) -> Uses:
    signature = record.signature
    named = ("operand", "mask", "constant")
    results = sum(slot.role in named for slot in signature.results)
    written = list(instruction.operands[:results])
    read: list[Operand] = list(instruction.operands[results:])
    read += [written[int(slot.role == "tied2")] for slot in signature.sources if slot.role in ("tied", "tied2")]
    read += [Special(slot.role) for slot in signature.sources if slot.role in IMPLICIT]
    # a move of one half, or of some lanes, leaves the rest of the register as it was
    if instruction.modifier("dst_unused") == "UNUSED_PRESERVE":
        read += written
    if record.unit == "valu" and not record.ignores_exec:
        read.append(Special("exec"))
    written += [Special(slot.role) for slot in signature.results if slot.role in IMPLICIT]
    return Uses(_all(read), _all(written))


def _memory(instruction: Instruction, record: Memory) -> Uses:
    operands = list(instruction.operands)
    # a transfer by descriptor is one of the wave, whatever EXEC is (AMD CDNA5 ISA 10.11.1)
    exec_ = frozenset[int]() if record.space in ("smem", "tensor") else units(Special("exec"))
    to_lds = record.to_lds or bool(instruction.modifier("lds"))
    has_result = not to_lds and (record.access in ("load", "clock", "append") or returns_old(instruction, record))
    if record.access == "cache" or not operands:
        return Uses(_all(operands) | exec_, frozenset())
    if record.space == "buffer" or (record.space == "smem" and record.access == "atomic"):
        results = operands[:1] if has_result else []
        read = operands[1:] if has_result and record.access == "load" else operands
    else:
        results = operands[:1] if has_result else []
        read = operands[len(results) :]
    m0 = units(Special("m0")) if _reads_m0(record, to_lds) else frozenset[int]()
    written = _all(results)
    if written and record.extend in ("low", "high"):
        last, half = max(written) >> 1, int(record.extend == "high")
        written = frozenset(u for u in written if u >> 1 != last or u & 1 == half)
    return Uses(_all(read) | exec_ | m0, written, written)


def _reads_m0(record: Memory, to_lds: bool) -> bool:
    """A base in LDS, a mask of workgroups or of registers; asynchronous and tensor transfers name their LDS address."""
    if record.space == "tensor" or (record.asynchronous and not record.multicast):
        return False
    based = record.space == "direct" or (record.space == "ds" and (record.by_lane or record.access == "append"))
    return to_lds or based or record.multicast or record.chosen


_CONDITIONS = {"scc": "scc", "vcc": "vcc", "exe": "exec"}


def _control(instruction: Instruction, record: Control) -> Uses:
    if record.action == "branch" and record.condition:
        return Uses(units(Special(_CONDITIONS[record.condition[:3]])), frozenset())
    if record.action in ("getpc", "getreg", "cycles", "swappc", "call"):
        return Uses(_all(instruction.operands[1:]), _all(instruction.operands[:1]))
    if record.action in ("message_return", "barrier_state"):
        answer = _all(instruction.operands[:1])
        return Uses(_all(instruction.operands[1:]), answer, answer)
    if record.action in ("barrier_signal_isfirst", "barrier_leave", "alloc_vgpr"):
        scc = units(Special("scc"))
        late = scc if record.action == "barrier_signal_isfirst" else frozenset[int]()
        return Uses(_all(instruction.operands), scc, late)
    return Uses(_all(instruction.operands), frozenset())

"""`wait`: the counters an instruction counts on until its registers are done with, and what a wait says of them.

Beside the machine's counters there is expcnt, which LDS direct loads use (gfx11, gfx12); and beside memory operations
there are messages with an answer and questions about barriers, which count where scalar loads do.
Source: LLVM SIInsertWaitcnts (facts: counters, section 1 and 4).
"""

from __future__ import annotations

from antiphase import arch
from antiphase.asm import Imm, Instruction, Waits
from antiphase.errors import Unsupported
from antiphase.isa import COUNTERS, Control, Memory, Record, counters, generation
from antiphase.machine import returns_old, waits

ANSWERS = ("message_return", "barrier_state", "barrier_signal_isfirst")
"""Actions of control instructions whose result comes later."""
_NO_WAIT = 7


def counts_on(instruction: Instruction, record: Record | None, target: str) -> tuple[str, ...]:
    """The counters of an operation that has a result or reads late, the one its result waits for first."""
    if isinstance(record, Control) and record.action in ANSWERS:
        return ("kmcnt" if "kmcnt" in COUNTERS[generation(target)] else "lgkmcnt",)
    if not isinstance(record, Memory):
        return ()
    known = (*COUNTERS[generation(target)], "expcnt")
    return tuple(c for c in counters(record, target, returns_old(instruction, record)) if c in known)


def in_order(record: Record | None, target: str) -> bool:
    """Whether operations like this one are done in the order of their issue; the others only when all are."""
    if not isinstance(record, Memory) or record.space == "smem":
        return False
    return not (record.space == "flat" and generation(target) == "gfx9")


def capacities(target: str) -> dict[str, int]:
    """How many operations each counter can tell apart."""
    largest = {c.name: c.largest for c in arch.target(target).counters}
    return {c: largest.get(c) or 63 for c in COUNTERS[generation(target)]} | {"expcnt": _NO_WAIT}


def waited(instruction: Instruction, target: str) -> tuple[tuple[str, int], ...]:
    """(counter, largest value left) of a wait instruction; none of one whose count is not in the text."""
    try:
        known = waits(instruction, target)
    except Unsupported:
        return ()
    left = _exports_left(instruction, target)
    return known if left >= _NO_WAIT else (*known, ("expcnt", left))


def _exports_left(instruction: Instruction, target: str) -> int:
    mnemonic = instruction.mnemonic
    operand = instruction.operands[-1] if instruction.operands else None
    if mnemonic == "s_wait_idle":
        return 0
    if isinstance(operand, Waits):
        return dict(operand.counts).get("expcnt", _NO_WAIT)
    if not isinstance(operand, Imm):
        return _NO_WAIT
    if mnemonic == "s_waitcnt" and generation(target) == "gfx11":
        return operand.value & _NO_WAIT
    return operand.value if mnemonic in ("s_wait_expcnt", "s_waitcnt_expcnt") else _NO_WAIT

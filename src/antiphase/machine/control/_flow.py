"""What the control instructions of a kernel share while it is translated, and the ways out of native code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from antiphase.asm import Kernel, Operand, Program
from antiphase.isa import Alu, Record
from antiphase.machine import _layout as at
from antiphase.machine._context import Context
from antiphase.machine.alu._forms import Forms
from antiphase.machine.waves._in_flight import lds_queue


@dataclass(slots=True)
class State:
    """A kernel while it is translated.

    pairs: records of second halves of dual-issue instructions, by index. resume_points: labels where a wave may go on
    after it gave up its turn, with the instruction. unsupported: reasons of the instructions that trap.
    keeps_flags: exception flags are read somewhere, so every instruction that raises them notes it.
    assumed: registers that MODE is set from, where the constant in their place is an assumption.
    """

    program: Program
    kernel: Kernel
    records: list[Record]
    context: Context
    forms: Forms
    pairs: dict[int, Alu] = field(default_factory=dict)
    resume_points: list[tuple[str, int]] = field(default_factory=list)
    unsupported: dict[int, str] = field(default_factory=dict)
    keeps_flags: bool = False
    assumed: Mapping[int, Operand] = field(default_factory=dict)


def block_name(block: int) -> str:
    """The label of a block's code."""
    return f"block.{block}"


def event(c: Context, kind: int, number: int, base: str = "0") -> None:
    """Append an event with EXEC."""
    what = ("i32", str(kind)), ("i32", str(number)), ("i64", c.exec()), ("i64", base)
    c.f.call("void", "record", ("ptr", "%w"), *what)


def leave_if(state: State, condition: str, status: int, resume: int) -> None:
    """Return to the host with a status if the condition holds, RESUME saying where or about what."""
    f = state.context.f
    with f.if_(condition):
        f.store("i32", str(resume), f.at("%w", at.RESUME))
        f.ret(str(status))
        f.label(f.block("unreachable"))


def trap(state: State, index: int, reason: str) -> None:
    """Execution arriving here cannot go on: the host raises Unsupported for the instruction in RESUME."""
    f = state.context.f
    state.unsupported[index] = reason
    f.store("i32", str(index), f.at("%w", at.RESUME))
    f.ret(str(at.STATUS_TRAP))


def stop_if(c: Context, condition: str, reason: str) -> None:
    """A trap where the condition holds on an instruction that is supported otherwise."""
    c.traps[c.index] = reason
    with c.f.if_(condition):
        c.f.store("i32", str(c.index), c.f.at("%w", at.RESUME))
        c.f.ret(str(at.STATUS_TRAP))
        c.f.label(c.f.block("unreachable"))


def in_flight(c: Context, function: str) -> str:
    """Call `park` or `unpark` on the queue of LDS operations."""
    base, queue = c.pointer(c.layout.queues), str(lds_queue(c.target))
    result = "i1" if function == "unpark" else "void"
    return c.f.call(result, function, ("ptr", "%w"), ("ptr", base), ("i64", queue))

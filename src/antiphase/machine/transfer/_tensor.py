"""Tensor data mover: tiles between memory and LDS by a descriptor in SGPRs, once per wave whatever EXEC is.

Source: AMD CDNA5 ISA 10.11 and its tables 61-67 (descriptor groups 0 to 3), Triton's TDMUtility.cpp for their use. In
recording mode a load is carried out when a wait or a full counter proves it complete; until then its tile holds POISON.
"""

from __future__ import annotations

from antiphase.asm import Operand, Reg, Special
from antiphase.errors import Unsupported
from antiphase.isa import Memory, find
from antiphase.machine import _layout as at
from antiphase.machine.transfer import _atomics
from antiphase.machine.transfer._operation import Operation
from antiphase.machine.transfer._tensor_native import GROUPS, LOAD, POISON, STORE, WORDS


def translate_tensor(operation: Operation) -> None:
    c, record = operation.c, operation.record
    words = c.pointer(at.TEMPORARY)
    _gather(operation, words)
    _note(operation, words)
    barrier = c.f.call("i64", "tensor_barrier", ("ptr", words))
    move = ("ptr", "%w"), ("ptr", words), operation.inst
    if record.access == "store":
        c.f.call("void", "tensor_move", *move, ("i32", str(STORE)))
        operation.count()
    elif not c.recording:
        c.f.call("void", "tensor_move", *move, ("i32", str(LOAD)))
    else:
        _pending_load(operation, words, barrier)
    _arrive(operation, barrier)


def _gather(operation: Operation, words: str) -> None:
    """The descriptor's words, groups 2 and 3 zero where they are not given, at a pointer."""
    c = operation.c
    operands: list[Operand | None] = [*c.instruction.operands, None, None]
    to = 0
    for count, operand in zip(GROUPS, operands, strict=False):
        if not isinstance(operand, Reg) and operand not in (None, Special("null")):
            raise Unsupported(f"descriptor group {operand}")
        if isinstance(operand, Reg) and operand.count != count:
            raise ValueError(f"{operand} where {count} registers are needed")
        for i in range(count):
            value = "0"
            if isinstance(operand, Reg):
                value = c.f.load("i32", c.pointer(4 * (operand.index + i)))
            c.f.store("i32", value, c.f.at(words, 4 * (to + i)))
        to += count


def _note(operation: Operation, words: str) -> None:
    """The recorded "addresses" of a tensor operation are the words of its descriptor."""
    c = operation.c
    if c.recording:
        for i in range(WORDS):
            word = c.f.let(f"zext i32 {c.f.load('i32', c.f.at(words, 4 * i))} to i64")
            c.f.store("i64", word, c.pointer(at.ADDRESSES + 8 * i))
        operation.note(str((1 << WORDS) - 1))


def _pending_load(operation: Operation, words: str, barrier: str) -> None:
    """A load that signals a barrier must be seen by then: it is carried out at once, with all before it."""
    c, f = operation.c, operation.c.f
    at_once, later, done = f.block("at_once"), f.block("later"), f.block("done")
    f.branch(f.let(f"icmp sge i64 {barrier}, 0"), at_once, later)
    f.label(at_once)
    f.call("void", "wait", *operation.queue(), ("i64", "0"))
    f.call("void", "tensor_move", ("ptr", "%w"), ("ptr", words), operation.inst, ("i32", str(LOAD)))
    operation.count()
    f.jump(done)
    f.label(later)
    data = operation.pend(at.KIND_TENSOR, str(c.index), WORDS, "0")
    c.pending.remove(data)
    size = ("i64", str(4 * WORDS))
    f.call("void", "llvm.memcpy.p0.p0.i64", ("ptr", data), ("ptr", words), size, ("i1", "false"))
    f.call("void", "tensor_move", ("ptr", "%w"), ("ptr", words), operation.inst, ("i32", str(POISON)))
    f.jump(done)
    f.label(done)


def _arrive(operation: Operation, barrier: str) -> None:
    """The arrival at an LDS barrier that a descriptor may ask for; `barrier` is its address or -1."""
    c, f = operation.c, operation.c.f
    record = find("ds_atomic_async_barrier_arrive_b64", c.target)
    assert isinstance(record, Memory)
    name = _atomics.function(record, c.mode, c.target, c.layout.lanes)
    with f.if_(f.let(f"icmp sge i64 {barrier}, 0")):
        f.call("void", "address_uniform", ("ptr", "%w"), ("i64", barrier))
        size = ("i64", "8")
        good = f.call("i64", "check_lds", ("ptr", "%w"), ("i64", "1"), size, operation.inst)
        f.call("void", name, ("ptr", "%w"), ("ptr", "null"), ("i64", good), operation.inst)

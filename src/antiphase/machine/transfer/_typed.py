"""Which format a buffer load or store converts: the rest of its way is that of all buffer instructions."""

from __future__ import annotations

from dataclasses import replace

from antiphase.asm import Operand
from antiphase.errors import Unsupported
from antiphase.isa import Memory, generation
from antiphase.isa._buffer_formats import IDENTITY, KINDS, buffer_formats, format_code
from antiphase.machine.control._flow import stop_if
from antiphase.machine.transfer._buffer import described_format
from antiphase.machine.transfer._operation import Element, Operation
from antiphase.machine.transfer._typed_moves import HALF, HIGH, UNKNOWN, WORD, bytes_of, form, kind_of, ready

_NO_MEANING = "the manuals do not say what this format is in a buffer"
_NO_HALF = "the manuals do not say what 32 bits without conversion become in a 16-bit register"


def in_format(operation: Operation, resource: Operand) -> Operation:
    """The operation with what its format says of elements in memory."""
    c, record = operation.c, operation.record
    ready(c.layout.lanes)
    found, select = _stated(operation) if record.format == "instruction" else _described(operation, resource)
    # a store may have fewer components than the element: GFX12 takes the first one again, others zeros
    fill = [("i64", str(int(generation(c.target) == "gfx12")))] if record.access == "store" else []
    shape = ("i64", found), ("i64", select), ("i64", str(record.components)), ("i32", str(_held(record)))
    return replace(operation, element=Element(bytes_of(c.f, found), (*fill, *shape)))


def _held(record: Memory) -> int:
    """How registers hold its components."""
    if record.bits == 32 * record.components:
        return WORD
    return HIGH if record.extend == "high" else HALF


def _stated(operation: Operation) -> tuple[str, str]:
    """Form and DST_SEL of a tbuffer instruction, i64. A store takes components in their order, and so does a load,
    which gives 0 for those that the format does not have."""
    c, kind = operation.c, generation(operation.c.target)
    written = c.instruction.modifier("format")
    if not isinstance(written, int | str | None):
        raise Unsupported(f"format {written}")
    format_ = buffer_formats(kind).get(format_code(written, kind))
    if format_ is None:
        raise Unsupported(_NO_MEANING)
    if format_.kind == "raw" and _held(operation.record) != WORD:
        raise Unsupported(_NO_HALF)
    return str(form(format_)), str(format_.identity if operation.record.access == "load" else IDENTITY)


def _described(operation: Operation, resource: Operand) -> tuple[str, str]:
    """Form and DST_SEL of the resource, known only when the instruction runs."""
    c = operation.c
    code, select = described_format(c, resource)
    found = c.f.call("i64", f"form_{generation(c.target)}_{c.layout.lanes}", ("i32", code))
    kind = kind_of(c.f, found)
    stop_if(c, c.f.let(f"icmp eq i32 {kind}, {UNKNOWN}"), _NO_MEANING)
    if generation(c.target) == "gfx9" and _held(operation.record) != WORD:
        stop_if(c, c.f.let(f"icmp eq i32 {kind}, {KINDS.index('raw')}"), f"{_NO_MEANING}; or {_NO_HALF}")
    return found, c.f.let(f"zext i32 {select} to i64")

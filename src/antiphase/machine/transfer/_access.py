"""Memory instructions: the spaces a lane addresses by itself (global, flat, scratch), and the way to all others."""

from __future__ import annotations

from antiphase.asm import Operand, Special
from antiphase.errors import Unsupported
from antiphase.isa import U64, Memory, generation
from antiphase.machine._context import Context
from antiphase.machine.transfer._block_moves import move_block
from antiphase.machine.transfer._buffer import buffer_place
from antiphase.machine.transfer._exchange import exchange
from antiphase.machine.transfer._lds import translate_ds
from antiphase.machine.transfer._lds_transfer import asynchronous, load_to_lds
from antiphase.machine.transfer._operation import Operation, Place, offset_of, registers, scalar_value
from antiphase.machine.transfer._scalar import translate_scalar
from antiphase.machine.transfer._tensor import translate_tensor
from antiphase.machine.transfer._typed import in_format


def translate_memory(c: Context, record: Memory) -> None:
    """Emit one memory instruction."""
    operation = Operation.of(c, record)
    c.every_lane = record.exec_rule == "ignored"
    was_parked = ""
    if c.recording and record.space == "ds":
        was_parked = c.f.call("i1", "unpark", *operation.queue())
    if c.recording:
        operation.issue()
    _translate(operation)
    for data in c.pending:
        c.f.call("void", "poison", ("ptr", "%w"), ("ptr", data))
    c.pending.clear()
    c.every_lane = False
    if was_parked:
        with c.f.if_(was_parked):
            c.f.call("void", "park", *operation.queue())


def _translate(operation: Operation) -> None:
    record = operation.record
    if record.access == "cache":
        if operation.queues:
            operation.note_sync()
            operation.count()
    elif record.space in ("ds", "direct"):
        translate_ds(operation)
    elif record.space == "smem":
        translate_scalar(operation)
    elif record.space == "tensor":
        translate_tensor(operation)
    elif record.space == "buffer":
        _buffer(operation)
    elif record.asynchronous:
        _asynchronous(operation)
    else:
        _flat_like(operation)


def _flat_like(operation: Operation) -> None:
    record = operation.record
    operands = list(operation.c.instruction.operands)
    has_result = operation.returns or (record.access == "load" and not record.to_lds)
    result = operands.pop(0) if has_result else None
    address = None if record.by_lane else operands.pop(0)
    data = operands.pop(0) if record.access in ("store", "atomic") else None
    base = operands.pop(0) if operands else Special("off")
    place = _place(operation, address, base)
    if record.chosen:
        moved = result or data
        assert moved is not None
        move_block(operation, place, moved)
        return
    _finish(operation, place, result, data)


def _place(operation: Operation, address: Operand | None, base: Operand) -> Place:
    c = operation.c
    if operation.record.space == "scratch":
        assert address is not None
        return _scratch_place(c, address, base)
    global_address(operation, address, base)
    if operation.record.space == "global":
        return Place("memory", c.exec())
    lds = ""
    if c.recording:
        lds = c.f.let(f"and i64 {c.f.call('i64', 'lds_lanes', ('ptr', '%w'))}, {c.exec()}")
    return Place("flat", c.exec(), lds=lds)


def global_address(operation: Operation, address: Operand | None, base: Operand) -> None:
    """A 64-bit address a lane, or a 64-bit scalar base and a 32-bit offset a lane, which gfx1250 takes as signed."""
    c = operation.c
    offset, scale = offset_of(c), scale_of(operation)
    if base == Special("off"):
        assert address is not None
        c.f.call("void", "address_v64", ("ptr", "%w"), ("ptr", registers(c, address, 2)), ("i64", str(offset)))
        return
    start = c.f.let(f"add i64 {c.read(base, U64).text}, {offset}")
    if address is None:
        c.f.call("void", "address_run", ("ptr", "%w"), ("i64", start), ("i64", "4"))
    elif address == Special("off"):
        c.f.call("void", "address_uniform", ("ptr", "%w"), ("i64", start))
    elif generation(c.target) == "gfx1250":
        vector = ("ptr", registers(c, address))
        c.f.call("void", "address_i32", ("ptr", "%w"), vector, ("i64", start), ("i64", str(scale)))
    else:
        c.f.call("void", "address_v32", ("ptr", "%w"), ("ptr", registers(c, address)), ("i64", start))


def scale_of(operation: Operation) -> int:
    """What an offset register counts: bytes, or with `scale_offset` pieces of data of the instruction's size."""
    return operation.record.bits // 8 if operation.c.instruction.modifier("scale_offset") else 1


def _scratch_place(c: Context, address: Operand, base: Operand) -> Place:
    start = str(offset_of(c))
    if base != Special("off"):
        start = c.f.let(f"add i64 {scalar_value(c, base)}, {start}")
    if address == Special("off"):
        c.f.call("void", "address_uniform", ("ptr", "%w"), ("i64", start))
    else:
        c.f.call("void", "address_v32", ("ptr", "%w"), ("ptr", registers(c, address)), ("i64", start))
    return Place("scratch", c.exec())


def _buffer(operation: Operation) -> None:
    c, record = operation.c, operation.record
    operands = list(c.instruction.operands)
    data = None if c.instruction.modifier("lds") else operands.pop(0)
    if record.format:
        operation = in_format(operation, operands[1])
    place = buffer_place(operation, operands)
    returns = operation.returns or record.access == "load"
    _finish(operation, place, data if returns else None, data)


def _asynchronous(operation: Operation) -> None:
    operands = list(operation.c.instruction.operands)
    if operation.record.access == "load":
        lds, address = operands[:2]
    else:
        address, lds = operands[:2]
    base = operands[2] if len(operands) > 2 else Special("off")
    asynchronous(operation, lds, lambda: global_address(operation, address, base))


def _finish(operation: Operation, place: Place, result: Operand | None, data: Operand | None) -> None:
    """Vector memory after its addresses are formed."""
    c, record = operation.c, operation.record
    if record.access == "load" and (record.to_lds or c.instruction.modifier("lds")):
        load_to_lds(operation, place)
    elif record.access == "load":
        assert result is not None
        _load(operation, place, operation.result(result, place))
    elif record.access == "store":
        assert data is not None
        operation.store(place, data)
        operation.count()
    else:
        assert data is not None
        to = operation.result(result, place) if result is not None else ["null"]
        if result is None:
            operation.count()
        operation.atomic(place, to[0], data)
        _copy_to_second(operation, to)


def _load(operation: Operation, place: Place, to: list[str]) -> None:
    c, record = operation.c, operation.record
    if record.transpose is None:
        operation.load(place, to[0])
        _copy_to_second(operation, to)
        return
    if c.layout.lanes != 1 << len(record.transpose.lane.split()):
        raise Unsupported(f"{record.name} in waves of {c.layout.lanes}: no public source has its layout")
    exchange(operation, place, to[0])


def _copy_to_second(operation: Operation, to: list[str]) -> None:
    """The lanes of a FLAT access that went to LDS arrive by the other counter."""
    for other in to[1:]:
        operation.copy(other, to[0], operation.record.dwords)

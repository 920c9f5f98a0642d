"""LDS instructions, and the lane permutations that travel through the same unit."""

from __future__ import annotations

from dataclasses import replace

from antiphase.asm import Reg, Special
from antiphase.errors import Unsupported
from antiphase.isa import U32, generation, source
from antiphase.machine import _layout as at
from antiphase.machine.llvm._ir import Function
from antiphase.machine.transfer import _atomics
from antiphase.machine.transfer._exchange import exchange
from antiphase.machine.transfer._operation import Operation, Place, offset_of, registers, scalar_value


def translate_ds(operation: Operation) -> None:
    record = operation.record
    if record.lanes is not None:
        _lane_movement(operation)
    elif record.space == "direct":
        _direct_load(operation)
    elif record.access == "append":
        _append(operation)
    elif record.access == "load":
        _load(operation)
    elif record.access == "store":
        _store(operation)
    else:
        _atomic(operation)


def _load(operation: Operation) -> None:
    c, record = operation.c, operation.record
    result, *operands = c.instruction.operands
    (to,) = operation.result(result)
    if record.transpose is not None:
        good = exchange(operation, _place(operation, registers(c, operands[0]), offset_of(c)), to)
        _follow(operation, to, 0, good)
        return
    address = "" if record.by_lane else registers(c, operands[0])
    if record.count > 1:
        # the first place's data may land on the address register
        operation.copy(c.pointer(at.TEMPORARY), address, 1)
        address = c.pointer(at.TEMPORARY)
    plane = record.bits // 32 * c.layout.plane
    for i, offset in enumerate(_offsets(operation)):
        good = operation.load(_place(operation, address, offset), c.f.at(to, i * plane))
        _follow(operation, to, i, good)


def _store(operation: Operation) -> None:
    c = operation.c
    operands = list(c.instruction.operands)
    address = "" if operation.record.by_lane else registers(c, operands.pop(0))
    entry = operation.count()
    for i, (offset, data) in enumerate(zip(_offsets(operation), operands, strict=True)):
        good = operation.store(_without_parked(operation, _place(operation, address, offset)), data)
        _follow(operation, entry, i, good)


def _atomic(operation: Operation) -> None:
    c, record = operation.c, operation.record
    operands = list(c.instruction.operands)
    result = operands.pop(0) if record.returns else None
    address = registers(c, operands.pop(0))
    if record.asynchronous and c.recording:
        # an arrival on behalf of asynchronous loads comes after them
        c.f.call("void", "wait", *operation.queue(), ("i64", "0"))
    to = operation.result(result)[0] if result is not None else "null"
    entry = operation.count() if result is None else ""
    if record.count == 1:
        good = operation.atomic(_place(operation, address, offset_of(c)), to, *operands)
        if entry:
            _follow(operation, entry, 0, good)
        return
    plane = record.type.dwords * c.layout.plane
    operation.copy(c.pointer(at.TEMPORARY), address, 1)
    for i, (offset, data) in enumerate(zip(_offsets(operation), operands, strict=True)):
        place = _place(operation, c.pointer(at.TEMPORARY), offset)
        operation.atomic(place, c.f.at(to, i * plane), data)


def _follow(operation: Operation, entry: str, place: int, mask: str) -> None:
    """Note what an LDS operation accesses, for the case that it is still in flight at a barrier."""
    if operation.c.recording:
        size = str(operation.record.bits // 8)
        operation.c.f.call(
            "void", "track", ("ptr", "%w"), ("ptr", entry), ("i64", str(place)), ("i64", mask), ("i32", size)
        )


def _offsets(operation: Operation) -> list[int]:
    record = operation.record
    if record.count == 1:
        return [offset_of(operation.c)]
    return [record.spacing * offset_of(operation.c, f"offset{i}") for i in range(record.count)]


def _place(operation: Operation, address: str, offset: int) -> Place:
    """Addresses are those of a register, or M0 + 4 * lane where the instruction names none."""
    c = operation.c
    if operation.record.by_lane:
        base = c.f.let(f"add i64 {_m0_address(operation)}, {offset}")
        c.f.call("void", "address_run", ("ptr", "%w"), ("i64", base), ("i64", "4"))
    else:
        c.f.call("void", "address_v32", ("ptr", "%w"), ("ptr", address), ("i64", str(offset)))
    return Place("lds", c.exec())


def _without_parked(operation: Operation, place: Place) -> Place:
    """Triton masks lanes of gfx1250 stores by an LDS address of 2^31 - 1, where hardware drops the write."""
    if generation(operation.c.target) != "gfx1250":
        return place
    kept = operation.c.f.call("i64", "not_parked", ("ptr", "%w"))
    return replace(place, mask=operation.c.f.let(f"and i64 {place.mask}, {kept}"))


def _m0_address(operation: Operation) -> str:
    return operation.c.f.let(f"and i64 {scalar_value(operation.c, Special('m0'))}, 65535")


def _append(operation: Operation) -> None:
    """One counter moves by the number of active lanes; each of them gets what it was."""
    c, record = operation.c, operation.record
    (result,) = c.instruction.operands
    (to,) = operation.result(result)
    base = c.f.let(f"add i64 {_m0_address(operation)}, {offset_of(c)}")
    c.f.call("void", "address_uniform", ("ptr", "%w"), ("i64", base))
    exec_ = c.exec()
    first = c.f.let(f"and i64 {exec_}, {c.f.let(f'sub i64 0, {exec_}')}")
    good = operation.checked(Place("lds", first))
    temporary = c.pointer(at.TEMPORARY)
    c.f.call("void", "count_lanes", ("ptr", temporary), ("i64", exec_))
    name = _atomics.function(record, c.mode, c.target, c.layout.lanes)
    old = c.f.at(temporary, c.layout.plane)
    c.f.call("void", name, ("ptr", "%w"), ("ptr", old), ("i64", good), operation.inst, ("ptr", temporary))
    c.f.call("void", "spread", ("ptr", to), ("ptr", old), ("i64", first), ("i64", exec_))


def _direct_load(operation: Operation) -> None:
    """One value for the whole wave: M0 holds its LDS address in bits 15:0 and its type in 18:16. A quad of lanes gets
    it if any of the four is active. It counts on expcnt, which has no queue: the value is there at once."""
    c = operation.c
    (result,) = c.instruction.operands
    if c.descriptor.get("workgroup_processor_mode", 1):
        raise Unsupported(f"{operation.record.name} in WGP mode: LDS direct loads exist in CU mode only")
    to = registers(c, result)
    m0 = scalar_value(c, Special("m0"))
    c.f.call("void", "address_uniform", ("ptr", "%w"), ("i64", c.f.let(f"and i64 {m0}, 65532")))
    exec_ = c.exec()
    good = operation.checked(Place("lds", c.f.let(f"and i64 {exec_}, {c.f.let(f'sub i64 0, {exec_}')}")))
    c.f.call("void", "direct_load", ("ptr", "%w"), ("ptr", to), ("i64", good), ("i64", exec_), ("i64", m0))


def _lane_movement(operation: Operation) -> None:
    """Permutes count on the LDS unit's counter but touch no memory."""
    c, record = operation.c, operation.record
    assert record.lanes is not None
    result, *operands = c.instruction.operands
    assert isinstance(result, Reg)
    sources = [c.lowering([]).splat(c.read(o, U32), c.layout.lanes) for o in operands]
    expr = record.lanes(*(source(i, U32) for i in range(len(sources))), offset_of(c))
    value = c.lowering(sources).lower(expr)
    if not c.recording:
        c.write_vector(result, value)
        return
    operation.note_sync()
    c.f.store(value.ir, value.text, operation.result(result)[0], 64)


# -- native functions -------------------------------------------------------------------------------------------


def functions(lanes: int) -> list[Function]:
    return [_count_lanes(), _spread(lanes), _direct(lanes)]


def _count_lanes() -> Function:
    """count_lanes(plane, exec): the number of active lanes, in the register of the first of them."""
    f = Function("count_lanes", "void", [("ptr", "plane"), ("i64", "exec")])
    with f.if_(f.let("icmp ne i64 %exec, 0")):
        first = f.call("i64", "llvm.cttz.i64", ("i64", "%exec"), ("i1", "true"))
        count = f.let(f"trunc i64 {f.call('i64', 'llvm.ctpop.i64', ('i64', '%exec'))} to i32")
        f.store("i32", count, f.index("i32", "%plane", first))
    f.ret()
    return f


def _spread(lanes: int) -> Function:
    """spread(to, from, lane as a mask, exec): one lane's value to all active lanes."""
    f = Function("spread", "void", [("ptr", "to"), ("ptr", "from"), ("i64", "one"), ("i64", "exec")])
    with f.if_(f.let("icmp ne i64 %exec, 0")):
        first = f.call("i64", "llvm.cttz.i64", ("i64", "%one"), ("i1", "true"))
        value = f.load("i32", f.index("i32", "%from", first))
        with f.each_bit("%exec") as lane:
            f.store("i32", value, f.index("i32", "%to", lane))
    f.ret()
    return f


def _direct(lanes: int) -> Function:
    """direct_load(w, to, lane with the address as a mask or 0, exec, m0). Types: 0 u8, 1 u16, 2 u32, 4 i8, 5 i16."""
    params = [("ptr", "w"), ("ptr", "to"), ("i64", "good"), ("i64", "exec"), ("i64", "m0")]
    f = Function("direct_load", "void", params)
    with f.if_(f.let("icmp eq i64 %good, 0")):
        f.ret()
        f.label(f.block("unreachable"))
    first = f.call("i64", "llvm.cttz.i64", ("i64", "%good"), ("i1", "true"))
    address = f.load("i64", f.index("i64", f.at("%w", at.ADDRESSES), first))
    word = f.load("i32", f.let(f"inttoptr i64 {address} to ptr"), 1)
    low = f.let("trunc i64 %m0 to i32")
    byte = f.let(f"and i32 {low}, 3")
    moved = f.let(f"lshr i32 {word}, {f.let(f'shl i32 {byte}, 3')}")
    kind = f.let(f"and i32 {f.let(f'lshr i32 {low}, 16')}, 7")
    value = word
    for number, (cast, width) in {0: ("zext", 8), 1: ("zext", 16), 4: ("sext", 8), 5: ("sext", 16)}.items():
        narrow = f.let(f"{cast} i{width} {f.let(f'trunc i32 {moved} to i{width}')} to i32")
        value = f.let(f"select i1 {f.let(f'icmp eq i32 {kind}, {number}')}, i32 {narrow}, i32 {value}")
    # any active lane of a quad, then all four
    pairs = f.let(f"or i64 %exec, {f.let('lshr i64 %exec, 1')}")
    any_of_four = f.let(f"or i64 {pairs}, {f.let(f'lshr i64 {pairs}, 2')}")
    quads = f.let(f"and i64 {any_of_four}, {0x1111111111111111}")
    with f.each_bit(f.let(f"mul i64 {quads}, 15")) as lane:
        f.store("i32", value, f.index("i32", "%to", lane))
    f.ret()
    return f

"""Scalar memory: between SGPRs and a pointer or a constant buffer, and the clocks."""

from __future__ import annotations

from antiphase.asm import Imm, Operand, Reg, Special
from antiphase.errors import Unsupported
from antiphase.isa import U64, generation
from antiphase.machine import _layout as at
from antiphase.machine._context import Context
from antiphase.machine.llvm._ir import Function
from antiphase.machine.llvm._lower import Value
from antiphase.machine.transfer._buffer import resource
from antiphase.machine.transfer._operation import Operation, Place, offset_of, scalar_value
from antiphase.machine.waves import _faults

EVERYWHERE = str(-1)
"""The size of what is not a buffer, as an unsigned i64."""


def translate_scalar(operation: Operation) -> None:
    c, record = operation.c, operation.record
    result, *operands = c.instruction.operands
    if not isinstance(result, Reg | Special):
        raise Unsupported(f"scalar memory and {result}")
    dwords = operation.dwords * record.operands
    if isinstance(result, Reg) and result.count < dwords:
        raise ValueError(f"{result} where {dwords} registers are needed")
    destination = c.layout.scalar(result)
    if destination is None:
        raise Unsupported(f"scalar memory and {result}")
    if record.access == "clock":
        _clock(operation, result, destination)
        return
    base, offset, limit = _address(operation, operands)
    if record.access == "store":
        _store(operation, destination, base, offset, limit)
        return
    if record.access == "atomic":
        _atomic(operation, destination, base, offset, limit)
        return
    operation.note_sync(c.f.let(f"add i64 {base}, {offset}"))
    to = c.pointer(destination)
    if c.recording:
        to = operation.pend(at.KIND_SGPR, str(destination), dwords, "1")
    name = "scalar_load" if record.bits >= 32 else f"scalar_load_{record.type.name}"
    where = ("i64", base), ("i64", offset), ("i64", limit)
    c.f.call("void", name, ("ptr", "%w"), ("ptr", to), *where, ("i64", str(dwords)), operation.inst)


def _store(operation: Operation, source: int, base: str, offset: str, limit: str) -> None:
    """Dwords beyond the end of a buffer are not written."""
    c = operation.c
    _one_lane(operation, c.f.let(f"and i64 {c.f.let(f'add i64 {base}, {offset}')}, -4"))
    operation.note("1")
    where = ("i64", base), ("i64", offset), ("i64", limit)
    data = ("ptr", c.pointer(source)), *where, ("i64", str(operation.dwords))
    c.f.call("void", "scalar_store", ("ptr", "%w"), *data, operation.inst)
    operation.count()


def _atomic(operation: Operation, data: int, base: str, offset: str, limit: str) -> None:
    """As one lane of a vector atomic. One beyond the end of a buffer does nothing and returns 0."""
    c, record, f = operation.c, operation.record, operation.c.f
    _one_lane(operation, f.let(f"and i64 {f.let(f'add i64 {base}, {offset}')}, -4"))
    end = f.let(f"add i64 {offset}, {record.bits // 8}")
    inside = f.let(f"zext i1 {f.let(f'icmp ule i64 {end}, {limit}')} to i64")
    planes = [c.pointer(at.TEMPORARY + i * c.layout.plane) for i in range(operation.dwords * record.operands)]
    for i, plane in enumerate(planes):
        f.store("i32", f.load("i32", c.pointer(data + 4 * i)), plane)
    old = c.pointer(at.TEMPORARY) if operation.returns else "null"
    good = operation.checked(Place("memory", inside))
    operation.read_modify_write(old, good, planes[:: operation.dwords])
    if not operation.returns:
        operation.count()
        return
    some = f.let(f"icmp ne i64 {good}, 0")
    values = [f.let(f"select i1 {some}, i32 {f.load('i32', plane)}, i32 0") for plane in planes[: operation.dwords]]
    to = c.pointer(data)
    if c.recording:
        to = operation.pend(at.KIND_SGPR, str(data), operation.dwords, "1")
    for i, value in enumerate(values):
        f.store("i32", value, f.at(to, 4 * i))


def _one_lane(operation: Operation, address: str) -> None:
    operation.c.f.store("i64", address, operation.c.pointer(at.ADDRESSES))


def _address(operation: Operation, operands: list[Operand]) -> tuple[str, str, str]:
    """Base, offset and size of the buffer, in bytes; plain addresses are all base."""
    c = operation.c
    where, operand = operands
    offset = _offset(operation, operand)
    if not c.instruction.mnemonic.startswith("s_buffer"):
        base = _aligned(operation, c.read(where, U64).text)
        return c.f.let(f"add i64 {base}, {offset}"), "0", EVERYWHERE
    fields = resource(c, where)
    records = c.f.let(f"mul i64 {fields.records}, {fields.stride}")
    raw = c.f.let(f"icmp eq i64 {fields.stride}, 0")
    limit = c.f.let(f"select i1 {raw}, i64 {fields.records}, i64 {records}")
    return _aligned(operation, fields.base), offset, limit


def _offset(operation: Operation, operand: Operand) -> str:
    c = operation.c
    constant = offset_of(c) + (operand.value if isinstance(operand, Imm) else 0)
    constant &= -_alignment(operation)
    if isinstance(operand, Imm):
        return str(constant)
    register = scalar_value(c, operand)
    scaled = operation.record.bits // 8 if c.instruction.modifier("scale_offset") else operation.record.spacing
    if scaled:
        register = c.f.let(f"mul i64 {register}, {scaled}")
    return c.f.let(f"add i64 {_aligned(operation, register)}, {constant}")


def _alignment(operation: Operation) -> int:
    """What gfx1250 rounds every part of an address down to (AMD CDNA5 ISA 8.1.1); others round the sum."""
    return min(4, operation.record.bits // 8) if generation(operation.c.target) == "gfx1250" else 1


def _aligned(operation: Operation, value: str) -> str:
    alignment = _alignment(operation)
    return operation.c.f.let(f"and i64 {value}, {-alignment}") if alignment > 1 else value


def _clock(operation: Operation, result: Reg | Special, destination: int) -> None:
    """Time as instructions executed by this host thread; like a load, it arrives when a wait covers it."""
    c = operation.c
    now = ticks(c)
    operation.note_sync()
    if not c.recording:
        c.write_scalar(result, Value(now, U64, 1))
        return
    c.f.store("i64", now, operation.pend(at.KIND_SGPR, str(destination), 2, "1"), 8)


def ticks(c: Context) -> str:
    """What every clock shows."""
    epoch, left = c.f.load("i64", c.pointer(at.EPOCH)), c.f.load("i64", c.pointer(at.BUDGET))
    return c.f.let(f"sub i64 {epoch}, {left}")


# -- native functions -------------------------------------------------------------------------------------------


def functions() -> list[Function]:
    """scalar_load*(w, to, base, offset, limit, dwords, inst); what lies beyond the limit reads as 0. scalar_store*: the
    same from registers."""
    return [_load(), *(_load_small(name) for name in ("u8", "i8", "u16", "i16")), _store_function()]


def _start(name: str) -> Function:
    where = [("i64", "base"), ("i64", "offset"), ("i64", "limit")]
    return Function(name, "void", [("ptr", "w"), ("ptr", "to"), *where, ("i64", "dwords"), ("i32", "inst")])


def _load() -> Function:
    f = _start("scalar_load")
    address, count = _within(f)
    with f.loop("%dwords", start=count) as i:
        f.store("i32", "0", f.index("i32", "%to", i))
    with f.if_(f.let(f"icmp eq i64 {count}, 0")):
        f.ret()
        f.label(f.block("unreachable"))
    source = _found(f, address, f.let(f"shl i64 {count}, 2"), _faults.DWORD)
    with f.loop(count) as i:
        f.store("i32", f.load("i32", f.index("i32", source, i), 1), f.index("i32", "%to", i))
    f.ret()
    return f


def _store_function() -> Function:
    f = _start("scalar_store")
    address, count = _within(f)
    with f.if_(f.let(f"icmp eq i64 {count}, 0")):
        f.ret()
        f.label(f.block("unreachable"))
    target = _found(f, address, f.let(f"shl i64 {count}, 2"), _faults.EXACT, write=True)
    with f.loop(count) as i:
        f.store("i32", f.load("i32", f.index("i32", "%to", i)), f.index("i32", target, i), 1)
    f.ret()
    return f


def _within(f: Function) -> tuple[str, str]:
    """The address of the first dword, and how many of them lie within the limit."""
    address = f.let(f"and i64 {f.let('add i64 %base, %offset')}, -4")
    left = f.let("sub i64 %limit, %offset")
    beyond = f.let("icmp ugt i64 %offset, %limit")
    room = f.let(f"select i1 {beyond}, i64 0, i64 {f.let(f'lshr i64 {left}, 2')}")
    return address, f.let(f"select i1 {f.let(f'icmp ult i64 {room}, %dwords')}, i64 {room}, i64 %dwords")


def _load_small(name: str) -> Function:
    f = _start(f"scalar_load_{name}")
    bits = int(name[1:])
    end = f.let(f"add i64 %offset, {bits // 8}")
    with f.if_(f.let(f"icmp ugt i64 {end}, %limit")):
        f.store("i32", "0", "%to")
        f.ret()
        f.label(f.block("unreachable"))
    source = _found(f, f.let("add i64 %base, %offset"), str(bits // 8), _faults.EXACT)
    value = f.load(f"i{bits}", source, 1)
    f.store("i32", f.let(f"{'sext' if name[0] == 'i' else 'zext'} i{bits} {value} to i32"), "%to")
    f.ret()
    return f


def _found(f: Function, address: str, size: str, reach: int, write: bool = False) -> str:
    """Pointer to memory that may be read, or written; a fault and a return otherwise."""
    wanted, kind = (("i64", address), ("i64", size)), str(int(write))
    entry = f.call("ptr", "find", ("ptr", "%w"), *wanted, ("i64", kind), ("i64", str(reach)))
    with f.if_(f.let(f"icmp eq ptr {entry}, null")):
        f.call("void", "fault", ("ptr", "%w"), ("i32", "%inst"), ("i32", kind), ("i64", "0"), *wanted)
        f.ret()
        f.label(f.block("unreachable"))
    return f.let(f"inttoptr i64 {address} to ptr")

"""Memory instructions: operands to address, check, move; and in recording mode the event and the pending result."""

from __future__ import annotations

from dataclasses import dataclass

from antiphase.asm import Imm, Operand, Reg, Special
from antiphase.errors import Unsupported
from antiphase.isa import U32, U64, Memory, source
from antiphase.machine import _atomics
from antiphase.machine import _events as events
from antiphase.machine import _layout as at
from antiphase.machine._context import Context
from antiphase.machine._lower import Value
from antiphase.machine._pending import LGKMCNT, UNORDERED, VMCNT

CAPACITY = {VMCNT: 63, LGKMCNT: 15}
"""Operations a counter can hold before issue stalls (LLVM AMDGPUBaseInfo, gfx9 vmcnt 6 bits, lgkmcnt 4 bits)."""


def translate_memory(c: Context, record: Memory) -> None:
    """Emit one memory instruction."""
    if record.access == "cache":
        return
    queue = LGKMCNT if record.space in ("ds", "smem") else VMCNT
    if c.recording:
        c.f.call("void", "issue", *_queue(c, queue), ("i32", str(CAPACITY[queue])))
    if record.lanes is not None:
        _lane_movement(c, record)
    else:
        _FORMS[record.space](c, record)
    for data in c.pending:
        c.f.call("void", "poison", ("ptr", "%w"), ("ptr", data))
    c.pending.clear()


def _queue(c: Context, queue: int) -> tuple[tuple[str, str], ...]:
    base = c.pointer(c.layout.queues)
    return ("ptr", "%w"), ("ptr", base), ("i64", str(queue))


def _pend(c: Context, queue: int, kind: int, destination: str, dwords: int, mask: str, keep: int = 0) -> str:
    """Enter an operation in its counter's queue; the pointer where its data goes. Its destination is poisoned when
    the whole instruction has read its operands, which may be the same registers."""
    data = c.f.call(
        "ptr", "pend", *_queue(c, queue), ("i32", str(kind)), ("i32", destination), ("i32", str(dwords)),
        ("i32", str(keep)), ("i64", mask),
    )  # fmt: skip
    if kind != at.KIND_NONE:
        c.pending.append(data)
    return data


# -- the common tail: check, then move --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Place:
    """Lanes that access memory, after addresses are formed. window: which check applies. zero: lanes that read 0."""

    window: str
    mask: str
    zero: str = "0"


def _checked(c: Context, place: Place, size: int, write: bool) -> str:
    """Record the addresses, then the lanes that may access."""
    inst = ("i32", str(c.index))
    if c.recording:
        c.f.call("void", "record_memory", ("ptr", "%w"), inst, ("i64", place.mask))
    args = [("ptr", "%w"), ("i64", place.mask), ("i64", str(size)), inst]
    if place.window in ("memory", "flat"):
        args.append(("i64", str(int(write))))
    return c.f.call("i64", f"check_{place.window}", *args)


def _load(c: Context, record: Memory, place: Place, to: str) -> None:
    """Load one place per lane into registers at pointer `to`."""
    good = _checked(c, place, record.bits // 8, False)
    c.f.call("void", f"load_{_kind(record)}", ("ptr", "%w"), ("ptr", to), ("i64", good), ("i64", place.zero))


def _store(c: Context, record: Memory, place: Place, data: Reg) -> None:
    good = _checked(c, place, record.bits // 8, True)
    name = f"{record.bits}_high" if record.extend == "high" else str(record.bits)
    c.f.call("void", f"store_{name}", ("ptr", "%w"), ("ptr", _registers(c, data)), ("i64", good))


def _kind(record: Memory) -> str:
    if record.bits >= 32:
        return str(record.bits)
    half = record.extend if record.extend in ("low", "high") else ""
    return record.type.name + (f"_{half}" if half else "")


def _registers(c: Context, reg: Operand) -> str:
    if not (isinstance(reg, Reg) and reg.bank in "va"):
        raise Unsupported(f"{reg} where a vector register is expected")
    return c.pointer(c.layout.vector(reg))


def _destination(c: Context, record: Memory, queue: int, reg: Operand) -> str:
    """Where a load's data goes: its registers, or in recording mode the slot that a wait will deliver."""
    pointer = _registers(c, reg)
    if not c.recording:
        return pointer
    assert isinstance(reg, Reg)
    keep = {"low": 0xFFFF0000, "high": 0x0000FFFF}.get(record.extend, 0)
    return _pend(c, queue, at.KIND_VGPR, str(c.layout.vector(reg)), record.dwords, c.exec(), keep)


def _count(c: Context, queue: int) -> None:
    """A store or another operation without a result still counts."""
    if c.recording:
        _pend(c, queue, at.KIND_NONE, "0", 0, "0")


def _offset(c: Context, name: str = "offset") -> int:
    value = c.instruction.modifier(name, 0)
    if not isinstance(value, int):
        raise Unsupported(f"{name} {value}")
    return value


def _scalar_value(c: Context, operand: Operand) -> str:
    """A 32-bit scalar operand as i64, zero-extended."""
    return c.f.let(f"zext i32 {c.read(operand, U32).text} to i64")


# -- global, flat, scratch --------------------------------------------------------------------------------------


def _flat_like(c: Context, record: Memory) -> None:
    operands = list(c.instruction.operands)
    result = operands.pop(0) if record.access == "load" and not record.to_lds else None
    if record.access == "atomic" and c.instruction.modifier("sc0"):
        result = operands.pop(0)
    address = operands.pop(0)
    data = operands.pop(0) if record.access in ("store", "atomic") else None
    base = operands.pop(0) if operands else Special("off")
    place = _FLAT_ADDRESS[record.space](c, address, base)
    _finish(c, record, place, result, data)


def _global_address(c: Context, address: Operand, base: Operand) -> Place:
    offset = _offset(c)
    if base == Special("off"):
        c.f.call("void", "address_v64", ("ptr", "%w"), ("ptr", _registers(c, address)), ("i64", str(offset)))
    else:
        start = c.f.let(f"add i64 {c.read(base, U64).text}, {offset}")
        c.f.call("void", "address_v32", ("ptr", "%w"), ("ptr", _registers(c, address)), ("i64", start))
    return Place("memory", c.exec())


def _flat_address(c: Context, address: Operand, base: Operand) -> Place:
    c.f.call("void", "address_v64", ("ptr", "%w"), ("ptr", _registers(c, address)), ("i64", str(_offset(c))))
    return Place("flat", c.exec())


def _scratch_address(c: Context, address: Operand, base: Operand) -> Place:
    start = str(_offset(c))
    if base != Special("off"):
        start = c.f.let(f"add i64 {_scalar_value(c, base)}, {start}")
    if address == Special("off"):
        c.f.call("void", "address_uniform", ("ptr", "%w"), ("i64", start))
    else:
        c.f.call("void", "address_v32", ("ptr", "%w"), ("ptr", _registers(c, address)), ("i64", start))
    return Place("scratch", c.exec())


_FLAT_ADDRESS = {"global": _global_address, "flat": _flat_address, "scratch": _scratch_address}


def _finish(c: Context, record: Memory, place: Place, result: Operand | None, data: Operand | None) -> None:
    """Vector memory after its addresses are formed."""
    if record.access == "load" and (record.to_lds or c.instruction.modifier("lds")):
        _load_to_lds(c, record, place)
    elif record.access == "load":
        assert result is not None
        _load(c, record, place, _destination(c, record, VMCNT, result))
    elif record.access == "store":
        assert isinstance(data, Reg)
        _store(c, record, place, data)
        _count(c, VMCNT)
    else:
        _atomic(c, record, place, VMCNT, result, data)


def _atomic(
    c: Context, record: Memory, place: Place, queue: int, result: Operand | None, *data: Operand | None
) -> None:
    good = _checked(c, place, record.bits // 8, True)
    if result is not None:
        to = _destination(c, record, queue, result)
    else:
        to = "null"
        _count(c, queue)
    sources = [_registers(c, d) for d in data if d is not None]
    if len(sources) == 1 and record.operands == 2:
        # flat and buffer forms name one register tuple: first the new value, then the compare value
        sources.append(c.f.at(sources[0], record.type.dwords * c.layout.plane))
    name = _atomics.function(record, c.mode, c.layout.lanes)
    c.f.call("void", name, ("ptr", "%w"), ("ptr", to), ("i64", good), *(("ptr", s) for s in sources))


def _load_to_lds(c: Context, record: Memory, place: Place) -> None:
    """Data goes to LDS at M0 + offset + lane * 4 (or 16 for wide ones), AMDGPUUsage "load to LDS" intrinsics."""
    dwords = max(1, record.bits // 32)
    stride = 4 if dwords == 1 else 16
    m0 = c.f.let(f"and i64 {_scalar_value(c, Special('m0'))}, 65535")
    base = c.f.let(f"add i64 {m0}, {_offset(c)}")
    good = _checked(c, place, record.bits // 8, False)
    temporary = c.pointer(at.TEMPORARY)
    c.f.call(
        "void", f"load_{_kind(record)}", ("ptr", "%w"), ("ptr", temporary), ("i64", good), ("i64", place.zero)
    )
    lanes = c.f.let(f"or i64 {good}, {place.zero}")
    c.f.call("void", "address_run", ("ptr", "%w"), ("i64", base), ("i64", str(stride)))
    inst = ("i32", str(c.index))
    if c.recording:
        c.f.call("void", "record_memory", ("ptr", "%w"), inst, ("i64", lanes))
    fits = c.f.call("i64", "check_lds", ("ptr", "%w"), ("i64", lanes), ("i64", str(4 * dwords)), inst)
    if not c.recording:
        c.f.call("void", f"store_{32 * dwords}", ("ptr", "%w"), ("ptr", temporary), ("i64", fits))
        return
    start = c.f.let(f"trunc i64 {base} to i32")
    data = _pend(c, VMCNT, at.KIND_LDS, start, dwords, fits, keep=stride)
    size = str(dwords * c.layout.plane)
    c.f.call("void", "llvm.memcpy.p0.p0.i64", ("ptr", data), ("ptr", temporary), ("i64", size), ("i1", "false"))


# -- buffer -----------------------------------------------------------------------------------------------------


def _buffer(c: Context, record: Memory) -> None:
    operands = list(c.instruction.operands)
    to_lds = bool(c.instruction.modifier("lds"))
    data = None if to_lds else operands.pop(0)
    address, resource, soffset = operands
    if not isinstance(resource, Reg):
        raise Unsupported(f"buffer resource {resource}")
    offset, index = _buffer_planes(c, address)
    size = record.bits // 8
    inside = c.f.call(
        "i64", "address_buffer", ("ptr", "%w"), ("ptr", offset), ("ptr", index),
        ("ptr", c.pointer(4 * resource.index)), ("i64", _scalar_value(c, soffset)), ("i64", str(_offset(c))),
        ("i64", str(size)),
    )  # fmt: skip
    exec_ = c.exec()
    mask = c.f.let(f"and i64 {exec_}, {inside}")
    # lanes beyond num_records read 0 and write nothing
    place = Place("memory", mask, c.f.let(f"xor i64 {exec_}, {mask}"))
    returns = record.access == "load" or bool(c.instruction.modifier("sc0"))
    _finish(c, record, place, data if returns else None, data)


def _buffer_planes(c: Context, address: Operand) -> tuple[str, str]:
    offen, idxen = c.instruction.modifier("offen"), c.instruction.modifier("idxen")
    if not (offen or idxen):
        return "null", "null"
    first = _registers(c, address)
    if offen and idxen:
        return c.f.at(first, c.layout.plane), first
    return (first, "null") if offen else ("null", first)


# -- LDS --------------------------------------------------------------------------------------------------------


def _ds(c: Context, record: Memory) -> None:
    operands = list(c.instruction.operands)
    result = operands.pop(0) if record.access == "load" or record.returns else None
    address = operands.pop(0)
    if record.access == "load":
        assert result is not None
        to = _destination(c, record, LGKMCNT, result)
        if record.transpose:
            _load(c, record, _ds_place(c, _registers(c, address), _offset(c)), c.pointer(at.TEMPORARY))
            c.f.call("void", f"transpose_{record.transpose}", ("ptr", "%w"), ("ptr", to), ("i64", c.exec()))
            return
        plane = record.bits // 32 * c.layout.plane
        pointer = _registers(c, address)
        if record.count > 1:
            # the first place's data may land on the address register
            pointer = c.pointer(at.TEMPORARY)
            c.f.call("void", "llvm.memcpy.p0.p0.i64", ("ptr", pointer), ("ptr", _registers(c, address)),
                     ("i64", str(c.layout.plane)), ("i1", "false"))  # fmt: skip
        for i, offset in enumerate(_ds_offsets(c, record)):
            _load(c, record, _ds_place(c, pointer, offset), c.f.at(to, i * plane))
    elif record.access == "store":
        for offset, data in zip(_ds_offsets(c, record), operands, strict=True):
            assert isinstance(data, Reg)
            _store(c, record, _ds_place(c, _registers(c, address), offset), data)
        _count(c, LGKMCNT)
    else:
        _atomic(c, record, _ds_place(c, _registers(c, address), _offset(c)), LGKMCNT, result, *operands)


def _ds_offsets(c: Context, record: Memory) -> list[int]:
    if record.count == 1:
        return [_offset(c)]
    return [record.spacing * _offset(c, f"offset{i}") for i in range(record.count)]


def _ds_place(c: Context, address: str, offset: int) -> Place:
    c.f.call("void", "address_v32", ("ptr", "%w"), ("ptr", address), ("i64", str(offset)))
    return Place("lds", c.exec())


def _lane_movement(c: Context, record: Memory) -> None:
    """Permutes travel through the LDS unit, and count there, but touch no memory."""
    assert record.lanes is not None
    result, *operands = c.instruction.operands
    assert isinstance(result, Reg)
    sources = [c.lowering([]).splat(c.read(o, U32), c.layout.lanes) for o in operands]
    expr = record.lanes(*(source(i, U32) for i in range(len(sources))), _offset(c))
    value = c.lowering(sources).lower(expr)
    if not c.recording:
        c.write_vector(result, value)
        return
    c.f.call("void", "record", ("ptr", "%w"), ("i32", str(events.SYNC)), ("i32", str(c.index)), ("i64", c.exec()), ("i64", "0"))
    data = _destination(c, record, LGKMCNT, result)
    c.f.store(value.ir, value.text, data, 64)


# -- scalar memory ----------------------------------------------------------------------------------------------


def _scalar(c: Context, record: Memory) -> None:
    result, *rest = c.instruction.operands
    if not isinstance(result, Reg | Special):
        raise Unsupported(f"scalar load into {result}")
    if record.access == "clock":
        ticks = c.f.load("i64", c.pointer(at.BUDGET))
        c.write_scalar(result, Value(c.f.let(f"sub i64 0, {ticks}"), U64, 1))
        return
    dwords = record.bits // 32
    offset = c.layout.scalar(result)
    if offset is None:
        raise Unsupported(f"scalar load into {result}")
    address = _scalar_address(c, rest)
    to = c.pointer(offset)
    if c.recording:
        c.f.call("void", "record", ("ptr", "%w"), ("i32", str(events.SYNC)), ("i32", str(c.index)), ("i64", c.exec()), ("i64", address))
        to = _pend(c, LGKMCNT, at.KIND_SGPR | UNORDERED, str(offset), dwords, "1")
    c.f.call("void", "scalar_load", ("ptr", "%w"), ("ptr", to), ("i64", address), ("i64", str(dwords)), ("i32", str(c.index)))


def _scalar_address(c: Context, operands: list[Operand]) -> str:
    base, offset = operands
    if isinstance(base, Reg) and base.count == 4:
        address = c.f.let(f"and i64 {c.read_scalar(Reg('s', base.index, 2), U64).text}, {(1 << 48) - 1}")
    else:
        address = c.read(base, U64).text
    if isinstance(offset, Imm):
        return c.f.let(f"add i64 {address}, {offset.value + _offset(c)}")
    address = c.f.let(f"add i64 {address}, {_scalar_value(c, offset)}")
    return c.f.let(f"add i64 {address}, {_offset(c)}")


_FORMS = {"global": _flat_like, "flat": _flat_like, "scratch": _flat_like, "buffer": _buffer, "ds": _ds, "smem": _scalar}

"""Transfers between memory and LDS that lanes address: CDNA's loads to LDS, gfx1250's asynchronous loads and stores.

A multicast load gives data to the workgroups that ask for it alone: M0 says which of them hardware may serve with one
read of memory, and a workgroup named there that does not load gets nothing (AMD CDNA5 ISA 10.7). So it is a load.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from antiphase.asm import Operand, Special
from antiphase.isa import Memory
from antiphase.machine import _layout as at
from antiphase.machine.llvm._ir import Function
from antiphase.machine.transfer._operation import Operation, Place, load_kind, offset_of, registers, scalar_value


def load_to_lds(operation: Operation, place: Place) -> None:
    """Data goes to LDS at M0 + offset + lane * 4 (or 16 for wide ones), AMDGPUUsage "load to LDS" intrinsics."""
    c = operation.c
    dwords = operation.dwords
    stride = 4 if dwords == 1 else 16
    base = c.f.let(f"add i64 {scalar_value(c, Special('m0'))}, {offset_of(c)}")
    temporary = c.pointer(at.TEMPORARY)
    good = operation.load(place, temporary)
    lanes = c.f.let(f"or i64 {good}, {place.zero}")
    c.f.call("void", "address_run", ("ptr", "%w"), ("i64", base), ("i64", str(stride)))
    operation.note(lanes)
    size = ("i64", str(4 * dwords))
    fits = c.f.call("i64", "check_lds", ("ptr", "%w"), ("i64", lanes), size, operation.inst)
    if not c.recording:
        c.f.call("void", f"store_{32 * dwords}", ("ptr", "%w"), ("ptr", temporary), ("i64", fits))
        return
    start = c.f.let(f"trunc i64 {base} to i32")
    data = operation.pend(at.KIND_LDS, start, dwords, fits, keep=stride)
    operation.copy(data, temporary, dwords)


def asynchronous(operation: Operation, lds: Operand, form_memory_address: Callable[[], None]) -> None:
    """Each lane names an LDS address; the offset counts in LDS as in memory. Lanes whose LDS address is out of range
    move nothing, which is how Triton masks them (AMD CDNA5 ISA 10.8)."""
    c, record = operation.c, operation.record
    bytes_ = record.bits // 8

    def form_lds_address() -> None:
        c.f.call("void", "address_v32", ("ptr", "%w"), ("ptr", registers(c, lds)), ("i64", str(offset_of(c))))

    form_lds_address()
    within = c.f.call("i64", "within_lds", ("ptr", "%w"), ("i64", str(bytes_)))
    mask = c.f.let(f"and i64 {c.exec()}, {within}")
    if record.access == "load":
        _load(operation, mask, form_lds_address, form_memory_address)
    else:
        _store(operation, mask, form_lds_address, form_memory_address)


def _part(operation: Operation, access: str) -> Operation:
    """Half of a transfer as an operation of its own: unsigned bytes where data is narrower than a register."""
    fields: dict[str, object] = {"access": access, "extend": "zero" if operation.record.bits < 32 else ""}
    record = replace(operation.record, **fields)  # type: ignore[arg-type]
    assert isinstance(record, Memory)
    return replace(operation, record=record)


def _load(operation: Operation, mask: str, form_lds: Callable[[], None], form_memory: Callable[[], None]) -> None:
    c, record = operation.c, operation.record
    temporary = c.pointer(at.TEMPORARY)
    form_memory()
    good = _part(operation, "load").load(Place("memory", mask), temporary)
    form_lds()
    operation.note(good)
    if not c.recording:
        size = ("i64", str(record.bits // 8))
        c.f.call("i64", "check_lds", ("ptr", "%w"), ("i64", good), size, operation.inst)
        c.f.call("void", f"store_{record.bits}", ("ptr", "%w"), ("ptr", temporary), ("i64", good))
        return
    data = operation.pend(at.KIND_LDS_LANES, "0", operation.dwords, good, keep=record.bits // 8)
    operation.copy(data, temporary, operation.dwords)
    c.f.call("void", "keep_addresses", ("ptr", "%w"), ("ptr", data))


def _store(operation: Operation, mask: str, form_lds: Callable[[], None], form_memory: Callable[[], None]) -> None:
    c, record = operation.c, operation.record
    temporary = c.pointer(at.TEMPORARY)
    operation.note(mask)
    size = ("i64", str(record.bits // 8))
    good = c.f.call("i64", "check_lds", ("ptr", "%w"), ("i64", mask), size, operation.inst)
    name = f"load_{load_kind(_part(operation, 'load').record)}"
    c.f.call("void", name, ("ptr", "%w"), ("ptr", temporary), ("i64", good), ("i64", "0"))
    form_memory()
    good = operation.checked(Place("memory", mask))
    c.f.call("void", f"store_{record.bits}", ("ptr", "%w"), ("ptr", temporary), ("i64", good))
    operation.count()


# -- native functions -------------------------------------------------------------------------------------------

LANE_ADDRESSES = 4
"""The plane of a slot's data in which a pending transfer keeps the LDS address of each lane."""


def functions(lanes: int) -> list[Function]:
    return [_keep_addresses(lanes), _place_lanes(lanes)]


def _keep_addresses(lanes: int) -> Function:
    """keep_addresses(w, data): the addresses of the lanes, as a plane of a slot."""
    f = Function("keep_addresses", "void", [("ptr", "w"), ("ptr", "data")])
    longs, words = f"<{lanes} x i64>", f"<{lanes} x i32>"
    low = f.let(f"trunc {longs} {f.load(longs, f.at('%w', at.ADDRESSES), 64)} to {words}")
    f.store(words, low, f.at("%data", LANE_ADDRESSES * 4 * lanes), 64)
    f.ret()
    return f


def _place_lanes(lanes: int) -> Function:
    """place_lanes(w, slot, data): data planes to the LDS addresses that the slot keeps, a lane at a time."""
    f = Function("place_lanes", "void", [("ptr", "w"), ("ptr", "slot"), ("ptr", "data")])
    lds = f.load("ptr", f.at("%w", at.LDS))
    mask = f.load("i64", f.at("%slot", at.SLOT_MASK))
    size = f.load("i32", f.at("%slot", at.SLOT_KEEP))
    dwords = f.let(f"zext i32 {f.let(f'lshr i32 {size}, 2')} to i64")
    byte = f.let(f"icmp eq i32 {size}, 1")
    addresses = f.at("%slot", at.SLOT_DATA + LANE_ADDRESSES * 4 * lanes)
    with f.each_bit(mask) as lane:
        offset = f.let(f"zext i32 {f.load('i32', f.index('i32', addresses, lane))} to i64")
        to = f.at(lds, offset)
        with f.if_(byte):
            f.store("i8", f.let(f"trunc i32 {f.load('i32', f.index('i32', '%data', lane))} to i8"), to, 1)
        with f.loop(dwords) as k:
            plane = f.at("%data", f.let(f"mul i64 {k}, {4 * lanes}"))
            f.store("i32", f.load("i32", f.index("i32", plane, lane)), f.index("i32", to, k), 1)
    f.ret()
    return f

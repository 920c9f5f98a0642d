"""The launch as native code sees it: allocations to look up, and a list of accesses that hit none of them."""

from __future__ import annotations

from antiphase.machine import _layout as at
from antiphase.machine._ir import Function

# the launch's context, in bytes
ALLOCATIONS, ALLOCATION_COUNT, FAULTS, FAULT_COUNT, FAULT_CAPACITY, CONTEXT_BYTES = 0, 8, 16, 24, 32, 64
# i64 each: taken by the one access that is being put in order, and how many have been
ORDER_LOCK, ORDER_COUNT = 40, 48
# an allocation: first byte, one past the last byte, the same rounded up to a dword, 1 if it may be written
END, DWORD_END, WRITABLE, ALLOCATION_BYTES = 8, 16, 24, 32
# a fault: instruction, lane, wave, kind, address, bytes, workgroup x y z
FAULT_BYTES = 64
FAULT_READ, FAULT_WRITE, FAULT_LDS, FAULT_SCRATCH, FAULT_EXEC = range(5)

# where FLAT addresses turn into LDS or private memory: bits 63:32, outside what a host maps
SHARED_APERTURE, PRIVATE_APERTURE = 0x0001_0000, 0x0002_0000


def functions() -> list[Function]:
    return [_fault(), _find()]


def _fault() -> Function:
    """Note one bad access; counting goes on when the list is full."""
    where = [("i64", "lane"), ("i64", "address"), ("i64", "size")]
    params = [("ptr", "w"), ("i32", "inst"), ("i32", "kind"), *where]
    f = Function("fault", "void", params, "nounwind noinline cold")
    context = f.load("ptr", f.at("%w", at.CONTEXT))
    n = f.let(f"atomicrmw add ptr {f.at(context, FAULT_COUNT)}, i64 1 monotonic")
    with f.if_(f.let(f"icmp ult i64 {n}, {f.load('i64', f.at(context, FAULT_CAPACITY))}")):
        record = f.at(f.load("ptr", f.at(context, FAULTS)), f.let(f"mul i64 {n}, {FAULT_BYTES}"))
        f.store("i32", "%inst", record)
        f.store("i32", f.let("trunc i64 %lane to i32"), f.at(record, 4))
        f.store("i32", f.load("i32", f.at("%w", at.WAVE)), f.at(record, 8))
        f.store("i32", "%kind", f.at(record, 12))
        f.store("i64", "%address", f.at(record, 16))
        f.store("i64", "%size", f.at(record, 24))
        for k in range(3):
            f.store("i32", f.load("i32", f.at("%w", at.GROUP + 4 * k)), f.at(record, 32 + 4 * k))
    f.ret()
    return f


def _find() -> Function:
    """The allocation that holds [address, address + size), or null. end: which of its ends counts, END or DWORD_END."""
    f = Function("find", "ptr", [("ptr", "w"), ("i64", "address"), ("i64", "size"), ("i64", "write"), ("i64", "end")])
    context = f.load("ptr", f.at("%w", at.CONTEXT))
    table, count = f.load("ptr", context), f.load("i64", f.at(context, ALLOCATION_COUNT))
    with f.loop(count) as i:
        entry = f.at(table, f.let(f"mul i64 {i}, {ALLOCATION_BYTES}"))
        start = f.load("i64", entry)
        # in offsets from the start, so that no address wraps past the top of memory
        bytes_ = f.let(f"sub i64 {f.load('i64', f.at(entry, '%end'))}, {start}")
        large = f.let(f"icmp uge i64 {bytes_}, %size")
        room, offset = f.let(f"sub i64 {bytes_}, %size"), f.let(f"sub i64 %address, {start}")
        inside = f.let(f"and i1 {large}, {f.let(f'icmp ule i64 {offset}, {room}')}")
        allowed = f.let(f"icmp uge i64 {f.load('i64', f.at(entry, WRITABLE))}, %write")
        with f.if_(f.let(f"and i1 {inside}, {allowed}")):
            f.ret(entry)
            f.label(f.block("unreachable"))
    f.ret("null")
    return f

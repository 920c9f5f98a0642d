"""The launch as native code sees it: allocations to look up, and a list of accesses that hit none of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from antiphase.machine import _layout as at
from antiphase.machine.llvm._ir import Function

# the launch's context, in bytes
ALLOCATIONS, ALLOCATION_COUNT, FAULTS, FAULT_COUNT, FAULT_CAPACITY, CONTEXT_BYTES = 0, 8, 16, 24, 32, 64
# i64 each: taken by the one access that is being put in order, and how many have been
ORDER_LOCK, ORDER_COUNT = 40, 48
# i64: what `reach` vector loads of a dword have, one of those below
LOAD_REACH = 56
# how far an access may reach beyond an allocation: not at all, or to the ends of aligned dwords that begin or end in it
EXACT, DWORD = 0, 3
# an allocation: first byte, one past the last byte, 1 if it may be written
END, WRITABLE, ALLOCATION_BYTES = 8, 16, 24
# a fault: instruction, lane, wave, kind, address, bytes, workgroup x y z
FAULT_BYTES = 64
FAULT_READ, FAULT_WRITE, FAULT_LDS, FAULT_SCRATCH, FAULT_EXEC = range(5)

_DWORD = (1 << 32) - 1

# where FLAT addresses turn into LDS or private memory: bits 63:32, outside what a host maps
SHARED_APERTURE, PRIVATE_APERTURE = 0x0001_0000, 0x0002_0000


def functions() -> list[Function]:
    return [_fault(), _find(), _beyond()]


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
    """The allocation that holds [address, address + size), or null. reach: EXACT or DWORD."""
    f = Function("find", "ptr", [("ptr", "w"), ("i64", "address"), ("i64", "size"), ("i64", "write"), ("i64", "reach")])
    aligned = f.let(f"icmp eq i64 {f.let('and i64 %address, %reach')}, 0")
    more = f.let(f"select i1 {aligned}, i64 %reach, i64 {EXACT}")
    whole = f.let(f"xor i64 {more}, -1")
    with _each_allocation(f) as entry:
        start = f.let(f"and i64 {f.load('i64', entry)}, {whole}")
        last = f.let(f"add i64 {f.load('i64', f.at(entry, END))}, {more}")
        end = f.let(f"and i64 {last}, {whole}")
        # in offsets from the start, so that no address wraps past the top of memory
        bytes_ = f.let(f"sub i64 {end}, {start}")
        large = f.let(f"icmp uge i64 {bytes_}, %size")
        room, offset = f.let(f"sub i64 {bytes_}, %size"), f.let(f"sub i64 %address, {start}")
        inside = f.let(f"and i1 {large}, {f.let(f'icmp ule i64 {offset}, {room}')}")
        allowed = f.let(f"icmp uge i64 {f.load('i64', f.at(entry, WRITABLE))}, %write")
        with f.if_(f.let(f"and i1 {inside}, {allowed}")):
            f.ret(entry)
            f.label(f.block("unreachable"))
    f.ret("null")
    return f


def _beyond() -> Function:
    """Bits of the dword at an address that may not be written, where only some of its bytes may; else none."""
    f = Function("beyond", "i32", [("ptr", "w"), ("i64", "address")])
    outside = f.variable("i64", str(_DWORD))
    with _each_allocation(f) as entry:
        before = _bits(f, f.let(f"sub i64 {f.load('i64', entry)}, %address"))
        behind = _bits(f, f.let(f"sub i64 {f.let('add i64 %address, 4')}, {f.load('i64', f.at(entry, END))}"))
        inside = f.let(f"and i64 {f.let(f'shl i64 {_DWORD}, {before}')}, {f.let(f'lshr i64 {_DWORD}, {behind}')}")
        writable = f.let(f"icmp ne i64 {f.load('i64', f.at(entry, WRITABLE))}, 0")
        kept = f.let(f"xor i64 {f.let(f'select i1 {writable}, i64 {inside}, i64 0')}, -1")
        outside.set(f.let(f"and i64 {outside.get()}, {kept}"))
    left = outside.get()
    whole = f.let(f"icmp eq i64 {left}, {_DWORD}")
    f.ret(f.let(f"trunc i64 {f.let(f'select i1 {whole}, i64 0, i64 {left}')} to i32"))
    return f


def _bits(f: Function, bytes_: str) -> str:
    """Bits of so many bytes of a dword, none for less than 0, all for more than 4."""
    some = f.call("i64", "llvm.smax.i64", ("i64", bytes_), ("i64", "0"))
    return f.let(f"shl i64 {f.call('i64', 'llvm.smin.i64', ('i64', some), ('i64', '4'))}, 3")


@contextmanager
def _each_allocation(f: Function) -> Iterator[str]:
    """Run the body for every allocation of the launch; yields the pointer to its row."""
    context = f.load("ptr", f.at("%w", at.CONTEXT))
    table, count = f.load("ptr", context), f.load("i64", f.at(context, ALLOCATION_COUNT))
    with f.loop(count) as i:
        yield f.at(table, f.let(f"mul i64 {i}, {ALLOCATION_BYTES}"))

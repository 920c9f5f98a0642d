"""check_*: native functions that sort out the lanes whose access lies where it may; others become faults."""

from __future__ import annotations

from antiphase.machine import _layout as at
from antiphase.machine.llvm._ir import Function
from antiphase.machine.transfer._addresses import bits, splat
from antiphase.machine.waves._faults import (
    END,
    EXACT,
    FAULT_EXEC,
    FAULT_LDS,
    FAULT_SCRATCH,
    LOAD_REACH,
    PRIVATE_APERTURE,
    SHARED_APERTURE,
)  # fmt: skip


def functions(lanes: int) -> list[Function]:
    return [
        _check_memory(lanes), _check_window(lanes, "lds"), _check_window(lanes, "scratch"), _check_flat(lanes),
        _lds_lanes(lanes), _within_lds(lanes), _not_parked(lanes), _check_whole(lanes),
    ]  # fmt: skip


def _lds_lanes(lanes: int) -> Function:
    """lds_lanes(w): lanes whose FLAT address means LDS."""
    longs = f"<{lanes} x i64>"
    f = Function("lds_lanes", "i64", [("ptr", "w")])
    apertures = f.let(f"lshr {longs} {f.load(longs, f.at('%w', at.ADDRESSES), 64)}, splat (i64 32)")
    f.ret(bits(f, f.let(f"icmp eq {longs} {apertures}, splat (i64 {SHARED_APERTURE})"), lanes))
    return f


def _within_lds(lanes: int) -> Function:
    """within_lds(w, size): lanes whose address lies in LDS, the others being no faults."""
    longs = f"<{lanes} x i64>"
    f = Function("within_lds", "i64", [("ptr", "w"), ("i64", "size")])
    addresses = f.load(longs, f.at("%w", at.ADDRESSES), 64)
    room = f.let(f"sub i64 {f.load('i64', f.at('%w', at.LDS_SIZE))}, %size")
    inside = bits(f, f.let(f"icmp ule {longs} {addresses}, {splat(f, room, lanes)}"), lanes)
    f.ret(f.let(f"select i1 {f.let(f'icmp sge i64 {room}, 0')}, i64 {inside}, i64 0"))
    return f


def _not_parked(lanes: int) -> Function:
    """not_parked(w): lanes whose LDS address is not 2^31 - 1 plus an offset, which means none."""
    longs = f"<{lanes} x i64>"
    f = Function("not_parked", "i64", [("ptr", "w")])
    beyond = f.let(f"sub {longs} {f.load(longs, f.at('%w', at.ADDRESSES), 64)}, splat (i64 {(1 << 31) - 1})")
    f.ret(bits(f, f.let(f"icmp uge {longs} {beyond}, splat (i64 65536)"), lanes))
    return f


def _check_whole(lanes: int) -> Function:
    """check_whole(w, mask, inst): a fault if only some lanes are active. Its address is the mask."""
    f = Function("check_whole", "void", [("ptr", "w"), ("i64", "mask"), ("i32", "inst")])
    off = f.let(f"xor i64 %mask, {(1 << lanes) - 1 if lanes < 64 else -1}")
    some = f.let("icmp ne i64 %mask, 0")
    with f.if_(f.let(f"and i1 {some}, {f.let(f'icmp ne i64 {off}, 0')}")):
        lane = f.call("i64", "llvm.cttz.i64", ("i64", off), ("i1", "true"))
        kind = ("i32", str(FAULT_EXEC))
        f.call("void", "fault", ("ptr", "%w"), ("i32", "%inst"), kind, ("i64", lane), ("i64", "%mask"), ("i64", "0"))
    f.ret()
    return f


def _reach(f: Function) -> str:
    """What `find` has for `reach`: that of a load only where the launch allows it."""
    loads = f.load("i64", f.at(f.load("ptr", f.at("%w", at.CONTEXT)), LOAD_REACH))
    write = f.let("icmp ne i64 %write, 0")
    return f.let(f"and i64 %reach, {f.let(f'select i1 {write}, i64 -1, i64 {loads}')}")


def _check_memory(lanes: int) -> Function:
    longs = f"<{lanes} x i64>"
    f = Function(
        "check_memory", "i64",
        [("ptr", "w"), ("i64", "mask"), ("i64", "size"), ("i32", "inst"), ("i64", "write"), ("i64", "reach")],
    )  # fmt: skip
    with f.if_(f.let("icmp eq i64 %mask, 0")):
        f.ret("0")
        f.label(f.block("unreachable"))
    # most instructions stay in one allocation: find that of the first lane and test the others against it
    addresses = f.at("%w", at.ADDRESSES)
    first = f.load("i64", f.index("i64", addresses, f.call("i64", "llvm.cttz.i64", ("i64", "%mask"), ("i1", "true"))))
    wanted = ("i64", "%size"), ("i64", "%write")
    entry = f.call("ptr", "find", ("ptr", "%w"), ("i64", first), *wanted, ("i64", str(EXACT)))
    with f.if_(f.let(f"icmp ne ptr {entry}, null")):
        all_ = f.load(longs, addresses, 64)
        start, end = f.load("i64", entry), f.load("i64", f.at(entry, END))
        # one unsigned comparison: address - start <= end - start - size
        offset = f.let(f"sub {longs} {all_}, {splat(f, start, lanes)}")
        room = f.let(f"sub i64 {f.let(f'sub i64 {end}, {start}')}, %size")
        inside = bits(f, f.let(f"icmp ule {longs} {offset}, {splat(f, room, lanes)}"), lanes)
        outside = f.let(f"and i64 %mask, {f.let(f'xor i64 {inside}, -1')}")
        with f.if_(f.let(f"icmp eq i64 {outside}, 0")):
            f.ret("%mask")
            f.label(f.block("unreachable"))
    reach = _reach(f)
    good = f.variable("i64", "0")
    with f.each_bit("%mask") as lane:
        address = f.load("i64", f.index("i64", addresses, lane))
        entry = f.call("ptr", "find", ("ptr", "%w"), ("i64", address), *wanted, ("i64", reach))
        found, missing, done = f.block("found"), f.block("missing"), f.block("done")
        f.branch(f.let(f"icmp ne ptr {entry}, null"), found, missing)
        f.label(found)
        good.set(f.let(f"or i64 {good.get()}, {f.let(f'shl i64 1, {lane}')}"))
        f.jump(done)
        f.label(missing)
        kind = f.let("trunc i64 %write to i32")
        where = ("i64", lane), ("i64", address), ("i64", "%size")
        f.call("void", "fault", ("ptr", "%w"), ("i32", "%inst"), ("i32", kind), *where)
        f.jump(done)
        f.label(done)
    f.ret(good.get())
    return f


def _check_window(lanes: int, kind: str) -> Function:
    """LDS and scratch: offsets below the size, turned into host addresses. Scratch lanes each have their own run."""
    longs = f"<{lanes} x i64>"
    f = Function(f"check_{kind}", "i64", [("ptr", "w"), ("i64", "mask"), ("i64", "size"), ("i32", "inst")])
    base_at, size_at = (at.LDS, at.LDS_SIZE) if kind == "lds" else (at.SCRATCH, at.SCRATCH_SIZE)
    addresses = f.at("%w", at.ADDRESSES)
    offsets = f.load(longs, addresses, 64)
    if kind == "lds":
        # LDS addresses are 32 bits: a negative base with a positive offset is a place
        offsets = f.let(f"and {longs} {offsets}, splat (i64 4294967295)")
    limit = f.load("i64", f.at("%w", size_at))
    room = f.let(f"sub i64 {limit}, %size")
    fits = f.let(f"icmp sge i64 {room}, 0")
    inside = f.let(
        f"select i1 {fits}, i64 {bits(f, f.let(f'icmp ule {longs} {offsets}, {splat(f, room, lanes)}'), lanes)}, i64 0"
    )
    good = f.let(f"and i64 %mask, {inside}")
    number = FAULT_LDS if kind == "lds" else FAULT_SCRATCH
    with f.each_bit(f.let(f"xor i64 %mask, {good}")) as lane:
        address = f.load("i64", f.index("i64", addresses, lane))
        where = ("i64", lane), ("i64", address), ("i64", "%size")
        f.call("void", "fault", ("ptr", "%w"), ("i32", "%inst"), ("i32", str(number)), *where)
    base = splat(f, f.let(f"ptrtoint ptr {f.load('ptr', f.at('%w', base_at))} to i64"), lanes)
    absolute = f.let(f"add {longs} {offsets}, {base}")
    if kind == "scratch":
        ids = ", ".join(f"i64 {i}" for i in range(lanes))
        absolute = f.let(f"add {longs} {absolute}, {f.let(f'mul {longs} <{ids}>, {splat(f, limit, lanes)}')}")
    f.store(longs, absolute, addresses, 64)
    f.ret(good)
    return f


def _check_flat(lanes: int) -> Function:
    """FLAT: each lane's address says whether it means LDS, private memory or global memory.

    A private address of gfx1250 holds the lane it belongs to in bits 56:52 (LLVM AMDGPUUsage, globally addressable
    scratch); on other targets, which have zeros there, it belongs to the lane that uses it.
    """
    f = Function(
        "check_flat", "i64",
        [("ptr", "w"), ("i64", "mask"), ("i64", "size"), ("i32", "inst"), ("i64", "write"), ("i64", "reach")],
    )  # fmt: skip
    reach = _reach(f)
    addresses = f.at("%w", at.ADDRESSES)
    good = f.variable("i64", "0")
    with f.each_bit("%mask") as lane:
        pointer = f.index("i64", addresses, lane)
        address = f.load("i64", pointer)
        offset, aperture = f.let(f"and i64 {address}, 4294967295"), f.let(f"lshr i64 {address}, 32")
        named = f.let(f"and i64 {f.let(f'lshr i64 {address}, 52')}, 31")
        owner = f.let(f"select i1 {f.let(f'icmp eq i64 {named}, 0')}, i64 {lane}, i64 {named}")
        fits = f.variable("i1", "false")
        global_, done = f.block("global"), f.block("done")
        for number, base, limit in (
            (SHARED_APERTURE, at.LDS, at.LDS_SIZE),
            (PRIVATE_APERTURE, at.SCRATCH, at.SCRATCH_SIZE),
        ):
            here, next_ = f.block("window"), f.block("next")
            which = f.let(f"and i64 {aperture}, 1048575") if base == at.SCRATCH else aperture
            f.branch(f.let(f"icmp eq i64 {which}, {number}"), here, next_)
            f.label(here)
            size = f.load("i64", f.at("%w", limit))
            fits.set(f.let(f"icmp ule i64 {f.let(f'add i64 {offset}, %size')}, {size}"))
            start = f.let(f"ptrtoint ptr {f.load('ptr', f.at('%w', base))} to i64")
            if base == at.SCRATCH:
                start = f.let(f"add i64 {start}, {f.let(f'mul i64 {owner}, {size}')}")
            f.store("i64", f.let(f"add i64 {start}, {offset}"), pointer)
            f.jump(done)
            f.label(next_)
        f.jump(global_)
        f.label(global_)
        entry = f.call(
            "ptr", "find", ("ptr", "%w"), ("i64", address), ("i64", "%size"), ("i64", "%write"), ("i64", reach)
        )  # fmt: skip
        fits.set(f.let(f"icmp ne ptr {entry}, null"))
        f.jump(done)
        f.label(done)
        with f.if_not(fits.get()):
            kind = ("i32", f.let("trunc i64 %write to i32"))
            where = ("i64", lane), ("i64", address), ("i64", "%size")
            f.call("void", "fault", ("ptr", "%w"), ("i32", "%inst"), kind, *where)
        bit = f.let(f"shl i64 {f.let(f'zext i1 {fits.get()} to i64')}, {lane}")
        good.set(f.let(f"or i64 {good.get()}, {bit}"))
    f.ret(good.get())
    return f

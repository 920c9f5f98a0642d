"""Untyped buffer accesses of several dwords: of a lane that lies partly in range, the dwords that do are moved.

Sources: AMD CDNA3 ISA 9.1.5.1, RDNA3 and RDNA4 ISA 9.4.1, CDNA5 ISA 9.4.1: such loads and stores are checked one
component at a time; typed ones, those with a format, and atomics all or nothing.
"""

from __future__ import annotations

from antiphase.machine import _layout as at
from antiphase.machine.llvm._ir import Function
from antiphase.machine.transfer._addresses import splat
from antiphase.machine.waves import _events as events
from antiphase.machine.waves import _faults

MOST = 4
"""Dwords of an access."""

PLACE = (
    ("ptr", "v"), ("ptr", "index"), ("i64", "base"), ("i64", "stride"), ("i64", "records"), ("i32", "check"),
    ("i64", "soffset"), ("i64", "offset"),
)  # fmt: skip
"""Parameters of `address_buffer`, but for the size."""


def functions(lanes: int) -> list[Function]:
    return [_move("load", lanes), _move("store", lanes)]


def _move(access: str, lanes: int) -> Function:
    """*_parts(w, registers, inst, outside, dwords, site, place...): lanes of `outside`, which are not wholly in range,
    load or store the dwords that are, the others load 0; the lanes with such dwords. It leaves ADDRESSES as they were.

    site: the first of `dwords` places that record addresses, -1 if none is to.
    """
    params = [("i32", "inst"), ("i64", "outside"), ("i64", "dwords"), ("i64", "site"), *PLACE]
    f = Function(f"{access}_parts", "i64", [("ptr", "w"), ("ptr", "registers"), *params])
    _return_without(f, "%outside")
    first = f.let(f"and i64 {_in_range(f, '0')}, %outside")
    _return_without(f, first)
    # all masks before any data: a load may replace its own address registers
    masks = f.alloca(f"[{MOST} x i64]")
    with f.loop("%dwords") as k:
        inside = f.let(f"and i64 {_in_range(f, f.let(f'shl i64 {k}, 2'))}, {first}")
        f.store("i64", inside, f.index("i64", masks, k))
    back = f.let("mul i64 %dwords, -4")
    _advance(f, lanes, f.let(f"add i64 {back}, 4"))
    with f.loop("%dwords") as k:
        mask = f.load("i64", f.index("i64", masks, k))
        _note(f, mask, k)
        allowed = ("i64", str(int(access == "store"))), ("i64", str(_faults.EXACT))
        good = f.call("i64", "check_memory", ("ptr", "%w"), ("i64", mask), ("i64", "4"), ("i32", "%inst"), *allowed)
        plane = f.at("%registers", f.let(f"mul i64 {k}, {4 * lanes}"))
        zero = [("i64", f.let(f"xor i64 {first}, {mask}"))] if access == "load" else []
        f.call("void", f"{access}_32", ("ptr", "%w"), ("ptr", plane), ("i64", good), *zero)
        _advance(f, lanes, "4")
    _advance(f, lanes, back)
    f.ret(first)
    return f


def _return_without(f: Function, lanes: str) -> None:
    with f.if_(f.let(f"icmp eq i64 {lanes}, 0")):
        f.ret("0")
        f.label(f.block("unreachable"))


def _in_range(f: Function, step: str) -> str:
    """Lanes whose dword `step` bytes further on is in range; its addresses."""
    *place, _ = [(kind, f"%{name}") for kind, name in PLACE]
    offset = f.let(f"add i64 %offset, {step}")
    return f.call("i64", "address_buffer", ("ptr", "%w"), *place, ("i64", offset), ("i64", "4"))


def _advance(f: Function, lanes: int, by: str) -> None:
    longs, addresses = f"<{lanes} x i64>", f.at("%w", at.ADDRESSES)
    moved = f.let(f"add {longs} {f.load(longs, addresses, 64)}, {splat(f, by, lanes)}")
    f.store(longs, moved, addresses, 64)


def _note(f: Function, mask: str, k: str) -> None:
    wanted = f.let(f"and i1 {f.let('icmp sge i64 %site, 0')}, {f.let(f'icmp ne i64 {mask}, 0')}")
    with f.if_(wanted):
        where = ("i32", "%inst"), ("i64", mask)
        f.call("void", "record_memory", ("ptr", "%w"), *where, ("i64", f.let(f"add i64 %site, {k}")))
        f.call("void", "record", ("ptr", "%w"), ("i32", str(events.SIZE)), *where, ("i64", "4"))

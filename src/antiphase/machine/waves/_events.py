"""Recording mode: the native side of a Recording. Events and address rows are appended where the wave points."""

from __future__ import annotations

from antiphase.isa import Memory, Record
from antiphase.machine import _layout as at
from antiphase.machine.llvm._ir import Function
from antiphase.machine.waves import _faults

# an event: kind u32, number u32 (block or instruction), EXEC or mask u64, base u64, row u64
EVENT_BYTES = 32
LAST_ROW_BYTES = 16
BLOCK, MEMORY, MEMORY_WIDE, SYNC, ORDER, SIZE = range(6)
"""Kinds of events. MEMORY: addresses are base + row; MEMORY_WIDE: two rows, low and high halves of the addresses.
ORDER: base is the number of an atomic, in the order in which those of the launch were done. SIZE: base is how many
bytes each lane of the memory event just before it accesses, where the instruction alone does not say."""


def most(record: Record) -> int:
    """Events, or rows of addresses, that one execution of an instruction can write: addresses of each place and the
    number of an atomic there, rows twice as wide if need be. Buffer accesses may record their dwords too."""
    if not isinstance(record, Memory):
        return 1
    return max(4, 2 * record.count) + (2 * record.bits // 32 if record.space == "buffer" else 0)


def functions(lanes: int) -> list[Function]:
    return [_append(), _record_memory(lanes), _room(lanes), _order_begin(), _order_end()]


def _append() -> Function:
    f = Function("record", "void", [("ptr", "w"), ("i32", "kind"), ("i32", "number"), ("i64", "exec"), ("i64", "base")])
    event = f.load("ptr", f.at("%w", at.EVENTS))
    f.store("i32", "%kind", event)
    f.store("i32", "%number", f.at(event, 4))
    f.store("i64", "%exec", f.at(event, 8))
    f.store("i64", "%base", f.at(event, 16))
    f.store("i64", f.load("i64", f.at("%w", at.ROW_INDEX)), f.at(event, 24))
    f.store("ptr", f.at(event, EVENT_BYTES), f.at("%w", at.EVENTS))
    f.ret()
    return f


def _record_memory(lanes: int) -> Function:
    """record_memory(w, instruction, mask, site): the addresses in the wave as an event, relative to the first lane's.

    Most instructions repeat their pattern every time round a loop: a row equal to the site's last one is not written
    again.
    """
    f = Function("record_memory", "void", [("ptr", "w"), ("i32", "inst"), ("i64", "mask"), ("i64", "site")])
    longs, words = f"<{lanes} x i64>", f"<{lanes} x i32>"
    addresses = f.at("%w", at.ADDRESSES)
    cttz = f.call("i64", "llvm.cttz.i64", ("i64", "%mask"), ("i1", "false"))
    lane = f.let(f"and i64 {cttz}, {lanes - 1}")
    base = f.load("i64", f.index("i64", addresses, lane))
    one = f.let(f"insertelement {longs} poison, i64 {base}, i32 0")
    spread = f.let(f"shufflevector {longs} {one}, {longs} poison, <{lanes} x i32> zeroinitializer")
    delta = f.let(f"sub {longs} {f.load(longs, addresses, 64)}, {spread}")
    low = f.let(f"trunc {longs} {delta} to {words}")
    back = f.let(f"sext {words} {low} to {longs}")
    wide = _any(f, f.let(f"icmp ne {longs} {back}, {delta}"), lanes, "%mask")
    event = f.load("ptr", f.at("%w", at.EVENTS))
    kind = f.let(f"select i1 {wide}, i32 {MEMORY_WIDE}, i32 {MEMORY}")
    f.call("void", "record", ("ptr", "%w"), ("i32", kind), ("i32", "%inst"), ("i64", "%mask"), ("i64", base))
    last = f.at(f.load("ptr", f.at("%w", at.LAST_ROWS)), f.let(f"mul i64 %site, {LAST_ROW_BYTES}"))
    previous = f.load("ptr", last)
    with f.if_(f.let(f"icmp ne ptr {previous}, null")):
        differs = _any(f, f.let(f"icmp ne {words} {f.load(words, previous, 4)}, {low}"), lanes, "-1")
        with f.if_not(f.let(f"or i1 {differs}, {wide}")):
            f.store("i64", f.load("i64", f.at(last, 8)), f.at(event, 24))
            f.ret()
            f.label(f.block("unreachable"))
    row, index = f.load("ptr", f.at("%w", at.ROWS)), f.at("%w", at.ROW_INDEX)
    size = 4 * lanes
    f.store(words, low, row, 4)
    with f.if_(wide):
        high = f.let(f"trunc {longs} {f.let(f'lshr {longs} {delta}, splat (i64 32)')} to {words}")
        f.store(words, high, f.at(row, size), 4)
    f.store("ptr", row, last)
    f.store("i64", f.load("i64", index), f.at(last, 8))
    used = f.let(f"select i1 {wide}, i64 2, i64 1")
    f.store("ptr", f.at(row, f.let(f"mul i64 {used}, {size}")), f.at("%w", at.ROWS))
    f.store("i64", f.let(f"add i64 {f.load('i64', index)}, {used}"), index)
    f.ret()
    return f


def _any(f: Function, predicate: str, lanes: int, mask: str) -> str:
    """Whether a predicate holds in some lane of a mask."""
    bits = f.let(f"bitcast <{lanes} x i1> {predicate} to i{lanes}")
    if lanes < 64:
        bits = f.let(f"zext i{lanes} {bits} to i64")
    return f.let(f"icmp ne i64 {f.let(f'and i64 {bits}, {mask}')}, 0")


def _room(lanes: int) -> Function:
    """room(w, events, rows) -> whether that many more of each fit in what the host has provided."""
    f = Function("room", "i1", [("ptr", "w"), ("i64", "events"), ("i64", "rows")])

    def left(pointer: int, end: int, need: str, size: int) -> str:
        from_ = f.let(f"ptrtoint ptr {f.load('ptr', f.at('%w', pointer))} to i64")
        to = f.let(f"ptrtoint ptr {f.load('ptr', f.at('%w', end))} to i64")
        return f.let(f"icmp uge i64 {f.let(f'sub i64 {to}, {from_}')}, {f.let(f'mul i64 {need}, {size}')}")

    enough = left(at.EVENTS, at.EVENTS_END, "%events", EVENT_BYTES)
    f.ret(f.let(f"and i1 {enough}, {left(at.ROWS, at.ROWS_END, '%rows', 4 * lanes)}"))
    return f


def _order_begin() -> Function:
    """order_begin(w): wait until no other host thread does an atomic, so that they get numbers in their order."""
    f = Function("order_begin", "void", [("ptr", "w")])
    lock = f.at(f.load("ptr", f.at("%w", at.CONTEXT)), _faults.ORDER_LOCK)
    again, mine = f.block("again"), f.block("mine")
    f.jump(again)
    f.label(again)
    pair = f.let(f"cmpxchg ptr {lock}, i64 0, i64 1 acquire monotonic, align 8")
    f.branch(f.let(f"extractvalue {{ i64, i1 }} {pair}, 1"), mine, again)
    f.label(mine)
    f.ret()
    return f


def _order_end() -> Function:
    """order_end(w, instruction): record the number of the atomic just done, and let others go on."""
    f = Function("order_end", "void", [("ptr", "w"), ("i32", "inst")])
    context = f.load("ptr", f.at("%w", at.CONTEXT))
    count = f.at(context, _faults.ORDER_COUNT)
    number = f.let(f"add i64 {f.load('i64', count)}, 1")
    f.store("i64", number, count)
    f.call("void", "record", ("ptr", "%w"), ("i32", str(ORDER)), ("i32", "%inst"), ("i64", "0"), ("i64", number))
    f.emit(f"store atomic i64 0, ptr {f.at(context, _faults.ORDER_LOCK)} release, align 8")
    f.ret()
    return f

"""Recording mode: LDS operations that a wave has in flight when it arrives at a barrier.

Loads and stores of LDS take effect when they issue, which is right for the wave itself: its LDS operations
execute in order. Other waves may run ahead of them from a barrier on. From then until a wait covers the
operation, a store's bytes hold POISON for the others, and a load whose bytes another wave changes meanwhile
delivers POISON: without the wait, either order is possible (facts: LLVM AMDGPUUsage, triton#11696). An atomic
without a result is a store here. While the wave itself uses LDS or waits, what it has in flight is put back
as it was (`unpark`) and away again (`park`).
"""

from __future__ import annotations

from collections.abc import Callable

from antiphase.isa import COUNTERS, generation
from antiphase.machine import _layout as at
from antiphase.machine.llvm._ir import Function


def functions(lanes: int) -> list[Function]:
    return [_track(lanes), _park(lanes), _unpark(lanes)]


def lds_queue(target: str) -> int:
    """The queue of LDS operations: that of lgkmcnt or dscnt."""
    return next(i for i, name in enumerate(COUNTERS[generation(target)]) if name in ("lgkmcnt", "dscnt"))


def _places(data: str, f: Function, place: str, lanes: int) -> tuple[str, str]:
    """Where a slot keeps the addresses of a place, and what the memory there held when it was parked."""
    plane = f.let(f"mul i64 {place}, {8 * lanes}")
    addresses = f.at(f.at(data, 16 * lanes), plane)
    saved = f.at(f.at(data, 32 * lanes), f.let(f"mul i64 {place}, {16 * lanes}"))
    return addresses, saved


def _track(lanes: int) -> Function:
    """track(w, data, place, mask, size): the operation whose data goes there accesses ADDRESSES."""
    parameters = [("ptr", "w"), ("ptr", "data"), ("i64", "place"), ("i64", "mask"), ("i32", "size")]
    f = Function("track", "void", parameters)
    slot = f.at("%data", -at.SLOT_DATA)
    f.store("i32", f.let("trunc i64 " + f.let("add i64 %place, 1") + " to i32"), f.at(slot, at.SLOT_PLACES))
    f.store("i32", "%size", f.at(slot, at.SLOT_SIZE))
    f.store("i64", "%mask", f.index("i64", f.at(slot, at.SLOT_MASKS), "%place"))
    addresses, _ = _places("%data", f, "%place", lanes)
    whole = f"<{lanes} x i64>"
    f.store(whole, f.load(whole, f.at("%w", at.ADDRESSES), 64), addresses, 64)
    f.ret()
    return f


Move = Callable[[str, str, str, str], None]
"""Emits code for one piece of memory: (type, its address, its place in the snapshot, lane)."""


def _each_piece(f: Function, slot: str, lanes: int, move: Move) -> None:
    """Run `move` for all memory of a slot, dword by dword, or byte by byte where it has less than a dword."""
    data = f.at(slot, at.SLOT_DATA)
    size = f.let(f"zext i32 {f.load('i32', f.at(slot, at.SLOT_SIZE))} to i64")
    small = f.let(f"icmp ult i64 {size}, 4")
    with f.loop(f.let(f"zext i32 {f.load('i32', f.at(slot, at.SLOT_PLACES))} to i64")) as place:
        addresses, saved = _places(data, f, place, lanes)
        mask = f.load("i64", f.index("i64", f.at(slot, at.SLOT_MASKS), place))
        with f.each_bit(mask) as lane:
            memory = f.let(f"inttoptr i64 {f.load('i64', f.index('i64', addresses, lane))} to ptr")
            kept = f.at(saved, f.let(f"mul i64 {lane}, 16"))
            with f.if_(small), f.loop(size) as i:
                move("i8", f.at(memory, i), f.at(kept, i), lane)
            with f.if_not(small), f.loop(f.let(f"lshr i64 {size}, 2")) as i:
                move("i32", f.index("i32", memory, i), f.index("i32", kept, i), lane)


def _each_slot(f: Function, body: Callable[[str], None], parked: bool) -> None:
    """Run `body` for the queue's tracked operations that are parked, or not parked."""
    size = f.load("i32", f.at(f.index("i64", f.at("%w", at.QUEUES), "%queue"), 4))
    with f.loop(f.let(f"zext i32 {size} to i64")) as i:
        slot = f.call("ptr", "slot", ("ptr", "%w"), ("ptr", "%base"), ("i64", "%queue"), ("i64", i))
        tracked = f.let(f"icmp ne i32 {f.load('i32', f.at(slot, at.SLOT_PLACES))}, 0")
        state = f.let(f"icmp eq i32 {f.load('i32', f.at(slot, at.SLOT_PARKED))}, {int(parked)}")
        with f.if_(f.let(f"and i1 {tracked}, {state}")):
            body(slot)


def _is_store(f: Function, slot: str) -> str:
    return f.let(f"icmp eq i32 {f.load('i32', slot)}, {at.KIND_NONE}")


_QUEUE = [("ptr", "w"), ("ptr", "base"), ("i64", "queue")]


def _park(lanes: int) -> Function:
    """park(w, base, queue): other waves may run now."""
    f = Function("park", "void", _QUEUE)

    def snapshot(slot: str) -> None:
        _each_piece(f, slot, lanes, lambda t, memory, kept, lane: f.store(t, f.load(t, memory, 1), kept, 1))

    def hide(slot: str) -> None:
        def poison(t: str, memory: str, kept: str, lane: str) -> None:
            f.store(t, str((at.POISON & 0xFF) - 256 if t == "i8" else at.POISON), memory, 1)

        f.store("i32", "1", f.at(slot, at.SLOT_PARKED))
        f.store("i32", "1", f.at("%w", at.PARKED))
        with f.if_(_is_store(f, slot)):
            _each_piece(f, slot, lanes, poison)

    # all snapshots come first: operations of one wave may overlap
    _each_slot(f, snapshot, parked=False)
    _each_slot(f, hide, parked=False)
    f.ret()
    return f


def _unpark(lanes: int) -> Function:
    """unpark(w, base, queue) -> whether any was parked: LDS as the wave knows it, raced loads poisoned."""
    f = Function("unpark", "i1", _QUEUE)
    flag = f.at("%w", at.PARKED)
    parked = f.let(f"icmp ne i32 {f.load('i32', flag)}, 0")
    with f.if_not(parked):
        f.ret("false")
        f.label(f.block("unreachable"))

    def restore(slot: str) -> None:
        def put_back(t: str, memory: str, kept: str, lane: str) -> None:
            f.store(t, f.load(t, kept, 1), memory, 1)

        with f.if_(_is_store(f, slot)):
            _each_piece(f, slot, lanes, put_back)

    def settle(slot: str) -> None:
        def compare(t: str, memory: str, kept: str, lane: str) -> None:
            same = f.let(f"icmp eq {t} {f.load(t, memory, 1)}, {f.load(t, kept, 1)}")
            count = f.let(f"zext i32 {f.load('i32', f.at(slot, at.SLOT_DWORDS))} to i64")
            with f.if_not(same), f.loop(count) as k:
                plane = f.at(f.at(slot, at.SLOT_DATA), f.let(f"mul i64 {k}, {4 * lanes}"))
                f.store("i32", str(at.POISON), f.index("i32", plane, lane))

        with f.if_not(_is_store(f, slot)):
            _each_piece(f, slot, lanes, compare)
        f.store("i32", "0", f.at(slot, at.SLOT_PARKED))

    _each_slot(f, restore, parked=True)
    _each_slot(f, settle, parked=True)
    f.store("i32", "0", flag)
    f.ret("true")
    return f

"""Recording mode: loads whose result is not there until a wait covers it.

Each counter has a queue of the operations it counts. An operation's data is read when it issues and kept in its slot;
the destination holds POISON meanwhile. A wait delivers what it proves complete; a full queue completes its oldest.

Order rules (facts: LLVM SIInsertWaitcnts, AMD CDNA3 ISA 4.4): vmcnt completes in issue order; LDS operations on
lgkmcnt complete in order among themselves; scalar loads in any order, so that only lgkmcnt(0) proves one.
"""

from __future__ import annotations

from antiphase.machine import _layout as at
from antiphase.machine.llvm._ir import Function

UNORDERED = 1 << 8
"""Added to a slot's kind: completes in any order."""


def functions(lanes: int) -> list[Function]:
    return [_slot(), _issue(), _pend(lanes), _poison(lanes), _place(lanes), _deliver(), _complete(), _wait()]


def _head(f: Function, queue: str) -> str:
    return f.index("i64", f.at("%w", at.QUEUES), queue)


def _slot() -> Function:
    """slot(base, queue, i): pointer to the i-th oldest slot; base is the wave's queue memory."""
    f = Function(
        "slot", "ptr", [("ptr", "w"), ("ptr", "base"), ("i64", "queue"), ("i64", "i")], "nounwind alwaysinline"
    )
    head = f.let(f"zext i32 {f.load('i32', _head(f, '%queue'))} to i64")
    ring = f.let(f"and i64 {f.let(f'add i64 {head}, %i')}, {at.QUEUE_SLOTS - 1}")
    number = f.let(f"add i64 {f.let(f'mul i64 %queue, {at.QUEUE_SLOTS}')}, {ring}")
    f.ret(f.at("%base", f.let(f"mul i64 {number}, {at.SLOT_BYTES}")))
    return f


def _size(f: Function, queue: str) -> str:
    return f.at(_head(f, queue), 4)


def _issue() -> Function:
    """issue(w, base, queue, capacity): room for one more operation; a full counter completes its oldest."""
    f = Function("issue", "void", [("ptr", "w"), ("ptr", "base"), ("i64", "queue"), ("i32", "capacity")])
    with f.if_(f.let(f"icmp uge i32 {f.load('i32', _size(f, '%queue'))}, %capacity")):
        f.call("void", "complete", ("ptr", "%w"), ("ptr", "%base"), ("i64", "%queue"), ("i64", "0"))
    f.ret()
    return f


def _pend(lanes: int) -> Function:
    """pend(w, base, queue, kind, destination, dwords, keep, mask) -> where to put the data.

    destination: byte offset of the register in the wave (VGPR, SGPR) or LDS offset of lane 0. keep: bits of the last
    dword the operation leaves alone (for LDS: bytes from lane to lane). mask: lanes that get data. The slot starts
    with the destination's present value. The caller poisons the destination once it has read all operands.
    """
    f = Function(
        "pend", "ptr",
        [("ptr", "w"), ("ptr", "base"), ("i64", "queue"), ("i32", "kind"), ("i32", "destination"), ("i32", "dwords"),
         ("i32", "keep"), ("i64", "mask")],
    )  # fmt: skip
    size = f.load("i32", _size(f, "%queue"))
    slot = f.call(
        "ptr", "slot", ("ptr", "%w"), ("ptr", "%base"), ("i64", "%queue"), ("i64", f.let(f"zext i32 {size} to i64"))
    )
    f.store("i32", f.let(f"add i32 {size}, 1"), _size(f, "%queue"))
    f.store("i32", "%kind", f.at(slot, at.SLOT_KIND))
    f.store("i32", "%destination", f.at(slot, at.SLOT_DESTINATION))
    f.store("i32", "%dwords", f.at(slot, at.SLOT_DWORDS))
    f.store("i32", "%keep", f.at(slot, at.SLOT_KEEP))
    f.store("i64", "%mask", f.at(slot, at.SLOT_MASK))
    f.store("i32", "0", f.at(slot, at.SLOT_PLACES))
    f.store("i32", "0", f.at(slot, at.SLOT_PARKED))
    data = f.at(slot, at.SLOT_DATA)
    plain = f.let("and i32 %kind, 255")
    count = f.let("zext i32 %dwords to i64")
    register = f.at("%w", f.let("zext i32 %destination to i64"))
    with f.if_(f.let(f"icmp eq i32 {plain}, {at.KIND_VGPR}")), f.loop(count) as k:
        plane = f.let(f"mul i64 {k}, {4 * lanes}")
        words = f"<{lanes} x i32>"
        f.store(words, f.load(words, f.at(register, plane), 64), f.at(data, plane), 64)
    with f.if_(f.let(f"icmp eq i32 {plain}, {at.KIND_SGPR}")), f.loop(count) as k:
        f.store("i32", f.load("i32", f.index("i32", register, k)), f.index("i32", data, k))
    f.ret(data)
    return f


def _poison(lanes: int) -> Function:
    """poison(w, data): the destination of the operation whose data lies there holds POISON until it is delivered."""
    f = Function("poison", "void", [("ptr", "w"), ("ptr", "data")])
    slot = f.at("%data", -at.SLOT_DATA)
    kind = f.let(f"and i32 {f.load('i32', slot)}, 255")
    words = f"<{lanes} x i32>"
    with f.if_(_whole(f, slot, lanes)):
        destination = f.let(f"zext i32 {f.load('i32', f.at(slot, at.SLOT_DESTINATION))} to i64")
        with f.loop(f.let(f"zext i32 {f.load('i32', f.at(slot, at.SLOT_DWORDS))} to i64")) as k:
            register = f.at(f.at("%w", destination), f.let(f"mul i64 {k}, {4 * lanes}"))
            f.store(words, f"splat (i32 {at.POISON})", register, 64)
        f.ret()
        f.label(f.block("unreachable"))
    with f.if_(f.let(f"icmp ne i32 {kind}, {at.KIND_NONE}")):
        bad = f.alloca(f"[{at.SLOT_BYTES} x i8]")
        with f.loop(f.let(f"zext i32 {f.load('i32', f.at(slot, at.SLOT_DWORDS))} to i64")) as k:
            f.store(words, f"splat (i32 {at.POISON})", f.at(bad, f.let(f"mul i64 {k}, {4 * lanes}")), 64)
        f.call("void", "place", ("ptr", "%w"), ("ptr", slot), ("ptr", bad))
    f.ret()
    return f


def _lanes(f: Function, mask: str, lanes: int) -> str:
    narrow = mask if lanes == 64 else f.let(f"trunc i64 {mask} to i{lanes}")
    return f.let(f"bitcast i{lanes} {narrow} to <{lanes} x i1>")


def _whole(f: Function, slot: str, lanes: int) -> str:
    """Whether a slot's operation replaces whole vector registers, as most do: every lane, every bit."""
    kind = f.let(f"and i32 {f.load('i32', slot)}, 255")
    keep, mask = f.load("i32", f.at(slot, at.SLOT_KEEP)), f.load("i64", f.at(slot, at.SLOT_MASK))
    every = f.let(f"icmp eq i64 {mask}, {(1 << lanes) - 1 if lanes < 64 else -1}")
    plain = f.let(f"and i1 {f.let(f'icmp eq i32 {keep}, 0')}, {every}")
    return f.let(f"and i1 {f.let(f'icmp eq i32 {kind}, {at.KIND_VGPR}')}, {plain}")


def _place(lanes: int) -> Function:
    """place(w, slot, data): write data where a slot's operation belongs: registers, scalars or LDS."""
    f = Function("place", "void", [("ptr", "w"), ("ptr", "slot"), ("ptr", "data")])
    words = f"<{lanes} x i32>"
    kind = f.let(f"and i32 {f.load('i32', '%slot')}, 255")
    destination = f.let(f"zext i32 {f.load('i32', f.at('%slot', at.SLOT_DESTINATION))} to i64")
    count = f.let(f"zext i32 {f.load('i32', f.at('%slot', at.SLOT_DWORDS))} to i64")
    keep, mask = f.load("i32", f.at("%slot", at.SLOT_KEEP)), f.load("i64", f.at("%slot", at.SLOT_MASK))
    with f.if_(_whole(f, "%slot", lanes)):
        with f.loop(count) as k:
            plane = f.let(f"mul i64 {k}, {4 * lanes}")
            register = f.at(f.at("%w", destination), plane)
            f.store(words, f.load(words, f.at("%data", plane), 64), register, 64)
        f.ret()
        f.label(f.block("unreachable"))
    with f.if_(f.let(f"icmp eq i32 {kind}, {at.KIND_VGPR}")), f.loop(count) as k:
        plane = f.let(f"mul i64 {k}, {4 * lanes}")
        register = f.at(f.at("%w", destination), plane)
        old, new = f.load(words, register, 64), f.load(words, f.at("%data", plane), 64)
        last = f.let(f"icmp eq i64 {f.let(f'add i64 {k}, 1')}, {count}")
        mine = f.let(f"select i1 {last}, i32 {keep}, i32 0")
        one = f.let(f"insertelement {words} poison, i32 {mine}, i32 0")
        kept = f.let(f"shufflevector {words} {one}, {words} poison, <{lanes} x i32> zeroinitializer")
        inverse = f.let(f"xor {words} {kept}, splat (i32 -1)")
        mixed = f.let(f"or {words} {f.let(f'and {words} {old}, {kept}')}, {f.let(f'and {words} {new}, {inverse}')}")
        chosen = f.let(f"select <{lanes} x i1> {_lanes(f, mask, lanes)}, {words} {mixed}, {words} {old}")
        f.store(words, chosen, register, 64)
    with f.if_(f.let(f"icmp eq i32 {kind}, {at.KIND_SGPR}")), f.loop(count) as k:
        f.store("i32", f.load("i32", f.index("i32", "%data", k)), f.index("i32", f.at("%w", destination), k))
    with f.if_(f.let(f"icmp eq i32 {kind}, {at.KIND_LDS}")):
        lds = f.at(f.load("ptr", f.at("%w", at.LDS)), destination)
        stride = f.let(f"zext i32 {keep} to i64")
        with f.each_bit(mask) as lane, f.loop(count) as k:
            value = f.load("i32", f.index("i32", f.at("%data", f.let(f"mul i64 {k}, {4 * lanes}")), lane))
            run = f.at(lds, f.let(f"mul i64 {lane}, {stride}"))
            f.store("i32", value, f.index("i32", run, k), 1)
    with f.if_(f.let(f"icmp eq i32 {kind}, {at.KIND_LDS_LANES}")):
        f.call("void", "place_lanes", ("ptr", "%w"), ("ptr", "%slot"), ("ptr", "%data"))
    with f.if_(f.let(f"icmp eq i32 {kind}, {at.KIND_TENSOR}")):
        f.call("void", "place_tensor", ("ptr", "%w"), ("ptr", "%slot"))
    f.ret()
    return f


def _deliver() -> Function:
    """deliver(w, slot): put an operation's data where it belongs; the slot becomes empty."""
    f = Function("deliver", "void", [("ptr", "w"), ("ptr", "slot")])
    f.call("void", "place", ("ptr", "%w"), ("ptr", "%slot"), ("ptr", f.at("%slot", at.SLOT_DATA)))
    f.store("i32", str(at.KIND_NONE), "%slot")
    f.ret()
    return f


def _complete() -> Function:
    """complete(w, base, queue, i): deliver the i-th oldest operation and close the gap: the count drops by one."""
    f = Function("complete", "void", [("ptr", "w"), ("ptr", "base"), ("i64", "queue"), ("i64", "i")])
    target = f.call("ptr", "slot", ("ptr", "%w"), ("ptr", "%base"), ("i64", "%queue"), ("i64", "%i"))
    f.call("void", "deliver", ("ptr", "%w"), ("ptr", target))
    # completing from the middle moves older slots up by one; in order, nothing moves
    older = f.variable("i64", "%i")
    head, body, done = f.block("head"), f.block("body"), f.block("done")
    f.jump(head)
    f.label(head)
    i = older.get()
    f.branch(f.let(f"icmp ugt i64 {i}, 0"), body, done)
    f.label(body)
    to = f.call("ptr", "slot", ("ptr", "%w"), ("ptr", "%base"), ("i64", "%queue"), ("i64", i))
    previous = f.let(f"sub i64 {i}, 1")
    from_ = f.call("ptr", "slot", ("ptr", "%w"), ("ptr", "%base"), ("i64", "%queue"), ("i64", previous))
    f.call("void", "llvm.memcpy.p0.p0.i64", ("ptr", to), ("ptr", from_), ("i64", str(at.SLOT_BYTES)), ("i1", "false"))
    older.set(previous)
    f.jump(head)
    f.label(done)
    first = f.load("i32", _head(f, "%queue"))
    f.store("i32", f.let(f"and i32 {f.let(f'add i32 {first}, 1')}, {at.QUEUE_SLOTS - 1}"), _head(f, "%queue"))
    size = _size(f, "%queue")
    f.store("i32", f.let(f"sub i32 {f.load('i32', size)}, 1"), size)
    f.ret()
    return f


def _wait() -> Function:
    """wait(w, base, queue, n): the counter is at most n. Delivers every operation that this proves complete.

    An in-order operation with k younger in-order ones is complete if k >= n, since all of them would still count;
    an unordered one only if n is 0.
    """
    f = Function("wait", "void", [("ptr", "w"), ("ptr", "base"), ("i64", "queue"), ("i64", "n")])

    def slot(i: str) -> str:
        return f.call("ptr", "slot", ("ptr", "%w"), ("ptr", "%base"), ("i64", "%queue"), ("i64", i))

    def ordered(i: str) -> str:
        return f.let(f"icmp ult i32 {f.load('i32', slot(i))}, {UNORDERED}")

    size = f.let(f"zext i32 {f.load('i32', _size(f, '%queue'))} to i64")
    younger = f.variable("i64", "0")
    with f.loop(size) as i:
        younger.set(f.let(f"add i64 {younger.get()}, {f.let(f'zext i1 {ordered(i)} to i64')}"))
    # walk from the oldest: what completes leaves the queue, what stays is skipped
    position = f.variable("i64", "0")
    left = f.variable("i64", size)
    head, body, done = f.block("head"), f.block("body"), f.block("done")
    f.jump(head)
    f.label(head)
    p = position.get()
    f.branch(f.let(f"icmp ult i64 {p}, {left.get()}"), body, done)
    f.label(body)
    in_order = ordered(p)
    behind = f.let(f"sub i64 {younger.get()}, {f.let(f'zext i1 {in_order} to i64')}")
    younger.set(behind)
    covered = f.let(f"select i1 {in_order}, i1 {f.let(f'icmp uge i64 {behind}, %n')}, i1 {f.let('icmp eq i64 %n, 0')}")
    yes, no = f.block("covered"), f.block("pending")
    f.branch(covered, yes, no)
    f.label(yes)
    f.call("void", "complete", ("ptr", "%w"), ("ptr", "%base"), ("i64", "%queue"), ("i64", p))
    left.set(f.let(f"sub i64 {left.get()}, 1"))
    f.jump(head)
    f.label(no)
    position.set(f.let(f"add i64 {p}, 1"))
    f.jump(head)
    f.label(done)
    f.ret()
    return f

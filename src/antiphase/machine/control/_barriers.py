"""Barriers as native functions: arrive, wait, and what named barriers add.

A barrier counts arrivals; when all members have arrived its phase advances. A wait passes if the phase differs from the
one this wave consumed last, so that an arrival and a wait may stand apart, and a wait after completion returns at once.
A wave that is alone in its workgroup, or a workgroup that is in no cluster, has no barrier to do anything with.
Sources: AMD RDNA4 ISA 5.6.1, CDNA5 ISA 5.6 and 15.3, LLVM AMDGPUExecutionSynchronization. On targets with one
instruction for both (s_barrier), it is an arrival followed by a wait.
"""

from __future__ import annotations

from antiphase.machine import _layout as at
from antiphase.machine.llvm._ir import Function


def functions() -> list[Function]:
    return [_absent(), _advance(), _signal(), _wait(), _drop(), _init(), _join(), _expect(), _state(), _note()]


def _barrier(f: Function, index: str) -> str:
    wide = f.let(f"zext i32 {index} to i64")
    own, shared = f.load("ptr", f.at("%w", at.BARRIERS)), f.load("ptr", f.at("%w", at.CLUSTER_BARRIERS))
    of_cluster = f.let(f"icmp eq i32 {index}, {at.CLUSTER_BARRIER}")
    table = f.let(f"select i1 {of_cluster}, ptr {shared}, ptr {own}")
    return f.at(table, f.let(f"mul i64 {wide}, {at.BARRIER_BYTES}"))


def _absent() -> Function:
    """barrier_absent(w, index) -> whether operations other than joining do nothing: on barrier 0, and where there is
    nobody else to meet."""
    f = Function("barrier_absent", "i1", [("ptr", "w"), ("i32", "index")])
    waves, groups = f.load("i32", f.at("%w", at.COMPANY)), f.load("i32", f.at("%w", at.COMPANY + 4))
    of_cluster = f.let(f"icmp eq i32 %index, {at.CLUSTER_BARRIER}")
    alone = f.let(f"icmp eq i32 {f.let(f'select i1 {of_cluster}, i32 {groups}, i32 {waves}')}, 1")
    f.ret(f.let(f"or i1 {alone}, {f.let(f'icmp eq i32 %index, {at.NULL_BARRIER}')}"))
    return f


def _unless_absent(f: Function, result: str | None = None) -> None:
    """Return at once for a barrier that is not there."""
    with f.if_(f.call("i1", "barrier_absent", ("ptr", "%w"), ("i32", "%index"))):
        f.ret(result)
        f.label(f.block("unreachable"))


def _advance() -> Function:
    """advance(barrier): begin the next phase if all members have arrived."""
    f = Function("barrier_advance", "void", [("ptr", "b")])
    arrived, members = f.load("i32", f.at("%b", at.BARRIER_ARRIVED)), f.load("i32", f.at("%b", at.BARRIER_MEMBERS))
    some = f.let(f"icmp ne i32 {arrived}, 0")
    with f.if_(f.let(f"and i1 {some}, {f.let(f'icmp uge i32 {arrived}, {members}')}")):
        f.store("i32", "0", f.at("%b", at.BARRIER_ARRIVED))
        phase = f.at("%b", at.BARRIER_PHASE)
        f.store("i32", f.let(f"add i32 {f.load('i32', phase)}, 1"), phase)
    f.ret()
    return f


def _signal() -> Function:
    """barrier_signal(w, index) -> whether this is the first arrival of the phase."""
    f = Function("barrier_signal", "i1", [("ptr", "w"), ("i32", "index")])
    _unless_absent(f, "false")
    barrier = _barrier(f, "%index")
    arrived = f.at(barrier, at.BARRIER_ARRIVED)
    before = f.load("i32", arrived)
    f.store("i32", f.let(f"add i32 {before}, 1"), arrived)
    f.call("void", "barrier_advance", ("ptr", barrier))
    f.ret(f.let(f"icmp eq i32 {before}, 0"))
    return f


def _wait() -> Function:
    """barrier_wait(w, index) -> whether the wave may go on; if not, what it waits for is in its state."""
    f = Function("barrier_wait", "i1", [("ptr", "w"), ("i32", "index")])
    _unless_absent(f, "true")
    barrier = _barrier(f, "%index")
    phase = f.load("i32", f.at(barrier, at.BARRIER_PHASE))
    seen = f.index("i32", f.at("%w", at.SEEN), "%index", "i32")
    consumed = f.load("i32", seen)
    passed = f.let(f"icmp ne i32 {phase}, {consumed}")
    f.store("i32", phase, seen)
    f.store("ptr", barrier, f.at("%w", at.WAIT_ON))
    f.store("i32", consumed, f.at("%w", at.WAIT_PHASE))
    f.ret(passed)
    return f


def _drop() -> Function:
    """barrier_drop(w, index) -> whether it has members left: one fewer, as when a wave ends; the others may be complete
    by that. Nothing happens to barrier 0."""
    f = Function("barrier_drop", "i1", [("ptr", "w"), ("i32", "index")])
    with f.if_(f.let(f"icmp eq i32 %index, {at.NULL_BARRIER}")):
        f.ret("true")
        f.label(f.block("unreachable"))
    barrier = _barrier(f, "%index")
    members = f.at(barrier, at.BARRIER_MEMBERS)
    left = f.let(f"sub i32 {f.load('i32', members)}, 1")
    f.store("i32", left, members)
    f.call("void", "barrier_advance", ("ptr", barrier))
    f.ret(f.let(f"icmp ne i32 {left}, 0"))
    return f


def _init() -> Function:
    """barrier_init(w, index, members): a named barrier without arrivals, of as many members unless that is 0."""
    f = Function("barrier_init", "void", [("ptr", "w"), ("i32", "index"), ("i32", "members")])
    _unless_absent(f)
    f.call("void", "barrier_expect", ("ptr", "%w"), ("i32", "%index"), ("i32", "%members"))
    f.store("i32", "0", f.at(_barrier(f, "%index"), at.BARRIER_ARRIVED))
    f.ret()
    return f


def _join() -> Function:
    """barrier_join(w, index): waits on named barriers mean this one, from its present phase on."""
    f = Function("barrier_join", "void", [("ptr", "w"), ("i32", "index")])
    phase = f.load("i32", f.at(_barrier(f, "%index"), at.BARRIER_PHASE))
    f.store("i32", phase, f.index("i32", f.at("%w", at.SEEN), "%index", "i32"))
    f.store("i32", "%index", f.at("%w", at.JOINED))
    f.ret()
    return f


def _expect() -> Function:
    """barrier_expect(w, index, members): as many members from now on, unless that is 0."""
    f = Function("barrier_expect", "void", [("ptr", "w"), ("i32", "index"), ("i32", "members")])
    _unless_absent(f)
    with f.if_(f.let("icmp ne i32 %members, 0")):
        f.store("i32", "%members", f.at(_barrier(f, "%index"), at.BARRIER_MEMBERS))
    f.ret()
    return f


def _state() -> Function:
    """barrier_state(w, index) -> arrivals, members and whether there are any, as s_get_barrier_state packs them but for
    the number of named barriers."""
    f = Function("barrier_state", "i32", [("ptr", "w"), ("i32", "index")])
    barrier = _barrier(f, "%index")
    members = f.load("i32", f.at(barrier, at.BARRIER_MEMBERS))
    arrived = f.load("i32", f.at(barrier, at.BARRIER_ARRIVED))
    valid = f.let(f"zext i1 {f.let(f'icmp ne i32 {members}, 0')} to i32")
    counts = f.let(f"or i32 {f.let(f'shl i32 {members}, 4')}, {f.let(f'shl i32 {arrived}, 16')}")
    f.ret(f.let(f"or i32 {counts}, {valid}"))
    return f


def _note() -> Function:
    """barrier_note(w, index) -> what a recorded event says of a barrier: see `recording.barrier_of`."""
    f = Function("barrier_note", "i64", [("ptr", "w"), ("i32", "index")])
    barrier = _barrier(f, "%index")

    def placed(value: str, bit: int) -> str:
        return f.let(f"shl i64 {f.let(f'zext i32 {value} to i64')}, {bit}")

    which, members = placed("%index", 56), placed(f.load("i32", f.at(barrier, at.BARRIER_MEMBERS)), 32)
    phase = placed(f.load("i32", f.at(barrier, at.BARRIER_PHASE)), 0)
    f.ret(f.let(f"or i64 {f.let(f'or i64 {which}, {members}')}, {phase}"))
    return f

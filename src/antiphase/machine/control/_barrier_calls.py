"""Barrier instructions as calls of the barrier functions, with the ways a wave gives up its turn.

Numbers: -1 is the workgroup's barrier; gfx1250 alone has -3 of the cluster, 0 that does nothing, and 1 to 16 that
a kernel sets up itself (AMD CDNA5 ISA 5.6, LLVM AMDGPUExecutionSynchronization; RDNA4 ISA 5.6.2 knows no others than
-1). The descriptor says how many of these a workgroup has, in fours. Hardware ignores instructions that name one beyond
(CDNA5 ISA 5.6.3), which can only be a mistake: execution stops there.
"""

from __future__ import annotations

from collections.abc import Callable

from antiphase.asm import Imm, Reg, Special
from antiphase.errors import Unsupported
from antiphase.isa import B1, U32, Control, generation, reason
from antiphase.machine import _layout as at
from antiphase.machine._context import Context
from antiphase.machine.control._flow import State, event, in_flight, stop_if
from antiphase.machine.llvm._lower import Value
from antiphase.machine.waves import _events as events

_FIXED = {-1: at.WORKGROUP_BARRIER, -3: at.CLUSTER_BARRIER}
MOST_NAMED = 16


def _barrier(state: State, record: Control) -> bool:
    """Arrive and wait in one instruction."""
    _signal(state, str(at.WORKGROUP_BARRIER))
    return _await(state, str(at.WORKGROUP_BARRIER))


def _number(c: Context) -> int | None:
    """The barrier an instruction names, None if it is in M0."""
    operand = c.instruction.operands[-1]
    if not isinstance(operand, Imm):
        return None
    number = operand.value - (1 << 16 if operand.value > 32767 else 0)
    if number != -1 and generation(c.target) != "gfx1250":
        raise Unsupported(f"barrier {number}: {c.target} documents -1 alone (RDNA4 ISA 5.6.2)")
    if number not in _FIXED and not 0 <= number <= MOST_NAMED:
        raise Unsupported(f"barrier {number}")
    return number


def _allocated(state: State) -> int:
    return min(MOST_NAMED, 4 * state.kernel.descriptor.get("named_barrier_count", 0))


def _index(state: State) -> str:
    """Where the barrier stands in the workgroup's table. A number in M0 is that of a named one, in bits 4:0."""
    c, most = state.context, _allocated(state)
    number = _number(c)
    beyond = f"where .amdhsa_named_barrier_count allocates {most}: hardware ignores the instruction"
    if number is not None:
        if number > most:
            raise Unsupported(f"named barrier {number} {beyond}")
        return str(_FIXED.get(number, at.NULL_BARRIER + number))
    if generation(c.target) != "gfx1250":
        raise Unsupported(f"a barrier number in M0: {c.target} documents -1 alone (RDNA4 ISA 5.6.2)")
    named = c.f.let(f"and i32 {_m0(c)}, 31")
    stop_if(c, c.f.let(f"icmp ugt i32 {named}, {most}"), f"a named barrier in M0 {beyond}")
    return c.f.let(f"add i32 {named}, {at.NULL_BARRIER}")


def _m0(c: Context) -> str:
    return c.read(Special("m0"), U32).text


def _members(c: Context) -> str:
    """Bits 22:16 of M0."""
    return c.f.let(f"and i32 {c.f.let(f'lshr i32 {_m0(c)}, 16')}, 127")


def _joined(state: State) -> str:
    """The named barrier joined last. Without one it is the null barrier, on which nothing happens (AMD CDNA5 ISA
    S_BARRIER_WAIT); the check of a recording says where."""
    c = state.context
    none = c.f.let(f"icmp eq i32 {c.f.load('i32', c.pointer(at.JOINED))}, 0")
    with c.f.if_(none):
        c.f.store("i32", str(at.NULL_BARRIER), c.pointer(at.JOINED))
    return c.f.load("i32", c.pointer(at.JOINED))


def _note(c: Context, index: str) -> None:
    """Record which barrier it is, and its members and phase as they are now."""
    if c.recording:
        event(c, events.SYNC, c.index, c.f.call("i64", "barrier_note", ("ptr", "%w"), ("i32", index)))


def _signal(state: State, index: str) -> str:
    c = state.context
    _note(c, index)
    if c.recording:
        in_flight(c, "park")
    return c.f.call("i1", "barrier_signal", ("ptr", "%w"), ("i32", index))


def _barrier_signal(state: State, record: Control) -> bool:
    c = state.context
    index = _index(state)
    if _number(c) is None:
        c.f.call("void", "barrier_expect", ("ptr", "%w"), ("i32", index), ("i32", _members(c)))
    first = _signal(state, index)
    if record.action == "barrier_signal_isfirst":
        with c.f.if_not(c.f.call("i1", "barrier_absent", ("ptr", "%w"), ("i32", index))):
            c.write_scc(Value(first, B1, 1))
    return False


def _barrier_wait(state: State, record: Control) -> bool:
    c = state.context
    number = _number(c)
    if number is None:
        raise Unsupported("a wait on a barrier number in M0")
    if number == 0:
        _note(c, str(at.NULL_BARRIER))
        return False
    # a wait on any named barrier waits on the one joined last
    index = str(_FIXED[number]) if number in _FIXED else _joined(state)
    _note(c, index)
    return _await(state, index)


def _await(state: State, index: str) -> bool:
    """Go on if the barrier has completed, else return to the scheduler and try again when it has."""
    c, f = state.context, state.context.f
    point, suspend, passed = f.block("at_barrier"), f.block("suspend"), f.block("past_barrier")
    f.jump(point)
    f.label(point)
    # resuming enters here with nothing but the wave's state
    again = c.f.load("i32", c.pointer(at.JOINED)) if index.startswith("%") else index
    f.branch(f.call("i1", "barrier_wait", ("ptr", "%w"), ("i32", again)), passed, suspend)
    f.label(suspend)
    f.store("i32", str(len(state.kernel.blocks) + len(state.resume_points)), c.pointer(at.RESUME))
    f.ret(str(at.STATUS_BARRIER))
    state.resume_points.append((point, c.index))
    f.label(passed)
    return False


def _barrier_init(state: State, record: Control) -> bool:
    c = state.context
    _named_only(c)
    index = _index(state)
    c.f.call("void", "barrier_init", ("ptr", "%w"), ("i32", index), ("i32", _members(c)))
    _note(c, index)
    return False


def _barrier_join(state: State, record: Control) -> bool:
    _named_only(state.context)
    index = _index(state)
    _note(state.context, index)
    state.context.f.call("void", "barrier_join", ("ptr", "%w"), ("i32", index))
    return False


def _named_only(c: Context) -> None:
    if generation(c.target) != "gfx1250":
        raise Unsupported(str(reason(c.instruction.mnemonic, c.target)))
    number = _number(c) if c.instruction.operands else None
    if number in _FIXED:
        raise Unsupported(f"{c.instruction.mnemonic} is for named barriers, not {number}")


def _barrier_leave(state: State, record: Control) -> bool:
    """One member fewer for the named barrier joined last; SCC = none is left (AMD CDNA5 ISA S_BARRIER_LEAVE)."""
    c = state.context
    _named_only(c)
    index = _joined(state)
    _note(c, index)
    left = c.f.call("i1", "barrier_drop", ("ptr", "%w"), ("i32", index))
    c.f.store("i32", "0", c.pointer(at.JOINED))
    c.write_scc(Value(c.f.let(f"xor i1 {left}, true"), B1, 1))
    return False


def _barrier_state(state: State, record: Control) -> bool:
    """Valid in bit 0, members in 10:4, arrivals in 22:16 (Linux amdkfd, cwsr_trap_handler_gfx12.asm), in 26:24 the
    named barriers of the workgroup, in fours (AMD CDNA5 ISA S_GET_BARRIER_STATE)."""
    c = state.context
    destination = c.instruction.operands[0]
    assert isinstance(destination, Reg | Special)
    value = c.f.call("i32", "barrier_state", ("ptr", "%w"), ("i32", _index(state)))
    value = c.f.let(f"or i32 {value}, {_allocated(state) // 4 << 24}")
    c.write_scalar(destination, Value(value, U32, 1))
    return False


BARRIERS: dict[str, Callable[[State, Control], bool]] = {
    "barrier": _barrier, "barrier_signal": _barrier_signal, "barrier_signal_isfirst": _barrier_signal,
    "barrier_wait": _barrier_wait, "barrier_init": _barrier_init, "barrier_join": _barrier_join,
    "barrier_leave": _barrier_leave, "barrier_state": _barrier_state,
}  # fmt: skip
"""By a record's action: emit the instruction, and whether it ends the block."""

"""A kernel to one native function per wave: blocks become basic blocks, barriers and host calls become returns.

The function takes the wave's state and returns a STATUS_: it runs until the wave meets a barrier, ends, exhausts its
instruction budget or needs room for events, and continues from RESUME when called again.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from antiphase.asm import Block, Imm, Instruction, Kernel, Label, Program, Reg, Special
from antiphase.errors import Unsupported, UserError
from antiphase.isa import B1, COUNTERS, U32, U64, Alu, Control, Matrix, Memory, Record, find, generation
from antiphase.machine import _events as events
from antiphase.machine import _layout as at
from antiphase.machine._access import translate_memory
from antiphase.machine._alu import translate_alu
from antiphase.machine._context import PC_STEP, Context
from antiphase.machine._ir import Function, module
from antiphase.machine._in_flight import lds_queue
from antiphase.machine._layout import Layout
from antiphase.machine._lower import FloatMode, Value
from antiphase.machine._matrix_call import translate_matrix
from antiphase.machine._modes import after, block_modes, float_mode, hardware_register, mode_bits
from antiphase.machine._vgpr_banks import with_full_numbers
from antiphase.machine._waits import waits

CHUNK = 64
"""Instructions per LLVM block: the code generator's time grows faster than a block's length."""


@dataclass(frozen=True, slots=True)
class Translation:
    """IR of a kernel.

    unsupported: instructions that would need something the machine does not have, by index, with the reason.
    barriers: the instruction of each barrier a wave can resume at; RESUME counts them after the blocks.
    """

    text: str
    symbol: str
    unsupported: dict[int, str]
    barriers: tuple[int, ...]


@dataclass(slots=True)
class _State:
    program: Program
    kernel: Kernel
    records: list[Record]
    context: Context
    pairs: dict[int, Alu] = field(default_factory=dict)
    resume_points: list[tuple[str, int]] = field(default_factory=list)
    unsupported: dict[int, str] = field(default_factory=dict)


def records_of(program: Program, kernel: Kernel) -> list[Record]:
    """The record of every instruction. UserError names the first instruction that none exists for."""
    return [_record(program, instruction) for instruction in kernel.instructions]


def _record(program: Program, instruction: Instruction) -> Record:
    record = find(instruction.mnemonic, program.target)
    if record is None:
        raise UserError(
            f"{program.target} instruction '{instruction.mnemonic}' is not known to antiphase",
            file=program.name, line=instruction.line,
            remedy="check its spelling, or see CONTRIBUTING.md for how to add an instruction",
        )  # fmt: skip
    return record


def _pairs(program: Program, kernel: Kernel) -> dict[int, Alu]:
    """Records of the second halves of dual-issue instructions, by index."""
    found: dict[int, Alu] = {}
    for index, instruction in enumerate(kernel.instructions):
        if instruction.pair is not None:
            record = _record(program, replace(instruction.pair, line=instruction.line))
            assert isinstance(record, Alu)
            found[index] = record
    return found


def translate(program: Program, kernel: Kernel, layout: Layout) -> Translation:
    """Translate for fast mode, or for recording mode if the layout has room for pending operations."""
    kernel = with_full_numbers(program, kernel)
    f = Function("kernel", "i32", [("ptr", "w")])
    context = Context(f, layout, program.target, FloatMode(), layout.recording, kernel.instructions[0], kernel.labels, kernel.descriptor)
    state = _State(program, kernel, records_of(program, kernel), context, _pairs(program, kernel))
    modes, disputed = block_modes(kernel)
    f.jump("dispatch")
    for block in kernel.blocks:
        if block.index in disputed:
            f.label(_name(block.index))
            _trap(state, block.start, "it is reached with two different values of MODE")
            continue
        # a block no path reaches still gets code, in the mode of the entry
        _block(state, block, modes.get(block.index, modes[0]))
    f.label("dispatch")
    cases = [f"i32 {i}, label %{_name(i)}" for i in range(len(kernel.blocks))]
    cases += [f"i32 {len(kernel.blocks) + i}, label %{point}" for i, (point, _) in enumerate(state.resume_points)]
    f.emit(f"switch i32 {f.load('i32', f.at('%w', at.RESUME))}, label %{_name(0)} [{' '.join(cases)}]")
    barriers = tuple(index for _, index in state.resume_points)
    return Translation(module([f]), f.name, state.unsupported, barriers)


def _name(block: int) -> str:
    return f"block.{block}"


def _block(state: _State, block: Block, mode: int) -> None:
    c, f, kernel = state.context, state.context.f, state.kernel
    f.label(_name(block.index))
    _enter(state, block)
    ended = False
    for index in range(block.start, block.end):
        instruction, record = kernel.instructions[index], state.records[index]
        if (index - block.start) % CHUNK == CHUNK - 1:
            next_ = f.block("chunk")
            f.jump(next_)
            f.label(next_)
        c.instruction, c.index, c.mode = instruction, index, float_mode(mode)
        ended = _instruction(state, record)
        mode = after(mode, instruction)
        if ended:
            break
    if not ended:
        _fall_through(state, block)


def _fall_through(state: _State, block: Block) -> None:
    if block.index + 1 < len(state.kernel.blocks):
        state.context.f.jump(_name(block.index + 1))
    else:
        _trap(state, block.end - 1, "running past the last instruction")


def _enter(state: _State, block: Block) -> None:
    """Count the block, and return to the host first if the budget or the room for events is used up."""
    c, f = state.context, state.context.f
    budget = f.load("i64", c.pointer(at.BUDGET))
    _leave_if(state, f.let(f"icmp sle i64 {budget}, 0"), at.STATUS_BUDGET, block.index)
    if c.recording:
        numbers = range(block.start, block.end)
        records = [state.records[i] for i in numbers]
        rows = sum(4 for r in records if isinstance(r, Memory))
        need = 1 + sum(2 if isinstance(r, Memory) else 1 for r in records)
        room = f.call("i1", "room", ("ptr", "%w"), ("i64", str(need)), ("i64", str(rows)))
        _leave_if(state, f.let(f"xor i1 {room}, true"), at.STATUS_RECORD, block.index)
        _event(c, events.BLOCK, block.index)
    length = block.end - block.start
    f.store("i64", f.let(f"sub i64 {budget}, {length}"), c.pointer(at.BUDGET))
    count = f.at(f.load("ptr", c.pointer(at.COUNTS)), 8 * block.index)
    f.store("i64", f.let(f"add i64 {f.load('i64', count)}, 1"), count)


def _event(c: Context, kind: int, number: int) -> None:
    c.f.call(
        "void", "record", ("ptr", "%w"), ("i32", str(kind)), ("i32", str(number)), ("i64", c.exec()), ("i64", "0")
    )


def _leave_if(state: _State, condition: str, status: int, resume: int) -> None:
    f = state.context.f
    with f.if_(condition):
        f.store("i32", str(resume), f.at("%w", at.RESUME))
        f.ret(str(status))
        f.label(f.block("unreachable"))


def _trap(state: _State, index: int, reason: str) -> None:
    """Execution arriving here cannot go on: the host raises Unsupported for the instruction in RESUME."""
    f = state.context.f
    state.unsupported[index] = reason
    f.store("i32", str(index), f.at("%w", at.RESUME))
    f.ret(str(at.STATUS_TRAP))


def _instruction(state: _State, record: Record) -> bool:
    """Emit one instruction; True if it ends the block."""
    c = state.context
    mark = len(c.f.lines)
    try:
        if isinstance(record, Alu):
            _alu(c, record, state.pairs.get(c.index))
        elif isinstance(record, Memory):
            translate_memory(c, record)
        elif isinstance(record, Matrix):
            translate_matrix(c, record)
        else:
            assert isinstance(record, Control)
            return _CONTROL[record.action](state, record)
    except Unsupported as error:
        del c.f.lines[mark:]
        c.pending.clear()
        _trap(state, c.index, str(error))
        return True
    except (AssertionError, IndexError, KeyError, TypeError, ValueError) as error:
        raise UserError(
            f"the operands of '{c.instruction.text()}' do not fit: {error}",
            file=state.program.name, line=c.instruction.line, remedy="check the line with an assembler",
        ) from error  # fmt: skip
    return False


def _alu(c: Context, record: Alu, pair: Alu | None) -> None:
    """Rounding other than to nearest is set around the instruction; blocks keep the compiler from moving code across."""
    if c.mode.round32 == 0 and c.mode.round64 == 0 or record.unit == "salu":
        translate_alu(c, record, pair)
        return
    widths = {slot.type.bits for slot in record.signature.results if slot.type.is_float}
    rounding = c.mode.round32 if widths <= {32} else c.mode.round64
    # AMD: nearest, up, down, to zero; llvm.set.rounding: to zero, nearest, up, down
    for value, inside in ((("1", "2", "3", "0")[rounding], True), ("1", False)):
        c.f.call("void", "llvm.set.rounding", ("i32", value))
        next_ = c.f.block("rounding")
        c.f.jump(next_)
        c.f.label(next_)
        if inside:
            translate_alu(c, record, pair)
            done = c.f.block("rounded")
            c.f.jump(done)
            c.f.label(done)


# -- control ----------------------------------------------------------------------------------------------------


def _branch(state: _State, record: Control) -> bool:
    c, f = state.context, state.context.f
    (operand,) = c.instruction.operands
    if not isinstance(operand, Label):
        raise Unsupported(f"a branch to {operand}")
    index = state.kernel.labels[operand.name]
    target = next((b.index for b in state.kernel.blocks if b.start == index), None)
    here = next(b.index for b in state.kernel.blocks if b.start <= c.index < b.end)
    if target is None:
        raise Unsupported(f"a branch to {operand}, where no instruction stands")
    if not record.condition:
        f.jump(_name(target))
        return True
    flags = {"scc": c.scc, "vcc": c.vccz, "exe": c.execz}
    flag = flags[record.condition[:3]]()
    if record.condition in ("scc0", "vccnz", "execnz"):
        flag = f.let(f"xor i1 {flag}, true")
    if here + 1 == len(state.kernel.blocks):
        raise Unsupported("a conditional branch as the last instruction")
    f.branch(flag, _name(target), _name(here + 1))
    return True


def _end(state: _State, record: Control) -> bool:
    if state.context.recording:
        _in_flight(state.context, "unpark")
    state.context.f.ret(str(at.STATUS_END))
    return True


def _barrier(state: _State, record: Control) -> bool:
    """Arrive and wait in one instruction."""
    _signal(state, str(at.WORKGROUP_BARRIER))
    return _await(state, str(at.WORKGROUP_BARRIER))


def _barrier_index(c: Context) -> str:
    """The barrier an instruction names: -1 workgroup, -3 cluster, 1 to 16 named, or a number in M0."""
    (operand,) = c.instruction.operands[-1:]
    if isinstance(operand, Imm):
        value = operand.value - (1 << 16 if operand.value > 32767 else 0)
        fixed = {-1: at.WORKGROUP_BARRIER, -3: at.CLUSTER_BARRIER}
        if value in fixed:
            return str(fixed[value])
        if 1 <= value <= 16:
            return str(at.FIRST_NAMED + value - 1)
        raise Unsupported(f"barrier {operand}")
    number = c.f.let(f"and i32 {c.read(operand, U32).text}, 63")
    return c.f.let(f"add i32 {number}, {at.FIRST_NAMED - 1}")


def _signal(state: _State, index: str) -> str:
    c = state.context
    if c.recording:
        _event(c, events.SYNC, c.index)
        _in_flight(c, "park")
    return c.f.call("i1", "barrier_signal", ("ptr", "%w"), ("i32", index))


def _barrier_signal(state: _State, record: Control) -> bool:
    c = state.context
    first = _signal(state, _barrier_index(c))
    if record.action == "barrier_signal_isfirst":
        c.write_scc(Value(first, B1, 1))
    return False


def _barrier_wait(state: _State, record: Control) -> bool:
    c = state.context
    if c.recording:
        _event(c, events.SYNC, c.index)
    index = _barrier_index(c)
    operand = c.instruction.operands[-1]
    if isinstance(operand, Imm) and 1 <= operand.value <= 16:
        # a wait on any named barrier waits on the one joined last
        index = c.f.load("i32", c.pointer(at.JOINED))
    return _await(state, index)


def _await(state: _State, index: str) -> bool:
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


def _barrier_init(state: _State, record: Control) -> bool:
    """Members of a named barrier: bits 22:16 of M0 (LLVM AMDGPUExecutionSynchronization)."""
    c, f = state.context, state.context.f
    m0 = c.read(Special("m0"), U32).text
    members = f.let(f"and i32 {f.let(f'lshr i32 {m0}, 16')}, 127")
    f.call("void", "barrier_init", ("ptr", "%w"), ("i32", _barrier_index(c)), ("i32", members))
    return False


def _barrier_join(state: _State, record: Control) -> bool:
    c = state.context
    c.f.store("i32", _barrier_index(c), c.pointer(at.JOINED))
    return False


def _barrier_leave(state: _State, record: Control) -> bool:
    """Leave the named barrier joined last; the result in SCC is not modelled beyond 'left'."""
    c = state.context
    c.f.call("void", "barrier_drop", ("ptr", "%w"), ("i32", c.f.load("i32", c.pointer(at.JOINED))))
    c.write_scc(Value("true", B1, 1))
    return False


def _wait(state: _State, record: Control) -> bool:
    c = state.context
    if not c.recording:
        return False
    _event(c, events.SYNC, c.index)
    base = c.pointer(c.layout.queues)
    known = COUNTERS[generation(c.target)]
    for name, count in waits(c.instruction, c.target):
        queue = str(known.index(name))
        was_parked = _in_flight(c, "unpark") if known.index(name) == lds_queue(c.target) else ""
        c.f.call("void", "wait", ("ptr", "%w"), ("ptr", base), ("i64", queue), ("i64", str(count)))
        if was_parked:
            with c.f.if_(was_parked):
                _in_flight(c, "park")
    return False


def _in_flight(c: Context, function: str) -> str:
    """Call `park` or `unpark` on the queue of LDS operations."""
    base, queue = c.pointer(c.layout.queues), str(lds_queue(c.target))
    result = "i1" if function == "unpark" else "void"
    return c.f.call(result, function, ("ptr", "%w"), ("ptr", base), ("i64", queue))


def _hint(state: _State, record: Control) -> bool:
    return False


def _setreg(state: _State, record: Control) -> bool:
    name, _, _ = hardware_register(state.context.instruction)
    if name not in ("HW_REG_MODE", "HW_REG_WAVE_MODE", "HW_REG_WAVE_SCHED_MODE", "HW_REG_SCHED_MODE"):
        raise Unsupported(f"writing {name}")
    if name in ("HW_REG_MODE", "HW_REG_WAVE_MODE") and not isinstance(state.context.instruction.operands[-1], Imm):
        raise Unsupported("MODE set from a register; its value must be known when the code is translated")
    return False


def _getreg(state: _State, record: Control) -> bool:
    """MODE is known; a kernel on this machine runs on XCC 0."""
    c = state.context
    name, offset, size = hardware_register(c.instruction)
    if name not in ("HW_REG_XCC_ID", "XCC_ID", "HW_REG_MODE", "HW_REG_WAVE_MODE"):
        raise Unsupported(f"reading {name}")
    value = mode_bits(c.mode) if name.endswith("MODE") else 0
    destination = c.instruction.operands[0]
    assert isinstance(destination, Reg | Special)
    c.write_scalar(destination, Value(str(value >> offset & (1 << size) - 1), U32, 1))
    return False


def _alloc_vgpr(state: _State, record: Control) -> bool:
    """s_alloc_vgpr: the request is granted if the wave's register file holds it; SCC says so."""
    c = state.context
    wanted = c.read(c.instruction.operands[0], U32)
    limit = Value(str(c.layout.vgprs), U32, 1)
    c.write_scc(c.lowering([], 1).binary("icmp ule", wanted, limit, B1))
    return False


def _getpc(state: _State, record: Control) -> bool:
    c = state.context
    destination = c.instruction.operands[0]
    assert isinstance(destination, Reg | Special)
    c.write_scalar(destination, Value(str((c.index + 1) * PC_STEP), U64, 1))
    return False


def _setpc(state: _State, record: Control) -> bool:
    """A computed jump: to a block of this kernel, else a trap."""
    c, f = state.context, state.context.f
    address = c.read(c.instruction.operands[0], U64).text
    cases = [f"i64 {b.start * PC_STEP}, label %{_name(b.index)}" for b in state.kernel.blocks]
    elsewhere = f.block("elsewhere")
    f.emit(f"switch i64 {address}, label %{elsewhere} [{' '.join(cases)}]")
    f.label(elsewhere)
    _trap(state, c.index, "a jump out of the kernel")
    return True


def _unsupported(state: _State, record: Control) -> bool:
    raise Unsupported(f"{record.name} (calls and computed jumps)" if record.action != "trap" else record.name)


_CONTROL = {
    "branch": _branch, "end": _end, "wait": _wait, "hint": _hint, "priority": _hint, "barrier": _barrier,
    "barrier_signal": _barrier_signal, "barrier_signal_isfirst": _barrier_signal, "barrier_wait": _barrier_wait,
    "barrier_init": _barrier_init, "barrier_join": _barrier_join, "barrier_leave": _barrier_leave,
    "vgpr_msb": _hint, "mode": _hint, "alloc_vgpr": _alloc_vgpr,
    "message": _hint, "setreg": _setreg, "getreg": _getreg, "trap": _unsupported, "getpc": _getpc,
    "setpc": _setpc, "swappc": _unsupported, "call": _unsupported,
}  # fmt: skip

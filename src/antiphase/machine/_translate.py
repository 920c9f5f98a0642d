"""A kernel to one native function per wave: blocks become basic blocks, barriers and host calls become returns.

The function takes the wave's state and returns a STATUS_: it runs until the wave meets a barrier, ends, exhausts its
instruction budget or needs room for events, and continues from RESUME when called again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from antiphase.asm import Block, Imm, Kernel, Label, Program, Reg, Special, Waits
from antiphase.errors import Unsupported, UserError
from antiphase.isa import Alu, Control, Matrix, Memory, Record, U32, find
from antiphase.machine import _events as events
from antiphase.machine import _layout as at
from antiphase.machine._access import translate_memory
from antiphase.machine._alu import translate_alu
from antiphase.machine._context import Context
from antiphase.machine._ir import Function, module
from antiphase.machine._layout import Layout
from antiphase.machine._lower import FloatMode, Value
from antiphase.machine._matrix_call import translate_matrix
from antiphase.machine._modes import after, block_modes, float_mode, hardware_register
from antiphase.machine._pending import LGKMCNT, VMCNT


@dataclass(frozen=True, slots=True)
class Translation:
    """IR of a kernel, and the instructions that would need something the machine does not have, by index."""

    text: str
    symbol: str
    unsupported: dict[int, str]


@dataclass(slots=True)
class _State:
    program: Program
    kernel: Kernel
    records: list[Record]
    context: Context
    resume_points: list[str] = field(default_factory=list)
    unsupported: dict[int, str] = field(default_factory=dict)


def records_of(program: Program, kernel: Kernel) -> list[Record]:
    """The record of every instruction. UserError names the first instruction that none exists for."""
    found: list[Record] = []
    for instruction in kernel.instructions:
        record = find(instruction.mnemonic, program.target)
        if record is None:
            raise UserError(
                f"{program.target} instruction '{instruction.mnemonic}' is not known to antiphase",
                file=program.name, line=instruction.line,
                remedy="check its spelling, or see CONTRIBUTING.md for how to add an instruction",
            )  # fmt: skip
        found.append(record)
    return found


def translate(program: Program, kernel: Kernel, layout: Layout) -> Translation:
    """Translate for fast mode, or for recording mode if the layout has room for pending operations."""
    f = Function("kernel", "i32", [("ptr", "w")])
    context = Context(f, layout, program.target, FloatMode(), layout.recording, kernel.instructions[0])
    state = _State(program, kernel, records_of(program, kernel), context)
    modes = block_modes(kernel)
    f.jump("dispatch")
    for block in kernel.blocks:
        # a block no path reaches still gets code, in the mode of the entry
        _block(state, block, modes.get(block.index, modes[0]))
    f.label("dispatch")
    cases = [f"i32 {i}, label %{_name(i)}" for i in range(len(kernel.blocks))]
    cases += [f"i32 {len(kernel.blocks) + i}, label %{point}" for i, point in enumerate(state.resume_points)]
    f.emit(f"switch i32 {f.load('i32', f.at('%w', at.RESUME))}, label %{_name(0)} [{' '.join(cases)}]")
    return Translation(module([f]), f.name, state.unsupported)


def _name(block: int) -> str:
    return f"block.{block}"


def _block(state: _State, block: Block, mode: int) -> None:
    c, f, kernel = state.context, state.context.f, state.kernel
    f.label(_name(block.index))
    _enter(state, block)
    ended = False
    for index in range(block.start, block.end):
        instruction, record = kernel.instructions[index], state.records[index]
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
            _alu(c, record)
        elif isinstance(record, Memory):
            translate_memory(c, record)
        elif isinstance(record, Matrix):
            translate_matrix(c, record)
        else:
            assert isinstance(record, Control)
            return _CONTROL[record.action](state, record)
    except Unsupported as error:
        del c.f.lines[mark:]
        _trap(state, c.index, str(error))
        return True
    return False


def _alu(c: Context, record: Alu) -> None:
    """Rounding other than to nearest is set around the instruction; blocks keep the compiler from moving code across."""
    if c.mode.round32 == 0 and c.mode.round64 == 0 or record.unit == "salu":
        translate_alu(c, record)
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
            translate_alu(c, record)
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
    state.context.f.ret(str(at.STATUS_END))
    return True


def _barrier(state: _State, record: Control) -> bool:
    c, f = state.context, state.context.f
    if c.recording:
        _event(c, events.SYNC, c.index)
    point = f.block("after_barrier")
    f.store("i32", str(len(state.kernel.blocks) + len(state.resume_points)), c.pointer(at.RESUME))
    f.ret(str(at.STATUS_BARRIER))
    state.resume_points.append(point)
    f.label(point)
    return False


_COUNTERS = {"vmcnt": VMCNT, "lgkmcnt": LGKMCNT}


def _wait(state: _State, record: Control) -> bool:
    c = state.context
    if not c.recording:
        return False
    _event(c, events.SYNC, c.index)
    (operand,) = c.instruction.operands
    counts = operand.counts if isinstance(operand, Waits) else _encoded_waits(operand)
    base = c.pointer(c.layout.queues)
    for name, count in counts:
        if name in _COUNTERS:
            queue = str(_COUNTERS[name])
            c.f.call("void", "wait", ("ptr", "%w"), ("ptr", base), ("i64", queue), ("i64", str(count)))
    return False


def _encoded_waits(operand: object) -> tuple[tuple[str, int], ...]:
    """The gfx9 immediate: vmcnt in bits 3:0 and 15:14, expcnt in 6:4, lgkmcnt in 11:8 (LLVM AMDGPUBaseInfo)."""
    if not isinstance(operand, Imm):
        raise Unsupported(f"s_waitcnt {operand}")
    value = operand.value
    return ("vmcnt", value & 15 | value >> 10 & 48), ("lgkmcnt", value >> 8 & 15)


def _hint(state: _State, record: Control) -> bool:
    return False


def _setreg(state: _State, record: Control) -> bool:
    name, _, _ = hardware_register(state.context.instruction)
    if name != "HW_REG_MODE":
        raise Unsupported(f"writing {name}")
    return False


def _getreg(state: _State, record: Control) -> bool:
    """MODE is known; a kernel on this machine runs on XCC 0."""
    c = state.context
    name, _, _ = hardware_register(c.instruction)
    if name not in ("HW_REG_XCC_ID", "XCC_ID"):
        raise Unsupported(f"reading {name}")
    destination = c.instruction.operands[0]
    assert isinstance(destination, Reg | Special)
    c.write_scalar(destination, Value("0", U32, 1))
    return False


def _unsupported(state: _State, record: Control) -> bool:
    raise Unsupported(f"{record.name} (calls and computed jumps)" if record.action != "trap" else record.name)


_CONTROL = {
    "branch": _branch, "end": _end, "barrier": _barrier, "wait": _wait, "hint": _hint, "priority": _hint,
    "message": _hint, "setreg": _setreg, "getreg": _getreg, "trap": _unsupported, "getpc": _unsupported,
    "setpc": _unsupported, "swappc": _unsupported, "call": _unsupported,
}  # fmt: skip

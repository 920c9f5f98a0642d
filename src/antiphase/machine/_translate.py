"""A kernel to one native function per wave: blocks become basic blocks, barriers and host calls become returns.

The function takes the wave's state and returns a STATUS_: it runs until the wave meets a barrier, ends, exhausts its
instruction budget or needs room for events, and continues from RESUME when called again.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from antiphase.asm import Block, Instruction, Kernel, Label, Program
from antiphase.errors import Unsupported, UserError
from antiphase.isa import B1, COUNTERS, U32, Alu, Control, Matrix, Memory, Record, find, generation, reason
from antiphase.machine import _layout as at
from antiphase.machine._context import Context
from antiphase.machine._image import Image, image_of
from antiphase.machine._layout import Layout
from antiphase.machine._rules import check_lines
from antiphase.machine.alu._alu import translate_alu
from antiphase.machine.alu._forms import forms_of
from antiphase.machine.alu._gpr_index import is_indexing
from antiphase.machine.alu._relative import is_relative, translate_relative
from antiphase.machine.alu._vgpr_banks import with_full_numbers
from antiphase.machine.control._barrier_calls import BARRIERS
from antiphase.machine.control._calls import CALLS, computed_jumps
from antiphase.machine.control._exceptions import note_exceptions, reads_flags
from antiphase.machine.control._flow import State, block_name, event, in_flight, leave_if, trap
from antiphase.machine.control._hardware import HARDWARE
from antiphase.machine.control._known_modes import with_known_modes
from antiphase.machine.control._messages import MESSAGES
from antiphase.machine.control._modes import after, block_modes, float_mode, register_bits, skips_vectors
from antiphase.machine.control._waits import waits
from antiphase.machine.llvm._ir import Function, module
from antiphase.machine.llvm._lower import FloatMode, Value
from antiphase.machine.matrix._matrix_call import translate_matrix
from antiphase.machine.transfer._access import translate_memory
from antiphase.machine.waves import _events as events
from antiphase.machine.waves._in_flight import lds_queue

CHUNK = 64
"""Instructions per LLVM block: the code generator's time grows faster than a block's length."""


@dataclass(frozen=True, slots=True)
class Translation:
    """IR of a kernel.

    unsupported: instructions that would need something the machine does not have, by index, with the reason.
    barriers: the instruction of each barrier a wave can resume at; RESUME counts them after the blocks.
    sites: places that record addresses. events: the most that one block writes. image: the program's data.
    traps: why instructions stop that do so only with some values, by index.
    """

    text: str
    symbol: str
    unsupported: dict[int, str]
    barriers: tuple[int, ...]
    sites: int
    events: int
    image: Image
    traps: dict[int, str]


def records_of(program: Program, kernel: Kernel) -> list[Record]:
    """The record of every instruction. UserError names the first instruction that none exists for."""
    return [_record(program, instruction) for instruction in kernel.instructions]


def _record(program: Program, instruction: Instruction) -> Record:
    record = find(instruction.mnemonic, program.target)
    if record is None and (known := reason(instruction.mnemonic, program.target)) is not None:
        raise UserError(
            f"{program.target} instruction '{instruction.mnemonic}' is not supported: {known}",
            file=program.name, line=instruction.line,
            remedy=f"see antiphase isa show {instruction.mnemonic}",
        )  # fmt: skip
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
    known = with_known_modes(with_full_numbers(program, kernel), program.target)
    kernel = known.kernel
    f = Function("kernel", "i32", [("ptr", "w")])
    context = Context(
        f,
        layout,
        program.target,
        FloatMode(),
        layout.recording,
        kernel.instructions[0],
        kernel.labels,
        kernel.descriptor,
        image_of(program, kernel),
    )
    modes, disputed = block_modes(kernel)
    forms = forms_of(_with_modes(kernel, modes))
    state = State(program, kernel, records_of(program, kernel), context, forms, _pairs(program, kernel))
    check_lines(program, kernel)
    state.keeps_flags, state.assumed = reads_flags(kernel), known.assumed
    f.jump("dispatch")
    for block in kernel.blocks:
        if block.index in disputed:
            f.label(block_name(block.index))
            trap(state, block.start, "it is reached with two different values of MODE")
            continue
        # a block no path reaches still gets code, in the mode of the entry
        _block(state, block, modes.get(block.index, modes[0]))
    computed_jumps(state)
    f.label("dispatch")
    cases = [f"i32 {i}, label %{block_name(i)}" for i in range(len(kernel.blocks))]
    cases += [f"i32 {len(kernel.blocks) + i}, label %{point}" for i, (point, _) in enumerate(state.resume_points)]
    f.emit(f"switch i32 {f.load('i32', f.at('%w', at.RESUME))}, label %{block_name(0)} [{' '.join(cases)}]")
    barriers = tuple(index for _, index in state.resume_points)
    text = module([f, *forms.functions.values()])
    return Translation(
        text, f.name, state.unsupported, barriers, context.sites, _most_events(state), context.image, context.traps
    )  # fmt: skip


def _most_events(state: State) -> int:
    each = [0, *itertools.accumulate(map(events.most, state.records))]
    return 2 + max(each[block.end] - each[block.start] for block in state.kernel.blocks)


def _with_modes(kernel: Kernel, modes: Mapping[int, int]) -> Iterator[tuple[Instruction, FloatMode]]:
    """Every instruction with the MODE it runs in."""
    for block in kernel.blocks:
        mode = modes.get(block.index, modes[0])
        for instruction in kernel.instructions[block.start : block.end]:
            yield instruction, float_mode(mode)
            mode = after(mode, instruction)


def _block(state: State, block: Block, mode: int) -> None:
    c, f, kernel = state.context, state.context.f, state.kernel
    f.label(block_name(block.index))
    _enter(state, block)
    ended = False
    for index in range(block.start, block.end):
        instruction, record = kernel.instructions[index], state.records[index]
        if (index - block.start) % CHUNK == CHUNK - 1:
            next_ = f.block("chunk")
            f.jump(next_)
            f.label(next_)
        c.instruction, c.index, c.mode = instruction, index, float_mode(mode)
        c.indexing, c.mode_register = is_indexing(mode, c.target), register_bits(mode, c.target)
        ended = not (skips_vectors(mode, c.target) and _is_vector(record)) and _instruction(state, record)
        mode = after(mode, instruction)
        if ended:
            break
    if not ended:
        _fall_through(state, block)


def _is_vector(record: Record) -> bool:
    if isinstance(record, Memory):
        return record.space != "smem"
    return isinstance(record, Matrix) or (isinstance(record, Alu) and record.unit == "valu")


def _fall_through(state: State, block: Block) -> None:
    if block.index + 1 < len(state.kernel.blocks) and block.end not in {one.end for one in state.kernel.functions}:
        state.context.f.jump(block_name(block.index + 1))
    else:
        trap(state, block.end - 1, "running past the last instruction")


def _enter(state: State, block: Block) -> None:
    """Count the block, and return to the host first if the budget or the room for events is used up."""
    c, f = state.context, state.context.f
    budget = f.load("i64", c.pointer(at.BUDGET))
    leave_if(state, f.let(f"icmp sle i64 {budget}, 0"), at.STATUS_BUDGET, block.index)
    if c.recording:
        numbers = range(block.start, block.end)
        records = [state.records[i] for i in numbers]
        rows = sum(events.most(r) for r in records if isinstance(r, Memory))
        need = 1 + sum(map(events.most, records))
        room = f.call("i1", "room", ("ptr", "%w"), ("i64", str(need)), ("i64", str(rows)))
        leave_if(state, f.let(f"xor i1 {room}, true"), at.STATUS_RECORD, block.index)
        event(c, events.BLOCK, block.index)
    length = block.end - block.start
    f.store("i64", f.let(f"sub i64 {budget}, {length}"), c.pointer(at.BUDGET))
    count = f.at(f.load("ptr", c.pointer(at.COUNTS)), 8 * block.index)
    f.store("i64", f.let(f"add i64 {f.load('i64', count)}, 1"), count)


def _instruction(state: State, record: Record) -> bool:
    """Emit one instruction; True if it ends the block."""
    c = state.context
    mark = len(c.f.lines)
    try:
        if state.keeps_flags:
            note_exceptions(c, record)
        if is_relative(c, record):
            translate_relative(c, state.forms, record, _alu)
        elif isinstance(record, Alu):
            state.forms.emit(c, record, state.pairs.get(c.index), _alu)
        elif isinstance(record, Memory):
            translate_memory(c, record)
        elif isinstance(record, Matrix):
            translate_matrix(c, record)
        else:
            assert isinstance(record, Control)
            return _CONTROL.get(record.action, _unsupported)(state, record)
    except Unsupported as error:
        del c.f.lines[mark:]
        c.pending.clear()
        trap(state, c.index, str(error))
        return True
    except (AssertionError, IndexError, KeyError, TypeError, ValueError) as error:
        why = str(error) if isinstance(error, ValueError) else "they are not those that it takes"
        raise UserError(
            f"the operands of '{c.instruction.text()}' do not fit: {why}",
            file=state.program.name, line=c.instruction.line, remedy="check the line with an assembler",
        ) from error  # fmt: skip
    return False


def _alu(c: Context, record: Alu, pair: Alu | None) -> None:
    """Rounding other than to nearest is set around the instruction; block borders keep code from moving across."""
    floats = any(slot.type.is_float for slot in record.signature.results)
    if (c.mode.round32 == 0 and c.mode.round64 == 0) or (record.unit == "salu" and not floats):
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


def _branch(state: State, record: Control) -> bool:
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
        f.jump(block_name(target))
        return True
    flags = {"scc": c.scc, "vcc": c.vccz, "exe": c.execz}
    flag = flags[record.condition[:3]]()
    if record.condition in ("scc0", "vccnz", "execnz"):
        flag = f.let(f"xor i1 {flag}, true")
    if here + 1 == len(state.kernel.blocks):
        raise Unsupported("a conditional branch as the last instruction")
    f.branch(flag, block_name(target), block_name(here + 1))
    return True


def _end(state: State, record: Control) -> bool:
    if state.context.recording:
        in_flight(state.context, "unpark")
    state.context.f.ret(str(at.STATUS_END))
    return True


def _wait(state: State, record: Control) -> bool:
    c = state.context
    if not c.recording:
        return False
    event(c, events.SYNC, c.index)
    base = c.pointer(c.layout.queues)
    known = COUNTERS[generation(c.target)]
    for name, count in waits(c.instruction, c.target):
        queue = str(known.index(name))
        was_parked = in_flight(c, "unpark") if known.index(name) == lds_queue(c.target) else ""
        c.f.call("void", "wait", ("ptr", "%w"), ("ptr", base), ("i64", queue), ("i64", str(count)))
        if was_parked:
            with c.f.if_(was_parked):
                in_flight(c, "park")
    return False


def _hint(state: State, record: Control) -> bool:
    if record.name in ("s_sleep", "s_sleep_var"):
        _let_others_run(state)
    return False


def _let_others_run(state: State) -> None:
    """Waves sleep while they wait for what another wave writes, such as an LDS barrier: it must get its turn."""
    c, f = state.context, state.context.f
    awake = f.block("awake")
    f.store("i32", str(len(state.kernel.blocks) + len(state.resume_points)), c.pointer(at.RESUME))
    f.ret(str(at.STATUS_RUN))
    state.resume_points.append((awake, c.index))
    f.label(awake)


def _alloc_vgpr(state: State, record: Control) -> bool:
    """s_alloc_vgpr: the request is granted if the wave's register file holds it; SCC says so."""
    c = state.context
    wanted = c.read(c.instruction.operands[0], U32)
    limit = Value(str(c.layout.vgprs), U32, 1)
    c.write_scc(c.lowering([], 1).binary("icmp ule", wanted, limit, B1))
    return False


def _unsupported(state: State, record: Control) -> bool:
    raise Unsupported(str(reason(record.name, state.program.target) or f"what {record.name} does is not modelled"))


_CONTROL = {
    "branch": _branch, "end": _end, "wait": _wait, "hint": _hint, "priority": _hint, "vgpr_msb": _hint,
    "gpr_idx_off": _hint, "mode": _hint, "alloc_vgpr": _alloc_vgpr,
    **CALLS, **BARRIERS, **MESSAGES, **HARDWARE,
}  # fmt: skip

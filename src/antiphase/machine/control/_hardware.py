"""Hardware registers, clocks, and messages that are answered.

Every clock shows the same count: instructions that the host thread has executed. Where a wave runs is made up: all
workgroups on the first compute unit of the first chiplet, their waves dealt out to its SIMDs (manuals: not predictable,
and it may change while a wave runs). No trap handler is there, so TBA and TMA are 0, and there is one queue, number 0.
Sources: AMD CDNA3 ISA 3.12 and 5.8, CDNA4 ISA 5.8, RDNA3 ISA 3.4, RDNA4 ISA 3.4 and 5.4, CDNA5 ISA 3.4 and 5.4.
"""

from __future__ import annotations

from antiphase.asm import Call, Imm, Reg, Special
from antiphase.errors import Unsupported
from antiphase.isa import COUNTERS, U32, U64, Control, generation
from antiphase.machine import _layout as at
from antiphase.machine._context import Context
from antiphase.machine.control._exceptions import FLAGS, read_flags, write_flags
from antiphase.machine.control._flow import State, stop_if
from antiphase.machine.control._modes import MODE, hardware_register
from antiphase.machine.llvm._lower import Value
from antiphase.machine.transfer._operation import capacity
from antiphase.machine.transfer._scalar import ticks
from antiphase.machine.waves._faults import PRIVATE_APERTURE, SHARED_APERTURE
from antiphase.machine.waves._pending import UNORDERED

_SCHEDULING = ("SCHED_MODE",)
_ANSWERS = {
    "MSG_RTN_GET_DOORBELL": 0x80, "MSG_RTN_GET_DDID": 0x81, "MSG_RTN_GET_TMA": 0x82, "MSG_RTN_GET_REALTIME": 0x83,
    "MSG_RTN_GET_TBA": 0x85, "MSG_RTN_GET_SE_AID_ID": 0x87,
}  # fmt: skip
_REALTIME = 0x83
_ACE = 1 << 8
"""ME_ID of HW_ID2: the first engine that dispatches compute kernels."""


def _setreg(state: State, record: Control) -> bool:
    c = state.context
    name, offset, size = hardware_register(c.instruction)
    if name in FLAGS:
        write_flags(c, offset, size)
    elif name in MODE:
        _set_mode(state, offset, size)
    elif _plain(name) not in _SCHEDULING:
        raise Unsupported(f"writing {name}, which this machine does not keep")
    return False


def _set_mode(state: State, offset: int, size: int) -> None:
    """MODE is followed before translation; a value that was assumed there has to be right."""
    c = state.context
    register = state.assumed.get(c.index)
    if register is None:
        return
    assumed = c.instruction.operands[-1]
    assert isinstance(assumed, Imm)
    field = (1 << size) - 1
    different = c.f.let(f"xor i32 {c.read(register, U32).text}, {assumed.value & 0xFFFFFFFF}")
    wrong = c.f.let(f"icmp ne i32 {c.f.let(f'and i32 {different}, {field}')}, 0")
    stop_if(c, wrong, "MODE set to a value that is known only here and is not the one the kernel began with")


def _getreg(state: State, record: Control) -> bool:
    c = state.context
    name, offset, size = hardware_register(c.instruction)
    if name in FLAGS:
        field, unknown = read_flags(c, offset, size)
        stop_if(c, unknown, "exception flags of other float instructions than minimum and maximum are not modelled")
        c.write_scalar(_destination(c), field)
        return False
    word = c.f.let(f"lshr i32 {_register(c, name)}, {offset}")
    _write(c, c.f.let(f"and i32 {word}, {(1 << size) - 1}"))
    return False


def _register(c: Context, name: str) -> str:
    """A hardware register as an i32."""
    kind = generation(c.target)
    match _plain(name):
        case "MODE":
            return str(c.mode_register)
        case "SHADER_CYCLES":
            return c.f.let(f"and i32 {c.f.let(f'trunc i64 {ticks(c)} to i32')}, {(1 << 20) - 1}")
        case "SHADER_CYCLES_LO":
            return c.f.let(f"trunc i64 {ticks(c)} to i32")
        case "SHADER_CYCLES_HI":
            return c.f.let(f"trunc i64 {c.f.let(f'lshr i64 {ticks(c)}, 32')} to i32")
        case "HW_ID" | "HW_ID1":
            return _place_of_wave(c, 4 if kind == "gfx9" else 8)
        case "HW_ID2":
            return str(_ACE)
        case "XCC_ID":
            return "0"
        case "IB_STS2":
            return c.f.load("i32", c.pointer(at.CLUSTER_STATUS))
        case "LDS_ALLOC" if kind == "gfx9":
            units = c.f.let(f"lshr i64 {c.f.let(f'add i64 {_lds_size(c)}, 255')}, 8")
            return c.f.let(f"shl i32 {c.f.let(f'trunc i64 {units} to i32')}, 12")
        case "SH_MEM_BASES":
            return str(SHARED_APERTURE & 0xFFFF0000 | PRIVATE_APERTURE >> 16)
    shown = f"hardware register {name}" if name.isdigit() else name
    raise Unsupported(f"reading {shown}, which this machine does not keep")


def _plain(name: str) -> str:
    """`HW_REG_WAVE_MODE` and `HW_REG_MODE` are `MODE`."""
    return name.removeprefix("HW_REG_").removeprefix("WAVE_")


def _place_of_wave(c: Context, simd_bit: int) -> str:
    """The slot in the lowest bits, the SIMD of four above."""
    wave = c.f.load("i32", c.pointer(at.WAVE))
    simd = c.f.let(f"shl i32 {c.f.let(f'and i32 {wave}, 3')}, {simd_bit}")
    return c.f.let(f"or i32 {c.f.let(f'lshr i32 {wave}, 2')}, {simd}")


def _lds_size(c: Context) -> str:
    return c.f.load("i64", c.pointer(at.LDS_SIZE))


def _vskip(state: State, record: Control) -> bool:
    """VSKIP is a bit of MODE and known here as all of it; what it skips is left out of the code."""
    if not all(isinstance(operand, Imm) for operand in state.context.instruction.operands):
        raise Unsupported("VSKIP set from a register: which instructions run must be known when they are translated")
    return False


def _cycles(state: State, record: Control) -> bool:
    c = state.context
    c.write_scalar(_destination(c), Value(ticks(c), U64, 1))
    return False


def _message_return(state: State, record: Control) -> bool:
    c = state.context
    operand = c.instruction.operands[1]
    name = operand.args[0] if isinstance(operand, Call) else ""
    number = _ANSWERS.get(name, operand.value & 0xFF if isinstance(operand, Imm) else -1)
    if number not in _ANSWERS.values():
        raise Unsupported(f"message {operand} has no answer that a manual states for a kernel")
    _answer(c, ticks(c) if number == _REALTIME else "0", 2 if record.name.endswith("b64") else 1)
    return False


def _answer(c: Context, value: str, dwords: int) -> None:
    """An i64 into the destination: like a scalar load, it is there when a wait covers it."""
    destination = _destination(c)
    bits = 32 * dwords
    value = value if dwords == 2 else c.f.let(f"trunc i64 {value} to i32")
    place = c.layout.scalar(destination)
    if place is None or not c.recording:
        c.write_scalar(destination, Value(value, U64 if dwords == 2 else U32, 1))
        return
    known = COUNTERS[generation(c.target)]
    name = "kmcnt" if "kmcnt" in known else "lgkmcnt"
    queue = ("ptr", "%w"), ("ptr", c.pointer(c.layout.queues)), ("i64", str(known.index(name)))
    c.f.call("void", "issue", *queue, ("i32", str(capacity(c.target, name))))
    slot = ("i32", str(at.KIND_SGPR | UNORDERED)), ("i32", str(place)), ("i32", str(dwords)), ("i32", "0"), ("i64", "1")
    data = c.f.call("ptr", "pend", *queue, *slot)
    c.f.store(f"i{bits}", value, data, 4)
    c.f.call("void", "poison", ("ptr", "%w"), ("ptr", data))


def _destination(c: Context) -> Reg | Special:
    destination = c.instruction.operands[0]
    assert isinstance(destination, Reg | Special)
    return destination


def _write(c: Context, value: str) -> None:
    c.write_scalar(_destination(c), Value(value, U32, 1))


HARDWARE = {
    "setreg": _setreg, "getreg": _getreg, "vskip": _vskip, "cycles": _cycles, "message_return": _message_return,
}  # fmt: skip
"""By a record's action: emit the instruction, and whether it ends the block."""

"""The invalid flag of a wave, for kernels that read the exception flags.

It is kept for the minimum and maximum instructions of RDNA 4, which set it for a signalling NaN (RDNA4 ISA pp. 304-305,
525-526). What other float instructions raise is not modelled: a wave that has executed one reads no flags.
"""

from __future__ import annotations

from antiphase.asm import Call, Kernel, Operand
from antiphase.errors import Unsupported
from antiphase.isa import B1, U32, Alu, Matrix, Memory, Record, generation
from antiphase.machine import _layout as at
from antiphase.machine._context import Context
from antiphase.machine.alu._alu import bind
from antiphase.machine.llvm._lower import Value

FLAGS = ("HW_REG_EXCP_FLAG_USER", "HW_REG_WAVE_EXCP_FLAG_USER", "HW_REG_TRAPSTS")
_EXCP_BITS = 9
"""Of TRAPSTS, which has other things above (AMD CDNA3 ISA 3.9, RDNA3 ISA 3.4.9)."""
INVALID, UNKNOWN = 1, 1 << 31
"""Bit 0 as the register has it; UNKNOWN is ours."""

_RAISING = frozenset(f"v_{name}_f32" for name in ("min_num", "max_num", "minimum", "maximum", "min", "max"))
_QUIET, _INFINITY = 0x7FC00000, 0x7F800000


def reads_flags(kernel: Kernel) -> bool:
    """Whether a kernel asks for the flags, so that they must be kept."""
    read = (i.operands[-1] for i in kernel.instructions if i.mnemonic == "s_getreg_b32")
    return any(isinstance(register, Call) and register.args[0] in FLAGS for register in read)


def note_exceptions(c: Context, record: Record) -> None:
    """Set the flags of an instruction that is about to execute."""
    if not _has_floats(record):
        return
    if isinstance(record, Alu) and record.name in _RAISING and generation(c.target) == "gfx12" and not _modified(c):
        sources = [_signalling(c, operand) for operand in bind(c.instruction, record).sources if operand is not None]
        masks = [c.lowering([]).mask(source) for source in sources]
        some = c.f.let(f"icmp ne i64 {c.f.let(f'or i64 {masks[0]}, {masks[1]}')}, 0")
        _set(c, c.f.let(f"zext i1 {some} to i32"))
    else:
        _set(c, str(UNKNOWN))


def _has_floats(record: Record) -> bool:
    if isinstance(record, Alu):
        return any(slot.type.is_float for slot in (*record.signature.sources, *record.signature.results))
    return isinstance(record, Matrix) or (isinstance(record, Memory) and record.type.is_float)


def _modified(c: Context) -> bool:
    """With clamp, or with lanes moved on the way, the sources below are not what the manual speaks of."""
    return bool(c.instruction.modifiers)


def _signalling(c: Context, operand: Operand) -> Value:
    lowering = c.lowering([])
    word = lowering.splat(c.read(operand, U32), c.layout.lanes)
    size = lowering.binary("and", word, Value(str(0x7FFFFFFF), U32, 1))
    above = lowering.binary("icmp ugt", size, Value(str(_INFINITY), U32, 1), B1)
    below = lowering.binary("icmp ult", size, Value(str(_QUIET), U32, 1), B1)
    return lowering.binary("and", above, below)


def _set(c: Context, bits: str) -> None:
    place = c.pointer(at.EXCEPTIONS)
    c.f.store("i32", c.f.let(f"or i32 {c.f.load('i32', place)}, {bits}"), place)


def read_flags(c: Context, offset: int, size: int) -> tuple[Value, str]:
    """A field of the flags, and the condition on which nothing is known of them."""
    _check_field(c, offset, size)
    word = c.f.load("i32", c.pointer(at.EXCEPTIONS))
    unknown = c.f.let(f"icmp slt i32 {word}, 0")
    field = c.f.let(f"and i32 {c.f.let(f'lshr i32 {word}, {offset}')}, {(1 << size) - 1}")
    return Value(field, U32, 1), unknown


def write_flags(c: Context, offset: int, size: int) -> None:
    """s_setreg: what it clears and sets in the flags."""
    _check_field(c, offset, size)
    field = (1 << size) - 1 << offset
    place = c.pointer(at.EXCEPTIONS)
    kept = c.f.let(f"and i32 {c.f.load('i32', place)}, {field ^ 0xFFFFFFFF}")
    moved = c.f.let(f"shl i32 {c.read(c.instruction.operands[-1], U32).text}, {offset}")
    c.f.store("i32", c.f.let(f"or i32 {kept}, {c.f.let(f'and i32 {moved}, {field}')}"), place)


def _check_field(c: Context, offset: int, size: int) -> None:
    if "TRAPSTS" in c.instruction.text() and offset + size > _EXCP_BITS:
        raise Unsupported(f"bits of HW_REG_TRAPSTS above the {_EXCP_BITS} of EXCP")

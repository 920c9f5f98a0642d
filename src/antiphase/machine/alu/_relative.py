"""Instructions whose registers are known at run time: the relative moves, and vector ALU instructions in index mode.

Each is a call of its form (`_forms`) with places computed from M0. Out of range a source is register 0 of its kind, and
with a result nothing is done (AMD CDNA3 ISA 3.6.1; RDNA3 ISA 3.3.1.4, 3.3.2.2; RDNA4 and CDNA5 ISA 3.3.1.3, 3.3.2.2).
VGPRs end where the kernel's own do, in blocks of 8; hardware may round to larger ones.

In index mode (CDNA3 ISA 6.6) a register both read and written is moved as the result is. AGPRs that are read are moved
as well: hipBLASLt saw it on gfx950 (tensilelite, KernelWriterModules.py, mapAcctoArchRegs). Nothing is known of matrix
instructions, of AGPRs that are written and of exchanges.
"""

from __future__ import annotations

from dataclasses import replace

from antiphase.asm import Instruction, Modified, Operand, Reg, Special
from antiphase.errors import Unsupported
from antiphase.isa import Alu, Matrix, Record, generation
from antiphase.machine import _layout as at
from antiphase.machine._context import Context
from antiphase.machine.alu._forms import Emit, Forms, form
from antiphase.machine.alu._vgpr_banks import operand_roles

_VCC = {"vcc": Reg("s", 106, 2), "vcc_lo": Reg("s", 106), "vcc_hi": Reg("s", 107)}
_FIRST_ENABLE = 12


def is_relative(c: Context, record: Record) -> bool:
    """Whether M0 says which registers an instruction means."""
    if isinstance(record, Alu):
        return bool(record.relative) or (c.indexing and record.unit == "valu")
    return c.indexing and isinstance(record, Matrix)


def translate_relative(c: Context, forms: Forms, record: Record, emit: Emit) -> None:
    """Emit an instruction that `is_relative`."""
    if not isinstance(record, Alu):
        raise Unsupported("a matrix instruction in GPR index mode")
    indices = _indices(c, record)
    operands = [_counted(c, o) if index else o for o, index in zip(c.instruction.operands, indices, strict=True)]
    found = form(replace(c.instruction, operands=tuple(operands)))
    if found is None:
        raise Unsupported(f"these operands of {record.name} in GPR index mode")
    results = sum(slot.role in ("operand", "mask") for slot in record.signature.results)
    moved = [(i < results, index) for i, index in enumerate(indices) if isinstance(_plain(operands[i]), Reg)]
    offsets: list[str] = []
    everything = "true"
    for register, (is_result, index) in zip(found[1], moved, strict=True):
        if not index:
            offsets.append(str(c.layout.vector(register) if register.bank in "va" else c.layout.scalar(register)))
            continue
        offset, inside, zero = (_vector if register.bank in "va" else _scalar)(c, register, index)
        if is_result:
            everything = c.f.let(f"and i1 {everything}, {inside}")
        else:
            offset = c.f.let(f"select i1 {inside}, i64 {offset}, i64 {zero}")
        offsets.append(offset)
    with c.f.if_(everything):
        forms.call(c, found, record, None, emit, offsets)


# -- which operands, by how much --------------------------------------------------------------------------------


def enable_bits(instruction: Instruction, record: Alu) -> list[int]:
    """For each operand, the bit of index mode's enables that is for its place: 0 to 2 a source, 3 the result."""
    return [role // 2 for role in operand_roles(instruction, record)]


def _indices(c: Context, record: Alu) -> list[str]:
    """For each operand, what M0 adds to its register number, an i32; '' for nothing."""
    m0 = c.f.load("i32", c.pointer(4 * at.M0))
    if record.relative:
        return [_field(c, m0, index.first, index.bits) if index else "" for index in record.relative]
    if any(slot.role == "tied2" for slot in record.signature.sources):
        raise Unsupported("an exchange in GPR index mode")
    index = _field(c, m0, 0, 8)
    indices: list[str] = []
    for operand, bit in zip(c.instruction.operands, enable_bits(c.instruction, record), strict=True):
        register = _plain(operand)
        if not (isinstance(register, Reg) and register.bank in "va"):
            indices.append("")
            continue
        if register.bank == "a" and bit == 3:
            raise Unsupported("an AGPR written in GPR index mode")
        enabled = c.f.let(f"trunc i32 {c.f.let(f'lshr i32 {m0}, {_FIRST_ENABLE + bit}')} to i1")
        indices.append(c.f.let(f"select i1 {enabled}, i32 {index}, i32 0"))
    return indices


def _field(c: Context, m0: str, first: int, bits: int) -> str:
    shifted = c.f.let(f"lshr i32 {m0}, {first}")
    return c.f.let(f"and i32 {shifted}, {(1 << bits) - 1}")


def _plain(operand: Operand) -> Operand:
    return operand.operand if isinstance(operand, Modified) else operand


def _counted(c: Context, operand: Operand) -> Operand:
    """An operand as a register with a number, which VCC has behind the SGPRs from GFX10 on."""
    if isinstance(operand, Special) and operand.name in _VCC and generation(c.target) != "gfx9":
        return _VCC[operand.name]
    if not isinstance(_plain(operand), Reg):
        raise Unsupported(f"{operand} relative to M0")
    return operand


# -- where that is ----------------------------------------------------------------------------------------------


def _vector(c: Context, register: Reg, index: str) -> tuple[str, str, str]:
    """Byte offset, whether the wave has the registers there, and the offset of VGPR 0."""
    f, layout = c.f, c.layout
    layout.vector(register)
    limit, before = (layout.vgprs, 0) if register.bank == "v" else (layout.agprs, layout.vgprs)
    largest = 1023 if generation(c.target) == "gfx1250" else 255
    number = f.let(f"add i32 {index}, {register.index}")
    near = f.let(f"icmp ule i32 {index}, {largest}")
    inside = f.let(f"and i1 {near}, {f.let(f'icmp ule i32 {number}, {limit - register.count}')}")
    bytes_ = f.let(f"mul i64 {f.let(f'zext i32 {number} to i64')}, {layout.plane}")
    return f.let(f"add i64 {bytes_}, {at.VGPRS + before * layout.plane}"), inside, str(at.VGPRS)


def _scalar(c: Context, register: Reg, index: str) -> tuple[str, str, str]:
    """Byte offset, whether SGPRs (or TTMPs, if the text names one) are there, and the offset of SGPR 0."""
    f = c.f
    first, last = (at.TTMP, at.TTMP + 15) if register.bank == "ttmp" else (0, 107)
    if generation(c.target) == "gfx9" and register.bank == "s":
        last = 101
    if register.count == 2:
        index = f.let(f"and i32 {index}, -2")
    past = f.let(f"add i32 {index}, {register.index}")
    inside = f.let(f"icmp ule i32 {past}, {last - first + 1 - register.count}")
    word = f.let(f"zext i32 {f.let(f'add i32 {past}, {first}')} to i64")
    return f.let(f"shl i64 {word}, 2"), inside, "0"

"""`port`: operands and offsets that another target does not take.

Offsets: LLVM AMDGPUModifierSyntax and the assembler; an offset that does not fit is cut without a word by some of them.
Aligned register tuples: LLVM AMDGPU.td, FeatureRequiresAlignedVGPRs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from antiphase.asm import Call, Imm, Instruction, Modified, Operand, Reg, RegList, Special
from antiphase.checks.port._issue import Issue, Port, unsolved
from antiphase.checks.port._names import parts
from antiphase.isa import Matrix, Memory, find, generation

_SIGNED, _UNSIGNED = True, False
# Bits of the offset field by address space and generation.
_OFFSET_BITS = {
    "buffer": {"gfx9": (12, _UNSIGNED), "gfx11": (12, _UNSIGNED), "gfx12": (23, _UNSIGNED)},
    "global": {"gfx9": (13, _SIGNED), "gfx11": (13, _SIGNED), "gfx12": (24, _SIGNED)},
    "scratch": {"gfx9": (13, _SIGNED), "gfx11": (13, _SIGNED), "gfx12": (24, _SIGNED)},
    "flat": {"gfx9": (12, _UNSIGNED), "gfx11": (12, _UNSIGNED), "gfx12": (24, _SIGNED)},
    "smem": {"gfx9": (21, _SIGNED), "gfx11": (21, _SIGNED), "gfx12": (24, _SIGNED)},
}
_ALIGNED = ("gfx9", "gfx1250")
_TAKE_MASKS = (
    "v_cmp_", "v_cndmask", "v_div_scale", "v_add_co", "v_addc", "v_sub_co", "v_subb", "v_subrev_co", "v_mad_u64",
    "v_mad_i64", "v_mad_co",
)  # fmt: skip


def operand_issues(port: Port) -> Iterator[Issue]:
    """Of all kinds; each changes the instruction where it can."""
    for step in (_newer_operands, _cdna_operands, _scalar_offset, _offset, _alignment, _layout):
        yield from step(port)


def _newer_operands(port: Port) -> Iterator[Issue]:
    """64-bit literals, and hardware registers by their newer names."""
    operands = port.instruction.operands
    wide = [str(o) for o in operands if isinstance(o, Imm) and not -(1 << 31) <= o.value < 1 << 32]
    if wide and port.generation != "gfx1250" and generation(port.old) == "gfx1250":
        yield unsolved(port, "operand", wide[0], "wide", "two halves: literals have 32 bits")
    named = [str(o) for o in operands if isinstance(o, Call) and o.args[:1] and o.args[0].startswith("HW_REG_WAVE_")]
    if named and port.generation in ("gfx9", "gfx11"):
        yield unsolved(port, "operand", named[0], "hwreg", "its older name, or none")


def _cdna_operands(port: Port) -> Iterator[Issue]:
    """What vector instructions of CDNA 3 and 4 do not take."""
    if port.generation != "gfx9" or generation(port.old) == "gfx9" or not port.instruction.mnemonic.startswith("v_"):
        return
    sources = port.instruction.operands[1:]
    half = next((str(reg) for reg in registers(port.instruction.operands) if reg.half), None)
    scalars = {str(o) for o in map(_plain, sources) if isinstance(o, Reg | Special) and _is_scalar(o)}
    literals = [str(o) for o in map(_plain, sources) if isinstance(o, Imm) and not -16 <= o.value <= 64]
    if half is not None:
        yield unsolved(port, "operand", half, "halves", "op_sel, SDWA, or shifts and v_perm_b32")
    if Special("null") in port.instruction.operands:
        yield unsolved(port, "operand", "null", "null", "a register that nothing reads")
    if len(sources) == 3 and literals and not parts(port.instruction.mnemonic)[0].startswith(("v_fmaak", "v_fmamk")):
        yield unsolved(port, "operand", literals[0], "literal", "a register that holds it: long encodings take none")
    if len(scalars) > 1 or (scalars and literals and len(sources) > 2):
        yield unsolved(port, "operand", ", ".join(sorted(scalars)), "scalars", "a VGPR for all but one of them")


def _plain(operand: Operand) -> Operand:
    return operand.operand if isinstance(operand, Modified) else operand


def _is_scalar(operand: Reg | Special) -> bool:
    return operand.bank in ("s", "ttmp") if isinstance(operand, Reg) else operand.name.startswith(("vcc", "m0", "exec"))


def _scalar_offset(port: Port) -> Iterator[Issue]:
    """GFX12 takes no constant for the scalar offset of a buffer instruction, CDNA no null."""
    if not (isinstance(port.record, Memory) and port.record.space == "buffer" and port.instruction.operands):
        return
    operand = port.instruction.operands[-1]
    new: Operand | None = None
    if port.generation in ("gfx12", "gfx1250") and isinstance(operand, Imm):
        new = Special("null") if operand.value == 0 else None
    elif port.generation == "gfx9" and operand == Special("null"):
        new = Imm(0, "0")
    else:
        return
    yield Issue("scalar_offset", "error", str(operand), (str(new),) if new is not None else None)
    if port.now is not None:
        port.now = replace(port.now, operands=(*port.now.operands[:-1], new)) if new is not None else None


def _offset(port: Port) -> Iterator[Issue]:
    record, offset = port.record, port.instruction.modifier("offset")
    if not isinstance(record, Memory) or record.space not in _OFFSET_BITS:
        return
    if record.space == "smem" and offset is None and isinstance(operand := port.instruction.operands[-1:], tuple):
        offset = operand[0].value if operand and isinstance(operand[0], Imm) else None
    if not isinstance(offset, int):
        return
    bits, signed = _OFFSET_BITS[record.space]["gfx12" if port.generation == "gfx1250" else port.generation]
    least, largest = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    if not least <= offset <= largest:
        span = {"offset": offset, "least": least, "largest": largest, "space": record.space}
        port.now = None
        yield Issue("offset_range", "error", port.instruction.text(), None, record.space, span)


def _alignment(port: Port) -> Iterator[Issue]:
    if port.generation not in _ALIGNED or generation(port.old) in _ALIGNED:
        return
    odd = [reg for reg in registers(port.instruction.operands) if reg.bank == "v" and reg.count > 1 and reg.index % 2]
    if odd:
        port.now = None
        yield Issue("register_alignment", "error", str(odd[0]), None)


def registers(operands: tuple[Operand, ...]) -> Iterator[Reg]:
    """The registers named by operands."""
    for operand in operands:
        inner = _plain(operand)
        if isinstance(inner, Reg):
            yield inner
        elif isinstance(inner, RegList):
            yield from inner.regs


def names_wide_mask(instruction: Instruction, lanes: int = 64) -> bool:
    """Whether an instruction names VCC, EXEC or SGPRs as a mask of so many lanes."""
    names = {o.name for o in instruction.operands if isinstance(o, Special)}
    scalars = {o.count for o in instruction.operands if isinstance(o, Reg) and o.bank == "s"}
    whole = {"vcc", "exec"} if lanes == 64 else {"vcc_lo", "exec_lo"}
    return bool(names & whole) or (instruction.mnemonic.startswith(_TAKE_MASKS) and lanes // 32 in scalars)


def _layout(port: Port) -> Iterator[Issue]:
    """The same name with other operand layouts."""
    there = find(port.instruction.mnemonic, port.new)
    here = port.record
    if isinstance(here, Matrix) and isinstance(there, Matrix) and here.family != there.family:
        port.now = None
        name = port.instruction.mnemonic
        yield Issue("matrix_layout", "error", name, None, name)

"""The registers of an instruction by the roles that the spacing rules know."""

from __future__ import annotations

import zlib
from collections.abc import Iterable

from antiphase.asm import Call, Imm, Instruction, Operand, Reg, Special
from antiphase.checks._registers import SCC, SGPR, Uses, units
from antiphase.isa import IMPLICIT, Alu, Matrix, Memory, Record

Units = frozenset[int]
EXEC, VCC, M0 = units(Special("exec")), units(Special("vcc")), units(Special("m0"))
SCRATCH_BASE = frozenset((SGPR + 102, SGPR + 103))
_NO_SGPR = EXEC | {SCC}


def _scalars(found: Iterable[int]) -> Units:
    return frozenset(u for u in found if u >= SGPR and u not in _NO_SGPR)


def _vectors(found: Iterable[int]) -> Units:
    """Whole registers: what hardware compares is the register, not the half."""
    return frozenset(h for u in found if u < SGPR for h in (u | 1, u & ~1))


def registers_of(instruction: Instruction, record: Record | None, uses: Uses) -> dict[str, Units]:
    found: dict[str, Units] = {
        "v_reads": _vectors(uses.reads), "v_writes": _vectors(uses.writes), "s_writes": _scalars(uses.writes),
        "s_reads": _scalars(uses.reads), "exec_writes": uses.writes & EXEC,
    }  # fmt: skip
    if isinstance(record, Matrix):
        found |= _matrix(instruction, record)
    if isinstance(record, Alu):
        found |= _alu(instruction, record)
    if isinstance(record, Memory) and record.space in ("buffer", "global", "flat", "scratch"):
        found["wide_data"] = _wide_data(instruction, record)
    if instruction.mnemonic.startswith(("s_setreg", "s_getreg")):
        found["hwreg"] = frozenset((hardware_register(instruction)[0],))
    return found


def _matrix(instruction: Instruction, record: Matrix) -> dict[str, Units]:
    d, a, b, c, *scales = map(units, instruction.operands)
    if record.sparse:
        return {"d": d, "ab": a | b | c, "c": d}
    apart = frozenset[int]() if c & d else c
    return {"d": d, "ab": a | b, "c": c, "c_apart": apart, "scales": frozenset[int]().union(*scales)}


def _alu(instruction: Instruction, record: Alu) -> dict[str, Units]:
    signature = record.signature
    results = sum(slot.role in ("operand", "mask", "constant") for slot in signature.results)
    sources = instruction.operands[results:]
    named = [slot for slot in signature.sources if slot.role in ("operand", "mask", "constant")]
    masks = [o for o, slot in zip(sources, named, strict=False) if slot.role == "mask"]
    masks += [Special(slot.role) for slot in signature.sources if slot.role in IMPLICIT and slot.role.startswith("vcc")]
    plain = [o for o, slot in zip(sources, named, strict=False) if slot.role != "mask"]
    flags = [o for o in plain if isinstance(o, Special) and o.name in ("vccz", "execz")]
    read = frozenset[int]().union(*(units(o) for o in plain if o not in flags))
    found = {"masks": _scalars(frozenset[int]().union(*map(units, masks))), "exec_reads": read & EXEC,
             "s_reads": _scalars(read), "zero_flags": frozenset[int]().union(*map(units, flags))}  # fmt: skip
    if record.unit == "salu":
        return {}
    if "readlane" in record.name or "writelane" in record.name:
        found["lane"] = units(sources[1])
    if record.name.startswith("v_dot"):
        found["ab"] = frozenset[int]().union(*map(units, sources[:2]))
    return found


def _wide_data(instruction: Instruction, record: Memory) -> Units:
    """VGPRs of more than two dwords that a store or atomic takes. Buffer instructions with an SGPR offset are safe."""
    if record.access not in ("store", "atomic"):
        return frozenset()
    offset = instruction.operands[3:4] if record.space == "buffer" else ()
    if any(isinstance(o, Reg | Special) for o in offset):
        return frozenset()
    data = (o for o in instruction.operands if isinstance(o, Reg) and o.bank in "va" and o.count > 2)
    return frozenset[int]().union(*map(units, data))


def hardware_register(instruction: Instruction) -> tuple[int, str, range]:
    """A unit for the register (negative, as no other is), its name without WAVE_, and the bits accessed."""
    operand: Operand | None = instruction.operands[0 if instruction.mnemonic.startswith("s_setreg") else -1]
    name, bits = "", range(32)
    if isinstance(operand, Call) and operand.args:
        name, *rest = operand.args
        name = name.removeprefix("HW_REG_").removeprefix("WAVE_")
        if len(rest) == 2:
            bits = range(int(rest[0], 0), int(rest[0], 0) + int(rest[1], 0))
    elif isinstance(operand, Imm):
        first = operand.value >> 6 & 31
        name, bits = str(operand.value & 63), range(first, first + (operand.value >> 11 & 31) + 1)
    name = {"1": "MODE", "2": "STATUS", "3": "TRAPSTS", "26": "SCHED_MODE"}.get(name, name)
    return ~zlib.crc32(name.encode()), name, bits

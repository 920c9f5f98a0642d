"""Data-parallel primitives: the first source comes from another lane.

Source: AMD CDNA3 ISA, section 6.5 and table "DPP_CTRL enumerations" (rows of 16 lanes, banks of 4).
"""

from __future__ import annotations

from antiphase.asm import Instruction, Reg
from antiphase.errors import Unsupported
from antiphase.isa import B1, U32
from antiphase.machine._context import TYPE_OF_BITS, Context
from antiphase.machine.llvm._lower import Value, constant

_CONTROLS = (
    "quad_perm", "row_shl", "row_shr", "row_ror", "wave_shl", "wave_shr", "wave_rol", "wave_ror", "row_mirror",
    "row_half_mirror", "row_bcast", "row_newbcast", "row_share", "row_xmask",
    "dpp8",
)  # fmt: skip


def control(instruction: Instruction) -> tuple[str, object] | None:
    """The lane movement of an instruction, if it has one."""
    for name, value in instruction.modifiers:
        if name in _CONTROLS:
            return name, value
    return None


def is_dpp(instruction: Instruction) -> bool:
    return control(instruction) is not None


def source_lanes(name: str, value: object, lanes: int) -> list[int | None]:
    """For every lane the lane it reads, None where that lies outside the row or wave."""
    n = value if isinstance(value, int) else 0
    result: list[int | None] = []
    for lane in range(lanes):
        row, at = lane & ~15, lane & 15
        if name == "quad_perm":
            assert isinstance(value, tuple)
            source: int | None = (lane & ~3) | value[lane & 3]
        elif name == "dpp8":
            assert isinstance(value, tuple)
            source = (lane & ~7) | value[lane & 7]
        elif name == "row_shl":
            source = lane + n if at + n < 16 else None
        elif name == "row_shr":
            source = lane - n if at >= n else None
        elif name == "row_ror":
            source = row | (at - n) % 16
        elif name == "row_mirror":
            source = row | (15 - at)
        elif name == "row_half_mirror":
            source = (lane & ~7) | (7 - (lane & 7))
        elif name in ("row_newbcast", "row_share"):
            source = row | n
        elif name == "row_xmask":
            source = row | (at ^ n)
        elif name == "row_bcast":
            # the last lane of each row (15) or half wave (31) goes to the next one; the first row keeps its own
            source = (row - 1 if row else None) if n == 15 else (31 if lane >= 32 else None)
        elif name == "wave_shl":
            source = lane + 1 if lane + 1 < lanes else None
        elif name == "wave_shr":
            source = lane - 1 if lane else None
        elif name == "wave_rol":
            source = (lane + 1) % lanes
        elif name == "wave_ror":
            source = (lane - 1) % lanes
        else:
            raise Unsupported(f"DPP control {name}")
        result.append(source)
    return result


def _lanes(c: Context) -> list[int | None]:
    found = control(c.instruction)
    assert found is not None
    return source_lanes(*found, c.layout.lanes)


def _bound_ctrl(instruction: Instruction) -> bool:
    """`bound_ctrl:1` (older spelling `bound_ctrl:0`): lanes without a source read 0 instead of keeping their result.
    DPP8 always does so (RDNA3 ISA, section "DPP8")."""
    return instruction.modifier("bound_ctrl") is not None or instruction.modifier("dpp8") is not None


def moved(c: Context, value: Value) -> Value:
    """The source after lane movement: lanes whose source does not exist or is inactive read 0."""
    lanes = _lanes(c)
    lowering = c.lowering([])
    bits = TYPE_OF_BITS[value.type.bits]
    plain = lowering.bitcast(lowering.splat(value, c.layout.lanes), bits)
    zero = lowering.splat(Value(constant(bits, 0), bits, 1), c.layout.lanes)
    if not c.instruction.modifier("fi"):
        plain = lowering.select(lowering.exec_vector(), plain, zero)
    order = tuple(i if lane is None else lane for i, lane in enumerate(lanes))
    result = lowering.shuffle(plain, order)
    if None in lanes:
        result = lowering.select(_constant_mask([lane is not None for lane in lanes]), result, zero)
    return lowering.bitcast(result, value.type)


def write(c: Context, reg: Reg, value: Value) -> None:
    """Write the lanes that row_mask and bank_mask enable and, without bound_ctrl, whose source is an active lane."""
    lanes = _lanes(c)
    lowering = c.lowering([])
    rows, banks = (_mask(c.instruction, name) for name in ("row_mask", "bank_mask"))
    enabled = [bool(rows >> (i // 16) & 1 and banks >> (i // 4 % 4) & 1) for i in range(len(lanes))]
    valid = _constant_mask(enabled)
    if not _bound_ctrl(c.instruction):
        exists = [e and lane is not None for e, lane in zip(enabled, lanes, strict=True)]
        order = tuple(i if lane is None else lane for i, lane in enumerate(lanes))
        valid = _constant_mask(exists)
        if not c.instruction.modifier("fi"):
            valid = lowering.binary("and", valid, lowering.shuffle(lowering.exec_vector(), order))
    wide = value if value.type.bits == 32 else lowering.to(lowering.bitcast(value, TYPE_OF_BITS[value.type.bits]), U32)
    kept = lowering.select(valid, lowering.bitcast(lowering.splat(wide, len(lanes)), U32), c.read_vector(reg, U32))
    c.write_vector(reg, kept)


def _mask(instruction: Instruction, name: str) -> int:
    value = instruction.modifier(name, 0xF)
    return value if isinstance(value, int) else 0xF


def _constant_mask(bits: list[bool]) -> Value:
    text = ", ".join(f"i1 {'true' if b else 'false'}" for b in bits)
    return Value(f"<{text}>", B1, len(bits))

"""Vector and scalar ALU instructions: operands with their modifiers in, semantics lowered, results out."""

from __future__ import annotations

from dataclasses import dataclass, replace

from antiphase.asm import FloatImm, Instruction, Modified, Operand, Reg, Special
from antiphase.errors import Unsupported
from antiphase.isa import (
    B1,
    BF16,
    F16,
    F32,
    I8,
    I16,
    IMPLICIT,
    MODIFIERS,
    U8,
    U16,
    U32,
    Alu,
    Expr,
    Slot,
    Type,
    generation,
    size,
)
from antiphase.machine._context import TYPE_OF_BITS, Context
from antiphase.machine.alu import _dpp
from antiphase.machine.alu._half_modifiers import as_bits, bit, check_constant, check_modifiers, signs
from antiphase.machine.alu._inline import as_encoded, constant_word
from antiphase.machine.llvm._lower import FloatMode, Lowering, Value
from antiphase.machine.llvm._outline import call_outlined

OUTLINE_ABOVE = 24
"""Expression nodes beyond which an instruction becomes a function of its own, compiled once with optimisation."""


@dataclass(frozen=True, slots=True)
class Bound:
    """An instruction's operands matched to its record's slots; None for implicit ones."""

    results: tuple[Operand | None, ...]
    sources: tuple[Operand | None, ...]


def bind(instruction: Instruction, record: Alu) -> Bound:
    """Match operands to slots. The text names results first; implicit slots take no operand."""
    rest = list(instruction.operands)
    signature = record.signature
    named = ("operand", "mask", "constant")
    wanted = sum(slot.role in named for slot in (*signature.results, *signature.sources))
    if wanted == len(rest) + 1 and signature.sources[-1].role == "mask":
        rest.append(Special("vcc"))  # the conditional move of a dual-issue pair leaves VCC unnamed
    if wanted != len(rest):
        raise Unsupported(f"{len(rest)} operands where {record.name} takes {wanted}")
    results = tuple(rest.pop(0) if slot.role in named else None for slot in signature.results)
    sources = tuple(rest.pop(0) if slot.role in named else None for slot in signature.sources)
    encoded = (as_encoded(record, slot, source) for slot, source in zip(signature.sources, sources, strict=True))
    return Bound(results, tuple(encoded))


@dataclass(frozen=True, slots=True)
class Result:
    """A computed result that is not written yet: both halves of a dual-issue instruction read before either writes."""

    instruction: Instruction
    record: Alu
    slot: Slot
    operand: Operand | None
    values: tuple[Value, ...]


def translate_alu(c: Context, record: Alu, pair: Alu | None = None) -> None:
    """Emit one ALU instruction, or with the record of its second half a dual-issue pair."""
    first = c.instruction
    results = _compute(c, record)
    if pair is not None:
        assert first.pair is not None
        c.instruction = first.pair
        results += _compute(c, pair)
    for result in results:
        c.instruction = result.instruction
        _write(c, result)
    c.instruction = first


def _compute(c: Context, record: Alu) -> list[Result]:
    bound = bind(c.instruction, record)
    if record.packed:
        value = _packed(c, record, bound)
        return [Result(c.instruction, record, record.signature.results[0], bound.results[0], value)]
    check_modifiers(c.instruction, record, c.target)
    sources: list[Value] = []
    for i, (slot, operand) in enumerate(zip(record.signature.sources, bound.sources, strict=True)):
        if slot.halves:
            sources += _pair(c, record, slot, operand, i)
            continue
        for k in range(slot.count):
            sources.append(_source(c, record, slot, _kth(operand, slot, k), bound, i))
    lanes = c.layout.lanes if record.unit == "valu" else 1
    values = iter(_evaluate(c, record, _results(c, record), sources, lanes))
    return [
        Result(c.instruction, record, slot, operand, tuple(next(values) for _ in range(slot.count)))
        for slot, operand in zip(record.signature.results, bound.results, strict=True)
    ]


def _kth(operand: Operand | None, slot: Slot, k: int) -> Operand | None:
    """Element k of an operand that is a run of registers."""
    if slot.count == 1 or not isinstance(operand, Reg):
        return operand
    return replace(operand, index=operand.index + k * slot.type.dwords, count=slot.type.dwords)


def _results(c: Context, record: Alu) -> tuple[Expr, ...]:
    return record.saturated_results if c.instruction.modifier("clamp") else record.results


def _evaluate(c: Context, record: Alu, results: tuple[Expr, ...], sources: list[Value], lanes: int) -> list[Value]:
    seen: set[int] = set()
    # a function of its own gives a value per lane: not for uniform sources, nor for results that are a whole mask
    uniform = all(s.lanes == 1 for s in sources) or any(s.role in IMPLICIT for s in record.signature.results)
    if lanes > 1 and not uniform and sum(size(r, seen) for r in results) > OUTLINE_ABOVE:
        return call_outlined(c, record, results, sources)
    lowering = c.lowering(sources, lanes)
    return [lowering.lower(r) for r in results]


# -- sources ----------------------------------------------------------------------------------------------------


def _source(c: Context, record: Alu, slot: Slot, operand: Operand | None, bound: Bound, i: int) -> Value:
    role = slot.role
    if role == "operand" or role == "constant":
        assert operand is not None
        return _operand(c, record, slot.type, operand, i)
    if role == "mask":
        assert operand is not None
        return c.read_mask(operand)
    if role in ("tied", "tied2"):
        result = bound.results[0 if role == "tied" else 1]
        assert result is not None
        return _half_or_whole(c, result, slot.type, 3)
    if role in MODIFIERS:
        return Value(str(as_bits(c.instruction.modifier(role, 0))), slot.type, 1)
    if role == "scc":
        return Value(c.scc(), B1, 1)
    if role == "vccz":
        return Value(c.vccz(), B1, 1)
    if role == "vcc":
        return c.read_mask(Special("vcc"))
    return c.read_scalar(Special(role), slot.type)


def _operand(c: Context, record: Alu, type_: Type, operand: Operand, i: int) -> Value:
    """One source with its modifiers: half or byte selection, lane movement, then |x| and -x."""
    inner = operand.operand if isinstance(operand, Modified) else operand
    instruction = c.instruction
    selection = instruction.modifier(f"src{i}_sel")
    if isinstance(selection, str) and selection != "DWORD":
        value = _selected(c, inner, type_, selection, isinstance(operand, Modified) and operand.sext)
    elif record.mixed and type_ is F32 and bit(instruction.modifier("op_sel_hi"), i):
        half = _halves(c, inner, F16 if record.mixed == "f16" else BF16, i)[bit(instruction.modifier("op_sel"), i)]
        value = c.lowering([]).to(half, F32)
    elif i == 0 and _dpp.is_dpp(instruction):
        value = _dpp.moved(c, _half_or_whole(c, inner, type_, i))
    else:
        value = _half_or_whole(c, inner, type_, i)
    if isinstance(operand, Modified):
        value = apply_sign(c, value, operand.neg, operand.abs)
    if type_ is F32 and not record.mixed:
        value = apply_sign(c, value, *signs(instruction, record, i))
    return value


def _pair(c: Context, record: Alu, slot: Slot, operand: Operand | None, i: int) -> list[Value]:
    """Both halves of a register, each chosen and negated on its own; -x and |x| are of both."""
    assert operand is not None
    inner = operand.operand if isinstance(operand, Modified) else operand
    check_constant(inner, record, c.target)
    pair = [_packed_source(c, slot, inner, i, part) for part in (0, 1)]
    if isinstance(operand, Modified):
        pair = [apply_sign(c, half, operand.neg, operand.abs) for half in pair]
    return pair


def _half_or_whole(c: Context, operand: Operand, type_: Type, i: int) -> Value:
    """A source, taking the high half of the register for a 16-bit type where op_sel says so."""
    picked = bit(c.instruction.modifier("op_sel"), i)
    if type_.bits == 16 and (picked or (isinstance(operand, Reg) and operand.half == "h")):
        return _halves(c, operand, type_, -1)[1]
    if type_ is BF16 and isinstance(operand, FloatImm):
        return _halves(c, operand, type_, -1)[0]
    if type_.bits == 8 and isinstance(operand, Reg):
        # conversions pick a byte: by number, or op_sel[0] is the low bit of its number, op_sel[1] the high one
        byte = bit(c.instruction.modifier("op_sel"), 0) + 2 * bit(c.instruction.modifier("op_sel"), 1)
        byte = c.instruction.modifier("byte_sel", byte)
        return _selected(c, operand, type_, f"BYTE_{byte}", False)
    return c.read(operand, type_)


def _halves(c: Context, operand: Operand, type_: Type, i: int) -> tuple[Value, Value]:
    """Low and high half of a packed source: of one register for 16-bit types, of a pair for 32-bit ones."""
    inner = operand.operand if isinstance(operand, Modified) else operand
    if type_.bits == 16:
        inlined = isinstance(inner, FloatImm) and Value(str(constant_word(inner, type_, c.target)), U32, 1)
        word = inlined or c.read(inner, U32)
        if i == 0 and _dpp.is_dpp(c.instruction):
            word = _dpp.moved(c, word)
        lowering = c.lowering([])
        parts = (word, lowering.binary("lshr", word, Value("16", U32, 1)))
        low, high = (lowering.bitcast(lowering.to(p, U16), type_) for p in parts)
        return low, high
    if isinstance(inner, Reg) and inner.count > 1:
        return tuple(c.read(replace(inner, index=inner.index + k, count=1), type_) for k in (0, 1))  # type: ignore[return-value]
    value = c.read(inner, type_)
    return value, value


def _selected(c: Context, operand: Operand, type_: Type, selection: str, sext: bool) -> Value:
    """SDWA source: a byte or word of the register, extended to the source's width."""
    kind, _, position = selection.partition("_")
    bits = 8 if kind == "BYTE" else 16
    lowering = c.lowering([])
    word = c.read(operand, U32)
    shifted = lowering.binary("lshr", word, Value(str(bits * int(position)), U32, 1)) if position != "0" else word
    part = lowering.to(shifted, U8 if bits == 8 else U16)
    signed = replace(part, type=(I8 if bits == 8 else I16) if sext else part.type)
    return lowering.bitcast(lowering.to(signed, TYPE_OF_BITS[max(type_.bits, bits)]), type_)


def apply_sign(c: Context, value: Value, neg: bool, absolute: bool) -> Value:
    """Float input modifiers: absolute value first, then negation, on the sign bit alone."""
    if not (neg or absolute):
        return value
    bits = TYPE_OF_BITS[value.type.bits]
    sign = 1 << (value.type.bits - 1)
    lowering = c.lowering([])
    word = lowering.bitcast(value, bits)
    if absolute:
        word = lowering.binary("and", word, Value(str(sign - 1), bits, 1))
    if neg:
        word = lowering.binary("xor", word, Value(str(sign), bits, 1))
    return lowering.bitcast(word, value.type)


# -- packed pairs -----------------------------------------------------------------------------------------------


def _packed(c: Context, record: Alu, bound: Bound) -> tuple[Value, ...]:
    """VOP3P: the semantics run for the low and the high result, op_sel and op_sel_hi choosing each one's sources.
    One value of both halves, or two where a half fills a register."""
    slots, operands = record.signature.sources, bound.sources
    low, high = (
        [
            _packed_source(c, slot, operand or bound.results[0], i, part)
            for i, (slot, operand) in enumerate(zip(slots, operands, strict=True))
        ]
        for part in (0, 1)
    )
    lanes = c.layout.lanes
    if record.pair:
        halves = _evaluate(c, record, record.results, low + high, lanes)
    else:
        halves = [_evaluate(c, record, _results(c, record), half, lanes)[0] for half in (low, high)]
    halves = [_output_modifiers(c, record, v) for v in halves]
    if halves[0].type.bits == 32:
        return tuple(halves)
    return (_joined(c, *halves),)


def _joined(c: Context, low: Value, high: Value) -> Value:
    """Two 16-bit values in one register."""
    lowering = c.lowering([])
    parts = (lowering.splat(v, c.layout.lanes) for v in (low, high))
    first, second = (lowering.to(lowering.bitcast(part, U16), U32) for part in parts)
    return lowering.binary("or", first, lowering.binary("shl", second, Value("16", U32, 1)))


def _packed_source(c: Context, slot: Slot, operand: Operand | None, i: int, part: int) -> Value:
    assert operand is not None
    if slot.role == "tied":
        return _halves(c, operand, slot.type, i)[part]
    picks = c.instruction.modifier("op_sel_hi" if part else "op_sel")
    pick = picks[i] if isinstance(picks, tuple) and i < len(picks) else part
    value = _halves(c, operand, slot.type, i)[pick]
    negate = c.instruction.modifier("neg_hi" if part else "neg_lo")
    if isinstance(negate, tuple) and i < len(negate) and negate[i]:
        value = apply_sign(c, value, True, False)
    return value


# -- results ----------------------------------------------------------------------------------------------------


def _write(c: Context, result: Result) -> None:
    record, slot, operand = result.record, result.slot, result.operand
    value = result.values[0]
    if slot.role == "scc":
        c.write_scc(value)
    elif slot.role == "vcc":
        c.write_mask(Special("vcc"), value)
    elif slot.role in IMPLICIT:
        c.write_scalar(Special(slot.role), value)
    elif slot.role == "mask":
        assert isinstance(operand, Reg | Special)
        c.write_mask(operand, value)
    elif isinstance(operand, Reg) and operand.bank in "va":
        values = result.values if record.packed else [_output_modifiers(c, record, one) for one in result.values]
        for k, one in enumerate([_joined(c, *values)] if slot.halves else values):
            width = one.type.dwords
            _write_vector(c, record, replace(operand, index=operand.index + k * width, count=width), one)
    elif isinstance(operand, Reg | Special):
        c.write_scalar(operand, _output_modifiers(c, record, value))
    else:
        raise Unsupported(f"a result written to {operand}")


def _write_vector(c: Context, record: Alu, reg: Reg, value: Value) -> None:
    instruction = c.instruction
    selection = instruction.modifier("dst_sel")
    if isinstance(selection, str) and selection != "DWORD":
        value = _sdwa_result(c, reg, value, selection, str(instruction.modifier("dst_unused", "UNUSED_PAD")))
    elif value.type.bits < 32:
        value = _narrow_result(c, record, reg, value)
    if _dpp.is_dpp(instruction):
        _dpp.write(c, reg, value)
    else:
        c.write_vector(reg, value, every_lane=record.ignores_exec)


def _narrow_result(c: Context, record: Alu, reg: Reg, value: Value) -> Value:
    """A result narrower than its register: where it goes, and what is left beside it.

    From GFX10 on every narrow result keeps the rest (LLVM GCNSubtarget::zeroesHigh16BitsOfDest)."""
    picks = c.instruction.modifier("op_sel")
    chosen = isinstance(picks, tuple) and len(picks) > len(record.signature.sources) and any(picks[-2:])
    if not chosen and record.rest == "zero" and reg.half is None and generation(c.target) == "gfx9":
        return value
    bits = value.type.bits
    position = 16 if record.rest == "high" or reg.half == "h" else 0
    if isinstance(picks, tuple) and len(picks) > len(record.signature.sources):
        # bytes are chosen by the last two bits, halves by the last
        position = 8 * (picks[-2] + 2 * picks[-1]) if bits == 8 else 16 * picks[-1]
    byte = c.instruction.modifier("byte_sel")
    if bits == 8 and isinstance(byte, int):
        position = 8 * byte
    field = ((1 << bits) - 1) << position
    lowering = c.lowering([])
    word = lowering.to(lowering.bitcast(value, TYPE_OF_BITS[bits]), U32)
    placed = lowering.binary("shl", word, Value(str(position), U32, 1))
    kept = lowering.binary("and", c.read_vector(reg, U32), Value(str(field ^ 0xFFFFFFFF), U32, 1))
    return lowering.binary("or", kept, placed)


def _sdwa_result(c: Context, reg: Reg, value: Value, selection: str, unused: str) -> Value:
    """SDWA destination: the result placed in a byte or word, the rest zero, sign or the old register."""
    kind, _, position = selection.partition("_")
    bits = 8 if kind == "BYTE" else 16
    shift = bits * int(position)
    lowering = c.lowering([])
    plain = lowering.bitcast(value, TYPE_OF_BITS[value.type.bits])
    word = lowering.to(plain, U32) if plain.type.bits < 32 else plain
    field = ((1 << bits) - 1) << shift
    part = lowering.binary("and", lowering.binary("shl", word, Value(str(shift), U32, 1)), Value(str(field), U32, 1))
    if unused == "UNUSED_PRESERVE":
        kept = lowering.binary("and", c.read_vector(reg, U32), Value(str(field ^ 0xFFFFFFFF), U32, 1))
        return lowering.binary("or", part, kept)
    if unused == "UNUSED_SEXT":
        top = 32 - shift - bits
        raised = lowering.binary("shl", part, Value(str(top), U32, 1))
        return lowering.binary("ashr", raised, Value(str(top), U32, 1))
    return part


_OMOD = {("mul", 2): 2.0, ("mul", 4): 4.0, ("div", 2): 0.5}


def _output_modifiers(c: Context, record: Alu, value: Value) -> Value:
    """omod scales a float result, clamp limits it to 0..1 (NaN to 0 when MODE.dx10_clamp is set)."""
    for (name, amount), factor in _OMOD.items():
        if c.instruction.modifier(name) == amount and _omod_works(c, value.type):
            value = _scaled(c, value, factor)
    if not c.instruction.modifier("clamp") or record.saturated is not None:
        return value
    if not value.type.is_float:
        raise Unsupported(f"clamp on {record.name}")
    return clamp(c.lowering([], value.lanes), value, c.mode)


def _omod_works(c: Context, type_: Type) -> bool:
    """omod is ignored where MODE keeps denormal results or asks for IEEE behaviour (AMD ISA, "Output modifiers")."""
    denormals = c.mode.denormal32 if type_ is F32 else c.mode.denormal64
    ieee = c.mode.ieee and generation(c.target) in ("gfx9", "gfx11")
    return not (denormals & 2 or ieee)


def _scaled(c: Context, value: Value, factor: float) -> Value:
    lowering = c.lowering([], value.lanes)
    wide = lowering.to(value, F32) if value.type.bits == 16 else value
    number = Value(lowering.number(wide.type, factor, 1), wide.type, 1)
    return lowering.to(lowering.binary("fmul", wide, number), value.type)


def clamp(lowering: Lowering, value: Value, mode: FloatMode) -> Value:
    wide = lowering.to(value, F32) if value.type.bits == 16 else value
    zero, one = (Value(lowering.number(wide.type, n, 1), wide.type, 1) for n in (0.0, 1.0))
    above = lowering.binary("fcmp ogt", wide, one, B1)
    # an unordered comparison sends NaN to zero as well
    below = lowering.binary("fcmp ule" if mode.dx10_clamp else "fcmp ole", wide, zero, B1)
    result = lowering.select(below, zero, lowering.select(above, one, wide))
    return lowering.to(result, value.type)

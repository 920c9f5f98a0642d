"""How many registers an operand of a matrix instruction takes: the assembler's answer and antiphase's record."""

from __future__ import annotations

from antiphase import arch, asm
from antiphase.arch._check_specs import Registers
from antiphase.isa import Matrix, find
from antiphase.isa.fragments import fragments
from antiphase.machine.matrix._matrix_variant import Variant
from antiphase.verify._answers import Found
from antiphase.verify._assembler_checks import Assembled, Line

_FIRST = 8  # register of the first operand; a later one starts 40 further on
_APART = 40
_OUTPUTS = ("D", "C")


def registers_lines(spec: Registers, target: str) -> list[Line]:
    """The instruction with the count, one fewer and one more; nothing for one antiphase has no record of."""
    return list(_lines(spec, target).values())


def registers(spec: Registers, target: str, code: Assembled) -> Found:
    """Expected: the count alone. Got: those that the assembler accepts, of it and its neighbours."""
    lines = _lines(spec, target)
    if not lines:
        return Found(None, _asked(spec), [spec.count], None, _no_record(spec, target))
    got = [count for count, line in lines.items() if code(line).accepted]
    refusals = (code(line).refusal for line in lines.values())
    note = "" if got == [spec.count] else next(filter(None, refusals), "")
    return Found(got == [spec.count], lines[spec.count][1], [spec.count], got, note)


def own_registers(spec: Registers, target: str) -> Found:
    """What the record's layouts take."""
    counts = operand_counts(spec.instruction, target, spec.wave, spec.modifiers)
    got = counts.get(spec.operand)
    note = "" if counts else _no_record(spec, target)
    return Found(None if got is None else got == spec.count, _asked(spec), spec.count, got, note)


def operand_counts(instruction: str, target: str, wave: int, modifiers: str = "") -> dict[str, int]:
    """Registers of each operand in the order of the line, {} where antiphase has no matrix record of that name."""
    record = find(instruction, target)
    if not isinstance(record, Matrix) or wave not in arch.target(target).wave_sizes:
        return {}
    variant = _variant(instruction, modifiers)
    held = fragments(record, wave, variant.formats(record), variant.half)
    counts = {"D": held.d.registers, "A": held.a.registers, "B": held.b.registers}
    if held.index is not None:
        counts["index"] = held.index.registers
    else:
        counts["C"] = held.c.registers
    if record.scaled:
        scale = 2 if record.scale_block == 16 else 1
        counts |= {"scale_a": scale, "scale_b": scale}
    return counts


def _variant(instruction: str, modifiers: str) -> Variant:
    parsed = asm.parse_instruction(f"{instruction} v0, v1, v2, v3 {modifiers}")
    return Variant.of(dict(parsed.modifiers))


def _lines(spec: Registers, target: str) -> dict[int, Line]:
    counts = operand_counts(spec.instruction, target, spec.wave, spec.modifiers)
    if spec.operand not in counts:
        return {}
    tried = [count for count in (spec.count, spec.count - 1, spec.count + 1) if count > 0]
    # C and D have one type in most forms, so that a line with different counts would be refused for that alone
    moved = _OUTPUTS if spec.operand in _OUTPUTS and counts.get("C") == counts["D"] else (spec.operand,)
    return {count: (spec.wave, _line(spec, counts | dict.fromkeys(moved, count))) for count in tried}


def _line(spec: Registers, counts: dict[str, int]) -> str:
    operands = (_span(_FIRST + _APART * place, count) for place, count in enumerate(counts.values()))
    return f"{spec.instruction} {', '.join(operands)} {spec.modifiers}".rstrip()


def _span(first: int, count: int) -> str:
    return f"v{first}" if count == 1 else f"v[{first}:{first + count - 1}]"


def _asked(spec: Registers) -> str:
    return f"{spec.instruction} {spec.modifiers}".rstrip()


def _no_record(spec: Registers, target: str) -> str:
    return f"antiphase has no operand {spec.operand} of {spec.instruction} in wave{spec.wave} on {target}"

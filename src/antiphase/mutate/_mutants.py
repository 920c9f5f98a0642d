"""Which mutants of a kernel there are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from antiphase import arch
from antiphase.asm import Call, Imm, Instruction, Kernel, Program, Waits, parse_instruction
from antiphase.errors import Unsupported
from antiphase.isa import Control, find, generation
from antiphase.machine import waits

Kind = Literal["wait", "barrier", "nop", "hazard wait"]

_STATIC = {"expcnt": 7, "xcnt": 63}
"""Counters that guard registers only, with the count that waits for nothing: a recording has no queue for them."""
_ALONE = {"s_wait_expcnt": "expcnt", "s_waitcnt_expcnt": "expcnt", "s_wait_xcnt": "xcnt"}
_FIELDS = {
    "va_vdst": 15, "va_sdst": 7, "vm_vsrc": 7, "va_vcc": 1, "va_ssrc": 1, "sa_sdst": 1, "hold_cnt": 1,
}  # fmt: skip
"""Fields of s_wait_alu with the value that waits for nothing (LLVM AMDGPUBaseInfo)."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """instruction: index in the kernel of what is changed. before, after: its text and what replaces it, () if nothing.

    changes: for `Program.edit`. static: it guards registers only, so that the static checks know all about it.
    """

    kind: Kind
    instruction: int
    before: str
    after: tuple[str, ...]
    changes: dict[int, tuple[Instruction, ...]]
    static: bool = False


def mutants(program: Program, kernel: str | None = None) -> Iterator[Mutant]:
    """The mutants of one kernel, in the order of its instructions; those in code that no path reaches are left out.

    s_delay_alu is left alone: it is a hint.
    """
    one = program.kernel(kernel)
    for start, end in ((block.start, block.end) for block in one.reachable()):
        for index in range(start, end):
            record = find(one.instructions[index].mnemonic, program.target)
            if isinstance(record, Control):
                yield from _of_control(one, index, end, record, program.target)
            elif one.instructions[index].mnemonic.removesuffix("_e32") == "v_nop":
                yield _mutant("nop", one, index, static=True)


def _of_control(kernel: Kernel, index: int, end: int, record: Control, target: str) -> Iterator[Mutant]:
    instruction = kernel.instructions[index]
    if record.action == "wait" or instruction.mnemonic in _ALONE:
        yield from _waits(kernel, index, target)
    elif record.action == "barrier":
        yield _mutant("barrier", kernel, index)
    elif record.action == "barrier_signal":
        yield _mutant("barrier", kernel, index, also=_paired(kernel, index, end, target))
    elif instruction.mnemonic == "s_nop":
        yield _mutant("nop", kernel, index, static=True)
        count = instruction.operands[0]
        if isinstance(count, Imm) and count.value > 0:
            yield _mutant("nop", kernel, index, (f"s_nop {count.value - 1}",), static=True)
    elif instruction.mnemonic in ("s_wait_alu", "s_waitcnt_depctr"):
        yield from _fields(kernel, index)


def _waits(kernel: Kernel, index: int, target: str) -> Iterator[Mutant]:
    instruction = kernel.instructions[index]
    largest = {c.name: c.largest or 63 for c in arch.target(target).counters} | _STATIC
    asked = [(name, n) for name, n in _conditions(instruction, target) if n < largest[name]]
    if not asked:
        return
    yield _mutant("wait", kernel, index, static=all(name in _STATIC for name, _ in asked))
    if not instruction.operands or instruction.mnemonic == "s_wait_idle":
        return  # it waits for more than counters
    for position, (name, n) in enumerate(asked):
        looser = [*asked[:position], (name, n + 1), *asked[position + 1 :]]
        if n + 1 < largest[name]:
            yield _mutant("wait", kernel, index, tuple(_wait_lines(looser, target)), static=name in _STATIC)


def _conditions(instruction: Instruction, target: str) -> list[tuple[str, int]]:
    """What a wait asks of the counters; nothing if that is not in its text."""
    operand = instruction.operands[-1] if instruction.operands else None
    if instruction.mnemonic in _ALONE:
        return [(_ALONE[instruction.mnemonic], operand.value)] if isinstance(operand, Imm) else []
    try:
        modelled = waits(instruction, target)
    except Unsupported:
        return []
    exports = [(name, n) for name, n in operand.counts if name == "expcnt"] if isinstance(operand, Waits) else []
    return [*modelled, *exports]


def _wait_lines(conditions: Sequence[tuple[str, int]], target: str) -> Iterator[str]:
    if generation(target) in ("gfx12", "gfx1250"):
        yield from (f"s_wait_{name} {n}" for name, n in conditions)
        return
    packed = [f"{name}({n})" for name, n in conditions if name != "vscnt"]
    if packed:
        yield f"s_waitcnt {' '.join(packed)}"
    yield from (f"s_waitcnt_vscnt null, {n}" for name, n in conditions if name == "vscnt")


def _fields(kernel: Kernel, index: int) -> Iterator[Mutant]:
    """Without it, and with one of its fields left out or looser."""
    instruction = kernel.instructions[index]
    yield _mutant("hazard wait", kernel, index, static=True)
    fields = [
        (operand.name.removeprefix("depctr_"), int(operand.args[0]))
        for operand in instruction.operands
        if isinstance(operand, Call) and operand.args[0].isdigit()
    ]
    for position, (name, n) in enumerate(fields):
        others = [*fields[:position], *fields[position + 1 :]]
        looser = [[*others, (name, n + 1)]] if n + 1 < _FIELDS[name] else []
        for kept in [*([others] if others else []), *looser]:
            text = f"{instruction.mnemonic} {' '.join(f'depctr_{field}({value})' for field, value in kept)}"
            yield _mutant("hazard wait", kernel, index, (text,), static=True)


def _paired(kernel: Kernel, index: int, end: int, target: str) -> int | None:
    """The wait of a split barrier that follows its signal in the same block."""
    for later in range(index + 1, end):
        record = find(kernel.instructions[later].mnemonic, target)
        if isinstance(record, Control) and record.action == "barrier_wait":
            return later
    return None


def _mutant(
    kind: Kind, kernel: Kernel, index: int, after: tuple[str, ...] = (), also: int | None = None, static: bool = False
) -> Mutant:
    changes = {index: tuple(parse_instruction(line) for line in after)}
    if also is not None:
        changes[also] = ()
    before = "; ".join(kernel.instructions[i].text() for i in changes)
    return Mutant(kind, index, before, after, changes, static)

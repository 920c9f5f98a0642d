"""Which tool answers which check, and all checks of a target put to a tool together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import msgspec

from antiphase.arch import CheckSpec
from antiphase.arch._check_specs import (
    Assembles,
    Counts,
    Emits,
    Layout,
    OffsetRange,
    Registers,
    Runs,
    Spaced,
    Spacing,
)
from antiphase.verify import _assembler_checks, _compiler_checks, _own_checks, _registers
from antiphase.verify._answers import Answer, answer
from antiphase.verify._assembler_checks import Line
from antiphase.verify._llvm import Broken, Code, Llvm, codes
from antiphase.verify._runs import runs
from antiphase.verify._tools import OWN, Tools

# Of each kind: the lines it asks an assembler about, and how it judges them.
_ASSEMBLER = {
    Assembles: (_assembler_checks.assembles_lines, _assembler_checks.assembles),
    OffsetRange: (_assembler_checks.offset_lines, _assembler_checks.offset),
    Registers: (_registers.registers_lines, _registers.registers),
}
_COMPILER = {Spacing: _compiler_checks.spacing, Emits: _compiler_checks.emits}
_OWN = {
    OffsetRange: _assembler_checks.own_offset,
    Registers: _registers.own_registers,
    Layout: _own_checks.layout,
    Spaced: _own_checks.spaced,
    Counts: _own_checks.counts,
}

_BROKEN = "the assembler does not run"

Answered = Iterator[tuple[CheckSpec, Answer]]


@dataclass(frozen=True, slots=True)
class Task:
    """One tool at work. run: all checks of a target that it answers; the others are passed over."""

    tool: str
    run: Callable[[str, Sequence[CheckSpec]], Answered]


def tasks(tools: Tools) -> Iterator[Task]:
    """Everything that can be done with these tools."""
    for llvm in tools.assemblers:
        yield Task(f"assembler of {llvm.source}", partial(_assemble, llvm))
    for llvm in tools.compilers:
        yield Task(f"compiler of {llvm.source}", partial(_compile, llvm))
    yield Task(OWN, _own)
    yield Task(f"{OWN}'s machine", _run)


def key(spec: CheckSpec) -> bytes:
    """Equal for equal checks."""
    return msgspec.json.encode(spec)


def _assemble(llvm: Llvm, target: str, specs: Sequence[CheckSpec]) -> Answered:
    asked = [spec for spec in specs if type(spec) in _ASSEMBLER and _is_asked(spec, llvm)]
    lines = dict.fromkeys(line for spec in asked for line in _ASSEMBLER[type(spec)][0](spec, target))
    try:
        made = _codes(llvm, target, lines)
    except Broken:
        yield from ((spec, Answer(_kind(spec), llvm.source, "unchecked", "", note=_BROKEN)) for spec in asked)
        return
    for spec in asked:
        yield spec, answer(_kind(spec), llvm.source, _ASSEMBLER[type(spec)][1](spec, target, made.__getitem__))


def _codes(llvm: Llvm, target: str, lines: Iterable[Line]) -> dict[Line, Code]:
    of_wave: dict[int, list[str]] = {}
    for wave, text in lines:
        of_wave.setdefault(wave, []).append(text)
    return {
        (wave, text): code
        for wave, texts in of_wave.items()
        for text, code in zip(texts, codes(llvm, target, wave, texts), strict=True)
    }


def _compile(llvm: Llvm, target: str, specs: Sequence[CheckSpec]) -> Answered:
    for spec in specs:
        if type(spec) in _COMPILER and _is_asked(spec, llvm):
            yield spec, answer(_kind(spec), llvm.source, _COMPILER[type(spec)](spec, target, llvm))


def _own(target: str, specs: Sequence[CheckSpec]) -> Answered:
    for spec in specs:
        if type(spec) in _OWN:
            yield spec, answer(_kind(spec), OWN, _OWN[type(spec)](spec, target))


def _run(target: str, specs: Sequence[CheckSpec]) -> Answered:
    asked = [spec for spec in specs if isinstance(spec, Runs)]
    for spec, found in zip(asked, runs(asked, target), strict=True):
        yield spec, answer(_kind(spec), OWN, found)


def _is_asked(spec: CheckSpec, llvm: Llvm) -> bool:
    chosen = getattr(spec, "by", ())
    return not chosen or llvm.source in chosen


def _kind(spec: CheckSpec) -> str:
    return str(spec.__struct_config__.tag)

"""One instruction line: its data, how it is read and how it is written. Its meaning is the isa layer's."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from antiphase.asm._modifiers import (
    LEGACY_FORMAT,
    ModifierValue,
    is_modifier,
    modifier_text,
    parse_modifier,
    with_format,
)
from antiphase.asm._operands import Call, Operand, Waits, parse_int, parse_operand


@dataclass(frozen=True, slots=True)
class Loc:
    """A place in the source the kernel was compiled from; `line` 0 means that no source line is known."""

    file: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction with typed operands.

    modifiers: (name, value) in the order written; True for a flag, else int, tuple of ints, or a name.
    line: line in the assembly file, from 1 (0 when made by hand); loc: source line from `.loc`, or None.
    pair: the Y half of a VOPD line (`x :: y`), whose line and loc are those of the X half.
    """

    mnemonic: str
    operands: tuple[Operand, ...] = ()
    modifiers: tuple[tuple[str, ModifierValue], ...] = ()
    line: int = 0
    loc: Loc | None = None
    pair: Instruction | None = None

    def modifier(self, name: str, default: ModifierValue | None = None) -> ModifierValue | None:
        """The value of modifier `name`, or `default` where the line does not have it."""
        for key, value in self.modifiers:
            if key == name:
                return value
        return default

    def text(self) -> str:
        """The line as an assembler reads it, made from the fields."""
        separator = " | " if self.mnemonic == "s_delay_alu" else ", "
        parts = [self.mnemonic]
        if self.operands:
            parts.append(separator.join(map(str, self.operands)))
        parts += [modifier_text(name, value) for name, value in self.modifiers]
        if self.pair is not None:
            parts += ["::", self.pair.text()]
        return " ".join(parts)


_MNEMONIC = re.compile(r"(?:s|v|ds|buffer|tbuffer|global|flat|scratch|image|lds|tensor|cluster)_[a-z0-9][a-z0-9_]*")
# A run without blanks or commas, except inside (), [] and ||; or a comma.
_TOKEN = re.compile(r"(?:[^\s,()\[\]|]|\((?:[^()]|\([^()]*\))*\)|\[(?:[^\[\]]|\[[^\[\]]*\])*\]|\|[^|]+\|)+|,")
_CALL = re.compile(r"\w+\(.*\)")
_COUNTER = re.compile(r"[a-z]+cnt(?:_sat)?")
_BLANK = re.compile(r"\s+")
_AFTER_COLON = re.compile(r":\s+")
_PAIR = re.compile(r"\s*::\s*")


def _tokens(text: str) -> list[str]:
    tokens = _TOKEN.findall(text)
    if _BLANK.sub("", "".join(tokens)) != _BLANK.sub("", text):
        raise ValueError("brackets do not match")
    return tokens


def _merged(operands: list[Operand]) -> tuple[Operand, ...]:
    """Counters in a row are one operand: LLVM reads `vmcnt(0) lgkmcnt(0)` as the fields of one immediate."""
    calls = [op for op in operands if isinstance(op, Call) and _COUNTER.fullmatch(op.name) and len(op.args) == 1]
    if calls and len(calls) == len(operands):
        return (Waits(tuple((call.name, parse_int(",".join(call.args))) for call in calls)),)
    return tuple(operands)


def _half(text: str) -> Instruction:
    """One instruction without a `::`."""
    mnemonic, _, rest = text.partition(" ")
    if _MNEMONIC.fullmatch(mnemonic) is None:
        raise ValueError(f"cannot read the instruction name '{mnemonic}'")
    if mnemonic == "s_delay_alu":
        rest = rest.replace("|", ",")
    rest = _AFTER_COLON.sub(":", rest)
    operands: list[Operand] = []
    modifiers: list[tuple[str, ModifierValue]] = []
    previous = ","
    for token in _tokens(rest):
        if token == ",":
            if previous == "," or not operands:
                raise ValueError("an operand is missing at a comma")
        elif token == "&" and operands:  # another separator of counters
            pass
        elif previous == "," and not is_modifier(token, first=not operands):
            if any(name not in LEGACY_FORMAT for name, _ in modifiers):
                raise ValueError(f"an operand, '{token}', follows a modifier")
            operands.append(parse_operand(token))
        elif operands and not modifiers and isinstance(operands[-1], Call) and _CALL.fullmatch(token):
            operands.append(parse_operand(token))
        else:
            modifiers.append(parse_modifier(token))
        previous = token
    if previous == "," and operands:
        raise ValueError("an operand is missing at the end")
    return Instruction(mnemonic, _merged(operands), with_format(modifiers))


@lru_cache(maxsize=65536)
def _parsed(text: str) -> Instruction:
    first, *second = _PAIR.split(text)
    if len(second) > 1:
        raise ValueError("more than one '::'")
    if not second:
        return _half(first)
    x, y = _half(first), _half(second[0])
    return Instruction(x.mnemonic, x.operands, x.modifiers, pair=y)


def parse_instruction(text: str, line: int = 0, loc: Loc | None = None) -> Instruction:
    """An instruction from its text, without comments. ValueError says what could not be read."""
    one = _parsed(text.strip().replace("\t", " "))
    return Instruction(one.mnemonic, one.operands, one.modifiers, line, loc, one.pair)

"""Numbers in a linked code object's code that make up addresses: where they are, and symbols in their place.

A linker fills in the distance from s_getpc to what is meant. The addition gets the operand back that a compiler wrote,
such as `f@rel32@lo+4`, so that calls, constants and variables mean the same as in a compiler's text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from antiphase.asm import Imm, parse_operand
from antiphase.frontends.code_object._disassembly import Row

_GETPC = re.compile(r"s_get_?pc_[bi]64 s\[(\d+):")
_LOW = re.compile(r"s_add_(?:co_)?u32 s(\d+), s(\d+), (\S+)")
_HIGH = re.compile(r"s_add(?:c|_co_ci)_u32 s(\d+), s(\d+), (\S+)")
_WIDE = re.compile(r"s_add_nc_u64 s\[(\d+):\d+\], s\[(\d+):\d+\], (\S+)")
_REACH = 8
"""Instructions that LLVM may put between s_getpc and the end of the addition."""


@dataclass(frozen=True, slots=True)
class Part:
    """A number in the instruction of `row`. form: rel32@lo, rel32@hi or rel64. behind: bytes from where the program
    counter counts to the number itself, as `asm.reference` counts them."""

    row: int
    form: str
    behind: int


@dataclass(frozen=True, slots=True)
class Computed:
    """An address that code computes: the s_getpc at `row`, and the parts of the distance added to it."""

    row: int
    target: int
    parts: tuple[Part, ...]


def computed_addresses(rows: Sequence[Row]) -> Iterator[Computed]:
    """Every addition of numbers to what an s_getpc gives."""
    for index in range(len(rows) - 1):
        match = _GETPC.match(rows[index].text)
        if match is None:
            continue
        found = _addition(rows, index, match[1])
        if found is not None:
            distance, parts = found
            yield Computed(index, rows[index + 1].address + distance, parts)


def _addition(rows: Sequence[Row], index: int, register: str) -> tuple[int, tuple[Part, ...]] | None:
    high = str(int(register) + 1)
    low: tuple[int, int] | None = None
    for i in range(index + 1, min(index + 1 + _REACH, len(rows))):
        text = rows[i].text
        behind = 4 * (i - index)
        if (match := _WIDE.match(text)) and match[1] == match[2] == register:
            return _signed(_number(match[3])), (Part(i, "rel64", behind),)
        if (match := _LOW.match(text)) and match[1] == match[2] == register:
            low = i, _number(match[3])
        elif low is not None and (match := _HIGH.match(text)) and match[1] == match[2] == high:
            value = (low[1] & 0xFFFFFFFF) | (_number(match[3]) & 0xFFFFFFFF) << 32
            # the first addition has a symbol in it, and so 4 bytes more than the instructions between
            return _signed(value), (Part(low[0], "rel32@lo", 4 * (low[0] - index)), Part(i, "rel32@hi", behind + 4))
    return None


def _number(text: str) -> int:
    operand = parse_operand(text)
    return operand.value if isinstance(operand, Imm) else 0


def _signed(value: int) -> int:
    return (value & (1 << 64) - 1) - (value >> 63 & 1) * (1 << 64)


def with_symbol(text: str, part: Part, name: str, offset: int) -> str:
    """An instruction with a symbol in place of its last operand, the number."""
    return f"{text[: text.rindex(',')]}, {name}@{part.form}{part.behind + offset:+}"

"""Data sections: the bytes of constants and variables, and the addresses to be filled in."""

from __future__ import annotations

import ast
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass, field

from antiphase.asm._operands import parse_int

_SIZES = {
    ".byte": 1, ".short": 2, ".hword": 2, ".2byte": 2, ".half": 2, ".long": 4, ".int": 4, ".4byte": 4, ".word": 4,
    ".quad": 8, ".8byte": 8, ".octa": 16,
}  # fmt: skip
_FLOATS = {".float": "<f", ".single": "<f", ".double": "<d"}
_STRINGS = {".ascii": b"", ".asciz": b"\0", ".string": b"\0"}
_RUNS = (".zero", ".space", ".skip")
_ALIGNMENTS: dict[str, Callable[[int], int]] = {
    **dict.fromkeys((".p2align", ".p2alignl", ".p2alignw"), lambda n: 1 << n),
    **dict.fromkeys((".align", ".balign", ".balignl", ".balignw"), lambda n: max(n, 1)),
}
_ADDRESS = re.compile(r'"?([A-Za-z_.$][\w.$]*)"?(?:@abs(?:32|64))?\s*([+-]\s*\d+)?')
_OCTAL = re.compile(r"\\([0-7]{1,3})")


@dataclass(frozen=True, slots=True)
class Relocation:
    """`size` bytes at `offset` of a section that hold the address of `name` plus `addend`."""

    offset: int
    size: int
    name: str
    addend: int


@dataclass(slots=True)
class Section:
    """A section while it is read. allocated: it is part of what is loaded, and holds data.

    not_read: the first directive whose value is not understood, with its line; it matters only if the data is used.
    """

    name: str
    code: bool
    allocated: bool = False
    writable: bool = False
    alignment: int = 1
    content: bytearray = field(default_factory=bytearray)
    relocations: list[Relocation] = field(default_factory=list)
    not_read: tuple[int, str] | None = None

    def directive(self, line: int, name: str, arguments: str) -> None:
        """A directive that gives this section data, or aligns what follows; others are left alone."""
        try:
            self._directive(name, arguments)
        except (ValueError, SyntaxError, struct.error):
            self.not_read = self.not_read or (line, f"{name} {arguments}")

    def _directive(self, name: str, arguments: str) -> None:
        parts = [part.strip() for part in arguments.split(",")]
        if name in _SIZES:
            for part in parts:
                self._value(part, _SIZES[name])
        elif name in _FLOATS:
            for part in parts:
                self.content += struct.pack(_FLOATS[name], float(part))
        elif name in _STRINGS:
            self.content += _string(arguments) + _STRINGS[name]
        elif name in _RUNS:
            self.content += bytes([_number(parts[1]) & 0xFF if len(parts) > 1 else 0]) * _number(parts[0])
        elif name == ".fill":
            count, size, value = (*map(_number, parts), *(1, 0)[len(parts) - 1 :])
            self.content += (value & (1 << 8 * size) - 1).to_bytes(size, "little") * count
        elif name in _ALIGNMENTS:
            self.align(_ALIGNMENTS[name](_number(parts[0])))
        else:
            raise ValueError(name)

    def align(self, alignment: int) -> None:
        self.alignment = max(self.alignment, alignment)
        self.content += bytes(-len(self.content) % alignment)

    def _value(self, text: str, size: int) -> None:
        if match := _ADDRESS.fullmatch(text):
            addend = int((match[2] or "0").replace(" ", ""))
            self.relocations.append(Relocation(len(self.content), size, match[1], addend))
            self.content += bytes(size)
        else:
            self.content += (_number(text) & (1 << 8 * size) - 1).to_bytes(size, "little")


def _number(text: str) -> int:
    return parse_int(text.strip())


def _string(text: str) -> bytes:
    """The bytes of a quoted string with LLVM's escapes, whose numbers are octal."""
    whole = _OCTAL.sub(lambda match: f"\\x{int(match[1], 8) & 0xFF:02x}", text.strip())
    value = ast.literal_eval(f"b{whole}")
    if not isinstance(value, bytes):
        raise ValueError(text)
    return value


@dataclass(frozen=True, slots=True)
class Data:
    """A data section of a Program: `.rodata`, `.data`, `.bss` and their like.

    alignment, offsets: in bytes. symbols: label -> offset. not_read: a directive that was not understood, with its
    line, or None.
    """

    name: str
    writable: bool
    alignment: int
    content: bytes
    relocations: tuple[Relocation, ...]
    symbols: dict[str, int]
    not_read: tuple[int, str] | None = None


_FLAGGED = {".data": True, ".bss": True, ".rodata": False}


def section(arguments: str) -> Section:
    """The section that the arguments of a `.section` open.

    Code: `.text*`, or with the flag x; data: with the flag a, or one of the usual names.
    """
    parts = [part.strip().strip('"') for part in arguments.split(",")]
    name, flags = parts[0], parts[1] if len(parts) > 1 else ""
    code = name.startswith(".text") or "x" in flags
    usual = next((kind for kind in _FLAGGED if name == kind or name.startswith(f"{kind}.")), None)
    allocated = not code and ("a" in flags or usual is not None)
    writable = "w" in flags or (usual is not None and _FLAGGED[usual])
    return Section(name, code, allocated, writable)

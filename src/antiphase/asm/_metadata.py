"""The `.amdgpu_metadata` block: a reader of the YAML subset LLVM prints, and the records made from it.

Keys are those of AMDGPUUsage, "Code Object V5 Metadata". LLVM prints block maps and lists, plain or quoted
scalars and empty flow collections; anything else is an error rather than a guess.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from antiphase.errors import UserError


@dataclass(frozen=True, slots=True)
class KernelArg:
    """One kernel argument: offset and size in bytes; value_kind as AMDGPUUsage names it ('by_value', ...)."""

    offset: int
    size: int
    value_kind: str
    name: str | None = None
    address_space: str | None = None


@dataclass(frozen=True, slots=True)
class KernelMetadata:
    """What the runtime is told: sizes in bytes, counts in registers (agpr_count None if absent)."""

    name: str
    symbol: str
    args: tuple[KernelArg, ...]
    group_segment_fixed_size: int
    private_segment_fixed_size: int
    kernarg_segment_size: int
    max_flat_workgroup_size: int
    wavefront_size: int
    vgpr_count: int
    agpr_count: int | None
    sgpr_count: int
    vgpr_spill_count: int
    sgpr_spill_count: int


_KEY = re.compile(r"""("[^"]*"|'[^']*'|[^\s:'"\-\[{][^:'"]*?):(?:\s+(.*))?""")
_INTEGER = re.compile(r"-?(?:0x[0-9a-fA-F]+|\d+)")


class _Yaml:
    """Recursive descent over (line number, indent, text) rows."""

    def __init__(self, rows: Sequence[tuple[int, str]], file: str) -> None:
        self._file, self._next = file, 0
        texts = ((number, row.rstrip()) for number, row in rows)
        self._rows = [
            (number, len(text) - len(text.lstrip(" ")), text.lstrip(" "))
            for number, text in texts
            if text.strip() and text.strip() not in ("---", "...") and not text.lstrip().startswith("#")
        ]

    def _error(self, number: int, text: str) -> UserError:
        return UserError(f"cannot read the metadata line '{text}'", file=self._file, line=number)

    def document(self) -> Any:
        value = self._block(0) if self._rows else {}
        if self._next < len(self._rows):
            number, _, text = self._rows[self._next]
            raise self._error(number, text)
        return value

    def _block(self, least: int) -> Any:
        """The map or list that starts at the next row; None where that row is indented less than `least`."""
        if self._next == len(self._rows) or self._rows[self._next][1] < least:
            return None
        _, indent, text = self._rows[self._next]
        return self._sequence(indent) if text.startswith("-") else self._mapping(indent)

    def _here(self, indent: int) -> tuple[int, str] | None:
        if self._next == len(self._rows) or self._rows[self._next][1] != indent:
            return None
        number, _, text = self._rows[self._next]
        return number, text

    def _sequence(self, indent: int) -> list[Any]:
        items: list[Any] = []
        while (row := self._here(indent)) and (row[1] == "-" or row[1].startswith("- ")):
            number, text = row
            rest = text[1:].lstrip(" ")
            if not rest:
                self._next += 1
                items.append(self._block(indent + 1))
            elif _KEY.fullmatch(rest) or rest.startswith("- "):
                inner = indent + len(text) - len(rest)
                self._rows[self._next] = (number, inner, rest)  # the item reads as a block of its own
                items.append(self._block(inner))
            else:
                self._next += 1
                items.append(self._scalar(rest, number))
        return items

    def _mapping(self, indent: int) -> dict[str, Any]:
        items: dict[str, Any] = {}
        while (row := self._here(indent)) and not row[1].startswith("- "):
            number, text = row
            match = _KEY.fullmatch(text)
            if match is None:
                raise self._error(number, text)
            self._next += 1
            key = match[1].strip("'\"")
            if match[2]:
                items[key] = self._scalar(match[2].strip(), number)
            else:  # a list may stand at the indent of its key
                after = self._here(indent)
                items[key] = self._block(indent if after and after[1].startswith("-") else indent + 1)
        return items

    def _scalar(self, text: str, number: int) -> Any:
        if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
            return text[1:-1].replace("''", "'") if text[0] == "'" else text[1:-1].replace('\\"', '"')
        if text in ("[]", "{}"):
            return [] if text == "[]" else {}
        if text in ("true", "false"):
            return text == "true"
        if _INTEGER.fullmatch(text):
            return int(text, 0 if "x" in text else 10)
        if text[0] in "'\"[{&*!|>%@`":
            raise self._error(number, text)
        return text


def _field(record: Mapping[str, Any], key: str, kind: type, file: str, line: int, default: Any = ...) -> Any:
    value = record.get(key, default)
    if value is ... or not (isinstance(value, kind) or value is default):
        state = "lacks" if value is ... else f"has {value!r} for"
        raise UserError(f"the kernel metadata {state} '{key}'", file=file, line=line)
    return value


def read_metadata(rows: Sequence[tuple[int, str]], file: str, line: int) -> dict[str, KernelMetadata]:
    """Kernel name -> metadata, from the rows (line number, text) of a block starting at `line` of `file`."""
    document = _Yaml(rows, file).document()
    found: dict[str, KernelMetadata] = {}
    kernels = document.get("amdhsa.kernels") if isinstance(document, dict) else None
    for record in kernels or []:
        if not isinstance(record, dict):
            raise UserError("an entry of 'amdhsa.kernels' is not a map", file=file, line=line)
        kernel = _kernel(record, file, line)
        found[kernel.name] = kernel
    return found


def _kernel(record: Mapping[str, Any], file: str, line: int) -> KernelMetadata:
    def integer(key: str, default: Any = ...) -> Any:
        return _field(record, key, int, file, line, default)

    def string(key: str) -> str:
        return _field(record, key, str, file, line)

    return KernelMetadata(
        name=string(".name"),
        symbol=string(".symbol"),
        args=tuple(_arg(arg, file, line) for arg in _field(record, ".args", list, file, line, [])),
        group_segment_fixed_size=integer(".group_segment_fixed_size"),
        private_segment_fixed_size=integer(".private_segment_fixed_size"),
        kernarg_segment_size=integer(".kernarg_segment_size"),
        max_flat_workgroup_size=integer(".max_flat_workgroup_size"),
        wavefront_size=integer(".wavefront_size"),
        vgpr_count=integer(".vgpr_count"),
        agpr_count=integer(".agpr_count", None),
        sgpr_count=integer(".sgpr_count"),
        vgpr_spill_count=integer(".vgpr_spill_count", 0),
        sgpr_spill_count=integer(".sgpr_spill_count", 0),
    )


def _arg(record: Any, file: str, line: int) -> KernelArg:
    if not isinstance(record, dict):
        raise UserError("an entry of '.args' is not a map", file=file, line=line)
    return KernelArg(
        offset=_field(record, ".offset", int, file, line),
        size=_field(record, ".size", int, file, line),
        value_kind=_field(record, ".value_kind", str, file, line),
        name=_field(record, ".name", str, file, line, None),
        address_space=_field(record, ".address_space", str, file, line, None),
    )

"""The data sections of a linked code object as text, with names where it holds addresses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import SymbolTableSection

# AMDGPUUsage, "Relocation Records"
_ABSOLUTE64, _RELATIVE64 = 3, 13
_NAME = re.compile(r"[A-Za-z_.$][\w.$]*")
_ROW = 16  # bytes a line


@dataclass(frozen=True, slots=True)
class DataSection:
    """One section that is loaded and holds no code. symbols: address -> name and size; the first is its own label.

    addresses: place -> what it points at, as an address or as the name of a symbol from elsewhere with an addend.
    """

    name: str
    start: int
    content: bytes
    writable: bool
    alignment: int
    symbols: Mapping[int, list[tuple[str, int]]]
    addresses: Mapping[int, int | tuple[str, int]]

    @property
    def end(self) -> int:
        return self.start + len(self.content)

    @property
    def label(self) -> str:
        return f".L{self.start:x}.data"

    def nearest(self, address: int) -> tuple[str, int]:
        """The symbol that an address is in, else the section, and how far behind it."""
        inside = [
            (name, place)
            for place, named in self.symbols.items()
            for name, size in named
            if place <= address < place + max(size, 1)
        ]
        name, place = max(inside, key=lambda one: one[1], default=(self.label, self.start))
        return name, address - place

    def rows(self, named: Callable[[int], str]) -> Iterator[str]:
        """Its lines. named: an address as a symbol with an offset."""
        flags = "aw" if self.writable else "a"
        yield f'\t.section {self.name},"{flags}",@progbits'
        yield f"\t.p2align {max(0, self.alignment.bit_length() - 1)}"
        yield f"{self.label}:"
        stops = sorted({*self.symbols, *self.addresses, *(place + 8 for place in self.addresses), self.end})
        place = self.start
        for stop in stops:
            yield from _bytes(self.content[place - self.start : stop - self.start])
            place = max(place, stop)
            yield from (f"{name}:" for name, _ in self.symbols.get(stop, ()))
            if stop in self.addresses:
                one = self.addresses[stop]
                yield f"\t.quad {named(one) if isinstance(one, int) else f'{one[0]}+{one[1]}'}"
                place = stop + 8


def _bytes(content: bytes) -> Iterator[str]:
    if content and not any(content):
        yield f"\t.zero {len(content)}"
        return
    for start in range(0, len(content), _ROW):
        yield f"\t.byte {', '.join(map(str, content[start : start + _ROW]))}"


def data_sections(elf: ELFFile, symbols: Iterable[tuple[str, int, int]]) -> list[DataSection]:
    """The data sections of a linked file. symbols: name, address and size of its objects."""
    relocated = dict(_relocations(elf))
    named = [one for one in symbols if _NAME.fullmatch(one[0])]
    found = []
    for section in elf.iter_sections():
        flags, kind = section["sh_flags"], section["sh_type"]
        loaded = flags & SH_FLAGS.SHF_ALLOC and not flags & SH_FLAGS.SHF_EXECINSTR
        if not loaded or kind not in ("SHT_PROGBITS", "SHT_NOBITS") or not section["sh_size"]:
            continue
        start, size = section["sh_addr"], section["sh_size"]
        inside: dict[int, list[tuple[str, int]]] = {}
        for name, address, length in named:
            if start <= address < start + size:
                inside.setdefault(address, []).append((name, length))
        content = section.data() if kind == "SHT_PROGBITS" else bytes(size)
        addresses = {place: to for place, to in relocated.items() if start <= place < start + size}
        writable = bool(flags & SH_FLAGS.SHF_WRITE)
        alignment = section["sh_addralign"]
        found.append(DataSection(section.name, start, content, writable, alignment, inside, addresses))
    return found


def _relocations(elf: ELFFile) -> Iterator[tuple[int, int | tuple[str, int]]]:
    """Places of 64 bits that a loader fills in with an address."""
    for section in elf.iter_sections():
        if not isinstance(section, RelocationSection) or elf["e_type"] == "ET_REL":
            continue
        table = elf.get_section(section["sh_link"])
        for one in section.iter_relocations():
            if one["r_info_type"] == _RELATIVE64:
                yield one["r_offset"], one["r_addend"]
            elif one["r_info_type"] == _ABSOLUTE64 and isinstance(table, SymbolTableSection):
                symbol = table.get_symbol(one["r_info_sym"])  # pyright: ignore[reportAttributeAccessIssue]
                known = symbol["st_shndx"] != "SHN_UNDEF"
                addend = one["r_addend"]
                yield one["r_offset"], symbol["st_value"] + addend if known else (symbol.name, addend)

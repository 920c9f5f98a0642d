"""Source lines of a code object's addresses, from its DWARF line table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from elftools.elf.elffile import ELFFile


@dataclass(frozen=True, slots=True)
class SourceLines:
    """files: `.file` directives. at: address to the `.loc` directive of the instruction there."""

    files: list[str]
    at: dict[int, str]


def source_lines(elf: ELFFile) -> SourceLines:
    """Both empty where the file has no line table."""
    numbers: dict[str, int] = {}
    at: dict[int, str] = {}
    if not elf.has_dwarf_info():
        return SourceLines([], at)
    dwarf = elf.get_dwarf_info()
    for unit in dwarf.iter_CUs():
        program = dwarf.line_program_for_CU(unit)
        if program is None:
            continue
        for entry in program.get_entries():
            state = entry.state
            if state is not None and not state.end_sequence:
                path = _path(program.header, state.file)
                number = numbers.setdefault(path, len(numbers) + 1)
                at[state.address] = f"\t.loc {number} {state.line} {state.column}"
    return SourceLines([f'.file {number} "{path}"' for path, number in numbers.items()], at)


def _path(header: Any, index: int) -> str:
    """Files and folders count from 1 up to DWARF 4, folder 0 being the unit's own; from 0 in DWARF 5."""
    first = 0 if header.version >= 5 else 1
    file = header.file_entry[index - first]
    folder = file.dir_index - first
    name = file.name.decode(errors="replace")
    if folder < 0:
        return name
    return str(PurePosixPath(header.include_directory[folder].decode(errors="replace")) / name)

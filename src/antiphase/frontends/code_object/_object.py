"""Code objects (.hsaco, .co, .o) to Programs: llvm-objdump disassembles, the rest is read from the ELF file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import yaml
from elftools.common.exceptions import ELFError
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import NoteSection, SymbolTableSection

from antiphase import asm
from antiphase.errors import UserError
from antiphase.frontends.code_object._data import data_sections
from antiphase.frontends.code_object._disassembly import listing, objdump
from antiphase.frontends.code_object._lines import source_lines
from antiphase.frontends.code_object._text import Code, CodeText

# AMDGPUUsage, "Code Object V3 and Above Note Records"
_NOTE_OWNER, _NOTE_TYPE = "AMDGPU", 32
# AMDGPUUsage, "ELF Header": EM_AMDGPU, and EF_AMDGPU_MACH in the low byte of e_flags
_MACHINE = "EM_AMDGPU"
_TARGETS = {
    0x4C: "gfx942", 0x4F: "gfx950", 0x41: "gfx1100", 0x46: "gfx1101", 0x47: "gfx1102", 0x44: "gfx1103",
    0x43: "gfx1150", 0x4A: "gfx1151", 0x55: "gfx1152", 0x58: "gfx1153", 0x48: "gfx1200", 0x4E: "gfx1201",
    0x49: "gfx1250",
}  # fmt: skip
# AMDGPUUsage, kernel descriptor: COMPUTE_PGM_RSRC2, whose USER_SGPR_COUNT llvm-objdump does not print
_RSRC2 = 52
_CONSTANTS = ".rodata"  # the section of the descriptors

_DESCRIPTOR = re.compile(r"^\.amdhsa_kernel \S+\n(.*?)^\.end_amdhsa_kernel", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Symbol:
    """kind: STT_FUNC, STT_OBJECT and so on."""

    address: int
    size: int
    kind: str


def load(path: str | Path, target: str | None = None) -> asm.Program:
    """The Program of an assembly file or, by its first bytes, of a code object; `target` as for `asm.parse`.

    UserError for a file that cannot be read or is cut short, and for a code object where no llvm-objdump is
    installed.
    """
    try:
        with Path(path).open("rb") as file:
            is_elf = file.read(4) == b"\x7fELF"
    except OSError:
        is_elf = False  # asm.load says why it cannot be opened
    return asm.parse(disassemble(path), str(path), target) if is_elf else asm.load(path, target)


def disassemble(path: str | Path) -> str:
    """A code object as assembly text: its kernels with descriptors, metadata and source lines, and the functions and
    data that they may reach.

    What comes after a function's size is padding and is left out. UserError for one that is not linked and needs to
    be, since some of its code has addresses in it.
    """
    name = str(path)
    try:
        with Path(path).open("rb") as file:
            elf = ELFFile(file)
            target = _target(elf, name)
            _check_linked(elf, name)
            metadata = _metadata(elf, name)
            symbols = dict(_symbols(elf))
            descriptors = _descriptors(elf, symbols, name)
            lines = source_lines(elf)
            code = _code(elf, symbols, descriptors, name)
    except (ELFError, OSError, EOFError) as error:
        raise UserError(f"cannot read the code object: {error}", file=name) from None
    rows = [f'.amdgcn_target "amdgcn-amd-amdhsa--{target}"', ".text", *lines.files]
    rows += code.rows(list(descriptors), lines.at)
    for kernel, text in descriptors.items():
        rows += [f".amdhsa_kernel {kernel}", text.rstrip("\n"), ".end_amdhsa_kernel"]
    if metadata:
        rows += [".amdgpu_metadata", yaml.safe_dump(metadata, sort_keys=False).rstrip("\n"), ".end_amdgpu_metadata"]
    return "\n".join(rows) + "\n"


def _target(elf: ELFFile, name: str) -> str:
    if elf["e_machine"] != _MACHINE:
        raise UserError("not a code object for AMD GPUs", file=name)
    machine = elf["e_flags"] & 0xFF
    if machine not in _TARGETS:
        raise UserError(
            f"a code object for a target that antiphase does not know: EF_AMDGPU_MACH {machine:#x}",
            file=name,
            remedy="`antiphase arch list` has those it knows",
        )
    return _TARGETS[machine]


def _check_linked(elf: ELFFile, name: str) -> None:
    """Relocations of code are addresses that a linker has yet to write; those of descriptors are not looked at."""
    if elf["e_type"] != "ET_REL":
        return
    for section in elf.iter_sections():
        if isinstance(section, RelocationSection) and section.num_relocations():
            flags = elf.get_section(section["sh_info"])["sh_flags"]
            if flags & SH_FLAGS.SHF_EXECINSTR:
                raise UserError(
                    "an object file whose code has addresses still to be filled in",
                    file=name,
                    remedy=f"link it: ld.lld -shared {name} -o linked.co",
                )


def _metadata(elf: ELFFile, name: str) -> dict[str, Any]:
    for section in elf.iter_sections():
        if isinstance(section, NoteSection):
            for note in section.iter_notes():
                if note["n_name"] == _NOTE_OWNER and note["n_type"] in (_NOTE_TYPE, "NT_AMDGPU_METADATA"):
                    return _unpacked(note, name)
    return {}


def _unpacked(note: Any, name: str) -> dict[str, Any]:
    data = note["n_descdata"]
    try:
        return msgspec.msgpack.decode(data, type=dict[str, Any])
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise UserError(f"cannot read the metadata of the code object: {error}", file=name) from None


def _symbols(elf: ELFFile) -> Iterator[tuple[str, _Symbol]]:
    for section in elf.iter_sections():
        if isinstance(section, SymbolTableSection):
            for symbol in section.iter_symbols():
                if symbol["st_shndx"] != "SHN_UNDEF":
                    yield symbol.name, _Symbol(symbol["st_value"], symbol["st_size"], symbol["st_info"]["type"])


def _descriptors(elf: ELFFile, symbols: Mapping[str, _Symbol], name: str) -> dict[str, str]:
    """Kernel to its `.amdhsa_` directives, for the symbols that have a descriptor."""
    found: dict[str, str] = {}
    for label, symbol in symbols.items():
        kernel = label.removesuffix(".kd")
        if kernel == label or kernel not in symbols:
            continue
        place = (
            "-D",
            "-j",
            _CONSTANTS,
            f"--start-address={symbol.address}",
            f"--stop-address={symbol.address + 64}",
        )
        match = _DESCRIPTOR.search(objdump(name, *place))
        if match is None:
            raise UserError(f"llvm-objdump cannot read the descriptor of '{kernel}'", file=name)
        wide = ".amdhsa_named_barrier_count" in match[1]  # GFX12.5, where the field is a bit wider
        count = _word(elf, symbol.address + _RSRC2, name) >> 1 & (63 if wide else 31)
        found[kernel] = f"{match[1]}\t.amdhsa_user_sgpr_count {count}\n"
    if not found:
        raise UserError("no kernel in the code object", file=name)
    return found


def _word(elf: ELFFile, address: int, name: str) -> int:
    unlinked = elf.get_section_by_name(_CONSTANTS) if elf["e_type"] == "ET_REL" else None
    for offset in elf.address_offsets(address, 4) if unlinked is None else (unlinked["sh_offset"] + address,):
        elf.stream.seek(offset)
        return int.from_bytes(elf.stream.read(4), "little")
    raise UserError(f"nothing at address {address:#x} of the code object", file=name)


def _code(elf: ELFFile, symbols: Mapping[str, _Symbol], kernels: Mapping[str, str], name: str) -> CodeText:
    """Functions by the symbol table, and the data of a file that is linked."""
    named = {one: symbol for one, symbol in symbols.items() if symbol.kind == "STT_FUNC" or one in kernels}
    functions = [Code(one, s.address, s.address + s.size) for one, s in named.items() if s.size]
    functions += [Code(one, s.address, _end(elf, s.address), False) for one, s in named.items() if not s.size]
    functions.sort(key=lambda one: one.start)
    objects = [(one, s.address, s.size) for one, s in symbols.items() if s.kind == "STT_OBJECT" and one[-3:] != ".kd"]
    linked = elf["e_type"] != "ET_REL"
    data = data_sections(elf, objects) if linked else []
    text = listing(name, {(one.start, one.name) for one in functions})
    return CodeText(name, text, functions, data, list(_code_sections(elf)))


def _code_sections(elf: ELFFile) -> Iterator[tuple[int, int]]:
    for section in elf.iter_sections():
        if section["sh_flags"] & SH_FLAGS.SHF_EXECINSTR:
            yield section["sh_addr"], section["sh_addr"] + section["sh_size"]


def _end(elf: ELFFile, address: int) -> int:
    """Where the section of code at an address ends."""
    return next((end for start, end in _code_sections(elf) if start <= address < end), address)

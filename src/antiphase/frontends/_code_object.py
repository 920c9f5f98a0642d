"""Code objects (.hsaco, .co, .o) to Programs: llvm-objdump disassembles, the rest is read from the ELF file."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
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
from antiphase._llvm_tools import OLDEST, find_objdump
from antiphase.errors import UserError
from antiphase.frontends._code_lines import source_lines

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

_HEADER = re.compile(r"^([0-9a-f]{8,}) <(.+)>:$")
_INSTRUCTION = re.compile(r"^\t(.*?)\s*// ([0-9A-F]+):")
_TARGET = re.compile(r"\bL\d+$")
_DESCRIPTOR = re.compile(r"^\.amdhsa_kernel \S+\n(.*?)^\.end_amdhsa_kernel", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Symbol:
    address: int
    size: int


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
    """A code object as assembly text: its kernels with descriptors, metadata and source lines.

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
    except (ELFError, OSError, EOFError) as error:
        raise UserError(f"cannot read the code object: {error}", file=name) from None
    rows = [f'.amdgcn_target "amdgcn-amd-amdhsa--{target}"', ".text", *lines.files]
    listings = _listings(name, symbols)
    for kernel in descriptors:
        rows += _body(kernel, symbols[kernel], listings.get(kernel, ()), lines.at, name)
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
                yield symbol.name, _Symbol(symbol["st_value"], symbol["st_size"])


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
        match = _DESCRIPTOR.search(_objdump(name, *place))
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


def _listings(name: str, symbols: Mapping[str, _Symbol]) -> dict[str, list[str]]:
    """Function to its lines of disassembly, labels among them."""
    found: dict[str, list[str]] = {}
    rows: list[str] = []
    # real-true16 changes gfx12 only, where instructions on halves print as data without it
    for row in _objdump(name, "-d", "--symbolize-operands", "--mattr=+real-true16").splitlines():
        header = _HEADER.match(row)
        if header and header[2] in symbols and symbols[header[2]].address == int(header[1], 16):
            rows = found[header[2]] = []
        else:
            rows.append(row)
    return found


def _objdump(name: str, *options: str) -> str:
    tool = find_objdump()
    if not tool.usable:
        problem = f"{tool.path} is {tool.problem}" if tool.path else "it is not installed"
        raise UserError(
            f"a code object needs llvm-objdump {OLDEST} or newer to be read, and {problem}",
            file=name,
            remedy=f"apt-get install llvm-{OLDEST}, or pass the .s text",
        )
    done = subprocess.run([tool.path, *options, name], capture_output=True, text=True)
    if done.returncode:
        raise UserError(f"llvm-objdump: {' '.join(done.stderr.split())}", file=name)
    return done.stdout


def _body(kernel: str, symbol: _Symbol, listing: Sequence[str], lines: Mapping[int, str], name: str) -> list[str]:
    """The function in text: its label, instructions up to its size, and labels where a branch goes."""
    prefix = f".L{kernel}_"
    rows = [f"\t.type {kernel},@function", f"{kernel}:"]
    for row in listing:
        if header := _HEADER.match(row):
            rows.append(f"{prefix}{header[2]}:")
        elif match := _INSTRUCTION.match(row):
            address = int(match[2], 16)
            if symbol.size and address >= symbol.address + symbol.size:
                break
            if "/*" in match[1]:  # what has no text is left out: without the comment the line means something else
                place = f"offset {address - symbol.address:#x} of {kernel}"
                remedy = "the target has no such instruction; compile for the target that has it"
                raise UserError(f"llvm-objdump cannot write the code at {place}: {match[1]}", file=name, remedy=remedy)
            if address in lines:
                rows.append(lines[address])
            rows.append("\t" + _TARGET.sub(lambda found: prefix + found[0], match[1]))
    if len(rows) == 2:
        raise UserError(f"llvm-objdump shows no instructions of '{kernel}'", file=name)
    return [*rows, f".Lfunc_end_{kernel}:", f"\t.size {kernel}, .Lfunc_end_{kernel}-{kernel}"]

"""Directives: the names accepted, and readers of those that carry something a Program needs.

Names are those of LLVM's assembler for ELF and of AMDGPUUsage, "Assembler Directives".
"""

from __future__ import annotations

import difflib
import re

_SYMBOLS = (
    ".globl .global .weak .hidden .protected .internal .local .type .size .set .equ .equiv .ident .addrsig "
    ".addrsig_sym .no_dead_strip"
)
_ALIGNMENT = ".p2align .p2alignl .p2alignw .align .balign .balignl .balignw"
_DATA = (
    ".byte .short .hword .2byte .half .long .int .4byte .word .quad .8byte .octa .ascii .asciz .string .fill "
    ".zero .space .skip .uleb128 .sleb128 .float .single .double"
)
_SECTIONS = ".text .data .bss .section .pushsection .popsection .previous .comm .lcomm"
_DEBUG = ".file .loc"
_AMDGPU = (
    ".amdgcn_target .amdhsa_code_object_version .amdhsa_kernel .end_amdhsa_kernel .amdgpu_metadata "
    ".end_amdgpu_metadata .amdgpu_lds"
)

_EXPANDED = (
    ".macro .endm .endmacro .exitm .purgem .altmacro .noaltmacro .rept .rep .irp .irpc .endr .if .ifdef .ifndef .ifeq "
    ".ifne .ifgt .ifge .iflt .ifle .ifb .ifnb .ifc .ifnc .ifeqs .ifnes .else .elseif .endif .include"
)
EXPANDED = frozenset(_EXPANDED.split())
"""What an assembler carries out while it reads: macros, repetition, conditions."""

DATA = frozenset(_DATA.split())
ALIGNMENT = frozenset(_ALIGNMENT.split())
KNOWN = DATA | frozenset(" ".join((_SYMBOLS, _ALIGNMENT, _SECTIONS, _DEBUG, _AMDGPU)).split())

COMMENT = re.compile(r"/\*.*?\*/|(?:;|//|/\*).*")

_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_FILE = re.compile(r"(\d+)\s")


def is_known(directive: str) -> bool:
    """Whether a directive is one whose lines may be kept as they are (or are read elsewhere)."""
    return directive in KNOWN or directive.startswith(".cfi_")


def misspelt(directive: str) -> str:
    """The remedy for an unknown directive that looks like a known one, else nothing."""
    close = difflib.get_close_matches(directive, KNOWN, 1, cutoff=0.8)
    return f"did you mean '{close[0]}'" if close else ""


def strip_comment(arguments: str) -> str:
    """A directive's arguments without the comment after them; unchanged where a string may hold a ';'."""
    return arguments.rstrip() if '"' in arguments else COMMENT.sub("", arguments).strip()


def read_target(text: str) -> str | None:
    """Processor of an `.amdgcn_target`: the last part of its triple, without features; None if there is none.

    Both `amdgcn-amd-amdhsa--gfx942` and `amdgpu9.42-amd-amdhsa-unknown-gfx942` are in use.
    """
    match = _STRING.search(text)
    parts = match[1].split("-", 4) if match else []
    target = parts[4].split(":")[0] if len(parts) == 5 else ""
    return target if re.fullmatch(r"gfx[\w-]+", target) else None


def read_file(text: str) -> tuple[int, str] | None:
    """(number, path) of a numbered `.file`; None for one that only names the file of the whole unit."""
    match = _FILE.match(text)
    strings = _STRING.findall(text)
    if match is None or not strings:
        return None
    folder, name = (strings[0], strings[1]) if len(strings) > 1 else ("", strings[0])
    path = name if not folder or name.startswith("/") else f"{folder.rstrip('/')}/{name}"
    return int(match[1]), path

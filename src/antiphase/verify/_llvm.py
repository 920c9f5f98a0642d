"""Asking an LLVM about many lines at once: the code of each, or why it is refused."""

from __future__ import annotations

import io
import re
import subprocess
from collections.abc import Sequence
from typing import Protocol

import msgspec
from elftools.elf.elffile import ELFFile

_ERROR = re.compile(r"^[^:\n]*:(\d+):\d+: error: (.*)$", re.MULTILINE)
_SPACE = 64  # bytes from one line's code to the next; no instruction is longer
_SECONDS = 60
_ROUNDS = 4  # what is refused only once everything else is accepted takes another try


class Crash(Exception):
    """The tool died on the input."""


class Broken(Exception):
    """The tool dies on any input."""


class Refused(Exception):
    """The compiler does not take the input; its message."""


class Object(msgspec.Struct, frozen=True):
    """code: a relocatable ELF file, None where the text is refused. problems: reason by line, counted from 1."""

    code: bytes | None
    problems: dict[int, str]


class Code(msgspec.Struct, frozen=True):
    """One line: its bytes, padded alike for all lines, or the reason of its refusal."""

    code: bytes = b""
    refusal: str = ""

    @property
    def accepted(self) -> bool:
        return not self.refusal


class Llvm(Protocol):
    """An LLVM; source: its key in sources.toml. Its methods raise Crash where it dies, `compiled` also Refused."""

    source: str

    def object(self, target: str, features: str, text: str) -> Object: ...

    def compiled(self, target: str, features: str, ir: str) -> str: ...

    def close(self) -> None: ...


class InstalledLlvm:
    """LLVM's programs. assembler, compiler: their paths, '' for one that is not there."""

    def __init__(self, source: str, assembler: str = "", compiler: str = "") -> None:
        self.source, self.assembler, self.compiler = source, assembler, compiler

    def object(self, target: str, features: str, text: str) -> Object:
        """Assembly text as an object file."""
        done = _run([self.assembler, "--triple=amdgcn", "--filetype=obj", "-o", "-"], target, features, text)
        problems: dict[int, str] = {}
        for line, what in _ERROR.findall(done.stderr.decode(errors="replace")):
            problems.setdefault(int(line), what)
        if done.returncode and not problems:
            raise Crash
        return Object(None if done.returncode else done.stdout, problems)

    def compiled(self, target: str, features: str, ir: str) -> str:
        """LLVM IR, which names no triple, as assembly text."""
        done = _run([self.compiler, "--mtriple=amdgcn", "-o", "-"], target, features, ir)
        if done.returncode:
            words = done.stderr.decode(errors="replace").strip().splitlines()
            raise Refused(words[0] if words else "no reason given")
        return done.stdout.decode(errors="replace")

    def close(self) -> None:
        """Nothing stays open."""


def codes(llvm: Llvm, target: str, wave: int, lines: Sequence[str]) -> list[Code]:
    """What the assembler makes of each line. wave: 32 or 64, 0 for the target's own. Raises Broken."""
    features = f"+wavefrontsize{wave}" if wave else ""
    try:
        return _codes(llvm, target, features, lines)
    except Crash:
        _check_alive(llvm, target)
        if len(lines) == 1:
            return [Code(refusal="the assembler aborted")]
    half = len(lines) // 2
    return [*codes(llvm, target, wave, lines[:half]), *codes(llvm, target, wave, lines[half:])]


def _check_alive(llvm: Llvm, target: str) -> None:
    try:
        llvm.object(target, "", "s_nop 0\n")
    except Crash as crash:
        raise Broken from crash


def _codes(llvm: Llvm, target: str, features: str, lines: Sequence[str]) -> list[Code]:
    refused: dict[int, str] = {}
    for _ in range(_ROUNDS):
        kept = [index for index in range(len(lines)) if index not in refused]
        text = [row for index in kept for row in (f".p2align {_SPACE.bit_length() - 1}", lines[index])]
        # branches have somewhere to go
        made = llvm.object(target, features, "\n".join([*text, "end:", "s_nop 0", ""]))
        if made.code is not None:
            code = _text_section(made.code)
            starts = {index: place * _SPACE for place, index in enumerate(kept)}
            return [
                Code(refusal=refused[index])
                if index in refused
                else Code(code=code[starts[index] : starts[index] + _SPACE])
                for index in range(len(lines))
            ]
        refused |= {kept[(number - 1) // 2]: what for number, what in made.problems.items() if number <= len(text)}
    raise Crash


def _text_section(code: bytes) -> bytes:
    section = ELFFile(io.BytesIO(code)).get_section_by_name(".text")
    return section.data() if section is not None else b""


def _run(command: list[str], target: str, features: str, text: str) -> subprocess.CompletedProcess[bytes]:
    command += [f"--mcpu={target}", f"--mattr={features}"]
    try:
        return subprocess.run(command, input=text.encode(), capture_output=True, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Crash from error

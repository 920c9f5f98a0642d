"""LLVM's AMDGPU tools: the assembler inside Triton's wheel by ctypes, and llvm-objdump for code objects."""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import functools
import importlib.util
import json
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from antiphase.errors import UserError

_LIBRARY = Path("backends", "amd", "lib", "libtriton_amd_codegen.so")
_ERROR = re.compile(r"^[\w-]+:(\d+):\d+: error: (.*)$", re.MULTILINE)


class _CompileOptions(ctypes.Structure):
    """As triton 3.9.0's AMD backend declares them (compiler.py, _AMDGPUCodegenOptions)."""

    _fields_ = [
        ("abi_version", ctypes.c_uint32),
        *((name, ctypes.c_char_p) for name in ("triple", "processor", "features", "abi", "flags", "disabled_passes")),
        *((name, ctypes.c_uint8) for name in ("fp_fusion", "unoptimized", "canonical_gep", "dump_ir", "timing")),
    ]


class Assembler:
    """The LLVM that a Triton wheel carries: assembler and compiler; needs neither a GPU nor `import triton`."""

    def __init__(self, library: Path) -> None:
        self._library = ctypes.CDLL(str(library))
        text, size, out = ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_void_p)
        self._library.triton_amdgpu_assemble.argtypes = [
            text, size, text, text, text, out, ctypes.POINTER(size), out,
        ]  # fmt: skip
        self._library.triton_amdgpu_compile.argtypes = [
            text, size, ctypes.POINTER(_CompileOptions), out, ctypes.POINTER(size), out,
        ]  # fmt: skip
        self._library.triton_amdgpu_free.argtypes = [ctypes.c_void_p]
        self._library.triton_amdgpu_revision.restype = text
        self.path = library

    @property
    def revision(self) -> str:
        """The LLVM commit it was built from."""
        return self._library.triton_amdgpu_revision().decode()

    def assemble(self, source: str, target: str, features: str = "") -> bytes:
        """A relocatable ELF object. UserError with the first diagnostic where the text is refused."""
        code, problems = self.assembled(source, target, features)
        if code is None:
            line, what = min(problems.items(), default=(0, "refused without a reason"))
            raise UserError(f"LLVM does not assemble this for {target}: {what}", line=line)
        return code

    def refusals(self, lines: Sequence[str], target: str, features: str = "") -> dict[int, str]:
        """Index of each line that the assembler refuses, to its first reason; an accepted line has none."""
        _, problems = self.assembled("\n".join(lines) + "\n", target, features)
        return {line - 1: what for line, what in problems.items()}

    def compile(self, source: str, target: str, features: str = "") -> str:
        """LLVM IR, which names no triple, as assembly text outside any operating system's ABI.

        UserError with LLVM's message where the IR is refused.
        """
        ir, size = source.encode(), ctypes.c_size_t()
        code, error = ctypes.c_void_p(), ctypes.c_void_p()
        triple = _triple(target).partition("-")[0]
        texts = (text.encode() for text in (triple, target, features, "", "", ""))
        options = _CompileOptions(1, *texts, 1, 0, 0, 0, 0)
        status = self._library.triton_amdgpu_compile(
            ir, len(ir), ctypes.byref(options), ctypes.byref(code), ctypes.byref(size), ctypes.byref(error)
        )
        text = ctypes.string_at(code.value, size.value).decode() if code.value else ""
        message = ctypes.string_at(error.value).decode(errors="replace") if error.value else "no reason given"
        for memory in (code, error):
            if memory.value:
                self._library.triton_amdgpu_free(memory)
        if status:
            raise UserError(f"LLVM does not compile this for {target}: {message}")
        return text

    def assembled(self, source: str, target: str, features: str = "") -> tuple[bytes | None, dict[int, str]]:
        """The object, None where the text is refused, and the first reason for each line that is, counted from 1."""
        data, size = source.encode(), ctypes.c_size_t()
        code, error = ctypes.c_void_p(), ctypes.c_void_p()
        with tempfile.TemporaryFile("w+", errors="replace") as diagnostics:
            with _standard_error_to(diagnostics.fileno()):
                self._library.triton_amdgpu_assemble(
                    data, len(data), _triple(target).encode(), target.encode(), features.encode(),
                    ctypes.byref(code), ctypes.byref(size), ctypes.byref(error),
                )  # fmt: skip
            diagnostics.seek(0)
            problems: dict[int, str] = {}
            for line, what in _ERROR.findall(diagnostics.read()):
                problems.setdefault(int(line), what)
        result = ctypes.string_at(code.value, size.value) if code.value else None
        for memory in (code, error):
            if memory.value:
                self._library.triton_amdgpu_free(memory)
        return result, problems


LABEL = "end"
"""A label behind the lines that an Isolated assembler is asked about."""


class Isolated:
    """The assembler in a child process: some operands make it abort. A line that does counts as refused."""

    def __init__(self, assembler: Assembler, features: str = "") -> None:
        self._assembler, self._features = assembler, features

    def refusals(self, lines: Sequence[str], target: str) -> dict[int, str]:
        """As `Assembler.refusals`; the lines may name LABEL."""
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            faulthandler.disable()  # an abort is an answer
            os.close(reader)
            with os.fdopen(writer, "w") as pipe:
                json.dump(self._assembler.refusals([*lines, f"{LABEL}:"], target, self._features), pipe)
                pipe.flush()
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as pipe:
            answer = pipe.read()
        if os.waitpid(child, 0)[1] == 0:
            return {int(index): what for index, what in json.loads(answer).items()}
        if len(lines) == 1:
            return {0: "aborted"}
        half = len(lines) // 2
        second = self.refusals(lines[half:], target)
        return self.refusals(lines[:half], target) | {half + index: what for index, what in second.items()}


@functools.cache
def assembler() -> Assembler:
    """The assembler of the installed Triton. UserError with the install command where there is none."""
    # find_spec of the package alone does not import it
    spec = importlib.util.find_spec("triton")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        if (path := Path(folder, _LIBRARY)).is_file():
            return Assembler(path)
    raise UserError("no LLVM assembler: Triton is not installed", remedy="pip install 'antiphase[triton]'")


def _triple(target: str) -> str:
    """`gfx942` as `amdgpu9.42-amd-amdhsa`, the form this LLVM derives a processor's features from."""
    number = target.removeprefix("gfx")
    return f"amdgpu{number[:-2]}.{number[-2:]}-amd-amdhsa"


@contextlib.contextmanager
def _standard_error_to(descriptor: int) -> Iterator[None]:
    """The library prints its diagnostics; C code knows nothing of sys.stderr."""
    saved = os.dup(2)
    os.dup2(descriptor, 2)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)

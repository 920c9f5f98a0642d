"""The tools that re-check facts: LLVM's programs, the LLVM in the Triton wheel, and antiphase itself."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

import msgspec

from antiphase._llvm_tools import LlvmTool, find_tool
from antiphase.arch import CheckSpec
from antiphase.arch._check_specs import Assembles, Emits, OffsetRange, Registers, Spacing
from antiphase.verify._answers import ToolState
from antiphase.verify._llvm import InstalledLlvm, Llvm
from antiphase.verify._wheel import WheelLlvm

OWN = "antiphase"
"""Source of what antiphase's own machine, layouts, parser and checks say."""
_INSTALLED, _WHEEL = "llvm_22", "llvm_triton"
_PROGRAMS = {"llvm-mc": (Assembles, OffsetRange, Registers), "llc": (Spacing, Emits)}
"""What LLVM's programs answer; the wheel answers all of it."""
_WHEEL_LIBRARY = Path("backends", "amd", "lib", "libtriton_amd_codegen.so")
_WHEEL_VERSION = "3.9.0"


class Tools(msgspec.Struct, frozen=True):
    """What is here. assemblers, compilers: LLVMs that can do that; states: of everything that was looked for."""

    assemblers: tuple[Llvm, ...]
    compilers: tuple[Llvm, ...]
    states: tuple[ToolState, ...]

    def close(self) -> None:
        """End the processes that were started."""
        for llvm in {id(llvm): llvm for llvm in (*self.assemblers, *self.compilers)}.values():
            llvm.close()


def find_tools() -> Tools:
    """Look for LLVM 22 on PATH and for the Triton wheel; imports neither."""
    assembler, compiler = find_tool("llvm-mc"), find_tool("llc")
    installed = InstalledLlvm(_source(assembler, compiler), assembler.path, compiler.path)
    wheel, wheel_problem = WheelLlvm(), _wheel_problem()
    assemblers: list[Llvm] = [installed] if assembler.usable else []
    compilers: list[Llvm] = [installed] if compiler.usable else []
    if not wheel_problem:
        assemblers.append(wheel)
        compilers.append(wheel)
    return Tools(
        tuple(assemblers),
        tuple(compilers),
        (
            _state("llvm-mc", assembler),
            _state("llc", compiler),
            ToolState("triton", _wheel_version() or "", wheel_problem),
            ToolState(OWN, metadata.version("antiphase")),
        ),
    )


def absent(spec: CheckSpec, tools: Tools) -> Iterator[str]:
    """Tools that could answer a check and are not here."""
    missing = {state.tool for state in tools.states if state.problem}
    for program, kinds in _PROGRAMS.items():
        if isinstance(spec, kinds):
            chosen = getattr(spec, "by", ())
            wanted = {program: _INSTALLED, "triton": _WHEEL}
            yield from (name for name, source in wanted.items() if name in missing and (not chosen or source in chosen))


def _source(*programs: LlvmTool) -> str:
    """The key of their LLVM in sources.toml: by its major version."""
    versions = [re.search(r"\d+", program.version) for program in programs if program.usable]
    found = next((version[0] for version in versions if version), "")
    return f"llvm_{found}" if found else _INSTALLED


def _state(name: str, tool: LlvmTool) -> ToolState:
    found = ", ".join(filter(None, (tool.path, tool.version)))
    return ToolState(name, found, tool.problem if tool.path else "missing")


def _wheel_version() -> str | None:
    try:
        return metadata.version("triton")
    except metadata.PackageNotFoundError:
        return None


def _wheel_problem() -> str:
    """Why the wheel's LLVM is not used; '' where it is."""
    spec = importlib.util.find_spec("triton")
    folders: Iterable[str] = (spec.submodule_search_locations or ()) if spec else ()
    if not any(Path(folder, _WHEEL_LIBRARY).is_file() for folder in folders):
        return "missing"
    version = _wheel_version() or "of unknown version"
    return "" if version.startswith(_WHEEL_VERSION) else f"not {_WHEEL_VERSION}"

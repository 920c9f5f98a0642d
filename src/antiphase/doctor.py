"""What this machine has of the things antiphase uses. Gathers data; `report.doctor` words it."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Literal

import msgspec

from antiphase._llvm_tools import find_tool
from antiphase._paths import cache_directory, triton_cache, write_problem

State = Literal["ok", "missing", "unsuitable"]
"""ok: present and usable; missing: not there; unsuitable: there, but not as antiphase needs it."""

# Lowest usable version of each package antiphase cannot run without, as pyproject asks for.
_REQUIRED_PACKAGES = {
    "click": (8, 2),
    "jinja2": (3, 1),
    "llvmlite": (0, 50),
    "ml-dtypes": (0, 5),
    "msgspec": (0, 19),
    "numpy": (1, 26),
    "pyelftools": (0, 31),
    "pyyaml": (6, 0),
    "rich": (13, 7),
}
_TRITON = (3, 9, 0)
_LLVM_PROGRAMS = ("llvm-objdump", "llvm-mc", "llc")
_CPU_FEATURES = ("avx2", "fma", "f16c", "avx512f", "avx512bw", "avx512vl")


class Piece(msgspec.Struct, frozen=True):
    """One thing antiphase uses. found: its version or path, empty if none. problem: what is wrong with it."""

    name: str
    required: bool
    state: State
    found: str = ""
    problem: str = ""


class Machine(msgspec.Struct, frozen=True):
    """The host.

    cores: usable by this process. memory_gib: installed, 0 if unknown.
    cpu_features: of those that speed up translated code, the ones this CPU has.
    """

    system: str
    cpu: str
    cores: int
    memory_gib: float
    cpu_features: tuple[str, ...]


class Diagnosis(msgspec.Struct, frozen=True):
    """The state of this installation. ok: nothing required is missing or unsuitable."""

    ok: bool
    version: str
    machine: Machine
    pieces: tuple[Piece, ...]


def diagnose() -> Diagnosis:
    """Look at this machine. Imports no package it looks for; makes the cache directories if need be."""
    from antiphase import __version__

    programs = map(_llvm, _LLVM_PROGRAMS)
    pieces = (_python(), *_packages(), _triton(), _torch(), *programs, _tinygrad(), _cache(), _triton_cache())
    broken = any(piece.required and piece.state != "ok" for piece in pieces)
    return Diagnosis(not broken, __version__, _machine(), pieces)


def _python() -> Piece:
    version = platform.python_version()
    if _version_tuple(version) >= (3, 11):
        return Piece("python", True, "ok", version)
    return Piece("python", True, "unsuitable", version, "older than 3.11")


def _packages() -> Iterator[Piece]:
    for name, lowest in _REQUIRED_PACKAGES.items():
        version = _installed(name)
        if version is None:
            yield Piece(name, True, "missing")
        elif _version_tuple(version) < lowest:
            yield Piece(name, True, "unsuitable", version, f"older than {'.'.join(map(str, lowest))}")
        else:
            yield Piece(name, True, "ok", version)


def _triton() -> Piece:
    version = _installed("triton")
    if version is None:
        return Piece("triton", False, "missing")
    if _version_tuple(version) != _TRITON:
        return Piece("triton", False, "unsuitable", version, f"not {'.'.join(map(str, _TRITON))}")
    return Piece("triton", False, "ok", version)


def _torch() -> Piece:
    version = _installed("torch")
    return Piece("torch", False, "missing") if version is None else Piece("torch", False, "ok", version)


def _llvm(program: str) -> Piece:
    tool = find_tool(program)
    if not tool.path:
        return Piece(program, False, "missing")
    found = ", ".join(filter(None, (tool.path, tool.version)))
    return Piece(program, False, "ok" if tool.usable else "unsuitable", found, tool.problem)


def _tinygrad() -> Piece:
    """A checkout of tinygrad named by TINYGRAD: its emulator is among its tests, not in its wheel."""
    chosen = os.environ.get("TINYGRAD")
    if not chosen:
        return Piece("tinygrad checkout", False, "missing")
    if not (Path(chosen) / "test" / "mockgpu" / "amd" / "emu.py").is_file():
        return Piece("tinygrad checkout", False, "unsuitable", chosen, "has no test/mockgpu/amd/emu.py")
    return Piece("tinygrad checkout", False, "ok", chosen)


def _cache() -> Piece:
    directory = cache_directory()
    if problem := write_problem(directory):
        return Piece("cache directory", False, "unsuitable", str(directory), f"not writable ({problem})")
    return Piece("cache directory", False, "ok", str(directory))


def _triton_cache() -> Piece:
    """Required where the user named it: only what nobody named can be elsewhere for once."""
    place = triton_cache()
    if not place.problem:
        return Piece("Triton cache", False, "ok", str(place.path))
    required = bool(place.named_by) and _installed("triton") is not None
    remark = f", named by {place.named_by}" if place.named_by else "; each run makes do with a temporary directory"
    return Piece("Triton cache", required, "unsuitable", str(place.path), f"not writable ({place.problem}){remark}")


def _machine() -> Machine:
    cpu, flags = _cpuinfo()
    return Machine(
        system=f"{platform.system()} {platform.machine()}",
        cpu=cpu,
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        memory_gib=_memory_gib(),
        cpu_features=tuple(feature for feature in _CPU_FEATURES if feature in flags),
    )


def _cpuinfo() -> tuple[str, frozenset[str]]:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.processor() or "unknown", frozenset()
    fields = dict(re.findall(r"^([^\t:]+?)\s*: (.*)$", text, re.MULTILINE))
    return fields.get("model name", platform.processor() or "unknown"), frozenset(fields.get("flags", "").split())


def _memory_gib() -> float:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (OSError, ValueError):
        return 0.0


def _installed(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _version_tuple(version: str) -> tuple[int, ...]:
    """The leading numbers of a version: 3.9.0+git1 is (3, 9, 0)."""
    numbers = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(part) for part in numbers[0].split(".")) if numbers else ()

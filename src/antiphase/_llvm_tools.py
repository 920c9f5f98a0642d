"""LLVM's programs on this machine: found by doctor, used by the reader of code objects and by `arch verify`."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass

OLDEST = 22
"""The first LLVM that knows every target."""


@dataclass(frozen=True, slots=True)
class LlvmTool:
    """path: the program, '' if there is none. version: 'LLVM version 22.1.8'. problem: why it will not do."""

    path: str
    version: str = ""
    problem: str = ""

    @property
    def usable(self) -> bool:
        return bool(self.path) and not self.problem


def find_objdump() -> LlvmTool:
    """The newest llvm-objdump on PATH."""
    return find_tool("llvm-objdump")


def find_tool(program: str) -> LlvmTool:
    """The newest program of that name on PATH, plain or with Debian's version suffix."""
    names = [f"{program}-{major}" for major in range(OLDEST + 10, OLDEST - 1, -1)]
    path = next((path for name in (*names, program) if (path := shutil.which(name))), "")
    if not path:
        return LlvmTool("")
    try:
        output = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=20).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        return LlvmTool(path, "", f"does not run ({error})")
    match = re.search(r"LLVM version (\d+)[\d.]*", output)
    if match is None or int(match[1]) < OLDEST:
        return LlvmTool(path, match[0] if match else "unknown version", f"older than LLVM {OLDEST}")
    return LlvmTool(path, match[0])

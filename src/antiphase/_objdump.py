"""llvm-objdump on this machine: found by doctor, used by the reader of code objects."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass

OLDEST = 22
"""The first LLVM whose disassembler reads code objects of every target."""


@dataclass(frozen=True, slots=True)
class Objdump:
    """path: the program, '' if there is none. version: 'LLVM version 22.1.8'. problem: why it will not do."""

    path: str
    version: str = ""
    problem: str = ""

    @property
    def usable(self) -> bool:
        return bool(self.path) and not self.problem


def find_objdump() -> Objdump:
    """The newest llvm-objdump on PATH, plain or with Debian's version suffix."""
    names = [f"llvm-objdump-{major}" for major in range(OLDEST + 10, OLDEST - 1, -1)]
    path = next((path for name in (*names, "llvm-objdump") if (path := shutil.which(name))), "")
    if not path:
        return Objdump("")
    try:
        output = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=20).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        return Objdump(path, "", f"does not run ({error})")
    match = re.search(r"LLVM version (\d+)[\d.]*", output)
    if match is None or int(match[1]) < OLDEST:
        return Objdump(path, match[0] if match else "unknown version", f"older than LLVM {OLDEST}")
    return Objdump(path, match[0])

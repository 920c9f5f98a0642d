"""The assembly text of kernels that a script has compiled, as files that a reader can open at a finding's line."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from antiphase.asm import Program
from antiphase.checks import CheckedKernel, CheckResult
from antiphase.errors import UserError

_HINT = "{name}:{line} is a line of the text that was compiled: --save-asm FOLDER writes it"


def save_texts(result: CheckResult, folder: str | Path) -> CheckResult:
    """Write every kernel's text into a folder, as NAME.s or, where several have a name, NAME-2.s and so on.

    Returns the result with its programs named by these files. UserError where they cannot be written.
    """
    named: dict[int, Program] = {}
    taken: set[Path] = set()
    for program in (part.program for part in result.kept):
        if id(program) not in named:
            path = _free(Path(folder), re.sub(r"[^\w.-]", "_", Path(program.name).stem), taken)
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(program.listing(), encoding="utf-8")
            except OSError as error:
                raise UserError(f"cannot write: {error.strerror}", file=str(path)) from None
            named[id(program)] = replace(program, name=str(path))

    def renamed(part: CheckedKernel) -> CheckedKernel:
        return replace(part, program=named.get(id(part.program), part.program))

    return replace(
        result,
        kept=[renamed(part) for part in result.kept],
        left_out=[(renamed(part), finding, by) for part, finding, by in result.left_out],
    )


def _free(folder: Path, name: str, taken: set[Path]) -> Path:
    numbers = ("", *(f"-{number}" for number in range(2, len(taken) + 3)))
    path = next(path for number in numbers if (path := folder / f"{name}{number}.s") not in taken)
    taken.add(path)
    return path


def text_hint(result: CheckResult) -> str | None:
    """How to get at the text that findings name, where it is in no file."""
    for part in result.kept:
        for site in (site for finding in part.checked.findings for site in finding.sites):
            if site.role != "kernel" and not Path(part.program.name).is_file():
                line = part.kernel.instructions[site.instruction].line
                return _HINT.format(name=part.program.name, line=line)
    return None

"""One finding in words: its message, its sites, and its fix as the lines of a diff."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from antiphase.asm import Instruction
from antiphase.checks import CheckedKernel, Finding, source_line
from antiphase.report._wording import wording


@dataclass(frozen=True, slots=True)
class Place:
    """A site in words. file, line: of the assembly text; source: (file, line, text or None) of what it came from."""

    role: str
    instruction: str
    file: str
    line: int
    source: tuple[str, int, str | None] | None
    waves: tuple[int, ...]

    @property
    def where(self) -> str:
        """The source line if there is one, else the assembly line."""
        return f"{shown(self.source[0])}:{self.source[1]}" if self.source else f"{shown(self.file)}:{self.line}"


def message(finding: Finding) -> str:
    """One line for a finding, its details included."""
    words = wording(finding)
    return "; ".join([words.title(finding.facts), *words.details(finding.facts)])


def places(part: CheckedKernel, finding: Finding) -> list[Place]:
    """The sites of a finding, (1) first."""
    return [
        _place(part.program.name, part.kernel.instructions[site.instruction], site.role, site.waves)
        for site in finding.sites
    ]


def _place(file: str, instruction: Instruction, role: str, waves: tuple[int, ...]) -> Place:
    loc = instruction.loc
    source = (loc.file, loc.line, source_line(loc.file, loc.line)) if loc is not None and loc.line else None
    return Place(role, instruction.text(), file, instruction.line, source, waves)


def shown(file: str) -> str:
    """A path as a reader wants it: relative where that is below the current folder."""
    try:
        return str(Path(file).relative_to(Path.cwd()))
    except ValueError:
        return file


def fix_lines(part: CheckedKernel, finding: Finding) -> list[str]:
    """The fix as the lines of a diff; none where there is no small one."""
    fix = finding.fix
    if fix is None:
        return []
    old = part.kernel.instructions[fix.instruction].text()
    after = [f"  {old}"] if fix.action == "insert" else []
    before = [] if fix.action == "insert" else [f"- {old}"]
    return [*before, *(f"+ {line}" for line in fix.text), *after]


def waves_text(waves: Iterable[int]) -> str:
    """`wave 3`, `waves 0-3, 6`."""
    numbers = sorted(set(waves))
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] + 1 == number:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    return f"wave{'s' if len(numbers) > 1 else ''} {', '.join(parts)}"

"""Suppressions: findings an author has looked at and keeps, each with the reason.

A file (TOML) of tables [[suppress]], or a comment on the Python or assembly line of one of the instructions, or on a
line of its own before it: `# antiphase: allow wait -- reason`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from glob import escape
from pathlib import Path
from typing import Any, Literal

from antiphase.asm import Instruction
from antiphase.checks._finding import Finding
from antiphase.checks._result import CheckResult
from antiphase.checks._run import CHECKS, CheckedKernel, hold_back
from antiphase.errors import UserError

_KEYS = ("check", "rule", "kernel", "instruction", "line", "reason")
_COMMENT = re.compile(r"(?:#|//|;)\s*antiphase:\s*allow\s+([\w/, *]+?)\s*(?:--\s*(.*?)\s*)?$")

_ALONE = re.compile(r"\s*(?:#|//|;)")
_PASSED = re.compile(r"\s*(?:$|#|//|;|\.|[\w.$]+:\s*(?:;|//|$))")
"""Lines that may stand between such a comment and its instruction: comments, directives, labels, empty ones."""


@dataclass(frozen=True, slots=True)
class Suppression:
    """Findings to leave out: those that every pattern given matches (shell-style, * and ?).

    check: name, '*' for any. rule, kernel: patterns of their names. instruction: of the text of one of its
    instructions. line: of 'file:line' of one of its sites, in the source or the assembly file, with or without folders.
    where: the file and line that has the suppression.
    """

    check: str
    reason: str
    where: str
    kind: Literal["file", "comment"] = "file"
    rule: str = "*"
    kernel: str = "*"
    instruction: str = "*"
    line: str = "*"

    def matches(self, part: CheckedKernel, finding: Finding) -> bool:
        named = fnmatchcase(finding.check, self.check) and fnmatchcase(finding.rule, self.rule)
        if not (named and fnmatchcase(part.kernel.name, self.kernel)):
            return False
        at = [part.kernel.instructions[site.instruction] for site in finding.sites]
        if not any(fnmatchcase(one.text(), self.instruction) for one in at):
            return False
        return any(fnmatchcase(place, self.line) for one in at for place in _places(part.program.name, one))


def load_suppressions(path: str | Path) -> list[Suppression]:
    """The suppressions of a TOML file. UserError for a file that is missing or malformed, naming what is wrong."""
    name = str(path)
    try:
        tables = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read: {getattr(error, 'strerror', error)}", file=name) from None
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"not TOML: {error}", file=name) from None
    if set(tables) - {"suppress"} or not isinstance(tables.get("suppress", []), list):
        raise UserError("only [[suppress]] tables belong here", file=name)
    return [_entry(table, name, number) for number, table in enumerate(tables.get("suppress", []), 1)]


def _entry(table: Any, file: str, number: int) -> Suppression:
    where = f"{file} entry {number}"
    if not isinstance(table, dict) or any(not isinstance(value, str) for value in table.values()):
        raise UserError(f"suppression {number} is not a table of strings", file=file)
    if unknown := sorted(set(table) - set(_KEYS)):
        raise UserError(f"suppression {number} has '{unknown[0]}'", file=file, remedy=f"keys are {', '.join(_KEYS)}")
    for key in ("check", "reason"):
        if not table.get(key, "").strip():
            raise UserError(f"suppression {number} has no {key}", file=file, remedy=f'add {key} = "..."')
    if table["check"] != "*" and table["check"] not in CHECKS:
        raise UserError(
            f"suppression {number}: no check is called '{table['check']}'",
            file=file,
            remedy=f"choose from: {', '.join(CHECKS)}",
        )
    return Suppression(where=where, **table)


def suppress(parts: Sequence[CheckedKernel], suppressions: Iterable[Suppression] = ()) -> CheckResult:
    """Take out what these suppressions and the comments in the kernels' sources allow.

    What `useless` finds is held back from a kernel that is left with errors about order.
    """
    _lines.cache_clear()  # sources may have changed since the last time
    allowed, unreasoned = _comments(parts)
    everything = [*suppressions, *allowed]
    result = CheckResult([], unreasoned=unreasoned)
    used: set[Suppression] = set()
    for part in parts:
        kept = []
        for finding in part.checked.findings:
            by = next((s for s in everything if s.matches(part, finding)), None)
            if by is None:
                kept.append(finding)
                continue
            used.add(by)
            result.left_out.append((part, finding, by))
        result.kept.append(hold_back(replace(part, checked=replace(part.checked, findings=tuple(kept)))))
    ran = {name for part in parts for name in part.ran}
    result.unused.extend(s for s in everything if s not in used and (s.check == "*" or s.check in ran))
    return result


def _places(program: str, instruction: Instruction) -> Iterator[str]:
    files = [(program, instruction.line)]
    if instruction.loc is not None and instruction.loc.line:
        files.append((instruction.loc.file, instruction.loc.line))
    for file, line in files:
        yield f"{file}:{line}"
        yield f"{Path(file).name}:{line}"


def _comments(parts: Sequence[CheckedKernel]) -> tuple[list[Suppression], list[str]]:
    """Allowances written at source lines that some instruction comes from; and those that give no reason.

    In an assembly file also those at no instruction: they match nothing.
    """
    at = {place for part in parts for place in _lines_of(part)}
    found = {(file, comment): line for file, line in sorted(at) for comment in _comments_at(file, line)}
    for file in {part.program.name for part in parts}:
        for comment, text in enumerate(_lines(file), 1):
            if _ALONE.match(text) and _COMMENT.search(text):
                found.setdefault((file, comment), comment)
    allowed: dict[Suppression, None] = {}
    unreasoned: dict[str, None] = {}
    for (file, comment), line in found.items():
        match = _COMMENT.search(source_line(file, comment) or "")
        where = f"{file}:{comment}"
        if match is None:
            continue
        if not match[2]:
            unreasoned[where] = None
            continue
        for name in match[1].split(","):
            check, _, rule = name.strip().partition("/")
            place = escape(f"{file}:{line}")
            allowed[Suppression(check, match[2], where, "comment", rule=rule or "*", line=place)] = None
    return list(allowed), list(unreasoned)


def _comments_at(file: str, line: int) -> Iterator[int]:
    """The lines that may hold a comment about a line: itself, and comments on lines of their own right before it."""
    yield line
    for above in range(line - 1, 0, -1):
        text = source_line(file, above) or ""
        if not _PASSED.match(text):
            return
        if _ALONE.match(text):
            yield above


def _lines_of(part: CheckedKernel) -> set[tuple[str, int]]:
    """The places of all instructions of a kernel, in its source and in its assembly file."""
    source = {(i.loc.file, i.loc.line) for i in part.kernel.instructions if i.loc is not None and i.loc.line}
    return source | {(part.program.name, i.line) for i in part.kernel.instructions}


def source_line(file: str, line: int) -> str | None:
    """A line of a source file, from 1, without its end; None if it cannot be read."""
    lines = _lines(file)
    return lines[line - 1] if 1 <= line <= len(lines) else None


@lru_cache(maxsize=64)
def _lines(file: str) -> tuple[str, ...]:
    try:
        return tuple(Path(file).read_text(encoding="utf-8").splitlines())
    except (OSError, UnicodeDecodeError):
        return ()

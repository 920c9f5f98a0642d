"""`antiphase check` in words: each finding with its two sites, its rule, and the smallest change that removes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from antiphase.asm import Instruction
from antiphase.checks import CheckedKernel, Finding, Severity, Suppressed, Suppression, source_line, verdict
from antiphase.report._wording import wording
from antiphase.report._words import times

__all__ = ["STATUS", "as_json", "fix_lines", "message", "notes", "places", "print_findings", "shown", "verdict"]

STATUS = {"clean": 0, "findings": 1, "incomplete": 2}
"""Exit status of each verdict."""

_COLOURS: dict[Severity, str] = {"error": "bold red", "warning": "bold yellow", "info": "bold cyan"}
_VERDICTS = {"clean": "bold green", "findings": "bold red", "incomplete": "bold yellow"}
_NOUNS = {"error": "error", "warning": "warning", "info": "note"}
_ALIKE_SHOWN = 6


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


def as_json(result: Suppressed) -> dict[str, Any]:
    """One object: the verdict; every finding; why the verdict may not be the last word; what was looked at."""
    findings = [_finding_as_json(part, f) for part in result.kept for f in part.checked.findings]
    return {
        "verdict": verdict(result.kept),
        "findings": findings + [_note_as_json(text) for text in notes(result)],
        "incomplete": list(dict.fromkeys(reason for part in result.kept for reason in part.checked.incomplete)),
        "suppressed": [
            {**_finding_as_json(part, f), "reason": by.reason, "by": by.where} for part, f, by in result.left_out
        ],
        "kernels": [
            {
                "program": part.program.name,
                "kernel": part.kernel.name,
                "target": part.program.target,
                "checks": list(part.ran),
                "launches": part.launches,
                "workgroups": {"checked": part.workgroups[0], "launched": part.workgroups[1]},
            }
            for part in result.kept
        ],
    }


def _finding_as_json(part: CheckedKernel, finding: Finding) -> dict[str, Any]:
    words = wording(finding)
    fix = finding.fix
    return {
        "check": finding.check,
        "severity": finding.severity,
        "kernel": part.kernel.name,
        "sites": [_place_as_json(place) for place in places(part, finding)],
        "rule": finding.rule,
        "message": message(finding),
        "meaning": words.meaning,
        "citation": words.cite,
        "facts": {key: _plain(value) for key, value in finding.facts.items()},
        "fix": None
        if fix is None
        else {
            "action": fix.action,
            "line": part.kernel.instructions[fix.instruction].line,
            "text": list(fix.text),
            "diff": fix_lines(part, finding),
        },
        "count": finding.count,
    }


def _plain(value: object) -> object:
    """Facts as JSON has them: numbers of NumPy become numbers."""
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, tuple | list | set | frozenset):
        return [_plain(inner) for inner in value]
    return value.item() if hasattr(value, "item") else value  # pyright: ignore[reportAttributeAccessIssue]


def _place_as_json(place: Place) -> dict[str, Any]:
    source = place.source
    return {
        "role": place.role,
        "file": place.file,
        "line": place.line,
        "instruction": place.instruction,
        "source": None if source is None else {"file": source[0], "line": source[1], "text": source[2]},
        "waves": [int(wave) for wave in place.waves],
    }


def _note_as_json(text: str) -> dict[str, Any]:
    return {
        "check": "suppress", "severity": "info", "kernel": None, "sites": [],
        "rule": "suppression", "message": text, "meaning": "", "citation": "", "facts": {}, "fix": None, "count": 1,
    }  # fmt: skip


def notes(result: Suppressed) -> list[str]:
    """What there is to say about the suppressions themselves."""
    unreasoned = [
        f"{shown(where)}: the comment allows nothing without a reason: add -- why" for where in result.unreasoned
    ]
    return [*unreasoned, *(f"{_named(s)} matches no finding and can go" for s in result.unused)]


def _named(suppression: Suppression) -> str:
    return f"{shown(suppression.where)}: the suppression of '{suppression.check}' ({suppression.reason})"


def print_findings(result: Suppressed, console: Console, limit: int = 20) -> None:
    """Print the findings of all kernels, at most `limit` of those that are alike once, and the verdict."""
    groups = [group for part in result.kept for group in _alike(part)]
    for part, group in groups[:limit]:
        _print_group(part, group, part.kernel.name if len(result.kept) > 1 else "", console)
    if left := groups[limit:]:
        count = sum(f.count for _, group in left for f in group)
        console.print(f"... {count:,} more, counted and not shown: --print-limit {len(groups)}\n", highlight=False)
    for text in notes(result):
        console.print(Text.assemble(("info: ", _COLOURS["info"]), text), soft_wrap=True)
    for reason in dict.fromkeys(reason for part in result.kept for reason in part.checked.incomplete):
        console.print(Text.assemble(("incomplete: ", _VERDICTS["incomplete"]), reason), soft_wrap=True)
    _print_verdict(result, console)


def _alike(part: CheckedKernel) -> list[tuple[CheckedKernel, list[Finding]]]:
    """Findings that one change would remove or that repeat each other, together; the gravest first."""
    groups: dict[object, list[Finding]] = {}
    for finding in part.checked.findings:
        groups.setdefault(_likeness(part, finding), []).append(finding)
    order = list(_COLOURS)
    return [(part, g) for g in sorted(groups.values(), key=lambda group: order.index(group[0].severity))]


def _likeness(part: CheckedKernel, finding: Finding) -> object:
    if finding.check == "wait":
        # One missing wait shows at every use: they are told once, at the first.
        return "wait", finding.severity, finding.sites[0].instruction, finding.facts["counter"]
    sites = []
    for site in finding.sites:
        one = part.kernel.instructions[site.instruction]
        # Without source lines nothing says that two places are the same piece of code.
        known = one.loc is not None and one.loc.line
        sites.append((one.mnemonic, one.loc and (one.loc.file, one.loc.line)) if known else site.instruction)
    return finding.check, finding.rule, finding.severity, tuple(sites), finding.facts.get("counter")


def _print_group(part: CheckedKernel, group: Sequence[Finding], kernel: str, console: Console) -> None:
    finding = group[0]
    words = wording(finding)
    count = sum(one.count for one in group)
    console.print(
        Text.assemble(
            (f"{finding.severity}: ", _COLOURS[finding.severity]),
            (words.title(finding.facts), "bold"),
            (f"  [{finding.check}/{finding.rule}]" + (f" {kernel}" if kernel else ""), "dim"),
            (f" x{count:,}" if count > 1 else "", "bold"),
        ),
        soft_wrap=True,
    )
    # A finding about a whole kernel has no place of its own.
    at = [place for place in places(part, finding) if place.role != "kernel"]
    waves = [f", {waves_text(place.waves)}" if place.waves else "" for place in at]
    heads = [f"  ({n}) {place.role}{waves[n - 1]}" for n, place in enumerate(at, 1)]
    width = max(map(len, heads), default=0) + 2
    for head, place in zip(heads, at, strict=True):
        _print_place(head.ljust(width), place, console)
    for line in words.details(finding.facts):
        console.print(Text(f"  {line}"), soft_wrap=True)
    if len(group) > 1:
        lines = [str(part.kernel.instructions[one.sites[-1].instruction].line) for one in group[1:]]
        more = ", ".join(lines[:_ALIKE_SHOWN]) + (", ..." if len(lines) > _ALIKE_SHOWN else "")
        console.print(Text(f"  and alike at {'line' if len(lines) == 1 else 'lines'} {more}"), soft_wrap=True)
    # A note speaks for itself; a finding says why it is one.
    for line in (words.meaning, words.cite) if finding.severity != "info" else ():
        if line:
            console.print(Text(f"  {line}", "dim"), soft_wrap=True)
    _print_fix(part, finding, console)
    console.print()


def _print_place(head: str, place: Place, console: Console) -> None:
    if place.source:
        text = (place.source[2] or "").strip()
        console.print(Text.assemble((head, "bold"), place.where, f": {text}" if text else ""), soft_wrap=True)
        head = " " * len(head)
    at = f"{shown(place.file)}:{place.line}: "
    console.print(Text.assemble((head, "bold"), at, (place.instruction, "cyan")), soft_wrap=True)


def _print_fix(part: CheckedKernel, finding: Finding, console: Console) -> None:
    lines = fix_lines(part, finding)
    if not lines or finding.fix is None:
        return
    line = part.kernel.instructions[finding.fix.instruction].line
    console.print(Text(f"  fix, at {shown(part.program.name)}:{line}"), soft_wrap=True)
    for text in lines:
        style = {"+": "green", "-": "red"}.get(text[0], "dim")
        console.print(Text(f"    {text}", style), soft_wrap=True)


def _print_verdict(result: Suppressed, console: Console) -> None:
    found = [f for part in result.kept for f in part.checked.findings]
    counts = Counter(finding.severity for finding in found)
    numbers = ", ".join(times(counts[s], _NOUNS[s]) for s in _COLOURS if counts[s])
    seen = sum(finding.count for finding in found)
    numbers += f", seen {seen:,} times" if seen > len(found) else ""
    if result.left_out:
        numbers += f"{', ' if numbers else ''}{len(result.left_out)} suppressed"
    checks = ", ".join(dict.fromkeys(name for part in result.kept for name in part.ran))
    kernels = ", ".join(f"{part.kernel.name} for {part.program.target}" for part in result.kept) or "no kernel"
    is_ = verdict(result.kept)
    console.print(
        Text.assemble((is_, _VERDICTS[is_]), f": {kernels}", f"; {numbers}" if numbers else ""), soft_wrap=True
    )
    console.print(Text(f"checks: {checks or 'none'}{_looked_at(result)}", "dim"), soft_wrap=True)


def _looked_at(result: Suppressed) -> str:
    launches = sum(part.launches for part in result.kept)
    if not launches:
        return ", on every path"
    checked, launched = (sum(part.workgroups[k] for part in result.kept) for k in (0, 1))
    return f"; {times(launches, 'launch')}, {checked:,} of {times(launched, 'workgroup')} recorded"

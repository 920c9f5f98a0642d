"""Findings as annotations of GitHub Actions: workflow commands on standard output, one for all that a fix removes."""

from __future__ import annotations

from antiphase.checks import CheckedKernel, CheckResult, Finding, causes
from antiphase.report._finding_words import fix_lines, message, places, shown
from antiphase.report._words import times
from antiphase.report.findings import held_back

_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}


def workflow_commands(result: CheckResult) -> list[str]:
    """The lines to print, in the format of GitHub's "Workflow commands for GitHub Actions"."""
    lines = []
    for part in result.kept:
        for cause in causes(part):
            finding = cause.finding
            at = places(part, finding)
            last = at[-1] if at else None
            file, line = (part.program.name, 1) if last is None else (last.file, last.line)
            if last is not None and last.source:
                file, line = last.source[:2]
            others = [f"({n}) {place.role}: {place.instruction} at {place.where}" for n, place in enumerate(at, 1)]
            seen = f", seen {times(finding.count, 'time')}" if finding.count > 1 else ""
            of = f"kernel {part.kernel.name} for {part.program.target}{seen}"
            text = "\n".join([message(finding), *others, of, *_fix(part, finding)])
            title = f"antiphase {finding.check}/{finding.rule}"
            lines.append(_line(_COMMANDS[finding.severity], shown(file), line, title, text))
        if held := held_back(part):
            lines.append(_line("notice", shown(part.program.name), 1, "antiphase useless", held))
        for reason in part.checked.incomplete:
            lines.append(_line("warning", shown(part.program.name), 1, "antiphase incomplete", reason))
    return lines


def _fix(part: CheckedKernel, finding: Finding) -> list[str]:
    lines = fix_lines(part, finding)
    if not lines or finding.fix is None:
        return []
    return [f"fix, at {shown(part.program.name)}:{part.kernel.instructions[finding.fix.instruction].line}", *lines]


def _line(command: str, file: str, line: int, title: str, text: str) -> str:
    return f"::{command} file={_property(file)},line={max(line, 1)},title={_property(title)}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

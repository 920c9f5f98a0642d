"""Findings as annotations of GitHub Actions: workflow commands on standard output, one a finding."""

from __future__ import annotations

from antiphase.checks import Suppressed
from antiphase.report.findings import message, places, shown

_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}


def workflow_commands(result: Suppressed) -> list[str]:
    """The lines to print, in the format of GitHub's "Workflow commands for GitHub Actions"."""
    lines = []
    for part in result.kept:
        for finding in part.checked.findings:
            at = places(part, finding)
            last = at[-1] if at else None
            file, line = (part.program.name, 1) if last is None else (last.file, last.line)
            if last is not None and last.source:
                file, line = last.source[:2]
            others = [f"({n}) {place.role}: {place.instruction} at {place.where}" for n, place in enumerate(at, 1)]
            text = "\n".join([message(finding), *others, f"kernel {part.kernel.name} for {part.program.target}"])
            title = f"antiphase {finding.check}/{finding.rule}"
            lines.append(_line(_COMMANDS[finding.severity], shown(file), line, title, text))
        for reason in part.checked.incomplete:
            lines.append(_line("warning", shown(part.program.name), 1, "antiphase incomplete", reason))
    return lines


def _line(command: str, file: str, line: int, title: str, text: str) -> str:
    return f"::{command} file={_property(file)},line={max(line, 1)},title={_property(title)}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

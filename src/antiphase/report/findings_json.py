"""`antiphase check --json`: one object for programs to read."""

from __future__ import annotations

from typing import Any

from antiphase.checks import Cause, CheckedKernel, CheckResult, Finding, causes, verdict
from antiphase.report._finding_words import Place, fix_lines, message, places
from antiphase.report._wording import citation, wording
from antiphase.report.findings import notes


def as_json(result: CheckResult) -> dict[str, Any]:
    """One object: the verdict; every finding; why the verdict may not be the last word; what was looked at.

    Findings that one fix removes are one, with the sites of the others as `alike`.
    """
    findings = [_cause_as_json(part, cause) for part in result.kept for cause in causes(part)]
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
                "held_back": _held_back_as_json(part),
                "launches": part.launches,
                "workgroups": {"checked": part.workgroups[0], "launched": part.workgroups[1]},
            }
            for part in result.kept
        ],
    }


def _cause_as_json(part: CheckedKernel, cause: Cause) -> dict[str, Any]:
    """A finding, and the sites of the others that its fix removes; `count` is of all."""
    alike = [
        {"sites": [_place_as_json(place) for place in places(part, one)], "count": one.count} for one in cause.alike
    ]
    return {**_finding_as_json(part, cause.finding), "alike": alike}


def _held_back_as_json(part: CheckedKernel) -> dict[str, Any] | None:
    if not part.held_back:
        return None
    return {"check": "useless", "findings": len(part.held_back), "because_of": list(part.disordered)}


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
        "citation": citation(finding, part.program.target),
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
        "alike": [],
    }  # fmt: skip

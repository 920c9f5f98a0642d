"""Findings as SARIF 2.1.0 (OASIS), for code-scanning services: a thread flow for each wave that took part."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from antiphase import __version__
from antiphase.checks import Cause, CheckedKernel, CheckResult, Finding, Suppression, causes
from antiphase.report._finding_words import Place, message, places
from antiphase.report._wording import citation, wording
from antiphase.report.findings import held_back, notes

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}


def as_sarif(result: CheckResult) -> dict[str, Any]:
    """One SARIF log with one run. Suppressed findings are in it, marked as such."""
    rules: dict[str, dict[str, Any]] = {}
    results = [_result(part, cause, None, rules) for part in result.kept for cause in causes(part)]
    results += [_result(part, Cause(f), by, rules) for part, f, by in result.left_out]
    reasons = dict.fromkeys(reason for part in result.kept for reason in part.checked.incomplete)
    notifications = [
        *({"level": "warning", "message": {"text": f"incomplete: {reason}"}} for reason in reasons),
        *(
            {"level": "note", "message": {"text": note}}
            for note in (*notes(result), *filter(None, map(held_back, result.kept)))
        ),
    ]
    driver = {"name": "antiphase", "version": __version__, "rules": list(rules.values())}
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": not reasons, "toolExecutionNotifications": notifications}],
        "results": results,
        "columnKind": "unicodeCodePoints",
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(
    part: CheckedKernel, cause: Cause, by: Suppression | None, rules: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    finding = cause.finding
    name = f"{finding.check}/{finding.rule}"
    rules.setdefault(name, _rule(name, finding, part.program.target))
    at = places(part, finding)
    alike = [place for other in cause.alike for place in places(part, other)]
    result: dict[str, Any] = {
        "ruleId": name,
        "ruleIndex": list(rules).index(name),
        "level": _LEVELS[finding.severity],
        "message": {"text": message(finding)},
        # Where it matters is the last site; a service shows the first location.
        "locations": [_location(at[-1])] if at else [],
        "relatedLocations": [_location(place, number) for number, place in enumerate([*at, *alike], 1)],
        "occurrenceCount": finding.count,
        "partialFingerprints": {"antiphase/v1": _fingerprint(part, name, at)},
        "properties": {"kernel": part.kernel.name, "target": part.program.target},
    }
    if flows := _thread_flows(at):
        result["codeFlows"] = [{"threadFlows": flows}]
    if finding.fix is not None and Path(part.program.name).is_file():  # a script's kernels are in no file
        result["fixes"] = [_fix(part, finding)]
    if by is not None:
        kind = "inSource" if by.kind == "comment" else "external"
        result["suppressions"] = [{"kind": kind, "justification": by.reason}]
    return result


def _rule(name: str, finding: Finding, target: str) -> dict[str, Any]:
    words = wording(finding)
    rule: dict[str, Any] = {"id": name, "shortDescription": {"text": finding.rule.replace("_", " ")}}
    if words.meaning:
        rule["fullDescription"] = {"text": words.meaning}
    if source := citation(finding, target):
        rule["help"] = {"text": f"Source: {source}"}
    return rule


def _fingerprint(part: CheckedKernel, name: str, at: list[Place]) -> str:
    """The same finding after lines have moved: rule, kernel and instructions, no line numbers."""
    words = [name, part.kernel.name, part.program.target, *(place.instruction for place in at)]
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:32]


def _thread_flows(at: list[Place]) -> list[dict[str, Any]]:
    """One for each wave, with its sites in order; one for any wave where none is told apart."""
    waves = sorted({wave for place in at for wave in place.waves})
    if not waves:
        together = [_flow_location(place, n) for n, place in enumerate(at, 1)]
        return [{"id": "any wave", "locations": together}] if at else []
    flows = []
    for wave in waves:
        own = [(n, place) for n, place in enumerate(at, 1) if wave in place.waves]
        flows.append({"id": f"wave {wave}", "locations": [_flow_location(place, n) for n, place in own]})
    return flows


def _flow_location(place: Place, number: int) -> dict[str, Any]:
    return {"location": _location(place, number), "executionOrder": number}


def _location(place: Place, number: int | None = None) -> dict[str, Any]:
    """The source line where there is one, with the instruction as its message."""
    file, line = (place.source[0], place.source[1]) if place.source else (place.file, place.line)
    words = f"{place.role}: {place.instruction} ({_uri(place.file)}:{place.line})"
    location: dict[str, Any] = {
        "physicalLocation": {"artifactLocation": {"uri": _uri(file)}, "region": {"startLine": max(line, 1)}},
        "message": {"text": words},
    }
    return location if number is None else {"id": number, **location}


def _uri(file: str) -> str:
    """Relative to the current folder where the file is below it: code-scanning services want that."""
    path = Path(file)
    if not path.is_absolute():
        return path.as_posix()
    return path.relative_to(Path.cwd()).as_posix() if path.is_relative_to(Path.cwd()) else path.as_uri()


def _fix(part: CheckedKernel, finding: Finding) -> dict[str, Any]:
    """The change to the assembly text: whole lines."""
    fix = finding.fix
    assert fix is not None
    line = max(part.kernel.instructions[fix.instruction].line, 1)
    # A region from column 1 to column 1 is the place before the line; one to the next line is the line itself.
    end = line if fix.action == "insert" else line + 1
    region = {"startLine": line, "startColumn": 1, "endLine": end, "endColumn": 1}
    text = "".join(f"\t{one}\n" for one in fix.text)
    replacement = {"deletedRegion": region, "insertedContent": {"text": text}}
    change = {"artifactLocation": {"uri": _uri(part.program.name)}, "replacements": [replacement]}
    return {"description": {"text": f"{fix.action} {'; '.join(fix.text)}".strip()}, "artifactChanges": [change]}

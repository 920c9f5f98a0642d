"""`antiphase arch verify` in words: what agrees, what does not and with which tool, what was left unchecked and why."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from textwrap import shorten
from typing import Any

import msgspec
from rich.console import Console
from rich.markup import escape

from antiphase.report.isa import families
from antiphase.verify import Answer, FactResult, ToolState, Verified

_MARKS = {"agree": "[green]agree[/]", "disagree": "[red]disagree[/]", "unchecked": "[yellow]unchecked[/]"}
_INSTALL = {
    "llvm-mc": "apt-get install llvm-22",
    "llc": "apt-get install llvm-22",
    "triton": "pip install 'antiphase[triton]'",
}
_WIDTH = 160  # of what a tool was asked: the IR of a kernel is long
_REASONS = {
    "": "",
    "no check": "nothing a machine can re-run",
    "no tool": "would need {tools}",
    "not run": "no tool could say",
}


def as_json(verified: Verified) -> dict[str, Any]:
    """Counts under `agree`, `disagree`, `unchecked`; `tools`; and `facts`, each with its verdict, reason, answers."""
    counts = {verdict: verified.count(verdict) for verdict in ("agree", "disagree", "unchecked")}
    facts = [{**_plain(fact), "reason": _reason(fact)} for fact in verified.facts]
    return {**counts, "tools": _plain(list(verified.tools)), "facts": facts}


def print_verified(verified: Verified, console: Console) -> None:
    """Print the tools, each topic with its subjects by verdict, and the counts."""
    for state in verified.tools:
        console.print(_tool(state, verified), highlight=False, soft_wrap=True)
    for topic, facts in groupby(verified.facts, key=lambda fact: fact.topic):
        console.print(f"\n[bold]{escape(topic)}[/]", highlight=False)
        for line in _topic(list(facts)):
            console.print(line, highlight=False, soft_wrap=True)
    console.print(f"\n{_total(verified)}", highlight=False, soft_wrap=True)


def print_stamped(path: Path, console: Console) -> None:
    """Print where the stamps went."""
    console.print(f"stamped: {escape(str(path))}", highlight=False, soft_wrap=True)


def _tool(state: ToolState, verified: Verified) -> str:
    if not state.problem:
        return f"{state.tool}: {escape(state.found)}"
    affected = sum(state.tool in fact.tools for fact in verified.facts)
    problem = f"{escape(state.found)} ({escape(state.problem)})" if state.found else state.problem
    return f"{state.tool}: [yellow]{problem}[/]; {affected} facts would be put to it; {escape(_INSTALL[state.tool])}"


def _topic(facts: list[FactResult]) -> Iterator[str]:
    """One line for subjects without a check, one for facts of a subject that came out alike, more for disagreement."""
    spoken = [fact for fact in facts if fact.reason != "no check"]
    for _, group in groupby(spoken, key=lambda fact: fact.subject):
        same: dict[tuple[object, ...], list[FactResult]] = {}
        for fact in group:
            same.setdefault(_alike(fact), []).append(fact)
        for alike in same.values():
            yield from _outcome(alike)
    if len(spoken) < len(facts):
        yield f"  {_MARKS['unchecked']}  {', '.join(_silent(facts))}: {_REASONS['no check']}"


def _silent(facts: list[FactResult]) -> Iterator[str]:
    """Subjects without a check, with the targets where only some of theirs have none."""
    for subject, group in groupby(facts, key=lambda fact: fact.subject):
        every = list(group)
        silent = [fact.target for fact in every if fact.reason == "no check"]
        if silent:
            yield subject if len(silent) == len(every) else f"{subject} ({' '.join(families(silent))})"


def _alike(fact: FactResult) -> tuple[object, ...]:
    wrong = tuple((each.kind, each.tool, each.asked, str(each.got)) for each in _shown(fact))
    return fact.verdict, fact.reason, fact.tools, fact.ran, wrong


def _shown(fact: FactResult) -> list[Answer]:
    """The answers that need words: what disagrees, or what kept the fact unchecked."""
    wanted = "unchecked" if fact.verdict == "unchecked" else "disagree"
    return [answer for answer in fact.answers if answer.outcome == wanted]


def _outcome(facts: list[FactResult]) -> Iterator[str]:
    first = facts[0]
    where = " ".join(families(fact.target for fact in facts))
    ran = f"  [dim]{', '.join(first.ran)}[/]" if first.ran else ""
    reason = _reason(first)
    yield f"  {_MARKS[first.verdict]}  {first.subject}  {where}{ran}{f': {reason}' if reason else ''}"
    for answer in _shown(first):
        yield f"      {answer.kind}, {answer.tool}: {escape(shorten(answer.asked, _WIDTH))}"
        yield f"          {escape(_difference(answer))}"


def _reason(fact: FactResult) -> str:
    return _REASONS[fact.reason].format(tools=" or ".join(fact.tools))


def _difference(answer: Answer) -> str:
    note = f" ({answer.note})" if answer.note else ""
    if answer.outcome == "unchecked":
        return answer.note
    return f"expected {_words(answer.kind, answer.expected)}, got {_words(answer.kind, answer.got)}{note}"


def _words(kind: str, value: object) -> str:
    if value is None:
        return "no result"
    if kind == "assembles":
        return "accepted" if value else "refused"
    if kind == "runs" and isinstance(value, Mapping):
        return ", ".join(f"{name} = {_register(each)}" for name, each in value.items())
    if isinstance(value, list | tuple):
        shown = ", ".join(map(str, value)) or "none"
        return f"accepted: {shown}" if kind in ("registers", "offset") else shown
    return str(value)


def _register(value: object) -> str:
    return hex(value) if isinstance(value, int) else str(value)


def _total(verified: Verified) -> str:
    counts = ", ".join(f"{verified.count(verdict)} {mark}" for verdict, mark in _marks())
    reasons = Counter(_reason(fact) for fact in verified.facts if fact.verdict == "unchecked")
    why = "; ".join(f"{reason}: {count}" for reason, count in reasons.most_common())
    return f"{len(verified.facts)} facts: {counts}" + (f" ({why})" if why else "")


def _marks() -> Iterable[tuple[Any, str]]:
    return _MARKS.items()


def _plain(value: object) -> Any:
    """As plain data that JSON has: numbers that are not finite as text."""
    return _finite(msgspec.to_builtins(value))


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    return [_finite(each) for each in value] if isinstance(value, list | tuple) else value

"""Re-checking the reference: every check of every fact, by every tool that can answer it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from antiphase.arch import CheckSpec, Fact, Reference
from antiphase.arch import target as target_of
from antiphase.verify._answers import Answer, FactResult, Verified
from antiphase.verify._stated import contradictions
from antiphase.verify._tasks import key, tasks
from antiphase.verify._tools import Tools, absent, find_tools

Step = Callable[[str, int, int], None]
"""Told what is being done, how many steps are done and how many there are."""
Answers = dict[tuple[str, bytes], list[Answer]]
"""By target and check, which several facts may share."""


def verify(
    reference: Reference,
    tools: Tools | None = None,
    *,
    query: str | None = None,
    target: str | None = None,
    step: Step = lambda what, done, total: None,
) -> Verified:
    """Re-check the facts of a reference, those that a query names, on one target if given.

    tools: what to use, found on this machine if not given. UserError for a query or target that names nothing.
    """
    facts = _asked(reference, query, target)
    used = find_tools() if tools is None else tools
    try:
        answers = _answers(facts, used, step)
    finally:
        used.close()
    return Verified(used.states, tuple(_result(fact, answers, used) for fact in facts))


def _asked(reference: Reference, query: str | None, target: str | None) -> list[Fact]:
    name = None if target is None else target_of(target).name
    asked = () if name is None else (name,)
    subjects = list(reference.subjects.values()) if query is None else reference.find(query, asked)
    return [fact for subject in subjects for fact in subject.facts.values() if name in (None, fact.target)]


def _answers(facts: Sequence[Fact], tools: Tools, step: Step) -> Answers:
    asked: dict[str, dict[bytes, CheckSpec]] = {}
    for fact in facts:
        asked.setdefault(fact.target, {}).update({key(spec): spec for spec in fact.checks})
    work = [(task, target, list(specs.values())) for target, specs in asked.items() if specs for task in tasks(tools)]
    found: Answers = {}
    for number, (task, target, specs) in enumerate(work):
        step(f"{target}: {task.tool}", number, len(work))
        for spec, reply in task.run(target, specs):
            found.setdefault((target, key(spec)), []).append(reply)
    step("done", len(work), len(work))
    return found


def _result(fact: Fact, answers: Answers, tools: Tools) -> FactResult:
    of_checks = [answers.get((fact.target, key(spec)), []) for spec in fact.checks]
    every = (*contradictions(fact), *(answer for of_check in of_checks for answer in of_check))
    failed = {answer.tool for answer in every if answer.outcome == "disagree"}
    agreed = [any(answer.outcome == "agree" for answer in of_check) for of_check in of_checks]
    verdict = "disagree" if failed else "agree" if agreed and all(agreed) else "unchecked"
    reason = "" if verdict != "unchecked" else "no check" if not fact.checks else "not run"
    if reason == "not run" and not all(of_checks):
        reason = "no tool"
    return FactResult(
        fact.id,
        fact.subject,
        fact.title,
        fact.topic,
        fact.target,
        verdict,
        reason,
        tuple(dict.fromkeys(name for spec in fact.checks for name in absent(spec, tools))),
        tuple(_ran(every, failed)),
        every,
    )


def _ran(answers: Sequence[Answer], failed: set[str]) -> Iterator[str]:
    ran = dict.fromkeys(answer.tool for answer in answers if answer.outcome == "agree")
    return (tool for tool in ran if tool not in failed)

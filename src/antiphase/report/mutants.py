"""`antiphase mutate` in words: the score, and every mutant that was not caught with the reason."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from antiphase.mutate import Judged, Outcome, Reason, Status
from antiphase.report._finding_words import message, shown
from antiphase.report._words import times

_REASONS: dict[Reason, str] = {
    "no_rule": "no rule about registers or spacing asks for it on any path",
    "runs_on": "it runs on and on: {text}",
    "no_launch": "no path needs it for registers; give --args to see what it orders",
    "not_reached": "this launch does not reach it",
    "failed": "{text}",
    "few_passes": "no check sees it, but its loop ran fewer than three times: launch more iterations to have it judged",
    "cache": "no check sees it, but it may wait for a cache instruction that waves which share memory rest on",
    "published": "no check sees it, but it orders what other workgroups share, and atomics or flags may publish that",
    "not_in_step": "no check sees it, and the waves of a workgroup meet different barriers: not judged",
    "incomplete": "no check sees it, but one could not judge it: {text}",
    "complete": "all that it completes is complete in time without it",
    "ordered": "`race` follows release and acquisition through atomics and caches, and all is in order without it",
    "stages_hold": "it puts no bytes in order, and `stage` finds no fault without it: other stages run together",
    "gap": "no check sees it, and nothing proves it redundant",
    "result_differs": "no check sees it, and nothing proves it redundant; the result is another, though",
}
_COLOURS: dict[Status, str] = {"caught": "green", "redundant": "cyan", "survived": "bold red", "unjudged": "yellow"}


def as_json(outcome: Outcome) -> dict[str, Any]:
    """Score and mutants as plain data. score: caught among those that count, None if there are none."""
    return {
        "ok": status(outcome) == 0,
        "kernel": outcome.kernel.name,
        "target": outcome.program.target,
        "launched": outcome.launched,
        "findings": len(outcome.baseline),
        "score": _score(outcome),
        "counts": {status: outcome.count(status) for status in _COLOURS},
        "mutants": [
            {
                "kind": one.mutant.kind,
                "file": outcome.program.name,
                "line": _line(outcome, one),
                "before": one.mutant.before,
                "after": list(one.mutant.after),
                "status": one.status,
                "by": one.by and {"check": one.by.check, "rule": one.by.rule, "message": message(one.by)},
                "reason": one.reason,
                "note": _note(one),
            }
            for one in outcome.judged
        ],
    }


def status(outcome: Outcome) -> int:
    """Exit status: 0 if all are caught or redundant, 1 if some survive, 2 if the question is left open.

    It is, where none was caught and the kernel has findings of its own: those hide what a mutant lacks.
    """
    hidden = bool(outcome.baseline) and not outcome.count("caught")
    return 1 if outcome.count("survived") else 0 if outcome.ok and not hidden else 2


def _score(outcome: Outcome) -> float | None:
    counted = outcome.count("caught") + outcome.count("survived")
    return outcome.count("caught") / counted if counted else None


def _line(outcome: Outcome, one: Judged) -> int:
    return outcome.kernel.instructions[one.mutant.instruction].line


def print_mutants(outcome: Outcome, console: Console) -> None:
    """Print the score by kind, then every mutant that survives, is redundant or could not be judged."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 3, 0, 0))
    table.add_column("mutants")
    for status in _COLOURS:
        table.add_column(status, justify="right")
    counts = Counter((one.mutant.kind, one.status) for one in outcome.judged)
    for kind in dict.fromkeys(one.mutant.kind for one in outcome.judged):
        table.add_row(kind, *(str(counts[kind, status]) for status in _COLOURS))
    console.print(table, highlight=False)
    console.print()
    for alike in _alike(outcome):
        _print_alike(outcome, alike, console)
    if outcome.baseline:
        found = times(len(outcome.baseline), "finding")
        console.print(
            f"The kernel itself has {found}, from which those of a mutant are not told apart: fix what antiphase check "
            "names first.",
            soft_wrap=True,
        )
    subject = f": {outcome.kernel.name} for {outcome.program.target}"
    console.print(Text.assemble((_verdict(outcome), "bold"), subject), soft_wrap=True)
    by = Counter(f"{one.by.check}/{one.by.rule}" for one in outcome.judged if one.status == "caught" and one.by)
    if by:
        names = ", ".join(f"{name} {count}" for name, count in by.most_common())
        console.print(Text(f"caught by {names}", "dim"), soft_wrap=True)


def _verdict(outcome: Outcome) -> str:
    score, unjudged = _score(outcome), outcome.count("unjudged")
    if score is not None:
        words = f"{score:.0%} of the mutants that count are caught"
        return f"{words}, {unjudged} more {'is' if unjudged == 1 else 'are'} not judged" if unjudged else words
    if not outcome.judged:
        return "there is no wait, barrier or nop to delete or loosen"
    redundant = outcome.count("redundant")
    return f"no mutant counts: {redundant} proved redundant, {unjudged} not judged"


def _alike(outcome: Outcome) -> list[list[Judged]]:
    """Mutants that were not caught, those of the same change and reason together; the gravest first."""
    groups: dict[object, list[Judged]] = {}
    for one in outcome.judged:
        if one.status != "caught":
            key = one.status, one.mutant.before, one.mutant.after, _why(one)
            groups.setdefault(key, []).append(one)
    order = ("survived", "unjudged", "redundant")
    return sorted(groups.values(), key=lambda group: order.index(group[0].status))


def _why(one: Judged) -> str:
    return message(one.by) if one.by is not None else _note(one)


def _note(one: Judged) -> str:
    return _REASONS[one.reason].format(text=one.text) if one.reason is not None else ""


def _print_alike(outcome: Outcome, group: list[Judged], console: Console) -> None:
    one = group[0]
    change = f"becomes {'; '.join(one.mutant.after)}" if one.mutant.after else "deleted"
    lines = ", ".join(str(_line(outcome, each)) for each in group)
    where = f"{shown(outcome.program.name)}:{lines}"
    text = f"'{one.mutant.before}' {change} at {where}: {_why(one)}"
    console.print(Text.assemble((f"{one.status}: ", _COLOURS[one.status]), text), soft_wrap=True)

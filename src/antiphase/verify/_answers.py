"""What re-checking found: an answer for each check and tool, and a verdict for each fact."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Outcome = Literal["agree", "disagree", "unchecked"]
Reason = Literal["", "no check", "no tool", "not run"]
"""Why a fact is unchecked: it states nothing a machine can re-run; no tool for it is here; a tool could not say."""


class Found(msgspec.Struct, frozen=True):
    """What one tool says to one check.

    agrees: None where the tool could not say, and `note` says why. asked: the line or lines it was given.
    expected, got: by the fact and by the tool, in terms of the check. note: the tool's own words.
    """

    agrees: bool | None
    asked: str
    expected: Any = None
    got: Any = None
    note: str = ""


class Answer(msgspec.Struct, frozen=True):
    """The outcome of one check by one tool. kind: of the check; tool: key of a source; the rest as in `Found`."""

    kind: str
    tool: str
    outcome: Outcome
    asked: str
    expected: Any = None
    got: Any = None
    note: str = ""


class FactResult(msgspec.Struct, frozen=True):
    """One fact. verdict: agree only where every check was run by some tool and none disagreed.

    tools: those that would run what is unchecked for want of one. ran: those that ran something, and all of it agreed.
    """

    id: str
    subject: str
    title: str
    topic: str
    target: str
    verdict: Outcome
    reason: Reason
    tools: tuple[str, ...]
    ran: tuple[str, ...]
    answers: tuple[Answer, ...]


class ToolState(msgspec.Struct, frozen=True):
    """A tool that checks may need. tool: key of its source; found: version or path; problem: why it is not used."""

    tool: str
    found: str = ""
    problem: str = ""


class Verified(msgspec.Struct, frozen=True):
    """A whole run: the tools looked for, and every fact asked about."""

    tools: tuple[ToolState, ...]
    facts: tuple[FactResult, ...]

    def count(self, verdict: Outcome) -> int:
        """Facts of one verdict."""
        return sum(fact.verdict == verdict for fact in self.facts)


def answer(kind: str, tool: str, found: Found) -> Answer:
    """What a tool found, under its name."""
    outcome: Outcome = "unchecked" if found.agrees is None else "agree" if found.agrees else "disagree"
    return Answer(kind, tool, outcome, found.asked, found.expected, found.got, found.note)

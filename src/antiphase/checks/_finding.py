"""What a check finds: data only. Wording is report's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Severity = Literal["error", "warning", "info"]
Verdict = Literal["clean", "findings", "incomplete"]


@dataclass(frozen=True, slots=True)
class Site:
    """A place in the program. instruction: index in the kernel. role: what it does there ('load', 'use', ...).

    waves: waves of a workgroup it happened in, for what was seen in a recording.
    """

    instruction: int
    role: str
    waves: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Fix:
    """The smallest change that removes a finding: text to put before an instruction or in its place."""

    action: Literal["insert", "replace", "delete"]
    instruction: int
    text: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, or useless.

    check: the check's name ('wait', 'spacing', ...). rule: which of its rules; report has its wording and citation.
    sites: (1) the cause and (2) where it matters. facts: numbers and names the wording uses. count: equal occurrences.
    """

    check: str
    rule: str
    severity: Severity
    sites: tuple[Site, ...]
    facts: Mapping[str, object] = field(default_factory=dict)
    fix: Fix | None = None
    count: int = 1


@dataclass(frozen=True, slots=True)
class Checked:
    """Result of running checks on a kernel. incomplete: why something could not be judged."""

    findings: tuple[Finding, ...]
    incomplete: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Checked {self.verdict!r} findings={len(self.findings)} incomplete={len(self.incomplete)}>"

    @property
    def verdict(self) -> Verdict:
        """Findings outweigh incompleteness; notes of severity 'info' are no findings."""
        if any(f.severity != "info" for f in self.findings):
            return "findings"
        return "incomplete" if self.incomplete else "clean"

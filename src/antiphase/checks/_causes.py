"""Findings that one change removes, as one: a missing wait shows at every pair of accesses it would put in order."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from antiphase.asm import Kernel, parse_instruction
from antiphase.checks._finding import Finding, Fix
from antiphase.checks._run import CheckedKernel
from antiphase.checks.wait import counts_on, wait_text
from antiphase.isa import find, generation
from antiphase.machine import waits

_LAST_NUMBER = re.compile(r"\d+(?=\D*$)")
_OF_BARRIERS = (("race", "missing_rendezvous"), ("stage", "too_few_rendezvous"), ("stage", "order_reversed"))
"""Rules that ask for a barrier somewhere between their sites."""


@dataclass(frozen=True, slots=True)
class Cause:
    """finding: the one that asks for most, with a fix that removes all, and the number of all. alike: the others."""

    finding: Finding
    alike: tuple[Finding, ...] = ()

    @property
    def all(self) -> tuple[Finding, ...]:
        return self.finding, *self.alike


def causes(part: CheckedKernel, findings: Iterable[Finding] | None = None) -> list[Cause]:
    """Findings of one rule that one fix removes, together; in the order of their first.

    That is what goes into one place; or one barrier instead of several, where none lies between them. findings: those
    of a kernel that are meant, None for all.
    """
    stretches = _Stretches(part.kernel)
    groups: dict[object, list[Finding]] = {}
    for finding in part.checked.findings if findings is None else findings:
        groups.setdefault(_key(finding, stretches), []).append(finding)
    return [_cause(part, one) for group in groups.values() for one in _stabbed(group)]


class _Stretches:
    """Code between barriers: instructions of one basic block that no barrier separates have the same number."""

    def __init__(self, kernel: Kernel) -> None:
        barriers = [i for i, one in enumerate(kernel.instructions) if one.mnemonic.startswith("s_barrier")]
        self._ends = sorted({*barriers, *(block.start for block in kernel.blocks)})

    def __call__(self, instruction: int) -> int:
        return bisect_right(self._ends, instruction)


def _at(finding: Finding) -> int:
    """Where the fix goes in, or would."""
    return finding.fix.instruction if finding.fix is not None else finding.sites[-1].instruction


def _of_barriers(finding: Finding) -> bool:
    return (finding.check, finding.rule) in _OF_BARRIERS


def _key(finding: Finding, stretches: _Stretches) -> object:
    fix = finding.fix
    rule = finding.check, finding.rule, finding.severity, fix is None
    if _of_barriers(finding):
        return *rule, stretches(_at(finding))
    return (*rule, fix.instruction) if fix is not None and fix.action == "insert" else id(finding)


def _stabbed(group: list[Finding]) -> Iterator[list[Finding]]:
    """Findings that one barrier serves: at the first place of all, unless a cause comes behind that."""
    if not _of_barriers(group[0]):
        yield group
        return
    left = sorted(group, key=_at)
    while left:
        place = _at(left[0])
        behind = [f for f in left if place <= f.sites[0].instruction < _at(f)]
        yield [f for f in left if f not in behind]
        left = behind


def _cause(part: CheckedKernel, group: Sequence[Finding]) -> Cause:
    if len(group) == 1:
        return Cause(group[0])
    first = min(group, key=lambda finding: (_at(finding), *_demand(finding)))
    fixes = [_moved(part, finding.fix, _at(first)) for finding in (first, *group) if finding.fix is not None]
    merged = replace(first, fix=_strictest(fixes), count=sum(finding.count for finding in group))
    return Cause(merged, tuple(finding for finding in group if finding is not first))


def _demand(finding: Finding) -> tuple[int, int, int]:
    """How much a fix puts in, the most being the least: separation, lines, operations it leaves outstanding."""
    missing, left = (finding.facts.get(key) for key in ("missing", "count"))
    lines = len(finding.fix.text) if finding.fix else 0
    return -missing if isinstance(missing, int) else 0, -lines, left if isinstance(left, int) else 0


def _moved(part: CheckedKernel, fix: Fix, place: int) -> Fix:
    """The same at an earlier instruction: what is issued between is not outstanding there."""
    if place == fix.instruction:
        return fix
    target = part.program.target
    issued = [
        counter
        for one in part.kernel.instructions[place : fix.instruction]
        for counter in counts_on(one, find(one.mnemonic, target), target)
    ]
    lines = []
    for line in fix.text:
        known = waits(parse_instruction(line), target) if line.startswith("s_wait") else ()
        lines += [wait_text(name, max(0, n - issued.count(name)), generation(target)) for name, n in known] or [line]
    return replace(fix, instruction=place, text=tuple(lines))


def _strictest(fixes: Sequence[Fix]) -> Fix | None:
    """The first fix, made to do what all of them do: waits of one kind with the smallest count of all."""
    if not fixes:
        return None
    lines = list(fixes[0].text)
    for line in (line for fix in fixes[1:] for line in fix.text):
        known = next((i for i, other in enumerate(lines) if _kind(other) == _kind(line)), None)
        if known is None:
            lines.insert(0, line)
        elif line.startswith("s_wait"):
            lines[known] = min(lines[known], line, key=_count)
    return replace(fixes[0], text=tuple(lines))


def _kind(line: str) -> str:
    return _LAST_NUMBER.sub("", line)


def _count(line: str) -> int:
    number = _LAST_NUMBER.search(line)
    return int(number[0]) if number else 0

"""`port`: what a kernel's text will not survive on another target, and what takes its place there.

One finding tells all instructions that have the same to be done: its first site is the first of them, `forms` has each
different text with what becomes of it.
"""

from __future__ import annotations

from antiphase import arch
from antiphase.asm import Kernel, Program
from antiphase.checks._finding import Finding, Fix, Site
from antiphase.checks.port._counts import port_counts
from antiphase.checks.port._instruction import port_instruction
from antiphase.checks.port._issue import Issue
from antiphase.checks.port._kernel import kernel_findings


def check_port(program: Program, kernel: Kernel, to: str) -> list[Finding]:
    """Findings of one kernel about a move to the target `to`: those of the whole kernel, then in text order.

    facts: `to`; `forms`, a tuple of (old, new lines or None, instructions that have it). Raises UserError for an
    unknown target.
    """
    new = arch.target(to)
    groups: dict[tuple[str, str], list[tuple[int, Issue, tuple[str, ...] | None]]] = {}
    counts = port_counts(program, kernel, to)
    for index, instruction in enumerate(kernel.instructions):
        issues, lines = port_instruction(instruction, program.target, new, counts.get(index))
        for issue in issues:
            groups.setdefault((issue.rule, issue.key), []).append((index, issue, lines))
    return [*kernel_findings(program, kernel, new), *(_finding(group, to) for group in groups.values())]


def _finding(group: list[tuple[int, Issue, tuple[str, ...] | None]], to: str) -> Finding:
    forms: dict[tuple[str, tuple[str, ...] | None], list[int]] = {}
    for index, issue, _ in group:
        forms.setdefault((issue.old, issue.new), []).append(index)
    first, issue, lines = group[0]
    told = tuple((old, new, tuple(indices)) for (old, new), indices in forms.items())
    fix = Fix("replace" if lines else "delete", first, lines) if lines is not None and issue.new is not None else None
    if issue.rule == "missing_instruction" and issue.new is not None and lines is None:
        fix = Fix("replace" if issue.new else "delete", first, issue.new)
    facts = {"to": to, "forms": told, **issue.facts}
    return Finding("port", issue.rule, issue.severity, (Site(first, "instruction"),), facts, fix, len(group))

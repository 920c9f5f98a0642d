"""The finding of a spacing rule, and those of a whole kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from antiphase.asm import Block, Kernel
from antiphase.checks._finding import Finding, Fix, Site
from antiphase.checks._flow import forward
from antiphase.checks._registers import name
from antiphase.checks.spacing._roles import Units
from antiphase.checks.spacing._rules import Rule
from antiphase.checks.spacing._separation import SEPARATIONS

S = TypeVar("S")
Judge = Callable[[S, Block, dict[int, Finding]], S]
"""The state after a block; findings by their consumer go into the dict."""


def on_all_paths(kernel: Kernel, start: S, judge: Judge[S], join: Callable[[S, S], S]) -> list[Finding]:
    """What is found with every block entered in the state of all paths together."""
    entry = forward(kernel, start, lambda state, block: judge(state, block, {}), join)
    findings: dict[int, Finding] = {}
    for block in kernel.blocks:
        if block.index in entry:
            judge(entry[block.index], block, findings)
    return list(findings.values())


def found(rule: Rule, producer: int, consumer: int, required: int, have: int, shared: Units, fix: Fix) -> Finding:
    """The finding that a rule makes of two instructions and the registers they share."""
    registers = sorted({name(u) for u in shared if u >= 0}, key=lambda r: (r[0], len(r), r))
    facts = {
        "required": required, "have": have, "missing": required - have, "unit": SEPARATIONS[rule.counts].unit,
        "registers": tuple(registers), "group": SEPARATIONS[rule.counts].group, "source": rule.source,
        "note": rule.note,
    }  # fmt: skip
    sites = Site(producer, "producer"), Site(consumer, "consumer")
    return Finding("spacing", rule.id, rule.severity, sites, facts, fix)

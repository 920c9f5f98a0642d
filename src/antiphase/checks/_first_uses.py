"""One missing wait shows at every use of what was loaded: the first uses are told, with the number of the others."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from antiphase.asm import Kernel
from antiphase.checks._finding import Finding
from antiphase.checks._flow import forward


def first_uses(kernel: Kernel, findings: Sequence[Finding]) -> list[Finding]:
    """Findings of `wait`, each use left out that comes after another of the same load on every path from that load.

    A wait at the first of them is in front of all; the first one's count tells how many there are.
    """
    before = _Dominance(kernel)
    kept: list[Finding] = []
    for finding in findings:
        load, use = (site.instruction for site in finding.sites)
        for position, other in enumerate(kept):
            first_load, first_use = (site.instruction for site in other.sites)
            same = first_load == load and other.facts["counter"] == finding.facts["counter"]
            if same and before(load, first_use) and before(first_use, use):
                kept[position] = replace(other, count=other.count + finding.count)
                break
        else:
            kept.append(finding)
    return kept


class _Dominance:
    """Whether every path to one instruction leads through another before."""

    def __init__(self, kernel: Kernel) -> None:
        self._starts = [block.start for block in kernel.blocks]
        self._entered = forward(kernel, frozenset[int](), lambda state, block: state | {block.index}, frozenset.__and__)

    def __call__(self, first: int, second: int) -> bool:
        a, b = (bisect_right(self._starts, i) - 1 for i in (first, second))
        return first < second if a == b else a in self._entered.get(b, ())

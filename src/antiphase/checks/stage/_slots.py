"""`stage`, hole H7: a completion at a border between stages that orders no bytes.

Triton's analysis takes all slots of one allocation for one place, so that filling a slot conflicts with reading another
and the border completes LDS operations that nobody else touches before their wave completes them anyway.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from antiphase.asm import Kernel
from antiphase.checks._finding import Finding, Site
from antiphase.checks._loops import loops
from antiphase.checks.order import Group, Pairs, Rendezvous, Steps, Touched, Wait, distinct, grain, spread, unordered
from antiphase.isa import Control, find

_LDS_COUNTERS = ("lgkmcnt", "dscnt")
_TURNS = 3
"""How often each wave must have come by: slots take turns, and one that is met again later may conflict."""


def needless_completions(kernel: Kernel, steps: Steps, group: Group) -> Iterator[Finding]:
    """Waits on LDS operations directly before a barrier of a loop, without which everything is in order as well."""
    borders = dict(_borders(kernel, steps))
    counter = next(i for i, name in enumerate(steps.names) if name in _LDS_COUNTERS)
    if not borders or len(_pairs(group, group.lds, group.complete).a):
        return
    for wait, barrier in sorted(borders.items()):
        turns = min(_executions(kernel, path.blocks, wait) for path in group.paths.values())
        complete = np.concatenate(
            [steps.path(path.blocks, frozenset((wait,))).complete.ravel() for path in group.paths.values()]
        )
        later = np.flatnonzero(complete > group.complete)
        held = group.lds.of(np.isin(group.lds.access, later))
        if turns < _TURNS or not len(held.start):
            continue
        near = _touching(group.lds, held)
        if len(_pairs(group, near, complete).a):
            continue
        step = steps.at(wait)
        assert isinstance(step, Wait)
        facts = {
            "counter": steps.names[counter], "count": dict(step.conditions)[counter],
            "operations": len(distinct(held.access)), "executed": turns * len(group.paths),
        }  # fmt: skip
        yield Finding("stage", "needless_completion", "info", (Site(wait, "wait"), Site(barrier, "barrier")), facts)


def _borders(kernel: Kernel, steps: Steps) -> Iterator[tuple[int, int]]:
    """LDS waits of loops with the barrier that directly follows each of them: nothing is computed between."""
    inside = {i for loop in loops(kernel) for i in loop.instructions}
    for step, following in (pair for block in steps.blocks for pair in itertools.pairwise(block)):
        if not (isinstance(step, Wait) and isinstance(following, Rendezvous) and step.instruction in inside):
            continue
        waits_for_lds = any(steps.names[counter] in _LDS_COUNTERS for counter, _ in step.conditions)
        between = kernel.instructions[step.instruction + 1 : following.instruction]
        if waits_for_lds and all(isinstance(find(one.mnemonic, steps.target), Control) for one in between):
            yield step.instruction, following.instruction


def _executions(kernel: Kernel, blocks: Sequence[int], instruction: int) -> int:
    (block,) = (b.index for b in kernel.blocks if b.start <= instruction < b.end)
    return sum(executed == block for executed in blocks)


def _pairs(group: Group, touched: Touched, complete: NDArray[np.int64]) -> Pairs:
    return unordered(touched, group.wave, group.issued, np.maximum(group.issued, complete))


def _touching(touched: Touched, held: Touched) -> Touched:
    """The runs that have bytes in common with some of `held`."""
    size = grain(touched)
    units = distinct(spread(held, size)[0])
    first = np.searchsorted(units, touched.start // size)
    return touched.of(np.searchsorted(units, (touched.start + touched.size) // size) > first)

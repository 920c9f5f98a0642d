"""`stage`: warp-pipelined kernels, whose two groups of waves run the same loop some rendezvous apart.

With a gap g, the k-th rendezvous of the leading group pairs with the (k + g)-th of the trailing one. So what a trailing
wave did is before what a leading wave does later in the program only if their code has at least g + 1 rendezvous
between, and completion at the last but g of them. Source: the safety rule and the holes H1 to H8 of Triton 3.9 that the
project's notes on warp-pipelining derive from ConvertWarpPipeline.cpp and triton-lang/triton#9929.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antiphase.asm import Kernel
from antiphase.checks._finding import Finding, Fix, Severity, Site
from antiphase.checks._loops import loops
from antiphase.checks.order import READ, Group, Path, Rendezvous, Steps, distinct, grain, groups, spread, unordered
from antiphase.checks.race import KINDS
from antiphase.checks.stage._groups import OffsetGroups, offset_groups
from antiphase.checks.stage._slots import needless_completions
from antiphase.checks.wait import wait_text
from antiphase.machine import Recording


@dataclass(slots=True)
class _Seen:
    """Equal findings. facts, fix: of the first of them that asks for most."""

    severity: Severity
    sites: tuple[Site, ...]
    facts: dict[str, Any]
    fix: Fix | None
    count: int = 0


@dataclass(slots=True)
class _Collected:
    found: dict[tuple[str, tuple[int, ...]], _Seen] = field(default_factory=dict)

    def add(self, rule: str, severity: Severity, sites: tuple[Site, ...], fix: Fix | None = None, **facts: Any) -> None:
        """Count a finding. fix: a wait for the count that facts name."""
        key = rule, tuple(site.instruction for site in sites)
        seen = self.found.setdefault(key, _Seen(severity, sites, facts, fix))
        seen.count += 1
        if fix is not None and (seen.fix is None or facts["count"] < seen.facts["count"]):
            seen.facts, seen.fix = facts, fix

    def findings(self) -> list[Finding]:
        return [
            Finding("stage", rule, seen.severity, seen.sites, seen.facts, seen.fix, seen.count)
            for (rule, _), seen in sorted(self.found.items())
        ]


def check_stages(recording: Recording) -> list[Finding]:
    """What is wrong with the offset of a recorded launch's wave groups; nothing for kernels without such groups."""
    kernel = recording.program.kernel(recording.kernel)
    steps = Steps(recording.program, kernel)
    collected = _Collected()
    needless: list[Finding] | None = None
    conditional = _conditional_barriers(kernel, steps)
    for group in groups(recording, steps):
        offset = offset_groups(group.paths)
        if offset is None:
            _no_offset(collected, group, conditional)
            continue
        _shape(collected, group, offset, steps)
        _too_close(collected, group, offset, steps)
        _reversed(collected, group, offset)
        if needless is None:
            needless = list(needless_completions(kernel, steps, group))
    return [*collected.findings(), *(needless or ())]


def _conditional_barriers(kernel: Kernel, steps: Steps) -> tuple[int, ...]:
    """Barriers before a loop with barriers that waves may skip, with no memory touched: what opens an offset."""
    looping = [loop for loop in loops(kernel) if any(isinstance(steps.at(i), Rendezvous) for i in loop.instructions)]
    if not looping:
        return ()
    first = min(loop.instructions[0] for loop in looping)
    skipped = {s for b in kernel.blocks for s in b.inside if len(b.inside) == 2}
    return tuple(
        step.instruction
        for block in kernel.blocks
        if block.start < first and block.index in skipped and block.end - block.start <= 3
        for step in steps.blocks[block.index]
        if isinstance(step, Rendezvous) and step.arrives and len(steps.blocks[block.index]) <= 2
    )


def _no_offset(collected: _Collected, group: Group, conditional: tuple[int, ...]) -> None:
    """H5: there is a barrier that would set one group back, and either no wave takes it or all do."""
    for instruction in conditional:
        taking = [wave for wave, path in group.paths.items() if instruction in path.arrivals]
        if len(taking) in (0, len(group.paths)):
            sites = (Site(instruction, "opening barrier", tuple(taking)),)
            collected.add("no_offset", "warning", sites, waves=len(group.paths), taking=len(taking))


def _shape(collected: _Collected, group: Group, offset: OffsetGroups, steps: Steps) -> None:
    """H5 and H8, and an offset that is never closed."""
    opening = (Site(offset.opening[0], "opening barrier", offset.trailing),)
    sizes: dict[str, Any] = {"leading": len(offset.leading), "trailing": len(offset.trailing), "gap": offset.gap}
    if len(offset.leading) != len(offset.trailing):
        collected.add("uneven_groups", "warning", opening, **sizes)
    if not offset.closed:
        collected.add("offset_not_closed", "warning", opening, workgroup=group.number, **sizes)
    if steps.generation in ("gfx11", "gfx12"):
        collected.add("not_two_waves_a_simd", "info", opening, target=steps.target, **sizes)


def _too_close(collected: _Collected, group: Group, offset: OffsetGroups, steps: Steps) -> None:
    """H1 to H4: unordered accesses of the two groups, with the rendezvous that their code has between them."""
    touched = group.lds
    kind = np.zeros(len(group.wave), np.int64)
    kind[touched.access] = touched.kind
    pairs = unordered(touched, group.wave, group.issued, np.maximum(group.issued, group.complete))
    swap = group.operation[pairs.b] < group.operation[pairs.a]
    for x, y, byte in zip(
        np.where(swap, pairs.b, pairs.a).tolist(), np.where(swap, pairs.a, pairs.b).tolist(), pairs.byte.tolist(),
        strict=True,
    ):  # fmt: skip
        if int(group.wave[x]) not in offset.trailing or int(group.wave[y]) not in offset.leading:
            continue
        path, first, second = group.paths[int(group.wave[x])], int(group.operation[x]), int(group.operation[y])
        if second >= len(path.instruction) or path.instruction[second] != group.instruction(y):
            continue
        crossed = int(path.issued[second] - path.issued[first])
        until = int(path.complete[first, x & 1] - path.issued[first]) + 1
        rule = "completed_too_late" if crossed > offset.gap else "too_few_rendezvous"
        roles = KINDS[int(kind[x])], KINDS[int(kind[y])]
        sites = (
            Site(group.instruction(x), roles[0], offset.trailing),
            Site(group.instruction(y), roles[1], offset.leading),
        )
        last = int(path.issued[second]) - offset.gap - 1
        wait, fix = _wait(steps, path, first, x & 1, last) if rule == "completed_too_late" else ({}, None)
        collected.add(
            rule, "error", sites, fix, conflict="_".join(roles), crossed=crossed, gap=offset.gap, completed_at=until,
            needed_at=crossed - offset.gap, byte=byte, workgroup=group.number, **wait,
        )  # fmt: skip


def _wait(steps: Steps, path: Path, operation: int, column: int, arrival: int) -> tuple[dict[str, Any], Fix | None]:
    """What completes an operation before its wave arrives at a rendezvous, as facts and as a fix, where it can."""
    numbers = steps.operations[int(path.instruction[operation])].counters
    if not numbers or arrival < path.arrived[operation]:
        return {}, None
    counter = numbers[min(column, len(numbers) - 1)]
    sequence = int(path.sequence[operation, column])
    left = max(0, int(path.counted[arrival, counter]) - sequence - 1) if sequence >= 0 else 0
    name = steps.names[counter]
    fix = Fix("insert", int(path.arrivals[arrival]), (wait_text(name, left, steps.generation),))
    return {"counter": name, "count": left}, fix


def _reversed(collected: _Collected, group: Group, offset: OffsetGroups) -> None:
    """Leading accesses that come, in every interleaving, before trailing ones that the program has before them."""
    touched = group.lds
    if not len(touched.start):
        return
    size = grain(touched)
    unit, access, kind = spread(touched, size)
    trailing = np.isin(group.wave[access], offset.trailing)
    for x_reads in (False, True):
        x = np.flatnonzero(trailing & ((kind == READ) == x_reads))
        y = np.flatnonzero(~trailing & ((kind != READ) if x_reads else True))
        if not len(x) or not len(y):
            continue
        for row, byte in _first_after(group, unit, access, x, y):
            late, early = access[row[0]], access[row[1]]
            sites = (
                Site(group.instruction(int(late)), KINDS[int(kind[row[0]])], offset.trailing),
                Site(group.instruction(int(early)), KINDS[int(kind[row[1]])], offset.leading),
            )
            collected.add("order_reversed", "error", sites, gap=offset.gap, byte=byte * size, workgroup=group.number)


def _first_after(
    group: Group, unit: NDArray[np.int64], access: NDArray[np.int64], x: NDArray[np.int64], y: NDArray[np.int64]
) -> Iterator[tuple[tuple[int, int], int]]:
    """((row of x, row of y), unit) where y is complete before x is issued, although x is earlier in the program.

    Of all such x of a unit that are issued after y, the one earliest in the program is looked at.
    """
    order = x[np.lexsort((group.issued[access[x]], unit[x]))]
    moments = int(max(group.issued.max(), group.complete.max())) + 2
    key = unit[order] * moments + group.issued[access[order]]
    operation = group.operation[access[order]]
    # operations rise with the moment of issue in each wave, so the next in order is the earliest but for ties
    wanted = unit[y] * moments + np.maximum(group.complete[access[y]], group.issued[access[y]]) + 1
    at = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
    hit = (key[at] >= wanted) & (unit[order[at]] == unit[y]) & (operation[at] < group.operation[access[y]])
    rows = np.flatnonzero(hit)
    pairs = access[order[at[rows]]] * len(group.wave) + access[y[rows]]
    for one in distinct(pairs).tolist():
        row = rows[np.flatnonzero(pairs == one)[0]]
        yield (int(order[at[row]]), int(y[row])), int(unit[y[row]])

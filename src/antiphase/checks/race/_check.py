"""`race`: bytes of LDS and memory that two waves touch in no fixed order, for all interleavings of the recorded flow.

Within a workgroup order comes from completion and rendezvous alone (`order._steps`, with barriers of several kinds
`order._clock`), and so it does between the workgroups of a cluster. Between the LDS accesses of one
wave it comes from the LDS unit, except between different engines, such as a load to LDS and a DS instruction, and
between asynchronous loads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from antiphase.checks._finding import Checked, Finding
from antiphase.checks.order import (
    ASYNC_LOAD,
    ENGINES,
    Exchanging,
    Group,
    Pairs,
    Steps,
    Touched,
    cache_model,
    caches,
    clusters,
    unordered,
    without_host,
)
from antiphase.checks.race._grid import GridTally
from antiphase.checks.race._handover import Handovers
from antiphase.checks.race._pairs import Tally
from antiphase.checks.race._release import in_lds, in_memory
from antiphase.checks.race._whole import between, hands_over, too_many
from antiphase.machine import Recording


def check_races(recording: Recording) -> Checked:
    """Races of a recorded launch, equal ones as one finding with their number."""
    kernel = recording.program.kernel(recording.kernel)
    exchanging = Exchanging(recording, kernel)
    target = recording.program.target
    looked_at = caches(kernel, target) if exchanging.instructions else {}
    steps = Steps(recording.program, kernel, True, exchanging.instructions, exchanging.acquires, looked_at)
    tally, grid = Tally(kernel, steps, exchanging.numbered), GridTally(kernel, target)
    met: list[Group] = []
    for group in clusters(recording, steps, exchanging):
        group = without_host(group, recording.host_memory)
        tally.add(group, "lds", group.lds, _between_waves(group, group.lds, in_lds(group, steps)))
        for touched, pairs in _within_waves(group):
            tally.add(group, "lds", touched, pairs, within_wave=True)
        needed = in_memory(group, steps, one_workgroup=True)
        tally.add(group, "memory", group.memory, _between_waves(group, group.memory, needed))
        grid.add(group)
        if exchanging.instructions:
            met.append(group)
    between_workgroups, open_ = _between_workgroups(recording, steps, tally, grid, met)
    unread = [f"race: a wait that cannot be read (line {kernel.instructions[i].line})" for i in steps.odd[:1]]
    return Checked((*tally.findings(), *between_workgroups), (*unread, *tally.incomplete(), *open_))


def _between_workgroups(
    recording: Recording, steps: Steps, tally: Tally, grid: GridTally, met: Sequence[Group]
) -> tuple[Sequence[Finding], Sequence[str]]:
    """Findings, and why there may be more: by the clock of the whole launch where workgroups hand over by atomics."""
    if not (met and hands_over(met)):
        return tuple(grid.findings()), ()
    hot = grid.meeting()
    if not len(hot.start):
        return (), ()
    if len({trace.workgroup for trace in recording.waves}) < math.prod(recording.grid):
        return (), ("race: atomics hand over between workgroups, and not all of them are recorded",)
    model = cache_model(tally.kernel, steps.target)
    found = None if too_many(met) else between(met, hot, steps, model)
    if found is None:
        return (), ("race: atomics hand over between workgroups, more often than can be followed",)
    tally.add(found.group, "memory", found.touched, found.open)
    handovers = Handovers(tally.kernel, steps, model, tally)
    handovers.add(found.ordered)
    return tuple(handovers.findings()), ()


def _between_waves(group: Group, touched: Touched, complete: np.ndarray) -> Pairs:
    clock = group.clock
    if clock is None:
        return unordered(touched, group.wave, group.issued, np.maximum(group.issued, complete))
    first = clock.first(group.wave, group.issued)
    pairs = unordered(touched, group.wave, first, np.maximum(first, clock.last(group.wave, complete)))
    # the chain's time is coarse: what it leaves open may have come in order by other barriers
    a, b = pairs.a, pairs.b
    return pairs.of((group.seen(b, a) <= complete[a]) & (group.seen(a, b) <= complete[b]))


def _within_waves(group: Group) -> list[tuple[Touched, Pairs]]:
    """LDS accesses of one wave by different engines, or by asynchronous loads, with nothing waited for between them."""
    found = []
    agent = np.zeros(len(group.wave), np.int64)
    agent[group.lds.access] = group.lds.engine
    # asynchronous loads may land in any order among themselves (facts: counters 4): each is by itself
    alone = group.lds.access[group.lds.engine == ASYNC_LOAD]
    agent[alone] = ENGINES + alone
    for wave in group.paths:
        mine = group.lds.of(group.wave[group.lds.access] == wave)
        if len(np.unique(agent[mine.access])) > 1:
            found.append((mine, unordered(mine, agent, group.since, np.maximum(group.since, group.done))))
    return found

"""`race`: bytes of LDS and memory that two waves touch in no fixed order, for all interleavings of the recorded flow.

Within a workgroup order comes from completion and rendezvous alone (`_race_order`). Between the LDS accesses of one
wave it comes from the LDS unit, except between different engines, such as a load to LDS and a DS instruction.
"""

from __future__ import annotations

import numpy as np

from antiphase.checks._finding import Checked
from antiphase.checks._race_bytes import Touched
from antiphase.checks._race_grid import GridTally
from antiphase.checks._race_group import Group, groups
from antiphase.checks._race_order import Steps
from antiphase.checks._race_overlap import Pairs, unordered
from antiphase.checks._race_pairs import Tally
from antiphase.machine import Recording


def check_races(recording: Recording) -> Checked:
    """Races of a recorded launch, equal ones as one finding with their number."""
    kernel = recording.program.kernel(recording.kernel)
    steps = Steps(recording.program, kernel)
    tally, grid = Tally(kernel, steps), GridTally(kernel, recording.program.target)
    for group in groups(recording, steps):
        tally.add(group, "lds", group.lds, _between_waves(group, group.lds, group.complete))
        for touched, pairs in _within_waves(group):
            tally.add(group, "lds", touched, pairs, within_wave=True)
        # waves of a CU share a vector memory queue on CDNA: LLVM's workgroup fences wait for LDS only (AMDGPUUsage)
        needed = group.arrived if steps.generation == "gfx9" else group.complete
        tally.add(group, "memory", group.memory, _between_waves(group, group.memory, needed))
        grid.add(group)
    between_workgroups = tuple(grid.findings())
    unread = [f"race: a wait that cannot be read (line {kernel.instructions[i].line})" for i in steps.odd[:1]]
    return Checked((*tally.findings(), *between_workgroups), (*unread, *tally.incomplete(), *grid.incomplete()))


def _between_waves(group: Group, touched: Touched, complete: np.ndarray) -> Pairs:
    return unordered(touched, group.wave, group.issued, np.maximum(group.issued, complete))


def _within_waves(group: Group) -> list[tuple[Touched, Pairs]]:
    """LDS accesses of one wave by different engines, with nothing waited for between them."""
    found = []
    engine = np.zeros(len(group.wave), np.int64)
    engine[group.lds.access] = group.lds.engine
    for wave in group.paths:
        mine = group.lds.of(group.wave[group.lds.access] == wave)
        if len(np.unique(mine.engine)) > 1:
            found.append((mine, unordered(mine, engine, group.since, np.maximum(group.since, group.done))))
    return found

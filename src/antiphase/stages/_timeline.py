"""The k-th rendezvous of a workgroup is one moment for all its waves: what each does between two of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from antiphase.errors import UserError
from antiphase.machine import Recording
from antiphase.stages._intervals import Interval, intervals
from antiphase.stages._loop import Segment, StagedLoop, staged_loop
from antiphase.stages._offset import Offset, offset


class Plan(Protocol):
    """What has to be known of a staged kernel; `kernels.StagedGemm` is one."""

    @property
    def stages(self) -> Sequence[Any]:
        """The stages of one loop iteration."""
        ...

    def stage_after(self, rendezvous: int) -> int:
        """Index of the stage that a wave enters at a rendezvous of the loop body, counted from 0."""
        ...


@dataclass(frozen=True, slots=True)
class StageWork:
    """What a wave executes for one stage in one iteration, its last rendezvous and loop control included.

    instructions, matrix, memory: means over waves and iterations; whole numbers for a loop of one path.
    priority: at the first matrix or memory instruction of the stage, None if it varies.
    """

    instructions: float
    matrix: float
    memory: float
    priority: int | None


@dataclass(frozen=True, slots=True)
class StageTimeline:
    """The intervals of one workgroup.

    waves: waves x intervals. Interval k lies between rendezvous k and k + 1, counted from 1; interval 0
    begins with the waves, and the last one runs to their end.
    iterations, rendezvous_per_iteration: of the loop, for one wave; means over the waves.
    work: one for each stage.
    """

    workgroup: int
    waves: tuple[tuple[Interval, ...], ...]
    iterations: float
    rendezvous_per_iteration: float
    work: tuple[StageWork, ...]
    offset: Offset

    @property
    def group_a(self) -> tuple[Interval, ...]:
        """Intervals of the leading half of the waves, by its first wave."""
        return self.waves[0]

    @property
    def group_b(self) -> tuple[Interval, ...]:
        """Intervals of the trailing half of the waves, by its first wave."""
        return self.waves[len(self.waves) // 2]


def stage_timeline(recording: Recording, plan: Plan, workgroup: int = 0) -> StageTimeline:
    """The stages of one recorded workgroup. UserError if kernel or recording does not fit the plan."""
    kernel = recording.program.kernel(recording.kernel)
    loop = staged_loop(recording.program, kernel)
    count = len(plan.stages)
    if len(loop.rendezvous) != count:
        raise UserError(
            f"the loop of kernel {kernel.name} has {len(loop.rendezvous)} rendezvous for {count} stages",
            file=recording.program.name,
            remedy="stages and rendezvous have to be equally many",
        )
    traces = recording.of(workgroup)
    if len(traces) < 2:
        raise UserError(f"{len(traces)} waves recorded in workgroup {workgroup}; two groups need at least 2")
    # What stands before the first rendezvous of the loop belongs to the stage behind the last one.
    stages = (plan.stage_after(count - 1), *(plan.stage_after(r) for r in range(count)))
    executed = [trace.blocks().tolist() for trace in traces]
    taken = [_rendezvous(blocks, loop) for blocks in executed]
    shared = set[int].intersection(*taken)
    waves = _padded([intervals(blocks, loop, stages, shared) for blocks in executed])
    counts = np.bincount(np.concatenate(executed), minlength=len(kernel.blocks))
    passes = int(counts[loop.header])
    in_loop = [
        (segment, int(counts[block]))
        for block, segments in enumerate(loop.segments)
        for segment in segments
        if segment.piece is not None
    ]
    rendezvous = sum(n for segment, n in in_loop if segment.rendezvous is not None)
    return StageTimeline(
        workgroup,
        waves,
        passes / len(traces),
        rendezvous / passes if passes else 0.0,
        tuple(_work(stage, stages, in_loop, passes, waves) for stage in range(count)),
        offset(waves),
    )


def _rendezvous(blocks: Sequence[int], loop: StagedLoop) -> set[int]:
    return {s.rendezvous for block in set(blocks) for s in loop.segments[block] if s.rendezvous is not None}


def _padded(waves: Sequence[tuple[Interval, ...]]) -> tuple[tuple[Interval, ...], ...]:
    """Waves that end early wait for no rendezvous: they are gone for the rest of the intervals."""
    length = max(map(len, waves))
    return tuple(wave + (_ended(wave),) * (length - len(wave)) for wave in waves)


def _ended(wave: Sequence[Interval]) -> Interval:
    return Interval("ended", None, wave[-1].position + 1, 0, 0, 0, 0)


def _work(
    stage: int,
    stages: tuple[int, ...],
    in_loop: Sequence[tuple[Segment, int]],
    passes: int,
    waves: Sequence[Sequence[Interval]],
) -> StageWork:
    ours = [(s, n / max(1, passes)) for s, n in in_loop if s.piece is not None and stages[s.piece] == stage]
    priorities = {interval.priority for wave in waves for interval in wave if interval.stage == stage}
    return StageWork(
        sum(s.instructions * n for s, n in ours),
        sum(s.matrix * n for s, n in ours),
        sum(s.memory * n for s, n in ours),
        priorities.pop() if len(priorities) == 1 else None,
    )

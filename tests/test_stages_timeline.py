"""Stages from a Recording: the staged GEMMs as they are, and with a rendezvous taken away."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import ml_dtypes
import numpy as np
import pytest
from demo_runs import TARGETS, demo_of

from antiphase import asm
from antiphase.errors import UserError
from antiphase.frontends import launch_asm
from antiphase.kernels import for_target
from antiphase.machine import Recording
from antiphase.stages import Interval, StageTimeline, stage_timeline
from antiphase.stages._intervals import intervals
from antiphase.stages._loop import Segment, StagedLoop
from antiphase.stages._offset import offset


def extra_rendezvous(target: str, wave: int, other: int) -> int:
    """The s_barrier that one wave executes and another does not."""
    recording = recorded(target)
    barriers = [
        {
            index
            for first, end in recording.instructions(recording.waves[each])
            for index in range(first, end)
            if recording.program.kernel().instructions[index].mnemonic == "s_barrier"
        }
        for each in (wave, other)
    ]
    (index,) = barriers[0] - barriers[1]
    return index


def recorded(target: str) -> Recording:
    recording = demo_of(target).execution.recording
    assert recording is not None
    return recording


@cache
def timeline_without(target: str, *indices: int) -> StageTimeline:
    gemm, recording = for_target(target), recorded(target)
    program = recording.program.without(indices)
    a, c = np.ones((256, 384), ml_dtypes.bfloat16), np.zeros((256, 256), np.float32)
    execution = launch_asm(
        program,
        grid=gemm.grid(256, 256),
        args=gemm.arguments(a, a, c),
        threads=gemm.num_warps * recording.lanes,
        lds_bytes=demo_of(target).lds_bytes,
        record=True,
    )
    assert execution.recording is not None
    return stage_timeline(execution.recording, gemm)


def phases(intervals: tuple[Interval, ...]) -> list[str]:
    """The phases in order, equal neighbours once."""
    names = [interval.phase for interval in intervals]
    return [name for k, name in enumerate(names) if k == 0 or names[k - 1] != name]


@TARGETS
def test_offset_opens_holds_and_closes(target: str) -> None:
    timeline = timeline_without(target)
    found = timeline.offset
    assert found.ok
    assert found.active == found.behind == len(for_target(target).stages) * timeline.iterations + 1
    assert found.opposed == found.active - 2  # all but the first and the last stage of the loop
    assert found.opens is not None and found.closes == found.opens + found.active
    assert phases(timeline.group_a) == ["prologue", "stage", "wait", "epilogue"]
    assert [name for name in phases(timeline.group_b) if name != "prologue"] == ["wait", "stage", "epilogue"]


@TARGETS
def test_every_stage_comes_round_in_order(target: str) -> None:
    timeline, gemm = timeline_without(target), for_target(target)
    for wave in timeline.waves:
        stages = [interval.stage for interval in wave if interval.stage is not None]
        assert stages == list(range(len(gemm.stages))) * int(timeline.iterations)
        for interval in wave:
            if interval.stage is not None:
                stage = gemm.stages[interval.stage]
                assert (interval.matrix > 0, interval.memory > 0) == (
                    stage.kind == "mfma",
                    stage.kind == "memory",
                )
                assert interval.priority == stage.priority


@TARGETS
def test_without_the_opening_rendezvous_the_offset_does_not_open(target: str) -> None:
    found = timeline_without(target, extra_rendezvous(target, wave=4, other=0)).offset
    assert (found.opens, found.behind, found.opposed) == (None, 0, 0)
    assert not found.ok


@TARGETS
def test_without_the_closing_rendezvous_the_offset_does_not_close(target: str) -> None:
    found = timeline_without(target, extra_rendezvous(target, wave=0, other=4)).offset
    assert found.opens is not None
    assert found.closes is None
    assert not found.ok


@TARGETS
def test_without_both_the_groups_are_never_apart(target: str) -> None:
    both = (extra_rendezvous(target, 4, 0), extra_rendezvous(target, 0, 4))
    found = timeline_without(target, *both).offset
    assert set(found.lags) == {0}
    assert not found.ok


def test_a_loop_with_other_rendezvous_than_stages_is_an_error() -> None:
    recording, plan = recorded("gfx942"), for_target("gfx950")
    with pytest.raises(UserError, match="loop of kernel gemm_mi300x has 8 rendezvous for 16 stages"):
        stage_timeline(recording, plan)


def test_a_kernel_without_a_staged_loop_is_an_error() -> None:
    recording = recorded("gfx942")
    kernel = recording.program.kernel()
    barriers = [i for i, one in enumerate(kernel.instructions) if one.mnemonic == "s_barrier"]
    program: asm.Program = recording.program.without(barriers)
    with pytest.raises(UserError, match="no loop with rendezvous"):
        stage_timeline(replace(recording, program=program), for_target("gfx942"))


def test_a_workgroup_that_was_not_recorded_is_an_error() -> None:
    with pytest.raises(UserError, match="0 waves recorded in workgroup 99"):
        stage_timeline(recorded("gfx942"), for_target("gfx942"), workgroup=99)


def wave(*positions: int) -> list[Interval]:
    last = max(positions)
    return [Interval("stage" if 0 < p < last else "prologue", None, p, 1, 0, 0, 0) for p in positions]


@pytest.mark.parametrize(
    ("leading", "trailing", "opens", "closes", "behind"),
    [
        ((0, 1, 2, 3, 4), (0, 0, 1, 2, 4), 1, 4, 3),
        ((0, 1, 2, 3, 4), (0, 1, 2, 3, 4), None, None, 0),
        ((1, 2, 3, 4), (0, 1, 2, 4), None, 3, 3),
        ((0, 2, 3, 4), (0, 0, 1, 4), None, 3, 0),
        ((0, 1, 2, 3), (0, 0, 1, 2), 1, None, 3),
    ],
    ids=["right", "never", "from the start", "two stages", "to the end"],
)
def test_lag(
    leading: tuple[int, ...], trailing: tuple[int, ...], opens: int | None, closes: int | None, behind: int
) -> None:
    found = offset([wave(*leading), wave(*trailing)])
    assert (found.opens, found.closes) == (opens, closes)
    assert found.lags == tuple(a - b for a, b in zip(leading, trailing, strict=True))
    assert sum(lag == 1 for lag in found.lags) == behind


def test_waves_of_one_group_apart_are_not_alike() -> None:
    found = offset([wave(0, 1, 2, 3), wave(0, 1, 2, 3), wave(0, 0, 1, 3), wave(0, 1, 2, 3)])
    assert not found.alike
    assert not found.ok


def test_priority_is_that_of_the_first_work() -> None:
    works = Segment(None, None, 3, 1, 0, priority_before=2, priority_after=1)
    idle = Segment(9, None, 2, 0, 0, priority_before=3, priority_after=None)
    found = intervals([0, 1, 1], StagedLoop(0, (), ((works,), (idle,))), (), {9})
    assert [interval.priority for interval in found] == [2, 3, 3]
    assert [interval.instructions for interval in found] == [5, 2, 0]

"""What a launch gives to Python users: a line each as text, a fragment in a notebook, and equality that works."""

from __future__ import annotations

import dataclasses
import pkgutil
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from _asm import Snippet
from _tags import Tags

import antiphase
from antiphase import arch
from antiphase.layouts import layout
from antiphase.machine import Allocation, Execution, Memory, Recording, WaveTrace
from antiphase.machine.fault_tally import FaultTally
from antiphase.mutate import mutate

LONGEST = 200
"""Characters of a line that a reader takes in."""


@pytest.fixture(scope="module")
def execution() -> Execution:
    """A recorded launch of two workgroups, of which lanes 60 to 63 read beyond the end of an array."""
    k = Snippet(inputs=1)
    k("global_load_dword v2, v1, s[10:11]\ns_waitcnt vmcnt(0)\nv_add_f32 v3, v2, v2\ns_barrier")
    k.keep("v3")
    return k.run(np.ones(60, np.float32), record=True, grid=(2,)).execution


def test_every_object_is_one_short_line(execution: Execution) -> None:
    recording = execution.recording
    assert recording is not None
    tally = FaultTally.of([execution])
    barriers = recording.waves[0].barriers(range(len(execution.kernel.instructions)))
    outcome = mutate(execution.program)
    held = [
        execution, recording, recording.waves[0], barriers, execution.memory, execution.memory.allocations[0],
        execution.faults[0], execution.program, execution.kernel, tally, tally.groups[0], arch.target("gfx942"),
        layout("v_mfma_f32_16x16x16_f16"), layout("v_mfma_f32_16x16x16_f16").operand("D"), outcome, outcome.judged[0],
    ]  # fmt: skip
    for one in held:
        assert "\n" not in repr(one) and len(repr(one)) <= LONGEST, type(one)


def test_what_the_lines_say(execution: Execution) -> None:
    recording = execution.recording
    assert recording is not None
    count = execution.instructions
    assert repr(execution) == (
        f"<Execution kernel='k' target='gfx942' grid=(2, 1, 1) instructions={count} faults=8 recorded=True>"
    )
    events = sum(len(wave.events) for wave in recording.waves)
    assert repr(recording) == (
        f"<Recording kernel='k' target='gfx942' grid=(2, 1, 1) waves=2 lanes=64 events={events}>"
    )
    assert repr(recording.waves[1]) == f"<WaveTrace workgroup=1 wave=0 events={len(recording.waves[1].events)}>"
    assert repr(execution.program) == "<Program 'k.s' target='gfx942' kernels='k'>"
    assert re.fullmatch(r"<Kernel 'k' instructions=\d+ blocks=1>", repr(execution.kernel))
    assert repr(Memory()) == "<Memory allocations=0 bytes=0>"


def test_a_notebook_shows_what_ran_and_what_went_astray(execution: Execution) -> None:
    words = Tags(execution._repr_html_()).words
    for expected in ("k for gfx942", "2 x 1 x 1 workgroups", "2 waves", "v_add_f32", "by 'global_load_dword v2, v1"):
        assert expected in words
    assert "8 times, without effect" in words


def test_a_launch_equals_itself_alone(execution: Execution) -> None:
    other = dataclasses.replace(execution)
    assert execution == execution and execution != other and len({execution, other}) == 2


def test_recordings_are_equal_by_what_they_hold(execution: Execution, tmp_path: Path) -> None:
    recording = execution.recording
    assert recording is not None
    recording.save(tmp_path / "r")
    loaded = Recording.load(tmp_path / "r")
    assert loaded == recording
    first, second = recording.waves
    assert first == WaveTrace(0, 0, first.events.copy(), first.rows.copy()) and first != second and first != "wave"
    changed = first.events.copy()
    changed["exec"][0] ^= 1
    assert first != dataclasses.replace(first, events=changed)
    assert recording != dataclasses.replace(recording, waves=(first, first))
    barriers = first.barriers(range(99))
    assert barriers == first.barriers(range(99)) and barriers != first.barriers([])
    with pytest.raises(TypeError, match="unhashable"):
        hash(first)


def test_allocations_are_equal_by_their_bytes() -> None:
    one, other = np.zeros(4), np.zeros(4)
    assert Allocation(64, 32, "a", owner=one) == Allocation(64, 32, "a", owner=other)
    assert Allocation(64, 32, "a", owner=one) != Allocation(64, 16, "a", owner=one)


def test_no_dataclass_compares_arrays_as_if_they_were_numbers() -> None:
    """The == that `dataclass` makes asks arrays whether they are true, which is an error."""
    wrong = []
    for module in pkgutil.walk_packages(antiphase.__path__, "antiphase."):
        if module.name.endswith("__main__"):
            continue
        for each in vars(import_module(module.name)).values():
            made = isinstance(each, type) and dataclasses.is_dataclass(each) and each.__module__ == module.name
            if made and each.__dataclass_params__.eq:  # pyright: ignore[reportAttributeAccessIssue]
                compared = [f for f in dataclasses.fields(each) if f.compare]
                wrong += [
                    f"{module.name}.{each.__name__}" for f in compared if re.search("NDArray|ndarray", str(f.type))
                ]
    assert wrong == []

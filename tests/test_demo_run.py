"""`antiphase demo`: its JSON object and text for both targets, and what it says when the kernel is wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from math import prod

import ml_dtypes
import numpy as np
import pytest
from demo_runs import TARGETS, demo_of

from antiphase.cli import main
from antiphase.demo import Accuracy, Demo, accuracy
from antiphase.kernels import for_target

ISSUE_KEYS = {
    *("ok", "max_error", "target", "tile", "vgprs", "spills", "lds_bytes", "waves_per_simd", "instructions"),
    *("matrix_instructions", "rendezvous_per_iteration", "stages"),
}


@pytest.fixture(autouse=True)
def known_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("antiphase.demo.demonstrate", lambda target, step: demo_of(target))
    monkeypatch.setattr("antiphase.cli.silence_shutdown", lambda: None)


@TARGETS
def test_json_has_what_the_recording_shows(target: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--target", target, "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    gemm, demo = for_target(target), demo_of(target)
    assert found.keys() >= ISSUE_KEYS
    assert found["ok"] is True
    assert (found["target"], found["tile"]) == (target, list(gemm.tile))
    assert 0 < found["max_relative_error"] <= found["relative_error_bound"]
    assert (found["spills"], found["agprs"], found["waves_per_simd"]) == (0, 0, gemm.waves_per_simd)
    assert found["vgprs"] <= 256
    assert found["lds_bytes"] >= 2 * (256 + 256) * 64
    assert found["rendezvous_per_iteration"] == len(gemm.stages)
    assert found["loop_iterations"] == gemm.loop_iterations(demo.shape[2])
    matrix_k = {"gfx942": 16, "gfx950": 32}[target]
    assert found["matrix_instructions"] == prod(demo.shape) // (16 * 16 * matrix_k)


@TARGETS
def test_json_stages_are_those_of_the_kernel(target: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["demo", "--target", target, "--json", "-"])
    found, gemm = json.loads(capsys.readouterr().out), for_target(target)
    named = [(stage["label"], stage["kind"], stage["priority"]) for stage in found["stages"]]
    assert named == [(stage.label, stage.kind, stage.priority) for stage in gemm.stages]
    assert sum(stage["matrix_instructions"] for stage in found["stages"]) == 128
    for stage in found["stages"]:
        assert (stage["matrix_instructions"] > 0) == (stage["kind"] == "mfma")
        assert stage["instructions"] > stage["matrix_instructions"]


@TARGETS
def test_json_timeline_has_group_b_one_stage_behind(target: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["demo", "--target", target, "--json", "-"])
    found, gemm = json.loads(capsys.readouterr().out), for_target(target)
    a, b = ([interval[group] for interval in found["timeline"]] for group in "ab")
    labels = [stage.label for stage in gemm.stages] * found["loop_iterations"]
    assert [name for name in a if name in labels] == labels
    first = a.index(labels[0])
    assert b[first + 1 : first + 1 + len(labels)] == labels
    assert a.count("wait") == b.count("wait") == 1
    assert found["offset"]["one_stage_behind"] == found["offset"]["intervals"] == len(labels) + 1


@TARGETS
def test_text_says_so(target: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--target", target]) == 0
    shown, offset = capsys.readouterr().out, demo_of(target).timeline.offset
    assert shown.startswith(f"{target} {for_target(target).name}: right, largest error ")
    assert f"one stage behind for {offset.active} of {offset.active} intervals" in shown
    assert f"opens at rendezvous {offset.opens} and closes at rendezvous {offset.closes}." in shown


def broken(demo: Demo, what: str) -> Demo:
    if what == "product":
        return replace(demo, accuracy=Accuracy(float("nan"), float("nan"), demo.accuracy.bound))
    if what == "fault":
        return replace(demo, execution=replace(demo.execution, fault_count=1))
    if what == "workgroups":
        return replace(demo, workgroups_alike=False)
    offset = replace(demo.timeline.offset, opens=None)
    return replace(demo, timeline=replace(demo.timeline, offset=offset))


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("product", "wrong, largest error nan"),
        ("fault", "1 more accesses had no effect"),
        ("workgroups", "The workgroups differ"),
        ("offset", "The offset does not open"),
    ],
)
def test_what_is_wrong_is_said_and_ends_in_status_1(
    what: str, words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("antiphase.demo.demonstrate", lambda target, step: broken(demo_of(target), what))
    assert main(["demo"]) == 1
    assert words in capsys.readouterr().out
    assert main(["demo", "--json", "-"]) == 1
    assert json.loads(capsys.readouterr().out)["ok"] is False


def test_accuracy_is_relative_to_the_sum_of_absolute_products() -> None:
    a = np.array([[1, -2], [3, 4]], ml_dtypes.bfloat16)
    b = np.array([[5, 6]], ml_dtypes.bfloat16)
    found = accuracy(a, b, np.array([[-7.5], [39]], np.float32))
    assert (found.largest, found.relative) == (0.5, 0.5 / 17)
    assert not found.ok
    assert found.bound == pytest.approx(2 * 2**-24)
    assert not accuracy(a, b, np.array([[np.nan], [39]], np.float32)).ok
    assert accuracy(a, b, np.array([[-7], [39]], np.float32)).ok

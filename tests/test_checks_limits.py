"""Loops without end and recordings too large: an answer of `incomplete` that says where, and how to raise the limit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from _checked import LAUNCH, exchange, program, text

from antiphase.checking import Options, check
from antiphase.checks import _run, check_execution
from antiphase.cli import main
from antiphase.errors import Incomplete
from antiphase.frontends import launch_asm
from antiphase.machine.waves import _room

SPIN = """\
v_mov_b32 v1, 0
.Ls:
ds_read_b32 v2, v1
s_waitcnt lgkmcnt(0)
v_readfirstlane_b32 s8, v2
s_cmp_lg_u32 s8, 1
s_cbranch_scc1 .Ls"""
NO_LOOP = "ds_write_b32 v0, v0\n" * 64 + "s_waitcnt lgkmcnt(0)"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.s").write_text(text(SPIN, lds=4096))


def test_a_loop_without_end_is_incomplete_and_named(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["check", "k.s", "--args", "", "--recording-limit", "3M", "--json", "-"]
    assert main(command) == 2
    found = json.loads(capsys.readouterr().out)
    (reason,) = found["incomplete"]
    line = 1 + Path("k.s").read_text().splitlines().index("s_cbranch_scc1 .Ls")
    assert found["verdict"] == "incomplete" and reason.startswith(f"k.s:{line}: the recording is at its limit of 3 MiB")
    assert "0 of 1 workgroups" in reason and "--recording-limit" in reason and "s_cbranch_scc1 .Ls" in reason


def test_mutate_stops_as_well(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mutate", "k.s", "--args", "", "--recording-limit", "1M"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("antiphase: incomplete: k.s:") and said.count("\n") == 1


def test_from_python() -> None:
    assert check("k.s", args=[], recording_limit=1 << 20).verdict == "incomplete"
    with pytest.raises(Incomplete, match="limit of 1 MiB"):
        launch_asm("k.s", grid=1, args=[], record=True, recording_limit=1 << 20)


def test_instructions_can_be_limited() -> None:
    (reason,) = check("k.s", args=[], max_instructions=1000).incomplete
    assert reason.startswith("k.s: stopped at the limit of 1000 instructions, most of them in the loop of 's_cbranch")
    assert "max_instructions= in Python" in reason


def test_many_workgroups_may_be_too_many() -> None:
    kernel = program(NO_LOOP, lds=4096)
    launch = {"args": [], "threads": 64, "record": True, "recording_limit": 1 << 18}
    assert launch_asm(kernel, grid=4, **launch).recording is not None
    with pytest.raises(
        Incomplete, match=r"k\.s: the recording is at its limit of 0\.25 MiB with \d+ of 4,000 workgroups"
    ):
        launch_asm(kernel, grid=4000, **launch)


@pytest.mark.parametrize(("size", "bytes_"), [("7", 7), ("2k", 2048), ("512M", 512 << 20), ("8G", 8 << 30)])
def test_sizes(size: str, bytes_: int, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[int | None] = []
    monkeypatch.setattr(Options, "__post_init__", lambda self: given.append(self.recording_limit))
    assert main(["check", "k.s", "--only", "wait", "--recording-limit", size]) == 0
    assert given == [bytes_]


def test_a_size_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "k.s", "--recording-limit", "8 gigs"]) == 2
    assert "'8 gigs' is no size: give bytes, as in 8G or 512M" in capsys.readouterr().err


def test_by_default_a_quarter_of_what_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 0 < _room.default_limit() <= _room.MOST
    monkeypatch.setattr(_room, "_free", lambda: iter([1 << 30, 1 << 28]))
    assert _room.default_limit() == 1 << 26
    monkeypatch.setattr(_room, "_free", lambda: iter([1 << 40]))
    assert _room.default_limit() == _room.MOST


def test_what_cannot_be_put_in_order_here_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("k.s").write_text(exchange())
    monkeypatch.setattr(_run, "free_memory", lambda: 10_000)
    assert main(["check", "k.s", *LAUNCH]) == 2
    execution = launch_asm(program(NO_LOOP, lds=4096), grid=1, args=[], threads=64, record=True)
    part = check_execution(execution)
    assert part.ran == ("sync", "mem", "bank")
    assert [reason.partition(":")[0] for reason in part.checked.incomplete] == ["init", "stage", "race", "useless"]
    assert all("4,096 accesses of one workgroup" in reason for reason in part.checked.incomplete)


def test_a_check_that_runs_out_of_memory_leaves_the_verdict_open(monkeypatch: pytest.MonkeyPatch) -> None:
    def greedy(recording: object) -> None:
        raise MemoryError

    monkeypatch.setattr("antiphase.checks.race.check_races", greedy)
    execution = launch_asm(program(NO_LOOP, lds=4096), grid=1, args=[], threads=64, record=True)
    part = check_execution(execution, ["race"])
    assert part.checked.verdict == "incomplete" and part.checked.incomplete[0].startswith("race: ")


def test_lds_that_was_not_given_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    Path("k.s").write_text(text("v_lshlrev_b32 v1, 2, v0\nds_read_b32 v2, v1 offset:1024\ns_waitcnt lgkmcnt(0)"))
    command = ["check", "k.s", "--args", "", "--threads", "64", "--only", "mem,resources"]
    assert main(command) == 1
    said = capsys.readouterr().out
    assert "was given 0 bytes of LDS: --lds-bytes (lds_bytes= in Python) adds to what the text declares" in said
    assert main([*command, "--lds-bytes", "1024"]) == 1
    assert "was given 1,024 bytes of LDS\n" in capsys.readouterr().out

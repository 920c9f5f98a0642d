"""Findings that one fix removes are one in every report, and the fix that is printed removes them all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from _checked import program

from antiphase.asm import Program, parse_instruction
from antiphase.checks import Cause, CheckedKernel, Finding, Fix, Site, causes, check_execution, check_program
from antiphase.cli import main
from antiphase.frontends import launch_asm

# each wave reads four rows that the other wrote, and writes all of them anew
STAGE = """\
v_lshlrev_b32 v1, 2, v0
v_xor_b32 v2, 0x100, v1
ds_{store} v1, v0
ds_{store} v1, v0 offset:512
s_waitcnt lgkmcnt(0)
{first}
ds_{load} v3, v2
ds_{load} v4, v2 offset:512
{wait}
{second}
ds_{store} v1, v0
ds_{store} v1, v0 offset:512
s_waitcnt lgkmcnt(0)"""
NAMES = {
    "gfx942": ("read_b32", "write_b32"),
    "gfx1100": ("load_b32", "store_b32"),
    "gfx1201": ("load_b32", "store_b32"),
}
BARRIERS = {"gfx942": "s_barrier", "gfx1100": "s_barrier", "gfx1201": "s_barrier_signal -1\ns_barrier_wait -1"}


def kernel(target: str, first: bool = True, wait: bool = True, second: bool = True) -> Program:
    load, store = NAMES[target]
    body = STAGE.format(
        load=load, store=store, first=BARRIERS[target] if first else "", second=BARRIERS[target] if second else "",
        wait="s_waitcnt lgkmcnt(0)" if wait else "",
    )  # fmt: skip
    if target == "gfx1201":
        body = body.replace("s_waitcnt lgkmcnt(0)", "s_wait_dscnt 0")
    return program("\n".join(line for line in body.split("\n") if line), target, lds=1024)


def races(kernel: Program) -> CheckedKernel:
    return check_execution(launch_asm(kernel, grid=1, args=[], threads=128, record=True), ["race"])


def apply(part: CheckedKernel, cause: Cause) -> Program:
    """The program with the fix of one cause, as its text reads."""
    fix = cause.finding.fix
    assert fix is not None and fix.action == "insert"
    lines = [*map(parse_instruction, fix.text), part.kernel.instructions[fix.instruction]]
    return part.program.edit({fix.instruction: lines}, part.kernel.name)


@pytest.mark.parametrize("target", NAMES)
def test_one_missing_wait_is_one_cause_with_the_strictest_count(target: str) -> None:
    assert races(kernel(target)).checked.verdict == "clean"
    part = races(kernel(target, wait=False))
    assert len(part.checked.findings) == 2 and len({f.fix for f in part.checked.findings}) == 2
    (cause,) = causes(part)
    assert cause.finding.rule == "missing_completion" and cause.finding.facts["count"] == 0
    assert cause.finding.count == sum(f.count for f in part.checked.findings)
    assert races(apply(part, cause)).checked.verdict == "clean"


@pytest.mark.parametrize("target", NAMES)
@pytest.mark.parametrize("missing", ["first", "second"])
def test_one_missing_barrier_is_one_cause(target: str, missing: str) -> None:
    part = races(kernel(target, first=missing != "first", second=missing != "second", wait=missing != "second"))
    assert len(part.checked.findings) > 1
    (cause,) = causes(part)
    assert cause.finding.rule == "missing_rendezvous" and cause.finding.fix is not None
    assert cause.finding.fix.instruction == min(f.fix.instruction for f in part.checked.findings if f.fix)
    assert races(apply(part, cause)).checked.verdict == "clean"


def test_a_barrier_does_not_serve_what_comes_behind_it() -> None:
    body = """\
v_lshlrev_b32 v1, 2, v0
v_xor_b32 v2, 0x100, v1
ds_write_b32 v1, v0
ds_read_b32 v3, v2
ds_write_b32 v1, v0 offset:512
ds_read_b32 v4, v2 offset:512
s_waitcnt lgkmcnt(0)"""
    part = races(program(body, lds=1024))
    found = causes(part)
    assert [cause.finding.fix and cause.finding.fix.instruction for cause in found] == [3, 5]
    changes = {
        f.instruction: [*map(parse_instruction, f.text), part.kernel.instructions[f.instruction]]
        for cause in found
        if (f := cause.finding.fix)
    }
    assert races(part.program.edit(changes)).checked.verdict == "clean"


def test_two_counters_at_one_place_are_both_in_the_fix() -> None:
    """Each line in the strictest form that any of the findings has, and what only some have besides."""
    part = races(kernel("gfx942"))

    def finding(first: int, *lines: str, **facts: object) -> Finding:
        return Finding(
            "race", "missing_completion", "error", (Site(first, "a"), Site(6, "b")), facts, Fix("insert", 6, lines)
        )

    found = [
        finding(1, "s_waitcnt lgkmcnt(11)", count=11),
        finding(2, "s_waitcnt lgkmcnt(9)", count=9),
        finding(3, "s_waitcnt vmcnt(2)", count=2),
    ]  # fmt: skip
    (cause,) = causes(part, found)
    assert cause.finding.fix is not None
    assert set(cause.finding.fix.text) == {"s_waitcnt lgkmcnt(9)", "s_waitcnt vmcnt(2)"}
    assert cause.finding.count == 3 and len(cause.alike) == 2


def test_two_loads_used_by_one_instruction_lack_one_wait() -> None:
    body = "global_load_dword v1, v0, s[2:3]\nglobal_load_dword v2, v0, s[2:3]\nv_add_f32 v3, v1, v2"
    part = check_program(program(body), ["wait"])
    (cause,) = causes(part)
    assert cause.finding.facts["count"] == 0 and cause.finding.count == 2
    assert check_program(apply(part, cause), ["wait"]).checked.verdict == "clean"


def test_reports_tell_a_cause_once_and_count_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    program_ = kernel("gfx942", wait=False)
    Path("k.s").write_text(program_.text())
    count = sum(f.count for f in races(program_).checked.findings)
    command = ["check", "k.s", "--args", "", "--threads", "128", "--only", "race"]
    assert main([*command, "--json", "-", "--sarif", "k.sarif"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["findings"]
    assert found["count"] == count and found["fix"]["text"] == ["s_waitcnt lgkmcnt(0)"]
    assert [len(other["sites"]) for other in found["alike"]] == [2]
    (result,) = json.loads(Path("k.sarif").read_text())["runs"][0]["results"]
    assert result["occurrenceCount"] == count and len(result["relatedLocations"]) == 4
    assert main([*command, "--github"]) == 1
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("::error ") and f"seen {count} times" in line and "+ s_waitcnt lgkmcnt(0)" in line
    assert main(command) == 1
    printed = capsys.readouterr().out
    assert (
        printed.count("error: ") == 1 and f"; 1 error, seen {count} times" in printed and "and alike at line" in printed
    )

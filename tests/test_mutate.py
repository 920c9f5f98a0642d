"""`antiphase mutate`: which mutants are made, which are caught, and why the others are not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from _checked import LAUNCH, exchange, program, scale, text
from syrupy.assertion import SnapshotAssertion

from antiphase import asm
from antiphase.cli import main
from antiphase.frontends import LaunchSpec, read_launch_spec
from antiphase.mutate import Outcome, mutants, mutate


def changes(body: str, target: str = "gfx942") -> list[tuple[str, str, tuple[str, ...]]]:
    return [(m.kind, m.before, m.after) for m in mutants(program(body, target))]


def test_mutants_of_waits() -> None:
    assert changes("s_waitcnt vmcnt(2) lgkmcnt(14)") == [
        ("wait", "s_waitcnt vmcnt(2) lgkmcnt(14)", ()),
        ("wait", "s_waitcnt vmcnt(2) lgkmcnt(14)", ("s_waitcnt vmcnt(3) lgkmcnt(14)",)),
    ]
    assert changes("s_wait_loadcnt_dscnt 0x102", "gfx1201") == [
        ("wait", "s_wait_loadcnt_dscnt 0x102", ()),
        ("wait", "s_wait_loadcnt_dscnt 0x102", ("s_wait_loadcnt 2", "s_wait_dscnt 2")),
        ("wait", "s_wait_loadcnt_dscnt 0x102", ("s_wait_loadcnt 1", "s_wait_dscnt 3")),
    ]
    assert changes("s_waitcnt_vscnt null, 0", "gfx1100") == [
        ("wait", "s_waitcnt_vscnt null, 0", ()),
        ("wait", "s_waitcnt_vscnt null, 0", ("s_waitcnt_vscnt null, 1",)),
    ]


def test_mutants_of_barriers_and_nops() -> None:
    assert changes("s_barrier\ns_nop 1\nv_nop") == [
        ("barrier", "s_barrier", ()),
        ("nop", "s_nop 1", ()),
        ("nop", "s_nop 1", ("s_nop 0",)),
        ("nop", "v_nop", ()),
    ]
    assert changes("s_barrier_signal -1\nv_nop\ns_barrier_wait -1", "gfx1201") == [
        ("barrier", "s_barrier_signal -1; s_barrier_wait -1", ()),
        ("nop", "v_nop", ()),
    ]


def test_mutants_of_waits_for_registers() -> None:
    both = "s_wait_alu depctr_va_vdst(14), depctr_vm_vsrc(0)"
    assert changes(f"{both}\ns_wait_xcnt 0x0\ns_delay_alu 0", "gfx1250") == [
        ("hazard wait", both, ()),
        ("hazard wait", both, ("s_wait_alu depctr_vm_vsrc(0)",)),
        ("hazard wait", both, ("s_wait_alu depctr_va_vdst(14)",)),
        ("hazard wait", both, ("s_wait_alu depctr_va_vdst(14) depctr_vm_vsrc(1)",)),
        ("wait", "s_wait_xcnt 0x0", ()),
        ("wait", "s_wait_xcnt 0x0", ("s_wait_xcnt 1",)),
    ]
    exports = "s_waitcnt expcnt(0) lgkmcnt(0)"
    assert changes(exports, "gfx1100") == [
        ("wait", exports, ()),
        ("wait", exports, ("s_waitcnt lgkmcnt(1) expcnt(0)",)),
        ("wait", exports, ("s_waitcnt lgkmcnt(0) expcnt(1)",)),
    ]
    assert changes("s_wait_idle", "gfx1201") == [("wait", "s_wait_idle", ())]


def test_nothing_is_mutated_where_no_path_leads() -> None:
    assert changes("s_branch .L\ns_waitcnt vmcnt(0)\n.L:\ns_nop 0") == [("nop", "s_nop 0", ())]


def statuses(outcome: Outcome) -> dict[tuple[str, tuple[str, ...]], str]:
    return {(one.mutant.before, one.mutant.after): one.status for one in outcome.judged}


def test_static_checks_catch_what_registers_need() -> None:
    outcome = mutate(asm.parse(scale(), "k.s"))
    assert outcome.ok and set(statuses(outcome).values()) == {"caught"}
    assert len(outcome.judged) == 4


def test_a_launch_catches_what_waves_need_of_each_other() -> None:
    kernel = asm.parse(exchange(), "k.s")
    alone = statuses(mutate(kernel))
    assert alone["s_barrier", ()] == "unjudged"
    outcome = mutate(kernel, read_launch_spec("out=zeros:u32:128"))
    seen = {one.mutant.before: one for one in outcome.judged if not one.mutant.after}
    assert seen["s_barrier"].status == "caught" and seen["s_barrier"].by is not None
    assert seen["s_barrier"].by.check == "race"
    assert outcome.launched and outcome.count("survived") == 0


def test_a_barrier_that_orders_nothing_is_proved_redundant() -> None:
    kernel = asm.parse(exchange(barrier="s_barrier\ns_barrier"), "k.s")
    outcome = mutate(kernel, read_launch_spec("out=zeros:u32:128"))
    barriers = [one for one in outcome.judged if one.mutant.kind == "barrier"]
    assert all(one.status in ("redundant", "survived") for one in barriers)
    assert any(one.status == "redundant" and one.by and one.by.check == "useless" for one in barriers)


def test_a_split_barrier_that_orders_nothing_is_proved_redundant() -> None:
    body = "v_mov_b32 v1, 0\ns_barrier_signal -1\ns_barrier_wait -1"
    (barrier,) = mutate(program(body, "gfx1201"), LaunchSpec((), ())).judged
    assert barrier.status == "redundant" and barrier.by and barrier.by.rule == "barrier_orders_nothing"


LOOP = """s_mov_b32 s0, {}
.Lagain:
s_barrier
s_sub_u32 s0, s0, 1
s_cmp_eq_u32 s0, 0
s_cbranch_scc0 .Lagain"""


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        (LOOP.format(2), "unjudged", "few_passes"),
        (LOOP.format(3), "redundant", None),
        ("s_cmp_eq_u32 s0, s0\ns_cbranch_scc1 .L\ns_barrier\n.L:", "unjudged", "not_reached"),
    ],
)
def test_why_a_mutant_is_neither(body: str, status: str, reason: str | None) -> None:
    (one,) = mutate(program(body), LaunchSpec((), (), threads=64)).judged
    assert (one.status, one.reason) == (status, reason)


def test_a_wait_behind_another_is_redundant_by_itself() -> None:
    """Findings of `useless` hold together and let the last wait stand; each of two may go alone."""
    kernel = asm.parse(exchange(wait="s_waitcnt lgkmcnt(0)\ns_waitcnt lgkmcnt(0)"), "k.s")
    outcome = mutate(kernel, read_launch_spec("out=zeros:u32:128"))
    pair = [one for one in outcome.judged if one.mutant.before == "s_waitcnt lgkmcnt(0)" and not one.mutant.after]
    assert [one.status for one in pair].count("redundant") >= 2
    assert "complete" in [one.reason for one in pair]


def test_a_nop_without_a_rule_is_redundant_and_one_with_is_not() -> None:
    assert mutate(program("s_nop 3")).count("redundant") == 2
    needed = "v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]\ns_nop 6\nv_add_f32 v8, v0, v0"
    assert mutate(program(needed)).count("caught") == 2


def test_findings_of_the_kernel_leave_the_question_open(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.s").write_text(scale(wait="s_waitcnt vmcnt(1)").replace("s_waitcnt lgkmcnt(0)\n", ""))
    assert main(["mutate", "k.s"]) == 2
    out = capsys.readouterr().out
    assert "The kernel itself has 2 findings" in out and "fix what antiphase check names first" in out
    assert "no mutant counts: " in out and "could be judged" not in out
    assert main(["mutate", "k.s", "--json", "-"]) == 2
    found = json.loads(capsys.readouterr().out)
    assert (found["ok"], found["findings"], found["score"]) == (False, 2, None)


def test_a_kernel_with_nothing_to_mutate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.s").write_text(text("v_mov_b32 v1, v0"))
    assert main(["mutate", "k.s"]) == 0
    assert "there is no wait, barrier or nop to delete" in capsys.readouterr().out


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        Path("k.s").write_text(exchange())
        assert main(["mutate", "k.s", *LAUNCH]) == 0
        assert capsys.readouterr().out == snapshot
        assert main(["mutate", "k.s", "--json", "-"]) == 2
        found = json.loads(capsys.readouterr().out)
    assert found["score"] == 1 and found["counts"]["unjudged"] == sum(
        m["status"] == "unjudged" for m in found["mutants"]
    )
    assert {"kind", "line", "before", "after", "status", "by", "note"} <= set(found["mutants"][0])

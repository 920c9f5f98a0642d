"""`useless`: waits and barriers that could go or be looser, and those that could not."""

from __future__ import annotations

import numpy as np
import pytest
from test_checks_race import BARRIER, DONE, READ_OTHER, WRITE_, snippet

from antiphase import asm
from antiphase.checks import Finding, UselessProofs
from antiphase.checks.race import check_races
from antiphase.checks.useless import check_useless
from antiphase.machine import Execution


def recorded(body: str, program: asm.Program | None = None, grid: tuple[int, ...] = (1,)) -> Execution:
    data = np.zeros(1024, np.uint32)
    # the loads of the arguments, which each kernel begins with, and v4 are used
    k = snippet("s_add_u32 s22, s8, s10\n" + body + "v_mov_b32 v60, v4\n", 1)
    return k.run(data, record=True, program=program, grid=grid).execution


def useless(body: str) -> list[Finding]:
    return check_useless(recorded(body))


LOADS = "global_load_dword v4, v2, s[10:11]\nglobal_load_dword v5, v2, s[10:11] offset:64\n"


@pytest.mark.parametrize(
    ("body", "rule", "text"),
    [
        (WRITE_ + DONE + BARRIER + READ_OTHER + DONE, None, ()),
        (WRITE_ + DONE + DONE + BARRIER + READ_OTHER + DONE, "wait_completes_nothing_needed", ()),
        (LOADS + "s_waitcnt vmcnt(0)\nv_mov_b32 v6, v4\n", "wait_stricter_than_needed", ("s_waitcnt vmcnt(1)",)),
        (LOADS + "s_waitcnt vmcnt(1)\nv_mov_b32 v6, v4\ns_waitcnt vmcnt(0)\nv_mov_b32 v7, v5\n", None, ()),
        (LOADS + "s_waitcnt vmcnt(1)\ns_waitcnt vmcnt(0)\nv_add_u32 v7, v4, v5\n", "wait_completes_nothing_needed", ()),
        (
            WRITE_ + "ds_read_b32 v6, v2\n" + DONE + BARRIER + READ_OTHER + DONE,
            "wait_stricter_than_needed", ("s_waitcnt lgkmcnt(1)",),
        ),
        (WRITE_ + "ds_read_b32 v4, v2\n" + DONE, None, ()),
        (WRITE_ + DONE + "ds_read_b32 v4, v2\n" + DONE, "wait_completes_nothing_needed", ()),
        ("s_load_dword s20, s[10:11], 0x0\n" + WRITE_ + DONE + "s_mov_b32 s21, s20\n", None, ()),
    ],
)  # fmt: skip
def test_waits(body: str, rule: str | None, text: tuple[str, ...]) -> None:
    found = [f for f in useless(body) if f.rule != "barrier_orders_nothing"]
    assert [f.rule for f in found] == ([] if rule is None else [rule])
    assert all(f.severity == "info" and f.fix is not None and f.fix.text == text for f in found)


def test_changes_hold_together() -> None:
    """Applying all of them leaves no race and nothing more to say."""
    body = LOADS + "s_waitcnt vmcnt(0)\nv_mov_b32 v6, v4\n" + WRITE_ + "ds_read_b32 v6, v2\n" + DONE + DONE + BARRIER
    body += BARRIER + READ_OTHER + DONE + "s_waitcnt vmcnt(0)\nv_mov_b32 v7, v5\n"
    program = recorded(body).program
    for _ in range(6):
        found = useless(body) if program is None else check_useless(recorded(body, program))
        if not found:
            break
        fix = found[0].fix
        assert fix is not None
        program = program.edit({fix.instruction: [asm.parse_instruction(t) for t in fix.text]})
    else:
        pytest.fail("a change asks for another without end")
    recording = recorded(body, program).recording
    assert recording is not None and not check_races(recording).findings
    assert sum(i.mnemonic == "s_barrier" for i in program.kernel().instructions) == 1


def test_what_decides_is_the_second_site() -> None:
    execution = recorded(LOADS + "s_waitcnt vmcnt(0)\nv_mov_b32 v6, v4\n")
    (finding,) = check_useless(execution)
    assert [site.role for site in finding.sites] == ["wait", "operation"]
    assert execution.kernel.instructions[finding.sites[1].instruction].text() == "global_load_dword v4, v2, s[10:11]"


def test_a_full_counter_needs_no_wait() -> None:
    """LGKMCNT has room for 15: the first read is complete when the sixteenth is issued."""
    body = "".join(f"ds_read_b32 v{20 + i}, v2\n" for i in range(2)) + "s_waitcnt lgkmcnt(0)\n"
    many = "".join(f"ds_read_b32 v{30 + i % 8}, v3\n" for i in range(15)) + "v_mov_b32 v9, v20\n"
    (finding,) = useless(body + many)
    assert finding.rule == "wait_completes_nothing_needed"
    few = "".join(f"ds_read_b32 v{30 + i % 8}, v3\n" for i in range(13)) + "v_mov_b32 v9, v20\n"
    assert [f.fix and f.fix.text for f in useless(body + few)] == [("s_waitcnt lgkmcnt(1)",)]


FENCE = "s_waitcnt vmcnt(0)\nbuffer_inv sc1\n"


@pytest.mark.parametrize(
    ("before", "after", "grid", "free"),
    [
        ("", "", 1, True),
        # the other wave stores into the same line
        ("v_xor_b32 v6, 4, v3\n", "global_store_dword v6, v0, s[10:11]\n", 1, False),
        # both workgroups store what both load
        ("", "global_store_dword v2, v0, s[10:11]\n", 2, False),
        # atomics whose result nobody sees, on other lines
        ("v_add_u32 v6, 0x400, v2\n", "global_atomic_add v6, v0, s[10:11]\n", 2, True),
    ],
)
def test_a_fence_is_for_what_waves_share(before: str, after: str, grid: int, free: bool) -> None:
    """A load may be out at an invalidation if no other wave changes its line."""
    body = before + "global_load_dword v4, v2, s[10:11]\n" + FENCE + "v_mov_b32 v5, v0\n" + after
    execution = recorded(body + "s_waitcnt vmcnt(0)\n", grid=(grid,))
    wait = next(i for i, one in enumerate(execution.kernel.instructions) if one.text() == "s_waitcnt vmcnt(0)")
    found = [f for f in check_useless(execution) if f.sites[0].instruction == wait]
    assert [f.rule for f in found] == (["wait_completes_nothing_needed"] if free else [])
    assert UselessProofs(execution).wait(wait, {}) == ("redundant" if free else "published")


def test_what_is_published_has_to_be_complete() -> None:
    """A store that another workgroup loads, before the atomic that may tell of it."""
    body = "global_store_dword v2, v0, s[10:11]\ns_waitcnt vmcnt(0)\nv_mov_b32 v5, 0x800\n"
    body += "global_atomic_add v6, v5, v0, s[10:11] sc0\ns_waitcnt vmcnt(0)\n"
    execution = recorded(body + "global_load_dword v4, v3, s[10:11]\ns_waitcnt vmcnt(0)\n", grid=(2,))
    wait = next(i for i, one in enumerate(execution.kernel.instructions) if one.text() == "s_waitcnt vmcnt(0)")
    assert wait not in [f.sites[0].instruction for f in check_useless(execution)]
    assert UselessProofs(execution).wait(wait, {}) == "published"
    assert UselessProofs(execution).wait(wait, {"vmcnt": 0}) == "redundant"


def test_a_wait_that_another_path_needs_stays() -> None:
    body = LOADS + "s_waitcnt vmcnt(0)\ns_cmp_lt_u32 s16, 0x1000\ns_cbranch_scc1 .Lout\nv_mov_b32 v6, v5\n.Lout:\n"
    assert not useless(body + "s_nop 0\n")


def test_barriers() -> None:
    assert not useless(WRITE_ + DONE + BARRIER + READ_OTHER + DONE)
    (finding,) = useless(WRITE_ + DONE + BARRIER + READ_OTHER + DONE + BARRIER)
    assert finding.rule == "barrier_orders_nothing" and finding.fix is not None and finding.fix.action == "delete"
    found = useless(WRITE_ + DONE + BARRIER + BARRIER + READ_OTHER + DONE)
    assert [f.rule for f in found] == ["barrier_orders_nothing"] * 2, "either, but not both"


# wave 1 takes one barrier more before the loop and wave 0 one after it; each wave has its own bytes of LDS
APART = """s_cmp_eq_u32 s16, 0
s_cbranch_scc1 .Lin
s_barrier
.Lin:
s_mov_b32 s17, 4
.Lagain:
ds_write_b32 v2, v0
s_barrier
s_waitcnt lgkmcnt(0)
v_mov_b32 v9, v0
s_barrier
s_sub_u32 s17, s17, 1
s_cmp_eq_u32 s17, 0
s_cbranch_scc0 .Lagain
s_cmp_eq_u32 s16, 0
s_cbranch_scc0 .Lout
s_barrier
.Lout:
"""


def test_barriers_of_two_groups_keep_the_offset() -> None:
    """Nothing is put in order, but taking one out would pair other stages: no fix."""
    found = [f for f in useless(APART) if "barrier" in f.rule]
    assert {f.rule for f in found} == {"barrier_keeps_offset"} and len(found) == 4
    assert all(f.fix is None for f in found)


def test_a_barrier_between_stages_that_orders_bytes_is_needed() -> None:
    """Wave 1 reads in one stage what wave 0 wrote in the stage before: the barrier behind the write."""
    body = APART.replace("ds_write_b32 v2, v0\n", "v_and_b32 v8, 0xff, v2\nds_write_b32 v8, v0\n", 1)
    assert len([f for f in useless(body) if "barrier" in f.rule]) < 4


def test_before_both_groups_part_a_barrier_may_go() -> None:
    (together,) = [f for f in useless("s_barrier\n" + APART) if f.rule == "barrier_orders_nothing"]
    assert together.fix is not None and together.fix.action == "delete"


def test_a_loop_that_ran_once_is_not_judged() -> None:
    loop = "s_mov_b32 s17, {}\n.Lagain:\n" + READ_OTHER + DONE + BARRIER
    loop += WRITE_ + DONE + BARRIER + "s_sub_u32 s17, s17, 1\ns_cmp_eq_u32 s17, 0\ns_cbranch_scc0 .Lagain\n"
    body = WRITE_ + DONE + BARRIER + loop
    assert not useless(body.format(1)) and not useless(body.format(4))

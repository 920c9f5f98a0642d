"""`useless`: waits and barriers that could go or be looser, and those that could not."""

from __future__ import annotations

import numpy as np
import pytest
from test_checks_race import BARRIER, DONE, READ_OTHER, WRITE_, snippet

from antiphase import asm
from antiphase.checks import Finding
from antiphase.checks._race import check_races
from antiphase.checks._useless import check_useless
from antiphase.machine import Recording


def recorded(body: str, program: asm.Program | None = None) -> Recording:
    data = np.zeros(1024, np.uint32)
    # the loads of the arguments, which each kernel begins with, and v4 are used
    k = snippet("s_add_u32 s22, s8, s10\n" + body + "v_mov_b32 v60, v4\n", 1)
    recording = k.run(data, record=True, program=program).execution.recording
    assert recording is not None
    return recording


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
    assert not check_races(recorded(body, program)).findings
    assert sum(i.mnemonic == "s_barrier" for i in program.kernel().instructions) == 1


def test_a_wait_that_another_path_needs_stays() -> None:
    body = LOADS + "s_waitcnt vmcnt(0)\ns_cmp_lt_u32 s16, 0x1000\ns_cbranch_scc1 .Lout\nv_mov_b32 v6, v5\n.Lout:\n"
    assert not useless(body + "s_nop 0\n")


def test_barriers() -> None:
    assert not useless(WRITE_ + DONE + BARRIER + READ_OTHER + DONE)
    (finding,) = useless(WRITE_ + DONE + BARRIER + READ_OTHER + DONE + BARRIER)
    assert finding.rule == "barrier_orders_nothing" and finding.fix is not None and finding.fix.action == "delete"
    found = useless(WRITE_ + DONE + BARRIER + BARRIER + READ_OTHER + DONE)
    assert [f.rule for f in found] == ["barrier_orders_nothing"] * 2, "either, but not both"


def test_a_loop_that_ran_once_is_not_judged() -> None:
    loop = "s_mov_b32 s17, {}\n.Lagain:\n" + READ_OTHER + DONE + BARRIER
    loop += WRITE_ + DONE + BARRIER + "s_sub_u32 s17, s17, 1\ns_cmp_eq_u32 s17, 0\ns_cbranch_scc0 .Lagain\n"
    body = WRITE_ + DONE + BARRIER + loop
    assert not useless(body.format(1)) and not useless(body.format(4))

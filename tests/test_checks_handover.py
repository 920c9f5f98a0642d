"""`race` where atomics hand over: counters, flags and locks, within a workgroup and between workgroups."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from test_checks_race import DONE, MEMORY, READ_OTHER, WRITE_, races

from antiphase.checks import Checked
from antiphase.checks.race import check_races

FLAG = "v_mov_b32 v5, 0x400\nv_mov_b32 v9, 1\nv_mov_b32 v10, 0\n"
ONE_LANE = "s_mov_b64 s[20:21], exec\ns_mov_b64 exec, 1\n"
ALL_LANES = "s_mov_b64 exec, s[20:21]\n"
SPLIT = FLAG + "s_cmp_eq_u32 s16, 0\ns_cbranch_scc0 .Lsecond\n"


def hand_over(before: str, release: str, acquire: str, after: str) -> Checked:
    """The first wave does something and releases, the second acquires and goes on."""
    first = before + ONE_LANE + release + ALL_LANES + "s_branch .Lend\n"
    return races(SPLIT + first + ".Lsecond:\n" + ONE_LANE + acquire + ALL_LANES + after + ".Lend:\ns_nop 0\n")


COUNT_UP = "ds_add_u32 v5, v9\n"
AWAIT = """.Lspin:
ds_add_rtn_u32 v6, v5, v10
s_waitcnt lgkmcnt(0)
v_readfirstlane_b32 s22, v6
s_cmp_eq_u32 s22, 0
s_cbranch_scc1 .Lspin
"""
POLL = AWAIT.replace("ds_add_rtn_u32 v6, v5, v10", "ds_read_b32 v6, v5")
LOOK = "ds_add_rtn_u32 v6, v5, v10\ns_waitcnt lgkmcnt(0)\n"


def rules(checked: Checked) -> set[str]:
    assert not checked.incomplete
    return {f.rule for f in checked.findings}


def test_an_atomic_whose_result_decides_hands_over() -> None:
    assert rules(hand_over(WRITE_ + DONE, COUNT_UP, AWAIT, READ_OTHER)) == set()
    assert rules(hand_over(WRITE_, COUNT_UP, AWAIT, READ_OTHER)) == set(), "DS instructions of a wave are in order"


def test_what_comes_behind_the_release_or_before_the_acquisition_is_in_no_order() -> None:
    late = hand_over("", COUNT_UP + ALL_LANES + WRITE_ + DONE, AWAIT, READ_OTHER)
    assert rules(late) == {"missing_rendezvous"}
    assert rules(hand_over(WRITE_ + DONE, COUNT_UP, READ_OTHER + DONE + AWAIT, "")) == {"missing_rendezvous"}


def test_a_result_that_decides_nothing_hands_over_nothing() -> None:
    assert rules(hand_over(WRITE_ + DONE, COUNT_UP, LOOK, READ_OTHER)) == {"missing_rendezvous"}


def test_an_atomic_without_a_result_or_of_another_place_hands_over_nothing() -> None:
    assert rules(hand_over(WRITE_ + DONE, COUNT_UP, COUNT_UP, READ_OTHER)) == {"missing_rendezvous"}
    other = AWAIT.replace("v6, v5, v10", "v6, v5, v9 offset:64")
    assert rules(hand_over(WRITE_ + DONE, COUNT_UP, other, READ_OTHER)) == {"missing_rendezvous"}


def test_a_flag_that_is_polled_by_plain_loads_is_not_judged() -> None:
    """The flag is changed by an atomic; a recording does not say in which order a plain load came."""
    checked = hand_over(WRITE_ + DONE, COUNT_UP, POLL, READ_OTHER)
    assert any("atomics" in reason for reason in checked.incomplete) and not checked.findings


def test_flags_of_plain_stores_and_loads_order_nothing() -> None:
    checked = hand_over(WRITE_ + DONE, "ds_write_b32 v5, v9\n", POLL, READ_OTHER)
    assert rules(checked) == {"missing_rendezvous"}
    data, flag = checked.findings
    assert "polled" not in data.facts and flag.facts["polled"]


GLOBAL_FLAG = "v_mov_b32 v5, 0x400\nv_mov_b32 v9, 1\nv_mov_b32 v10, 0\ns_lshl_b32 s18, s2, 8\nv_add_u32 v11, s18, v1\n"
GLOBAL_FLAG += "s_xor_b32 s18, s18, 0x100\nv_add_u32 v12, s18, v1\ns_cmp_eq_u32 s2, 0\ns_cbranch_scc0 .Lsecond\n"
STORE = "global_store_dword v11, v0, s[10:11]\n"
COMPLETE = "s_waitcnt vmcnt(0)\n"
WRITE_BACK, INVALIDATE = "buffer_wbl2 sc1\n", "buffer_inv sc1\n"
RELEASE = "global_atomic_add v5, v9, s[10:11]\n"
ACQUIRE = """.Lspin:
global_atomic_add v6, v5, v10, s[10:11] sc0
s_waitcnt vmcnt(0)
v_readfirstlane_b32 s22, v6
s_cmp_eq_u32 s22, 0
s_cbranch_scc1 .Lspin
"""
COHERENT = ACQUIRE.replace("atomic_add v6, v5, v10,", "load_dword v6, v5,").replace("sc0", "sc1")


@pytest.mark.parametrize(
    ("before", "rule"),
    [
        (STORE + WRITE_BACK + COMPLETE, None),
        (STORE + WRITE_BACK, "missing_completion"),
        (STORE + WRITE_BACK + "s_waitcnt lgkmcnt(0)\n", "missing_completion"),
    ],
)
@pytest.mark.parametrize("spin", [ACQUIRE, COHERENT])
def test_a_flag_between_workgroups(before: str, rule: str | None, spin: str) -> None:
    """The first workgroup stores and counts up; the second spins on the count, by atomics or by coherent loads."""
    first = before + ONE_LANE + RELEASE + ALL_LANES + "s_branch .Lend\n"
    second = ".Lsecond:\n" + ONE_LANE + spin + ALL_LANES + INVALIDATE + "global_load_dword v13, v12, s[10:11]\n"
    second += ".Lend:\ns_nop 0\n"
    body = MEMORY + GLOBAL_FLAG + first + second
    checked = races(body, np.zeros(512, np.uint32), threads=64, grid=(2,))
    assert rules(checked) == (set() if rule is None else {rule})
    if rule is not None:
        (finding,) = checked.findings
        assert finding.facts["workgroups"] == (0, 1) and finding.facts["atomic"]
        assert finding.fix is not None and finding.fix.text == ("s_waitcnt vmcnt(0)",)


pytest.importorskip("triton")

import triton  # noqa: E402
import triton.language as tl  # noqa: E402

from antiphase.asm import Program  # noqa: E402
from antiphase.frontends import Compiled, compile_kernel, launch_asm  # noqa: E402


@triton.jit
def last_one_reduces(x, parts, count, out, N: tl.constexpr, BLOCK: tl.constexpr):
    p, i = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(parts + p * BLOCK + i, tl.load(x + p * BLOCK + i) * 2)
    tl.debug_barrier()
    if tl.atomic_add(count, 1) == N - 1:
        total = tl.zeros((BLOCK,), tl.float32)
        for k in range(N):
            total += tl.load(parts + k * BLOCK + i)
        tl.store(out + i, total)


@triton.jit
def in_a_lock(x, parts, count, out, N: tl.constexpr, BLOCK: tl.constexpr):
    p, i = tl.program_id(0), tl.arange(0, BLOCK)
    value = tl.load(x + p * BLOCK + i) * 2
    while tl.atomic_cas(count, 0, 1) == 1:
        pass
    tl.store(out + i, tl.load(out + i) + value)
    tl.debug_barrier()
    tl.atomic_xchg(count, 0)


TARGETS = ("gfx942", "gfx1100", "gfx1201", "gfx1250")
N, BLOCK = 4, 1024


def compiled(kernel: Any, target: str) -> Compiled:
    signature = {"x": "*fp32", "parts": "*fp32", "count": "*i32", "out": "*fp32"}
    return compile_kernel(kernel, signature, {"N": N, "BLOCK": BLOCK}, target=target, num_warps=4)


def judged(one: Compiled, program: Program) -> tuple[Checked, np.ndarray]:
    arrays = [np.ones(N * BLOCK, np.float32), np.zeros(N * BLOCK, np.float32), np.zeros(16, np.int32)]
    out = np.zeros(BLOCK, np.float32)
    execution = launch_asm(
        program, grid=N, args=[*arrays, out], threads=one.threads_per_workgroup, lds_bytes=one.shared, record=True
    )
    assert execution.recording is not None
    return check_races(execution.recording), out


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kernel", [last_one_reduces, in_a_lock], ids=["last one reduces", "lock"])
def test_workgroups_that_hand_over_are_clean(kernel: Any, target: str) -> None:
    one = compiled(kernel, target)
    checked, out = judged(one, one.program)
    assert checked == Checked(()) and (out == 2 * N).all()


@pytest.mark.parametrize("target", TARGETS)
def test_a_counter_without_the_barrier_before_it_is_a_race(target: str) -> None:
    """One wave counts up for all of them: what the others stored must come before."""
    one = compiled(last_one_reduces, target)
    instructions = one.program.kernel().instructions
    atomic = next(i for i, one in enumerate(instructions) if "atomic_add" in one.mnemonic)
    barriers = [i for i in range(atomic) if instructions[i].mnemonic.startswith("s_barrier")]
    checked, _ = judged(one, one.program.without(barriers))
    found = [f for f in checked.findings if f.facts.get("workgroups")]
    assert found and all(f.severity == "error" for f in found)


def test_launches_recorded_in_part_are_not_judged_between_workgroups() -> None:
    one = compiled(in_a_lock, "gfx942")
    arrays = [np.ones(N * BLOCK, np.float32), np.zeros(N * BLOCK, np.float32), np.zeros(16, np.int32)]
    execution = launch_asm(
        one.program, grid=N, args=[*arrays, np.zeros(BLOCK, np.float32)], threads=one.threads_per_workgroup,
        lds_bytes=one.shared, record=True,
    )  # fmt: skip
    recording = execution.recording
    assert recording is not None
    part = replace(recording, waves=tuple(w for w in recording.waves if w.workgroup < 2))
    assert [reason.split(", ")[1] for reason in check_races(part).incomplete] == ["and not all of them are recorded"]

"""gfx1250: workgroups of a cluster run together, know their places, share a barrier and multicast loads."""

from __future__ import annotations

import numpy as np
import pytest
from _memory_kernels import Kernel

from antiphase import asm
from antiphase.errors import Deadlock, UserError
from antiphase.frontends import launch_asm
from antiphase.machine import Execution

ROW = 128  # bytes of one workgroup's row of results
DONE = "s_wait_loadcnt 0\ns_wait_storecnt 0\ns_wait_dscnt 0\ns_wait_kmcnt 0\ns_wait_asynccnt 0"
MEET = "s_barrier_signal -3\ns_barrier_wait -3"
# the number of the workgroup in a grid of 4 in x, in s30, from the cluster's place and its own
NUMBER = """s_and_b32 s20, ttmp6, 15
    s_bfe_u32 s21, ttmp6, 0x4000c
    s_add_co_i32 s21, s21, 1
    s_mul_i32 s22, ttmp9, s21
    s_add_co_i32 s30, s22, s20"""


def run(
    lines: str, data: np.ndarray, grid: int = 4, cluster: int = 2, threads: int = 32, record: bool = False
) -> Execution:
    k = Kernel("gfx1250", inputs=1, threads=threads)
    k(NUMBER)(f"s_mul_i32 s31, s30, {ROW}\nv_add_nc_u32 v2, s31, v1")(lines)
    program = asm.parse(k.text(), "k.s")
    rows = np.zeros((grid, 32), np.uint32)
    execution = launch_asm(
        program, grid=(grid, 1, 1), cluster=(cluster, 1, 1), args=[rows, data], threads=threads, record=record
    )
    assert not execution.faults
    data[: rows.size] = rows.ravel()
    return execution


@pytest.mark.parametrize("record", [False, True])
def test_every_workgroup_knows_its_place(record: bool) -> None:
    data = np.zeros(128, np.uint32)
    lines = """s_getreg_b32 s33, hwreg(HW_REG_IB_STS2, 6, 4)
        s_getreg_b32 s34, hwreg(HW_REG_IB_STS2, 21, 4)
        s_lshl_b32 s35, s34, 8
        s_or_b32 s35, s35, s30
        s_lshl_b32 s36, s33, 16
        s_or_b32 s35, s35, s36
        v_mov_b32 v3, s35
        global_store_b32 v2, v3, s[8:9]"""
    execution = run(lines, data, record=record)
    expected = [1 << 16 | (i % 2) << 8 | i for i in range(4)]
    assert (data.reshape(4, 32) == np.array(expected)[:, None]).all()
    if record:
        assert execution.recording is not None
        assert [(w.workgroup, w.wave) for w in execution.recording.waves] == [(i, 0) for i in range(4)]


TILE = """s_add_co_u32 s49, s10, s31
    s_add_co_ci_u32 s50, s11, 0
    s_mov_b32 s40, 1
    s_mov_b32 s41, 0
    s_mov_b32 s42, s49
    s_or_b32 s43, s50, 0x80000000
    s_mov_b32 s52, 0x20003
    s_mov_b32 s53, 0x200000
    s_mov_b32 s54, 0
    s_mov_b32 s55, 0x200000
    s_mov_b32 s56, 0
    s_mov_b32 s57, 0
    s_mov_b32 s58, 0
    s_mov_b32 s59, 0
    tensor_load_to_lds s[40:43], s[52:59]
    s_wait_tensorcnt 0"""
"""32 dwords of this workgroup's row, for workgroups 0 and 1."""


@pytest.mark.parametrize("record", [False, True])
@pytest.mark.parametrize("load", ["cluster_load_async_to_lds_b32 v1, v2, s[10:11]", TILE])
@pytest.mark.parametrize("everybody", [False, True])
def test_a_multicast_load_serves_the_workgroups_that_ask_for_it(load: str, everybody: bool, record: bool) -> None:
    """Data returns to the waves that made the request, whatever the mask says of others: AMD CDNA5 ISA 10.7."""
    data = np.arange(1000, 1128, dtype=np.uint32)
    lines = f"""s_mov_b32 m0, 3
        v_mov_b32 v5, 7
        ds_store_b32 v1, v5
        s_wait_dscnt 0
        {MEET}
        s_cmp_lg_u32 s20, {2 if everybody else 0}
        s_cbranch_scc{0 if everybody else 1} .Lmeet
        {load}
        {DONE}
        .Lmeet:
        {MEET}
        ds_load_b32 v4, v1
        s_wait_dscnt 0
        global_store_b32 v2, v4, s[8:9]"""
    run(lines, data, record=record)
    expected = np.arange(1000, 1128).reshape(4, 32)
    if not everybody:
        expected[1::2] = 7
    assert (data.reshape(4, 32) == expected).all()


def test_the_barrier_of_a_cluster_lets_no_workgroup_pass_early() -> None:
    """Each workgroup adds to the next one's word before the barrier, and reads its own after it."""
    data = np.zeros(128, np.uint32)
    lines = f"""v_mov_b32 v5, 1
        s_xor_b32 s32, s31, {ROW}
        v_add_nc_u32 v6, s32, v1
        global_atomic_add_u32 v6, v5, s[10:11]
        {DONE}
        {MEET}
        global_load_b32 v4, v2, s[10:11]
        {DONE}
        global_store_b32 v2, v4, s[8:9]"""
    run(lines, data)
    assert (data == 1).all()


def test_a_workgroup_that_has_ended_is_not_waited_for() -> None:
    data = np.zeros(128, np.uint32)
    lines = f"""s_cmp_lg_u32 s20, 0
        s_cbranch_scc1 .Lend
        {MEET}
        v_mov_b32 v4, 7
        global_store_b32 v2, v4, s[8:9]
        .Lend:"""
    run(lines, data)
    assert data.reshape(4, 32)[:, 0].tolist() == [7, 0, 7, 0]


def test_waiting_without_arriving_is_a_deadlock_of_both_workgroups() -> None:
    with pytest.raises(Deadlock, match=r"wave 0 at line .*s_barrier_wait -3.*wave 1 at line"):
        run("s_barrier_wait -3", np.zeros(128, np.uint32))


@pytest.mark.parametrize(
    ("target", "grid", "cluster", "message"),
    [
        ("gfx1201", 4, (2, 1, 1), "a cluster on gfx1201; only gfx1250 has clusters"),
        ("gfx1250", 3, (2, 1, 1), r"grid \(3, 1, 1\) in clusters of \(2, 1, 1\); make it a multiple"),
        ("gfx1250", 32, (32, 1, 1), r"cluster \(32, 1, 1\); give three sizes whose product is at most 16"),
        ("gfx1250", 4, (0, 1, 1), r"cluster \(0, 1, 1\)"),
    ],
)
def test_clusters_that_do_not_fit(target: str, grid: int, cluster: tuple[int, int, int], message: str) -> None:
    program = asm.parse(Kernel(target).text(), "k.s")
    with pytest.raises(UserError, match=message):
        launch_asm(program, grid=(grid, 1, 1), cluster=cluster, args=[np.zeros(32, np.uint32)], threads=32)

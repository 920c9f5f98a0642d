"""Seed 000, section 6 "Completion waits and barriers": split, named and cluster barriers in groups of four waves."""

import numpy as np
import pytest
from _memory_kernels import Kernel

from antiphase.errors import Deadlock, Unsupported

GFX12 = ("gfx1200", "gfx1201", "gfx1250")
BOTH_MODES = pytest.mark.parametrize("record", [False, True], ids=["fast", "recording"])
WAVE = "s_bfe_u32 s20, ttmp8, 0x50019"
ITEMS = np.arange(128)


def four_waves(target: str) -> Kernel:
    """s20 is the wave's number."""
    return Kernel(target, threads=128)(WAVE)


@BOTH_MODES
@pytest.mark.parametrize("target", [*(f"gfx110{i}" for i in range(4)), *(f"gfx115{i}" for i in range(4))])
def test_one_instruction_arrives_and_waits(target: str, record: bool) -> None:
    """Section 6, "Workgroup barriers": S_BARRIER on RDNA 3 and 3.5 (LLVM, GFX6-11 barriers)."""
    k = Kernel(target, threads=128)("ds_store_b32 v1, v0\ns_waitcnt lgkmcnt(0)\ns_barrier\nv_xor_b32 v2, 0x180, v1")
    k("ds_load_b32 v3, v2\ns_waitcnt lgkmcnt(0)").keep("v3")
    assert (k.run(record=record).rows[0] == ITEMS ^ 96).all()


@BOTH_MODES
@pytest.mark.parametrize("target", GFX12)
def test_work_between_arriving_and_waiting(target: str, record: bool) -> None:
    """Section 6, "Workgroup barriers": S_BARRIER_SIGNAL and S_BARRIER_WAIT of barrier -1 (LLVM, GFX12 barriers)."""
    k = four_waves(target)("ds_store_b32 v1, v0\ns_wait_dscnt 0\ns_barrier_signal -1\nv_mul_u32_u24 v4, 3, v0")
    k("s_barrier_wait -1\nv_xor_b32 v2, 0x180, v1\nds_load_b32 v3, v2\ns_wait_dscnt 0").keep("v3", "v4")
    rows = k.run(record=record).rows
    assert (rows[0] == ITEMS ^ 96).all() and (rows[1] == 3 * ITEMS).all()


@pytest.mark.parametrize("target", GFX12)
def test_the_first_wave_to_arrive_learns_so(target: str) -> None:
    """LLVM AMDGPUExecutionSynchronization: S_BARRIER_SIGNAL_ISFIRST sets SCC for the first arrival of a phase."""
    k = four_waves(target)
    for _ in range(2):
        k("s_barrier_signal_isfirst -1\ns_cselect_b32 s21, 1, 0\ns_barrier_wait -1\nv_mov_b32 v2, s21").keep("v2")
    rows = k.run().rows.reshape(2, 4, 32)
    assert (rows == rows[..., :1]).all() and rows[..., 0].sum(1).tolist() == [1, 1]


@pytest.mark.parametrize("target", GFX12)
def test_the_state_of_a_barrier_counts_members_and_arrivals(target: str) -> None:
    """RDNA4 ISA 5.6.2, S_GET_BARRIER_STATE; fields as Linux amdkfd's cwsr_trap_handler_gfx12.asm has them, and for
    gfx1250 CDNA5 ISA S_GET_BARRIER_STATE: the named barriers of the descriptor in fours."""
    k = four_waves(target)("s_cmp_lt_u32 s20, 3\ns_cbranch_scc1 .Larrive\ns_get_barrier_state s21, -1\n.Larrive:")
    k("s_barrier_signal -1\ns_barrier_wait -1\ns_wait_kmcnt 0\nv_mov_b32 v2, s21").keep("v2")
    named = 4 << 24 if target == "gfx1250" else 0
    assert k.run().rows[0, 96] == named | 3 << 16 | 4 << 4 | 1, "three of four waves wait when the last one looks"


NAMED = """s_mov_b32 m0, {members:#x}
    s_cmp_lg_u32 s20, 0
    s_cbranch_scc1 .Lset
    s_barrier_init 2
    .Lset:
    s_barrier_signal -1
    s_barrier_wait -1"""


@BOTH_MODES
def test_a_named_barrier_is_for_the_waves_that_joined_it(record: bool) -> None:
    """Section 6, "Later extensions": named barriers of GFX12.5; LLVM AMDGPUExecutionSynchronization."""
    k = four_waves("gfx1250")(NAMED.format(members=2 << 16) + "\nv_mov_b32 v3, -1")
    k("""s_cmp_lt_u32 s20, 2
        s_cbranch_scc0 .Lothers
        s_barrier_join 2
        ds_store_b32 v1, v0
        s_wait_dscnt 0
        s_barrier_signal 2
        s_barrier_wait 2
        v_xor_b32 v2, 0x80, v1
        ds_load_b32 v3, v2
        s_wait_dscnt 0
        .Lothers:""").keep("v3")
    row = k.run(record=record).rows[0]
    assert (row[:64] == ITEMS[:64] ^ 32).all() and (row[64:] == 0xFFFFFFFF).all()


def test_a_signal_by_m0_can_set_the_number_of_members() -> None:
    """LLVM AMDGPUExecutionSynchronization: M0 bits 4:0 are the barrier, bits 22:16, if any, its members."""
    k = four_waves("gfx1250")(NAMED.format(members=9 << 16))
    k("""s_barrier_join 2
        s_mov_b32 m0, 0x40002
        s_barrier_signal m0
        s_barrier_wait 2
        s_get_barrier_state s21, 2
        v_mov_b32 v2, s21""").keep("v2")
    assert (k.run().rows[0] == (4 << 24 | 4 << 4 | 1)).all()


def test_a_wave_that_leaves_is_not_waited_for() -> None:
    """LLVM AMDGPUExecutionSynchronization: S_BARRIER_LEAVE drops the barrier joined last. State: AMD CDNA5 ISA
    S_GET_BARRIER_STATE, with the four times four named barriers of the descriptor in bits 26:24."""
    k = four_waves("gfx1250")(NAMED.format(members=4 << 16))
    k("""s_barrier_join 2
        s_cmp_eq_u32 s20, 3
        s_cbranch_scc1 .Lleave
        s_barrier_signal 2
        s_barrier_wait 2
        s_branch .Ldone
        .Lleave:
        s_barrier_leave
        .Ldone:
        s_get_barrier_state s21, 2
        v_mov_b32 v2, s21""").keep("v2")
    assert (k.run().rows[0, :96] == (4 << 24 | 3 << 4 | 1)).all()


def test_leaving_says_whether_it_was_the_last_wave() -> None:
    """AMD CDNA5 ISA S_BARRIER_LEAVE: SCC = the barrier has no members left; 0 for a wave that has joined none."""
    k = four_waves("gfx1250")(NAMED.format(members=4 << 16))
    k("""s_barrier_join 2
        s_barrier_leave
        s_cselect_b32 s22, 1, 0
        s_barrier_leave
        s_cselect_b32 s23, 2, 0
        s_or_b32 s22, s22, s23
        v_mov_b32 v2, s22""").keep("v2")
    assert sorted(k.run().rows[0, ::32].tolist()) == [0, 0, 0, 1]


def test_initialization_without_a_count_keeps_the_members() -> None:
    """AMD CDNA5 ISA S_BARRIER_INIT: arrivals are forgotten, the member count changes if M0 has one."""
    k = four_waves("gfx1250")(NAMED.format(members=9 << 16))
    k("""s_cmp_lg_u32 s20, 0
        s_cbranch_scc1 .Ldone
        s_barrier_signal 2
        s_mov_b32 m0, 2
        s_barrier_init m0
        s_get_barrier_state s21, 2
        v_mov_b32 v2, s21
        .Ldone:""").keep("v2")
    assert (k.run().rows[0, :32] == (4 << 24 | 9 << 4 | 1)).all()


def test_a_named_barrier_that_is_not_allocated_stops_the_kernel() -> None:
    """AMD CDNA5 ISA 5.6.3: hardware ignores instructions that name one."""
    k = Kernel("gfx1250", threads=128, descriptor={"named_barrier_count": 1})
    assert (k("s_barrier_join 4\nv_mov_b32 v2, 1").keep("v2").run().rows == 1).all()
    with pytest.raises(Unsupported, match=r"named barrier 5 where .*named_barrier_count allocates 4"):
        k("s_barrier_join 5").run()


@BOTH_MODES
def test_a_wave_alone_has_no_barriers(record: bool) -> None:
    """AMD CDNA5 ISA 5.6, 2.3: workgroup and cluster barrier instructions are S_NOP, which leaves SCC too."""
    k = Kernel("gfx1250")("s_barrier_wait -1\ns_barrier_wait -3\ns_barrier_signal -1\ns_barrier_wait -1")
    for value in (0, 1):
        k(f"s_cmp_eq_u32 {value}, 1\ns_barrier_signal_isfirst -1\ns_cselect_b32 s{21 + value}, 1, 0")
    k("v_mov_b32 v2, s21\nv_mov_b32 v3, s22").keep("v2", "v3")
    assert k.run(record=record).rows[:, 0].tolist() == [0, 1]


def test_a_wait_without_a_joined_barrier_does_nothing() -> None:
    """AMD CDNA5 ISA S_BARRIER_WAIT."""
    k = four_waves("gfx1250")("s_barrier_wait 1\nv_mov_b32 v2, 1").keep("v2")
    assert (k.run().rows == 1).all()


def test_a_barrier_joined_late_is_waited_for_from_its_present_phase_on() -> None:
    k = four_waves("gfx1250")(NAMED.format(members=1 << 16))
    k("""s_cmp_eq_u32 s20, 0
        s_cbranch_scc0 .Lnext
        s_barrier_join 2
        s_barrier_signal 2
        s_barrier_wait 2
        .Lnext:
        s_barrier_signal -1
        s_barrier_wait -1
        s_barrier_join 2
        s_cmp_eq_u32 s20, 1
        s_cbranch_scc0 .Ldone
        s_barrier_wait 2
        .Ldone:""")
    with pytest.raises(Deadlock, match=r"wave 0 ended, wave 1 at line \d+ \(s_barrier_wait 2\)"):
        k.run()


def test_barrier_zero_does_nothing() -> None:
    """LLVM AMDGPUExecutionSynchronization: operations on the null barrier other than joining are no-ops."""
    k = four_waves("gfx1250")("s_barrier_signal 0\ns_barrier_wait 0\ns_barrier_join 0\ns_barrier_signal 0")
    k("s_mov_b32 m0, 0x30000\ns_barrier_init m0\ns_barrier_wait 3\nv_mov_b32 v2, 1").keep("v2")
    assert (k.run().rows[0] == 1).all()


@BOTH_MODES
def test_a_cluster_of_one_workgroup_has_one_arrival(record: bool) -> None:
    """Section 6, "Later extensions": cluster barrier -3; one wave arrives for its workgroup, any may wait (LLVM)."""
    k = four_waves("gfx1250")("""s_barrier_signal_isfirst -1
        s_cselect_b32 s21, 1, 0
        s_barrier_wait -1
        s_cmp_eq_u32 s21, 1
        s_cbranch_scc0 .Lwait
        s_barrier_signal -3
        .Lwait:
        s_barrier_wait -3
        v_mov_b32 v2, v0""").keep("v2")
    assert (k.run(record=record).rows[0] == ITEMS).all()


@pytest.mark.parametrize("target", ["gfx1200", "gfx1201"])
@pytest.mark.parametrize("line", ["s_barrier_signal 1", "s_barrier_wait -3", "s_barrier_init 1", "s_barrier_leave"])
def test_rdna4_has_the_workgroup_barrier_alone(target: str, line: str) -> None:
    """Section 6, "Later extensions": named and cluster barriers are of GFX12.5, though an assembler takes them here."""
    with pytest.raises(Unsupported, match="barrier"):
        Kernel(target)(line).run()


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("s_mov_b32 m0, 17\ns_barrier_signal m0", "a named barrier in M0 where .* allocates 16"),
        ("s_barrier_join -1", "for named barriers"),
    ],
)
def test_what_is_undefined_of_named_barriers_stops_the_kernel(lines: str, reason: str) -> None:
    with pytest.raises(Unsupported, match=reason):
        Kernel("gfx1250")(lines).run()


def test_a_deadlock_names_the_place_of_every_wave() -> None:
    k = four_waves("gfx1201")("s_cmp_lt_u32 s20, 2\ns_cbranch_scc1 .Ldone\ns_barrier_wait -1\n.Ldone:")
    at = 1 + k.text().splitlines().index("s_barrier_wait -1")
    places = rf"wave 0 ended, wave 1 ended, wave 2 at line {at} \(s_barrier_wait -1\), wave 3 at line {at}"
    with pytest.raises(Deadlock, match=places):
        k.run()

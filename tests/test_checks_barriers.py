"""`race` and `sync` with named barriers and with those of clusters (gfx1250): what they order, and their misuse."""

from __future__ import annotations

import numpy as np
import pytest
from _memory_kernels import Kernel

from antiphase import asm
from antiphase.checks import Checked, Finding
from antiphase.checks.race import check_races
from antiphase.checks.sync import check_sync
from antiphase.frontends import launch_asm
from antiphase.machine import Execution, Recording

MEET = "s_barrier_signal -1\ns_barrier_wait -1\n"
WRITE = "ds_store_b32 v1, v0\n"
DONE = "s_wait_dscnt 0\n"
READ = "v_xor_b32 v3, 0x80, v1\nds_load_b32 v4, v3\n"


def launched(body: str, threads: int = 128, grid: int = 1, cluster: int = 1) -> Execution:
    """A launch that is recorded; s20 is the wave's number."""
    k = Kernel("gfx1250", inputs=1, threads=threads)("s_bfe_u32 s20, ttmp8, 0x50019")(body)
    arrays = [np.zeros(1024, np.uint32), np.zeros(1024, np.uint32)]
    return launch_asm(
        asm.parse(k.text(), "k.s"), grid=(grid, 1, 1), cluster=(cluster, 1, 1), args=arrays, threads=threads,
        record=True,
    )  # fmt: skip


def record(body: str, threads: int = 128, grid: int = 1, cluster: int = 1) -> Recording:
    recording = launched(body, threads, grid, cluster).recording
    assert recording is not None
    return recording


def initialized(members: int, *numbers: int, meet: str = MEET) -> str:
    """Wave 0 sets up barriers; then all meet."""
    lines = "".join(f"s_barrier_init {number}\n" for number in numbers)
    return f"s_mov_b32 m0, {members << 16:#x}\ns_cmp_lg_u32 s20, 0\ns_cbranch_scc1 .Lset\n{lines}.Lset:\n{meet}"


def by_wave(*bodies: str) -> str:
    """The body of each wave, nothing for the others."""
    parts = [
        f"s_cmp_eq_u32 s20, {i}\ns_cbranch_scc0 .Lnot{i}\n{body}s_branch .Lend\n.Lnot{i}:\n"
        for i, body in enumerate(bodies)
    ]
    return "".join(parts) + ".Lend:\ns_nop 0\n"


PAIR = initialized(2, 1)
JOIN, SIGNAL, WAIT = "s_barrier_join 1\n", "s_barrier_signal 1\n", "s_barrier_wait 1\n"
BOTH = SIGNAL + WAIT


def pair(before: str, after: str) -> str:
    """Waves 0 and 1 do this around a barrier of theirs."""
    return PAIR + by_wave(*[JOIN + before + BOTH + after] * 2)


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        (pair(WRITE + DONE, READ), None),
        (pair(WRITE, DONE + READ), "missing_completion"),
        (pair(READ + DONE, WRITE), None),
        (PAIR + by_wave(*[JOIN + WRITE + DONE + READ + BOTH] * 2), "missing_rendezvous"),
        # what each waits for does not order it against waves 2 and 3
        (PAIR + by_wave(*[JOIN + WRITE + DONE + BOTH] * 2, WRITE, "v_xor_b32 v3, 0x100, v1\nds_load_b32 v4, v3\n"),
         "missing_rendezvous"),
        # wave 0 does not wait: its read is in no order with the write of wave 1
        (PAIR + by_wave(WRITE + DONE + SIGNAL + READ, JOIN + WRITE + DONE + BOTH), "missing_rendezvous"),
        (PAIR + by_wave(WRITE + DONE + SIGNAL, JOIN + DONE + BOTH + READ), None),
    ],
)  # fmt: skip
def test_named_barriers_order_the_waves_that_take_part(body: str, rule: str | None) -> None:
    recording = record(body)
    checked = check_races(recording)
    assert not checked.incomplete and not check_sync(recording)
    assert {f.rule for f in checked.findings} == (set() if rule is None else {rule})


def test_order_goes_on_through_a_wave_that_meets_both() -> None:
    """Wave 0 meets wave 1 at barrier 1, and wave 1 meets wave 2 at barrier 2: wave 2 reads what wave 0 wrote."""
    second = "s_barrier_join 2\ns_barrier_signal 2\ns_barrier_wait 2\n"
    late = "v_xor_b32 v3, 0x100, v1\nds_load_b32 v4, v3\n"
    start = initialized(2, 1, 2)
    recording = record(start + by_wave(WRITE + DONE + SIGNAL, JOIN + BOTH + second, second + late))
    assert check_races(recording) == Checked(()) and not check_sync(recording)
    recording = record(start + by_wave(WRITE + DONE + SIGNAL, second + JOIN + BOTH, second + late))
    assert [f.rule for f in check_races(recording).findings] == ["missing_rendezvous"]


def ring(fill: str, use: str, turns: int = 4) -> str:
    """Wave 0 fills a buffer that waves 1 and 2 use, turn after turn: barrier 1 says full, barrier 2 empty."""
    loop = "s_mov_b32 s21, {turns}\n.Lagain{name}:\n{body}s_sub_co_u32 s21, s21, 1\ns_cmp_lg_u32 s21, 0\n"
    loop += "s_cbranch_scc1 .Lagain{name}\n"
    fill = loop.format(turns=turns, name=0, body="s_barrier_wait 2\n" + fill + SIGNAL)
    uses = [loop.format(turns=turns, name=i, body=WAIT + use + "s_barrier_signal 2\n") for i in (1, 2)]
    init = initialized(2, 2, meet="").replace(".Lset:\n", "s_mov_b32 m0, 0x10000\ns_barrier_init 1\n.Lset:\n")
    joins = by_wave("s_barrier_join 2\n", JOIN, JOIN).replace(".Lend", ".Lstart").replace(".Lnot", ".Lfirst")
    joined = init + MEET + "v_and_b32 v2, 0x7f, v1\n" + joins + MEET
    return joined + by_wave(fill, *("s_barrier_signal 2\n" + use for use in uses))


FILL, USE = "ds_store_b32 v2, v0\n", "ds_load_b32 v4, v2\n"


@pytest.mark.parametrize(
    ("fill", "use", "rules"),
    [
        (FILL + DONE, USE + DONE, set()),
        (FILL, USE + DONE, {("write_read", "missing_completion")}),
        (FILL + DONE, USE, {("read_write", "missing_completion")}),
    ],
)
def test_a_ring_of_two_named_barriers(fill: str, use: str, rules: set[tuple[str, str]]) -> None:
    recording = record(ring(fill, use))
    checked = check_races(recording)
    assert not checked.incomplete and not check_sync(recording)
    assert {(f.facts["conflict"], f.rule) for f in checked.findings} == rules


def sync(body: str, threads: int = 128) -> list[Finding]:
    return check_sync(record(body, threads))


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        (by_wave(SIGNAL), "not_initialized"),
        (by_wave(JOIN), "not_initialized"),
        (initialized(2, 1, meet="") + by_wave(*[JOIN + BOTH] * 2), "initialized_in_no_order"),
        (initialized(2, 1) + by_wave(SIGNAL, WAIT + SIGNAL), "nothing_joined"),
        (initialized(2, 1) + by_wave("s_barrier_leave\n"), "nothing_joined"),
        (initialized(4, 1) + by_wave(SIGNAL * 2, SIGNAL * 2), "signal_without_wait"),
        (initialized(1, 1) + by_wave(SIGNAL * 2), None),  # the first completes the barrier
        (initialized(2, 1) + by_wave(*[JOIN + BOTH] * 4), "phase_not_separate"),
        (initialized(2, 1) + by_wave(SIGNAL, JOIN + WAIT, SIGNAL), "joined_too_late"),
        (initialized(2, 1) + by_wave(SIGNAL, MEET + JOIN + SIGNAL + WAIT, MEET, MEET), None),
    ],
)
def test_misuse_of_named_barriers(body: str, rule: str | None) -> None:
    assert {f.rule for f in sync(body) if f.rule != "uneven_arrivals"} == (set() if rule is None else {rule})


def test_a_finding_says_which_barrier_and_where() -> None:
    """Two members and four waves: which of them meet is anyone's guess."""
    shared = "s_cmp_lt_u32 s20, 4\ns_cbranch_scc0 .Lout\n" + JOIN + BOTH + ".Lout:\n"
    (finding,) = sync(initialized(2, 1) + shared)
    assert (finding.count, finding.facts["number"], finding.facts["members"]) == (2, 1, 2)
    assert len(finding.sites[-1].waves) == 2


PLACE = "s_and_b32 s21, ttmp6, 15\n"
CLUSTER = "s_barrier_signal -3\ns_barrier_wait -3\n"
MULTICAST = """s_mov_b32 m0, 3
cluster_load_async_to_lds_b32 v1, v1, s[10:11]
s_wait_asynccnt 0
ds_load_b32 v4, v1
s_wait_dscnt 0
"""


def test_a_multicast_load_reaches_the_lds_of_no_other_workgroup() -> None:
    """Each workgroup loads for itself, and needs no meeting with the others: AMD CDNA5 ISA 10.7."""
    assert not check_races(record(PLACE + MULTICAST, 32, grid=4, cluster=2)).findings


OWN = "s_lshl_b32 s22, s21, 7\nv_add_nc_u32 v2, s22, v1\n"
OTHER = "s_xor_b32 s22, s22, 0x80\nv_add_nc_u32 v3, s22, v1\n"
STORE, LOAD = "global_store_b32 v2, v0, s[10:11]\n", "global_load_b32 v4, v3, s[10:11]\n"


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        (STORE + "s_wait_storecnt 0\n" + CLUSTER + LOAD, None),
        (STORE + CLUSTER + LOAD, "missing_completion"),
        (STORE + "s_wait_storecnt 0\n" + LOAD, "missing_rendezvous"),
    ],
)
def test_memory_between_the_workgroups_of_a_cluster(body: str, rule: str | None) -> None:
    found = check_races(record(PLACE + OWN + OTHER + body, 32, grid=2, cluster=2)).findings
    assert [f.rule for f in found] == ([] if rule is None else [rule])


def test_one_wave_signals_for_its_workgroup() -> None:
    both = "s_barrier_signal -3\ns_barrier_wait -3\n"
    one = "s_cmp_lg_u32 s20, 0\ns_cbranch_scc1 .Lwait\ns_barrier_signal -3\n.Lwait:\ns_barrier_wait -3\n"
    assert not check_sync(record(one, 64, grid=2, cluster=2))
    found = check_sync(record(both, 64, grid=2, cluster=2))
    assert "cluster_signalled_twice" in {f.rule for f in found}

"""`race`: what puts LDS and memory accesses of two waves in order, and what is missing where nothing does."""

from __future__ import annotations

import numpy as np
import pytest
from _asm import Snippet
from _memory_kernels import Kernel
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphase import asm
from antiphase.checks import Checked, Finding
from antiphase.checks.order import ATOMIC, DS, READ, WRITE, Touched, unordered
from antiphase.checks.race import check_races

# v2: this wave's place in LDS, 256 bytes a wave; v3: the other wave's. s16: 0 in the first wave.
PLACES = """v_lshlrev_b32 v2, 2, v0
v_xor_b32 v3, 0x100, v2
v_readfirstlane_b32 s16, v0
"""
WRITE_ = "ds_write_b32 v2, v0\n"
READ_OTHER = "ds_read_b32 v4, v3\n"
DONE = "s_waitcnt lgkmcnt(0)\n"
BARRIER = "s_barrier\n"


def snippet(body: str, inputs: int = 0, threads: int = 128) -> Snippet:
    k = Snippet(inputs=inputs, threads=threads, lds=4096)
    k(PLACES + body)
    return k


def races(body: str, *arrays: np.ndarray, threads: int = 128, grid: tuple[int, ...] = (1,)) -> Checked:
    k = snippet(body, len(arrays), threads)
    recording = k.run(*arrays, record=True, grid=grid).execution.recording
    assert recording is not None
    return check_races(recording)


def mended(program: asm.Program, finding: Finding) -> asm.Program:
    assert finding.fix is not None and finding.fix.action == "insert"
    at = finding.fix.instruction
    inserted = [asm.parse_instruction(text) for text in finding.fix.text]
    return program.edit({at: [*inserted, program.kernel().instructions[at]]})


def rule_and_fix(body: str, *arrays: np.ndarray) -> tuple[str, tuple[str, ...]]:
    """Of the one finding, whose fix must remove it."""
    (finding,) = races(body, *arrays).findings
    k = snippet(body, len(arrays))
    recording = k.run(*arrays, record=True, program=mended(k.program(), finding)).execution.recording
    assert recording is not None and not check_races(recording).findings
    assert finding.fix is not None
    return finding.rule, finding.fix.text


CLEAN = {
    "write, read after completion and rendezvous": WRITE_ + DONE + BARRIER + READ_OTHER,
    "read, write after completion and rendezvous": READ_OTHER + DONE + BARRIER + WRITE_,
    "each its own place": WRITE_ + "ds_read_b32 v4, v2\n",
    "both read": READ_OTHER + "ds_read_b32 v5, v2\n",
    "the same wave needs no wait": WRITE_ + "ds_read_b32 v4, v2\n" + WRITE_,
    "neighbouring bytes": "v_lshlrev_b32 v5, 1, v0\nds_write_b8 v5, v0\nds_read_u8 v4, v5\n",
    "atomics of both": "v_mov_b32 v5, 0\nds_add_u32 v5, v0\nds_add_u32 v5, v0\n",
    "the wait for a younger one covers it": WRITE_ + "ds_read_b32 v9, v2\n" + DONE + BARRIER + READ_OTHER,
    "a count that leaves younger ones": WRITE_ + "ds_read_b32 v9, v2\ns_waitcnt lgkmcnt(1)\n" + BARRIER + READ_OTHER,
    "a full counter completes the oldest": WRITE_ + "ds_read_b32 v9, v2\n" * 15 + BARRIER + READ_OTHER,
    "lanes without EXEC": "s_mov_b64 exec, 0\n" + WRITE_ + READ_OTHER,
    "completion one rendezvous late, with another to follow": WRITE_ + BARRIER + DONE + BARRIER + READ_OTHER,
    "the rest of a wave that has ended": (
        "s_cmp_eq_u32 s16, 0\ns_cbranch_scc0 .Lstay\n" + WRITE_ + "s_endpgm\n.Lstay:\n" + BARRIER + READ_OTHER
    ),
}  # fmt: skip


@pytest.mark.parametrize("body", CLEAN.values(), ids=list(CLEAN))
def test_ordered_accesses_are_clean(body: str) -> None:
    assert races(body) == Checked(())


WAIT0, BOTH = ("s_waitcnt lgkmcnt(0)",), ("s_waitcnt lgkmcnt(0)", "s_barrier")
RACY = {
    "write then read, wait behind the barrier": (WRITE_ + BARRIER + DONE + READ_OTHER, "missing_completion", WAIT0),
    "read then write, wait behind the barrier": (READ_OTHER + BARRIER + DONE + WRITE_, "missing_completion", WAIT0),
    "write then read, no barrier": (WRITE_ + DONE + READ_OTHER, "missing_rendezvous", ("s_barrier",)),
    "write then read, nothing": (WRITE_ + READ_OTHER, "missing_rendezvous", BOTH),
    "the count of younger operations": (
        WRITE_ + "ds_read_b32 v9, v2\nds_read_b32 v10, v2\n" + BARRIER + READ_OTHER,
        "missing_completion", ("s_waitcnt lgkmcnt(2)",),
    ),
    "a count that leaves it": (
        WRITE_ + "ds_read_b32 v9, v2\ns_waitcnt lgkmcnt(2)\n" + BARRIER + READ_OTHER,
        "missing_completion", ("s_waitcnt lgkmcnt(1)",),
    ),
    "a wait for another counter": (WRITE_ + "s_waitcnt vmcnt(0)\n" + BARRIER + READ_OTHER, "missing_completion", WAIT0),
    "one operation fewer than fill the counter": (
        WRITE_ + "ds_read_b32 v9, v2\n" * 14 + BARRIER + READ_OTHER, "missing_completion", ("s_waitcnt lgkmcnt(14)",),
    ),
    "one byte in common": (
        "v_mul_u32_u24 v5, 3, v2\nds_write_b32 v5, v0\n" + DONE + "ds_read_u8 v4, v5 offset:771\n",
        "missing_rendezvous", ("s_barrier",),
    ),
    "atomic then read": (
        "v_mov_b32 v5, 0\nds_add_u32 v5, v0\n" + DONE + "ds_read_b32 v4, v5\n",
        "missing_rendezvous", ("s_barrier",),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("body", "rule", "fix"), RACY.values(), ids=list(RACY))
def test_what_is_missing_and_the_fix_that_removes_it(body: str, rule: str, fix: tuple[str, ...]) -> None:
    assert rule_and_fix(body) == (rule, fix)


def test_a_finding_names_instructions_waves_bytes_and_its_number() -> None:
    body = "s_mov_b32 s17, 3\n.Lagain:\n" + WRITE_ + DONE + READ_OTHER + DONE + BARRIER + "s_sub_u32 s17, s17, 1\n"
    body += "s_cmp_eq_u32 s17, 0\ns_cbranch_scc0 .Lagain\n"
    (finding,) = races(body, grid=(2,)).findings
    instructions = snippet(body).program().kernel().instructions
    assert [instructions[s.instruction].mnemonic for s in finding.sites] == ["ds_write_b32", "ds_read_b32"]
    assert [(s.role, s.waves) for s in finding.sites] == [("write", (0, 1)), ("read", (0, 1))]
    assert finding.facts["bytes"] in [(0, 256), (256, 512)] and finding.facts["space"] == "lds"
    assert finding.count == 2 * 2 * 3, "two workgroups, two waves, three times"


def test_a_store_of_all_waves_to_one_place_is_only_noted() -> None:
    (finding,) = races("v_mov_b32 v5, 0\nds_write_b32 v5, v5\n").findings
    assert (finding.rule, finding.severity, finding.fix) == ("same_store", "info", None)


DMA = "v_and_b32 v7, 63, v0\nv_lshlrev_b32 v7, 2, v7\ns_lshl_b32 m0, s16, 2\nglobal_load_lds_dword v7, s[10:11]\n"

LOAD = "global_load_dword v8, v7, s[10:11]\n"


@pytest.mark.parametrize(
    ("body", "rule", "fix"),
    [
        (DMA + "s_waitcnt vmcnt(0)\n" + BARRIER + READ_OTHER, None, ()),
        (DMA + DONE + BARRIER + READ_OTHER, "missing_completion", ("s_waitcnt vmcnt(0)",)),
        (DMA + LOAD + BARRIER + READ_OTHER, "missing_completion", ("s_waitcnt vmcnt(1)",)),
        (DMA + "ds_read_b32 v4, v2\n", "missing_wait", ("s_waitcnt vmcnt(0)",)),
        ("ds_read_b32 v4, v2\n" + DMA, "missing_wait", WAIT0),
        (DMA + "s_waitcnt vmcnt(0)\nds_read_b32 v4, v2\n", None, ()),
    ],
)  # fmt: skip
def test_a_load_to_lds_is_complete_by_the_counter_of_its_own_wave(
    body: str, rule: str | None, fix: tuple[str, ...]
) -> None:
    data = np.zeros(64, np.uint32)
    if rule is None:
        assert not races(body, data).findings
    else:
        assert rule_and_fix(body, data) == (rule, fix)


def staged(stage: list[str], iterations: int = 3, gap: int = 1) -> Checked:
    """Two groups of one wave, the second `gap` rendezvous behind, in a loop of these lines.

    'write', 'read': of all 512 bytes, half by each wave for writing, the other's half for reading; 'LOCAL': wait and
    barrier; 'bare': barrier.
    """
    lines = {"write": WRITE_, "read": READ_OTHER, "LOCAL": DONE + BARRIER, "bare": BARRIER, "bubble": "s_nop 0\n"}
    extra = BARRIER * gap
    body = f"s_cmp_eq_u32 s16, 0\ns_cbranch_scc1 .Lin\n{extra}.Lin:\ns_mov_b32 s17, {iterations}\n.Lagain:\n"
    body += "".join(lines[part] for part in stage)
    body += "s_sub_u32 s17, s17, 1\ns_cmp_eq_u32 s17, 0\ns_cbranch_scc0 .Lagain\n" + DONE
    body += f"s_cmp_eq_u32 s16, 0\ns_cbranch_scc0 .Lout\n{extra}.Lout:\n"
    return races(body)


@pytest.mark.parametrize(
    ("stage", "safe"),
    [
        (["write", "LOCAL", "read", "LOCAL"], False),  # H1: the next stage reads
        (["write", "LOCAL", "bubble", "bare", "read", "LOCAL", "bubble", "bare"], True),
        (["write", "bare", "bubble", "LOCAL", "read", "LOCAL", "bubble", "bare"], False),  # one rendezvous late
        (["write", "LOCAL", "bubble", "bare", "read", "bare", "bubble", "LOCAL"], False),  # the read's, likewise
    ],
)  # fmt: skip
def test_groups_one_rendezvous_apart_need_one_more_between_producer_and_consumer(stage: list[str], safe: bool) -> None:
    checked = staged(stage)
    assert (checked.verdict == "clean") == safe
    assert staged(["LOCAL" if part == "bare" else part for part in stage], gap=0).verdict == "clean"


@pytest.mark.parametrize(("gap", "between"), [(g, b) for g in (0, 1, 2) for b in (1, 2, 3, 4) if g < 2 * b])
def test_the_safety_rule_of_offset_groups(gap: int, between: int) -> None:
    """x by the trailing wave is before y by the leading one if at least gap + 1 rendezvous lie between."""
    stage = ["write", "LOCAL"] + ["bare"] * (between - 1) + ["read", "LOCAL"] + ["bare"] * (between - 1)
    assert (staged(stage, gap=gap).verdict == "clean") == (between >= gap + 1)


MEMORY = "v_lshlrev_b32 v5, 2, v0\nv_xor_b32 v6, 0x100, v5\n"


def test_memory_between_waves_of_a_workgroup() -> None:
    data = np.zeros(128, np.uint32)
    store, load = "global_store_dword v5, v0, s[10:11]\n", "global_load_dword v7, v6, s[10:11]\n"
    assert not races(MEMORY + store + BARRIER + load, data).findings, "waves of a CDNA CU share a queue"
    (finding,) = races(MEMORY + store + load, data).findings
    assert (finding.rule, finding.facts["space"]) == ("missing_rendezvous", "memory")
    start, end = finding.facts["bytes"]  # type: ignore[misc]
    assert end - start == 256 and (start - data.ctypes.data) in (0, 256)


ALIKE = "v_and_b32 v5, 0xfc, v2\nglobal_load_dword v7, v5, s[10:11]\ns_waitcnt vmcnt(0)\nv_add_u32 v8, 1, v7\n"
FIRST_STORES = "s_cmp_eq_u32 s16, 0\ns_cselect_b64 exec, -1, 0\nglobal_store_dword v5, v8, s[10:11]\n"


@pytest.mark.parametrize(
    ("use", "idle"),
    [
        ("", True),
        ("v_mov_b32 v7, 0\nglobal_store_dword v5, v7, s[10:11] offset:512\n", True),
        ("v_readfirstlane_b32 s20, v8\ns_add_u32 s20, s20, 1\nv_mov_b32 v9, s20\n", True),
        ("ds_bpermute_b32 v9, v8, v8\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v8, v9\n", True),
        ("global_store_dword v2, v8, s[10:11] offset:512\n", False),
        ("ds_write_b32 v2, v8\n", False),
        ("v_and_b32 v9, 4, v8\nds_read_b32 v10, v9\n", False),
        ("v_readfirstlane_b32 s20, v8\ns_cmp_eq_u32 s20, 5\ns_cbranch_scc1 .Lnext\n.Lnext:\n", False),
        ("v_cmp_ne_u32 vcc, 5, v8\ns_and_b64 exec, exec, vcc\n", False),
        ("v_mov_b32 v9, v8\ns_mov_b64 exec, 1\nv_mov_b32 v9, 0\ns_mov_b64 exec, -1\n"
         "global_store_dword v2, v9, s[10:11] offset:512\n", False),
    ],
)  # fmt: skip
def test_a_load_whose_value_goes_nowhere_is_no_race(use: str, idle: bool) -> None:
    """Both waves load the same, and the first alone stores there."""
    data = np.zeros(512, np.uint32)
    found = [f for f in races(MEMORY + ALIKE + use + FIRST_STORES, data).findings if f.rule == "missing_rendezvous"]
    assert [f.facts["conflict"] for f in found] == ([] if idle else ["read_write"])


def test_memory_between_workgroups() -> None:
    data = np.zeros(256, np.uint32)
    own = "s_lshl_b32 s18, s2, 9\nv_add_u32 v5, s18, v5\n"
    store = "global_store_dword v5, v0, s[10:11]\n"
    assert not races(MEMORY + own + store, data, grid=(2,)).findings
    (finding,) = races(MEMORY + store, data, grid=(3,)).findings
    assert (finding.rule, finding.severity) == ("between_workgroups", "warning")
    assert finding.facts["workgroups"] == (0, 2)
    (finding,) = races(MEMORY + "global_load_dword v7, v5, s[10:11]\n" + own + store, data, grid=(2,)).findings
    assert finding.facts["conflict"] == "read_write" and finding.severity == "error"


@pytest.mark.parametrize("offset", [0, 4, 20, 60])
def test_conflicts_between_workgroups_are_the_same_wherever_the_array_lies(offset: int) -> None:
    """Both workgroups read 128 dwords from the 64th on; one writes 128 from there, the other those before as well."""
    space = np.zeros(1024, np.uint8)
    start = -space.ctypes.data % 64 + offset
    data = space[start : start + 900].view(np.uint32)[:192]
    body = MEMORY + "global_load_dword v7, v5, s[10:11] offset:256\ns_lshl_b32 s18, s2, 8\nv_add_u32 v5, s18, v5\n"
    found = races(body + "global_store_dword v5, v0, s[10:11]\n", data, grid=(2,)).findings
    found = [f for f in found if f.rule == "between_workgroups"]
    assert [f.facts["conflict"] for f in found] == ["read_write", "write_write"]
    for finding, elements in zip(found, (128, 64), strict=True):
        first, end = finding.facts["bytes"]  # type: ignore[misc]
        assert (first - data.ctypes.data, end - first, finding.count) == (256, 4 * elements, elements)


def test_atomics_are_no_conflict_and_order_nothing_if_their_results_decide_nothing() -> None:
    data = np.zeros(128, np.uint32)
    add = "global_atomic_add v5, v0, s[10:11]\n"
    assert races(MEMORY + add, data, grid=(2,)) == Checked(())
    lock = "global_atomic_add v8, v5, v0, s[10:11] sc0\ns_waitcnt vmcnt(0)\n"
    lock += "global_store_dword v5, v0, s[10:11] offset:512\n"
    checked = races(MEMORY + lock, np.zeros(256, np.uint32), grid=(2,))
    assert [f.rule for f in checked.findings] == ["between_workgroups"] and not checked.incomplete


def test_instructions_of_one_workgroup_do_not_race_with_each_other() -> None:
    data = np.zeros(128, np.uint32)
    first = "s_cmp_eq_u32 s2, 0\ns_cbranch_scc0 .Lother\n"
    stores = "global_store_dword v5, v0, s[10:11]\nglobal_store_dword v5, v1, s[10:11]\n"
    body = MEMORY + first + stores + ".Lother:\nglobal_load_dword v7, v5, s[10:11]\n"
    assert [f.facts["conflict"] for f in races(body, data, grid=(2,)).findings] == ["write_read"] * 2


@pytest.mark.parametrize("left", [0, 1])
def test_flat_accesses_to_lds_complete_in_no_order(left: int) -> None:
    """The LDS lanes of a FLAT store count on lgkmcnt as well, where only 0 proves them complete."""
    store = "v_mov_b32 v6, v2\nv_mov_b32 v7, 0x10000\nflat_store_dword v[6:7], v0\nds_read_b32 v9, v2\n"
    found = races(store + f"s_waitcnt vmcnt(0) lgkmcnt({left})\n" + BARRIER + READ_OTHER).findings
    between_waves = [f for f in found if f.rule == "missing_completion"]
    assert len(between_waves) == left
    assert all(f.fix is not None and f.fix.text == WAIT0 for f in between_waves)


def wave32(target: str, body: str) -> Checked:
    k = Kernel(target, threads=64, inputs=1)
    k("v_xor_b32 v3, 0x80, v1\n" + body)
    recording = k.run(np.zeros(64, np.uint32), record=True).execution.recording
    assert recording is not None
    return check_races(recording)


SIGNAL, AWAIT = "s_barrier_signal -1\n", "s_barrier_wait -1\n"


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ("ds_store_b32 v1, v0\ns_wait_dscnt 0\n" + SIGNAL + AWAIT + "ds_load_b32 v4, v3", None),
        ("ds_store_b32 v1, v0\n" + SIGNAL + "s_wait_dscnt 0\n" + AWAIT + "ds_load_b32 v4, v3", "missing_completion"),
        (SIGNAL + "ds_store_b32 v1, v0\ns_wait_dscnt 0\n" + AWAIT + "ds_load_b32 v4, v3", "missing_rendezvous"),
        ("ds_store_b32 v1, v0\ns_wait_dscnt 0\n" + SIGNAL + "ds_load_b32 v4, v3\n" + AWAIT, "missing_rendezvous"),
        ("ds_store_b32 v1, v0\ns_wait_loadcnt 0\n" + SIGNAL + AWAIT + "ds_load_b32 v4, v3", "missing_completion"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("target", ["gfx1201", "gfx1250"])
def test_a_split_barrier_arrives_at_the_signal_and_passes_at_the_wait(target: str, body: str, rule: str | None) -> None:
    rules = [f.rule for f in wave32(target, body).findings]
    assert rules == ([] if rule is None else [rule])


@pytest.mark.parametrize(
    ("wait", "rule"), [("s_wait_asynccnt 0", None), ("s_wait_loadcnt 0\ns_wait_dscnt 0", "missing_completion")]
)
def test_asynchronous_loads_are_complete_by_asynccnt(wait: str, rule: str | None) -> None:
    body = "global_load_async_to_lds_b32 v1, v1, s[10:11]\n" + wait + "\n" + SIGNAL + AWAIT + "ds_load_b32 v4, v3"
    findings = wave32("gfx1250", body).findings
    assert [f.rule for f in findings] == ([] if rule is None else [rule])
    if findings:
        assert findings[0].fix is not None and findings[0].fix.text == ("s_wait_asynccnt 0",)


LOAD_ASYNC = "global_load_async_to_lds_b32 v1, v1, s[10:11]\n"


@pytest.mark.parametrize(
    ("between", "rules"),
    [
        ("", ["landing_order"]),
        ("s_wait_asynccnt 0\n", []),
        ("global_load_async_to_lds_b32 v2, v1, s[10:11]\ns_wait_asynccnt 1\n", []),
        ("s_wait_dscnt 0\ns_wait_loadcnt 0\n", ["landing_order"]),
    ],
)
def test_asynchronous_loads_of_one_wave_land_in_any_order(between: str, rules: list[str]) -> None:
    body = "v_add_nc_u32 v2, 0x400, v1\n" + LOAD_ASYNC + between + LOAD_ASYNC
    findings = wave32("gfx1250", body).findings
    assert [f.rule for f in findings] == rules
    assert all(f.severity == "warning" and f.fix and f.fix.text == ("s_wait_asynccnt 0",) for f in findings)


def test_an_asynchronous_load_and_the_tail_of_the_one_before() -> None:
    findings = wave32("gfx1250", LOAD_ASYNC + "v_add_nc_u32 v2, 0x400, v1\n" + LOAD_ASYNC.replace("v1, v1", "v2, v1"))
    assert not findings.findings, "each its own place"


accesses = st.lists(
    st.tuples(
        st.integers(0, 20), st.sampled_from([1, 2, 4, 8]), st.integers(0, 3), st.sampled_from([READ, WRITE, ATOMIC]),
        st.integers(0, 5), st.integers(0, 3),
    ),
    max_size=30,
)  # fmt: skip


@given(accesses)
@settings(deadline=None, max_examples=200)
def test_unordered_pairs_are_those_of_the_definition(rows: list[tuple[int, int, int, int, int, int]]) -> None:
    table = np.array(rows, np.int64).reshape(-1, 6)
    n = len(rows)
    touched = Touched(table[:, 0] * table[:, 1], table[:, 1], np.arange(n), table[:, 3], np.full(n, DS))
    first, last = table[:, 4], table[:, 4] + table[:, 5]
    expected = {}
    for i in range(n):
        for j in range(i + 1, n):
            both = table[i, 3] | table[j, 3]
            meet = first[i] <= last[j] and first[j] <= last[i]
            low = max(touched.start[i], touched.start[j])
            high = min(touched.start[i] + table[i, 1], touched.start[j] + table[j, 1])
            if table[i, 2] != table[j, 2] and both not in (READ, ATOMIC) and meet and low < high:
                expected[i, j] = (low, high - low)
    pairs = unordered(touched, table[:, 2], first, last)
    columns = (column.tolist() for column in (pairs.a, pairs.b, pairs.byte, pairs.bytes_))
    assert {(a, b): (at, size) for a, b, at, size in zip(*columns, strict=True)} == expected

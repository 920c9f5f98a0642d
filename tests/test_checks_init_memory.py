"""`init` of a launch: bytes of private and of global memory read that nothing has written."""

from __future__ import annotations

import numpy as np
import pytest
from _asm import Snippet
from _memory_kernels import Kernel

from antiphase.checks import Finding, check_execution
from antiphase.frontends import empty, launch_asm, read_launch_spec
from antiphase.machine.uninitialised import leave_unwritten, unwritten


def found(body: str, *arrays: np.ndarray, grid: tuple[int, ...] = (1,), workgroups: int | None = None) -> list[Finding]:
    k = Snippet(inputs=len(arrays), scratch=64, threads=64, lds=256)
    k(body)
    execution = k.run(*arrays, record=True, grid=grid).execution
    return list(check_execution(execution, ["init"]).checked.findings)


def rules(findings: list[Finding]) -> list[str]:
    return [f.rule for f in findings]


LANES = "s_mov_b64 s[20:21], exec\ns_mov_b64 exec, {}\n"
STORE, LOAD = "scratch_store_dword off, v0, off offset:{}\n", "scratch_load_dword v4, off, off offset:{}\n"
DONE = "s_waitcnt vmcnt(0)\n"


@pytest.mark.parametrize(
    ("body", "findings"),
    [
        (LOAD.format(8), 1),
        (STORE.format(8) + LOAD.format(8), 0),
        (STORE.format(4) + LOAD.format(8), 1),
        (LOAD.format(8) + STORE.format(8), 1),
        # part of what is read, and some of the lanes
        ("scratch_store_dword off, v0, off offset:12\nscratch_load_dwordx2 v[4:5], off, off offset:8\n", 0),
        (LANES.format(1) + STORE.format(8) + "s_mov_b64 exec, s[20:21]\n" + LOAD.format(8), 0),
        (LANES.format(1) + STORE.format(8) + "s_mov_b64 exec, 2\n" + LOAD.format(8), 1),
        (LANES.format(0) + LOAD.format(8), 0),
        ("scratch_store_byte off, v0, off offset:9\nscratch_load_ubyte v4, off, off offset:9\n", 0),
        ("scratch_store_byte off, v0, off offset:9\nscratch_load_ubyte v4, off, off offset:10\n", 1),
    ],
)  # fmt: skip
def test_private_memory(body: str, findings: int) -> None:
    assert rules(found(body + DONE + "s_nop 0")) == ["scratch_never_written"] * findings


def test_where_private_memory_is_read_too_early() -> None:
    (finding,) = found("s_mov_b32 s20, 3\n.Lagain:\n" + LOAD.format(8) + DONE
                       + "s_sub_u32 s20, s20, 1\ns_cmp_lg_u32 s20, 0\ns_cbranch_scc1 .Lagain\n")  # fmt: skip
    assert (finding.facts["first_byte"], finding.facts["unwritten_bytes"], finding.count) == (8, 4, 3)


# s[8:9]: results; s[10:11]: 64 dwords, of which each work-item has one
READ, WRITE = "global_load_dword v4, v1, s[10:11]\n", "global_store_dword v1, v0, s[10:11]\n"


@pytest.mark.parametrize(
    ("body", "findings"),
    [
        (READ, 1),
        (WRITE, 0),
        (WRITE + DONE + READ, 0),
        (READ + DONE + WRITE, 1),
        (LANES.format(1) + WRITE + "s_mov_b64 exec, s[20:21]\n" + DONE + READ, 1),
        (LANES.format(1) + WRITE + DONE + READ + "s_mov_b64 exec, s[20:21]\n", 0),
        # an addition needs what was there, an exchange does not
        ("global_atomic_add v1, v0, s[10:11]\n", 1),
        ("global_atomic_swap v1, v0, s[10:11]\n", 0),
        ("global_atomic_swap v1, v0, s[10:11]\n" + DONE + "global_atomic_add v1, v0, s[10:11]\n", 0),
        ("v_mov_b32 v6, 0\nv_mov_b32 v7, 0\nglobal_atomic_cmpswap v1, v[6:7], s[10:11]\n", 1),
        ("flat_load_dword v4, v[6:7]\n".join(["v_mov_b32 v6, s10\nv_mov_b32 v7, s11\n", ""]), 1),
    ],
)
def test_global_memory(body: str, findings: int) -> None:
    array = leave_unwritten(np.empty(64, np.uint32))
    told = found(body + "s_waitcnt vmcnt(0) lgkmcnt(0)\n", array)
    assert rules(told) == ["memory_never_written"] * findings


def test_memory_that_holds_something_is_not_looked_at() -> None:
    assert found(READ + DONE, np.zeros(64, np.uint32)) == []


def test_the_rest_of_an_array_that_an_earlier_launch_wrote_in_part() -> None:
    array = leave_unwritten(np.empty(64, np.uint32))
    assert not found(LANES.format(0xFFFF) + WRITE + DONE, array)
    (finding,) = found(READ + DONE, array)
    assert (finding.facts["offset"], finding.count) == (64, 48)


def test_another_workgroup_may_write_first() -> None:
    # the first workgroup reads what the second one writes
    body = (
        "s_cmp_eq_u32 s2, {}\ns_cbranch_scc1 .Lread\n" + WRITE + "s_branch .Lend\n.Lread:\n" + READ + DONE + ".Lend:\n"
    )
    array = leave_unwritten(np.empty(64, np.uint32))
    assert found(body.format(0), array, grid=(2,)) == []
    (finding,) = found(body.format(0), leave_unwritten(np.empty(64, np.uint32)), grid=(1,))
    assert finding.severity == "error"


def test_workgroups_that_were_not_recorded_may_write_it() -> None:
    array = leave_unwritten(np.empty(64, np.uint32))
    k = Snippet(inputs=1, threads=64)
    k(READ + DONE)
    execution = k.run(array, record=True, grid=(2,)).execution
    assert execution.recording is not None
    from dataclasses import replace

    part = replace(execution.recording, waves=execution.recording.waves[:1])
    (finding,) = check_execution(replace(execution, recording=part), ["init"]).checked.findings
    assert finding.severity == "warning"


def test_what_is_empty_on_other_generations() -> None:
    k = Kernel("gfx1201", inputs=1)("global_load_b32 v4, v1, s[10:11]")
    execution = k.run(leave_unwritten(np.empty(32, np.uint32)), record=True).execution
    assert rules(list(check_execution(execution, ["init"]).checked.findings)) == ["memory_never_written"]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_what_is_computed_of_it_is_no_number(dtype: type) -> None:
    assert np.isnan(empty(7 * 8, dtype).numpy()).all()


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 64, 1001])
def test_the_pattern_is_found_where_it_was_left(size: int) -> None:
    array = leave_unwritten(np.empty(size, np.uint8))
    rows = unwritten([(array.ctypes.data, size)]).tolist()
    assert rows == ([[array.ctypes.data, array.ctypes.data + size // 8 * 8]] if size >= 8 else [])
    array[size // 2 :] = 1
    assert all(end <= array.ctypes.data + size // 2 for _, end in unwritten([(array.ctypes.data, size)]).tolist())


def test_an_empty_argument_of_a_launch_written_down() -> None:
    k = Snippet(inputs=1, threads=64)
    k(READ + DONE + "v_add_u32 v4, v4, v4")
    k.keep("v4")
    for fill, expected in (("empty", ["memory_never_written"]), ("zeros", [])):
        spec = read_launch_spec(f"out=zeros:u32:64 x={fill}:u32:64")
        execution = launch_asm(k.program(), grid=1, args=spec.fresh(), threads=64, record=True)
        assert rules(list(check_execution(execution, ["init"]).checked.findings)) == expected


@pytest.mark.parametrize(
    ("body", "findings"),
    [
        ("ds_read_b32 v4, v1\n", 1),
        ("ds_write_b32 v1, v0\nds_read_b32 v4, v1\n", 0),
        # one wave is in the order of its program
        ("ds_read_b32 v4, v1\nds_write_b32 v1, v0\n", 1),
        ("ds_read_b32 v4, v1\ns_waitcnt lgkmcnt(0)\ns_barrier\nds_write_b32 v1, v0\n", 1),
    ],
)
def test_lds(body: str, findings: int) -> None:
    assert rules(found(body + "s_waitcnt lgkmcnt(0)\ns_nop 0")) == ["lds_never_written"] * findings


@pytest.mark.parametrize(("barrier", "findings"), [("", 0), ("s_waitcnt lgkmcnt(0)\ns_barrier\n", 1)])
def test_what_another_wave_may_write_first(barrier: str, findings: int) -> None:
    # each of two waves reads what the other one writes behind the barrier, or with nothing between
    k = Snippet(threads=128, lds=512)
    k(f"v_xor_b32 v2, 0x100, v1\nds_read_b32 v4, v2\n{barrier}ds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)\ns_nop 0")
    execution = k.run(record=True).execution
    assert rules(list(check_execution(execution, ["init"]).checked.findings)) == ["lds_never_written"] * findings

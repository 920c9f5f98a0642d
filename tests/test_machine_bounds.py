"""Accesses in and out of bounds: what is outside is reported, has no effect and never ends the process."""

from __future__ import annotations

import numpy as np
import pytest
from _asm import Snippet

from antiphase import asm
from antiphase.errors import UserError
from antiphase.machine import Execution, Memory, refusal
from antiphase.machine import run as machine_run

LANES = np.arange(64, dtype=np.uint32)


def faults(execution: Execution) -> list[tuple[str, int, int, int]]:
    """(kind, lane, address, size) of each."""
    return [(f.kind, f.lane, f.address, f.size) for f in execution.faults]


def address(array: np.ndarray) -> int:
    return array.ctypes.data


def launched(k: Snippet, data: np.ndarray, writable: bool = True) -> Execution:
    """Run with exactly the bytes of `data` as its allocation, and room for one kept row."""
    out = np.zeros(64, np.uint32)
    memory = Memory()
    memory.add_array(out, "out")
    memory.add_array(data, "data", writable=writable)
    kernarg = np.array([address(out), address(data)], np.uint64).tobytes()
    execution = machine_run(
        k.program(), grid=(1, 1, 1), kernarg=kernarg, memory=memory, threads_per_workgroup=64, lds_bytes=0
    )
    assert not k.kept or (out == 8).all()
    return execution


WILD = [
    0,
    4,
    (1 << 64) - 1,
    (1 << 64) - 4,
    (1 << 63),
    0x7FFF_FFFF_F000,
    0xFFFF_8000_0000_0000,
    0xDEAD_BEEF_0000,
]


@pytest.mark.parametrize("record", [False, True])
def test_wild_global_addresses(record: bool) -> None:
    """NULL, the top of memory, non-canonical and kernel addresses, in every width, loaded and stored."""
    k = Snippet(inputs=1)
    k("v_lshlrev_b32 v2, 3, v0\nglobal_load_dwordx2 v[4:5], v2, s[10:11]\ns_waitcnt vmcnt(0)")
    k("\n".join(f"v_mov_b32 v{i}, 9" for i in range(8, 12)))
    for load, registers in (("ubyte", "v8"), ("dword", "v9"), ("dwordx2", "v[8:9]"), ("dwordx4", "v[8:11]")):
        k(f"global_load_{load} {registers}, v[4:5], off\ns_waitcnt vmcnt(0)")
    k.keep("v8", "v9", "v10", "v11")
    for store, registers in (("byte", "v8"), ("dword", "v9"), ("dwordx2", "v[8:9]"), ("dwordx4", "v[8:11]")):
        k(f"global_store_{store} v[4:5], {registers}, off")
    k("""global_atomic_add v[4:5], v8, off
         flat_load_dword v12, v[4:5]
         flat_store_dword v[4:5], v8
         s_waitcnt vmcnt(0) lgkmcnt(0)""")
    pointers = np.resize(np.array(WILD, np.uint64), 64)
    kept = k.run(pointers, record=record)
    assert all((kept[i] == 9).all() for i in range(4)), "registers keep their values"
    assert kept.execution.fault_count == 11 * 64
    assert {a for _, _, a, _ in faults(kept.execution)} == set(WILD)


def test_scalar_loads_out_of_bounds() -> None:
    k = Snippet(inputs=1)
    k("""s_mov_b64 s[16:17], -4
         s_mov_b32 s20, 5
         s_load_dword s20, s[16:17], 0x0
         s_load_dwordx4 s[24:27], s[10:11], 0xf8""")
    k("s_waitcnt lgkmcnt(0)")
    k.keep("s20")
    data = np.zeros(64, np.uint32)
    kept = k.run(data)
    assert (kept[0] == 5).all()
    assert faults(kept.execution) == [("read", 0, (1 << 64) - 4, 4), ("read", 0, address(data) + 0xF8, 16)]


def test_straddling_the_end_and_the_start() -> None:
    k = Snippet(inputs=1)
    k("v_mov_b32 v2, -2\nv_ashrrev_i32 v3, 31, v2\nv_mov_b32 v6, s10\nv_mov_b32 v7, s11\nv_mov_b32 v8, 3")
    k("""s_mov_b64 exec, 1
         global_store_dword v[6:7], v8, off offset:-2
         global_load_dwordx4 v[12:15], v[6:7], off offset:28""")
    k("global_store_dwordx4 v[6:7], v[12:15], off offset:28\nglobal_store_dword v[6:7], v8, off offset:36")
    backing = np.zeros(20, np.uint32)
    data = backing[4:14]
    execution = launched(k, data)
    begin = address(data)
    assert faults(execution) == [
        ("write", 0, begin - 2, 4), ("read", 0, begin + 28, 16), ("write", 0, begin + 28, 16),
    ]  # fmt: skip
    assert backing.tolist() == [0] * 13 + [3] + [0] * 6


def test_an_allocation_smaller_than_the_access() -> None:
    k = Snippet(inputs=1)
    k("""s_mov_b64 exec, 1
         v_mov_b32 v6, 0
         v_mov_b32 v7, 3
         global_store_dwordx4 v6, v[4:7], s[10:11]
         global_load_dwordx2 v[8:9], v6, s[10:11]""")
    k("v_mov_b32 v6, 0x100000\nglobal_load_dwordx2 v[8:9], v6, s[10:11]\nglobal_store_byte v6, v7, s[10:11]")
    backing = np.zeros(64, np.uint8)
    assert [f.size for f in launched(k, backing[:2]).faults] == [16, 8, 8, 1]
    assert not backing.any()


def test_ends_are_exact_for_bytes_and_stores() -> None:
    """Only dword loads and atomics may reach to the end of their dword, as loops around 16-bit atomics do."""
    k = Snippet(inputs=1)
    k("s_mov_b64 exec, 1\nv_mov_b32 v6, 0\nv_mov_b32 v7, 1")
    k("global_store_byte v6, v7, s[10:11] offset:9\nglobal_store_byte v6, v7, s[10:11] offset:10")
    k("global_load_ubyte v8, v6, s[10:11] offset:11\nglobal_store_dword v6, v7, s[10:11] offset:8")
    k("global_store_short v6, v7, s[10:11] offset:9")
    k("global_load_dword v9, v6, s[10:11] offset:8\nglobal_atomic_or v6, v7, s[10:11] offset:8")
    k("global_load_dwordx2 v[10:11], v6, s[10:11] offset:4")
    backing = np.zeros(16, np.uint8)
    execution = launched(k, backing[:10])
    begin = address(backing)
    assert faults(execution) == [
        ("write", 0, begin + 10, 1), ("read", 0, begin + 11, 1), ("write", 0, begin + 8, 4),
        ("write", 0, begin + 9, 2), ("read", 0, begin + 4, 8),
    ]  # fmt: skip
    assert backing.tolist() == [0] * 8 + [1, 1] + [0] * 6


def test_misaligned_accesses_work_and_misaligned_atomics_are_faults() -> None:
    k = Snippet(inputs=1, lds=256)
    k("s_mov_b64 exec, 1\nv_mov_b32 v6, 1\nv_mov_b32 v7, 0x01020304\nv_mov_b32 v8, 0")
    k("global_store_dword v6, v7, s[10:11]\nglobal_load_dwordx2 v[10:11], v6, s[10:11]\ns_waitcnt vmcnt(0)")
    k("global_atomic_add v6, v7, s[10:11] offset:62\nglobal_atomic_add_x2 v6, v[10:11], s[10:11] offset:3")
    k("ds_add_u32 v6, v7 offset:4\nds_add_u32 v6, v7 offset:7")
    k.keep("v10")
    data = np.zeros(128, np.uint8)
    kept = k.run(data)
    assert kept[0][0] == 0x01020304
    assert data[:6].tolist() == [0, 4, 3, 2, 1, 0] and not data[6:].any()
    begin = address(data)
    assert faults(kept.execution) == [
        ("write", 0, begin + 63, 4), ("write", 0, begin + 4, 8), ("lds", 0, 5, 4),
    ]  # fmt: skip


def test_read_only_memory_is_read_and_not_written() -> None:
    k = Snippet(inputs=1)
    k("global_load_dword v2, v1, s[10:11]\ns_waitcnt vmcnt(0)\nglobal_store_dword v1, v0, s[10:11]")
    k("global_atomic_add v3, v1, v0, s[10:11] sc0\ns_waitcnt vmcnt(0)")
    k.keep("v2")
    data = np.full(64, 8, np.uint32)
    execution = launched(k, data, writable=False)
    assert (data == 8).all()
    assert [f.kind for f in execution.faults] == ["write"] * 128


def test_one_instruction_may_hit_several_allocations() -> None:
    k = Snippet(inputs=2)
    k("v_mov_b32 v2, s10\nv_mov_b32 v3, s11\nv_mov_b32 v4, s12\nv_mov_b32 v5, s13\nv_and_b32 v6, 1, v0")
    k("v_cmp_eq_u32 vcc, 1, v6\nv_cndmask_b32 v2, v2, v4, vcc\nv_cndmask_b32 v3, v3, v5, vcc")
    k("""v_add_co_u32 v2, vcc, v2, v1
         v_addc_co_u32 v3, vcc, 0, v3, vcc
         global_load_dword v7, v[2:3], off
         s_waitcnt vmcnt(0)""")
    k.keep("v7")
    kept = k.run(LANES.copy(), LANES + 100)
    assert (kept[0] == np.where(LANES & 1, LANES + 100, LANES)).all()
    assert not kept.execution.faults


def test_lds_bounds_and_negative_bases() -> None:
    k = Snippet(lds=252)
    k("""v_mov_b32 v2, 6
         ds_write_b32 v1, v0
         ds_read_b32 v2, v1
         ds_read_b64 v[4:5], v1
         s_waitcnt lgkmcnt(0)""")
    # a base of -4 with an offset of 8 is place 4
    k("""v_mov_b32 v3, -4
         ds_read_b32 v6, v3 offset:8
         v_mov_b32 v7, 3
         ds_read_b32 v7, v3
         s_waitcnt lgkmcnt(0)""")
    k.keep("v2", "v6", "v7")
    kept = k.run()
    assert (kept[0] == np.where(LANES < 63, LANES, 6)).all()
    assert (kept[1] == 1).all() and (kept[2] == 3).all()
    expected = [("lds", 63, 252, 4)] * 2 + [("lds", 62, 248, 8), ("lds", 63, 252, 8)]
    assert faults(kept.execution)[:4] == expected
    assert [(f.kind, f.size) for f in kept.execution.faults[4:]] == [("lds", 4)] * 64


def test_lds_may_be_used_to_its_last_byte() -> None:
    k = Snippet(threads=1024, lds=65536)
    k("""v_lshlrev_b32 v2, 6, v0
         v_mov_b32 v3, v0
         ds_write_b32 v2, v0 offset:60
         s_waitcnt lgkmcnt(0)
         s_barrier""")
    k("v_xor_b32 v4, 0xffc0, v2\nds_read_b32 v5, v4 offset:60\ns_waitcnt lgkmcnt(0)")
    k.keep("v5")
    kept = k.run()
    assert (kept[0] == 1023 - np.arange(1024)).all() and not kept.execution.faults


@pytest.mark.parametrize("record", [False, True])
def test_scratch_is_private_to_lanes_and_bounded(record: bool) -> None:
    k = Snippet(threads=128, scratch=32)
    k("v_mul_u32_u24 v2, 3, v0\nv_and_b32 v3, 1, v0\nv_lshlrev_b32 v3, 2, v3\ns_movk_i32 s16, 8")
    k("""scratch_store_dword off, v2, off offset:4
         scratch_store_dword v3, v0, s16 offset:4
         scratch_store_short off, v0, s16""")
    k("""s_waitcnt vmcnt(0)
         scratch_load_dword v4, off, off offset:4
         scratch_load_dword v5, v3, off offset:12""")
    k("scratch_load_ushort v6, off, s16\ns_waitcnt vmcnt(0)\nscratch_load_dwordx2 v[8:9], off, off offset:28")
    k.keep("v4", "v5", "v6")
    kept = k.run(record=record)
    items = np.arange(128, dtype=np.uint32)
    for row, expected in enumerate((3 * items, items, items)):
        assert (kept[row] == expected).all(), row
    assert faults(kept.execution) == [("scratch", int(i) % 64, 28, 8) for i in items]


def test_flat_addresses_reach_lds_scratch_and_global_memory() -> None:
    k = Snippet(inputs=1, lds=256, scratch=64)
    k("""v_mov_b32 v8, src_shared_base
         ds_write_b32 v1, v0
         v_mov_b32 v9, 0x55
         scratch_store_dword off, v9, off offset:8""")
    k("s_mov_b64 s[16:17], src_shared_base\ns_mov_b64 s[18:19], src_private_base")
    k("""v_mov_b32 v3, s11
         v_add_co_u32 v2, vcc, s10, v1
         v_addc_co_u32 v3, vcc, 0, v3, vcc
         v_and_b32 v4, 3, v0""")
    k("""v_mov_b32 v5, s17
         v_cmp_eq_u32 vcc, 1, v4
         v_cndmask_b32 v2, v2, v1, vcc
         v_cndmask_b32 v3, v3, v5, vcc""")
    k("""v_mov_b32 v5, s19
         v_mov_b32 v6, 8
         v_cmp_eq_u32 vcc, 2, v4
         v_cndmask_b32 v2, v2, v6, vcc
         v_cndmask_b32 v3, v3, v5, vcc""")
    k("""s_waitcnt vmcnt(0) lgkmcnt(0)
         flat_load_dword v7, v[2:3]
         s_waitcnt vmcnt(0) lgkmcnt(0)
         v_add_u32 v7, 1, v7""")
    k("""flat_store_dword v[2:3], v7
         s_waitcnt vmcnt(0) lgkmcnt(0)
         ds_read_b32 v10, v1
         scratch_load_dword v11, off, off offset:8""")
    k("s_waitcnt vmcnt(0) lgkmcnt(0)")
    k.keep("v7", "v10", "v11")
    data = LANES + 500
    for record in (False, True):
        values = data.copy()
        kept = k.run(values, record=record)
        quarter = LANES & 3
        assert (kept[0] == np.choose(quarter, [data, LANES, np.full(64, 0x55), data]) + 1).all()
        assert (kept[1] == LANES + (quarter == 1)).all() and (kept[2] == 0x55 + (quarter == 2)).all()
        assert (values == data + np.isin(quarter, (0, 3))).all() and not kept.execution.faults


def test_buffers_out_of_range_read_zero_and_write_nothing() -> None:
    """The buffer ends before the allocation does, so that nothing else can stop an access."""
    k = Snippet(inputs=1)
    k("s_mov_b64 s[16:17], s[10:11]\ns_movk_i32 s18, 0x80\ns_mov_b32 s19, 0x00020000\nv_mov_b32 v9, -1")
    k("v_mov_b32 v2, 7\nv_mov_b32 v3, 0x12345678\nbuffer_load_dword v2, v1, s[16:19], 0 offen")
    k("buffer_load_short_d16 v3, v1, s[16:19], 0 offen\nbuffer_load_dword v4, v1, s[16:19], 0 offen offset:4")
    k("buffer_load_dword v5, v9, s[16:19], 0 offen\nbuffer_load_dword v6, off, s[16:19], 0 offset:124")
    k("""s_waitcnt vmcnt(0)
         buffer_store_dword v0, v1, s[16:19], 0 offen
         buffer_atomic_add v0, v1, s[16:19], 0 offen""")
    k.keep("v2", "v3", "v4", "v5", "v6")
    for record in (False, True):
        data = LANES + 0x10000
        kept = k.run(data, record=record)
        inside = LANES < 32
        assert (kept[0] == np.where(inside, LANES + 0x10000, 0)).all()
        assert (kept[1] == (0x12340000 | np.where(inside, LANES, 0))).all(), "the other half is kept"
        assert (kept[2] == np.where(LANES < 31, LANES + 0x10001, 0)).all()
        assert (kept[3] == 0).all() and (kept[4] == 31 + 0x10000).all()
        assert (data == np.where(inside, 2 * LANES, LANES + 0x10000)).all()
        assert not kept.execution.faults


def test_structured_buffers_count_records() -> None:
    k = Snippet(inputs=1)
    k("s_mov_b32 s16, s10\ns_and_b32 s17, s11, 0xffff\ns_or_b32 s17, s17, 0x000c0000\ns_mov_b32 s18, 5")
    k("s_mov_b32 s19, 0x00020000\nv_mov_b32 v2, 1\nv_mov_b32 v4, v0\nv_mov_b32 v5, 8")
    k("buffer_load_dword v6, v0, s[16:19], 0 idxen\nbuffer_load_dword v7, v[4:5], s[16:19], 0 idxen offen")
    k("s_mov_b32 s20, 12\nbuffer_load_dword v8, v0, s[16:19], s20 idxen offset:4\ns_waitcnt vmcnt(0)")
    k.keep("v6", "v7", "v8")
    data = np.arange(64, dtype=np.uint32) + 100
    kept = k.run(data)
    inside = LANES < 5
    index = np.minimum(LANES, 5)
    assert (kept[0] == np.where(inside, 100 + 3 * index, 0)).all()
    assert (kept[1] == np.where(inside, 102 + 3 * index, 0)).all()
    assert (kept[2] == np.where(inside, 104 + 3 * index, 0)).all()


def test_two_offset_lds_instructions() -> None:
    k = Snippet(lds=2048)
    k("v_lshlrev_b32 v2, 3, v0\nv_add_u32 v3, 100, v0\nds_write2_b32 v2, v0, v3 offset0:0 offset1:1")
    k("""ds_write2st64_b32 v1, v3, v0 offset0:2 offset1:3
         s_waitcnt lgkmcnt(0)
         ds_read2_b32 v[2:3], v2 offset0:1 offset1:0""")
    k("ds_read2st64_b32 v[6:7], v1 offset0:3 offset1:2\ns_waitcnt lgkmcnt(0)")
    k.keep("v2", "v3", "v6", "v7")
    for record in (False, True):
        kept = k.run(record=record)
        for row, expected in enumerate((LANES + 100, LANES, LANES, LANES + 100)):
            assert (kept[row] == expected).all(), (record, row)


def test_atomics_of_many_workgroups_and_threads_add_up() -> None:
    k = Snippet(inputs=2, threads=256)
    k("""v_mov_b32 v2, 0
         v_mov_b32 v3, 1
         v_mov_b32 v4, 1.0
         v_mov_b32 v5, 0
         v_and_b32 v6, 7, v0
         v_lshlrev_b32 v6, 2, v6""")
    k("""global_atomic_add v2, v3, s[10:11]
         global_atomic_add v6, v3, s[12:13]
         global_atomic_add_f32 v2, v4, s[10:11] offset:4""")
    k("""global_atomic_umax v2, v0, s[10:11] offset:8
         v_mov_b32 v8, 0
         v_mov_b32 v9, 1
         global_atomic_add_x2 v2, v[8:9], s[10:11] offset:16""")
    k("global_atomic_add v7, v2, v3, s[10:11] offset:24 sc0\ns_waitcnt vmcnt(0)")
    k.keep("v7")
    totals, bins = np.zeros(8, np.uint32), np.zeros(8, np.uint32)
    kept = k.run(totals, bins, grid=(40,), workers=4)
    count = 40 * 256
    assert totals[0] == count and totals[1].view(np.float32) == count and totals[2] == 255
    assert totals[4:6].view(np.uint64)[0] == count << 32
    assert (bins == count // 8).all()
    # every old value was seen once
    assert (np.sort(kept.rows.ravel()) == np.arange(count)).all()


def test_operands_that_do_not_fit_cannot_write_beyond_the_registers() -> None:
    """Text with such a line is not read; a program that was edited is not translated."""
    for line in (
        "global_load_dwordx4 v255, v[2:3], off",
        "ds_read_b32 v0",
        "v_add_f64 v2, v3, v4",
        "global_load_dword v2, v3, off",
        "s_load_dwordx16 s100, s[10:11], 0x0",
        "ds_write_b128 v1, v2",
    ):
        k = Snippet()
        k(line)
        with pytest.raises(UserError, match=rf"bad\.s:\d+: .*{line.split()[0]}"):
            k.program("bad.s")
        assert refusal(asm.parse_instruction(line), "gfx942").startswith(f"the operands of '{line.split()[0]}")

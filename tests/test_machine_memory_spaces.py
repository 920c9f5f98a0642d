"""Global, flat, scratch, buffer and scalar memory on RDNA 3, RDNA 4 and gfx1250."""

import numpy as np
import pytest
from _asm import Snippet
from _memory_kernels import Kernel

from antiphase.errors import UserError

ALL = ("gfx1100", "gfx1151", "gfx1201", "gfx1250")
LANES = np.arange(32)
WORDS = (np.arange(96, dtype=np.uint32) * 0x01020305) ^ 0x80000000


def return_control(target: str) -> str:
    return "glc" if target.startswith("gfx11") else "th:TH_ATOMIC_RETURN"


def null(target: str) -> str:
    return "0" if target.startswith("gfx11") else "null"


@pytest.mark.parametrize("record", [False, True], ids=["fast", "recording"])
@pytest.mark.parametrize("target", ALL)
def test_loads_and_stores_of_every_width(target: str, record: bool) -> None:
    k = Kernel(target, inputs=2)
    k(f"""
        v_lshlrev_b32 v2, 4, v0
        global_load_b128 v[4:7], v2, s[10:11]
        global_load_i8 v8, v1, s[10:11] offset:3
        global_load_u16 v9, v1, s[10:11] offset:2
        v_mov_b32 v10, -1
        v_mov_b32 v11, -1
        global_load_d16_u8 v10, v1, s[10:11]
        global_load_d16_hi_b16 v11, v1, s[10:11]
        {k.wait}
        global_store_b96 v2, v[4:6], s[12:13]
        global_store_b8 v2, v8, s[12:13] offset:12
        global_store_d16_hi_b16 v2, v11, s[12:13] offset:14
        """)
    k.keep("v7", "v8", "v9", "v10", "v11")
    data, out = np.resize(WORDS, 160), np.zeros((32, 4), np.uint32)
    result = k.run(data, out, record=record)
    bytes_, halves = data.view(np.uint8), data.view(np.uint16)
    rows = result.rows.view(np.int32)
    assert not result.execution.faults
    assert (result.rows[0] == data[3:128:4]).all()
    assert (rows[1] == bytes_[3:128:4].view(np.int8)).all()
    assert (result.rows[2] == halves[1:64:2]).all()
    assert (result.rows[3] == (0xFFFF0000 | bytes_[0:128:4].astype(np.uint32))).all()
    assert (result.rows[4] == (halves[0:64:2].astype(np.uint32) << 16 | 0xFFFF)).all()
    assert (out[:, :3] == data[:128].reshape(32, 4)[:, :3]).all()
    last = out[:, 3:].copy().view(np.uint16)
    assert (last[:, 0] == bytes_[3:128:4]).all() and (last[:, 1] == halves[0:64:2]).all()


@pytest.mark.parametrize("record", [False, True], ids=["fast", "recording"])
@pytest.mark.parametrize("target", ALL)
def test_atomics_return_the_old_value_only_when_asked(target: str, record: bool) -> None:
    k = Kernel(target, inputs=1)
    k(f"""
        v_mov_b32 v2, 0
        v_mov_b32 v3, 5
        v_mov_b32 v20, 0x77
        global_atomic_add_u32 v4, v2, v3, s[10:11] {return_control(target)}
        global_atomic_add_u32 v2, v3, s[10:11]
        global_atomic_max_i32 v2, v3, s[10:11] offset:4
        v_mov_b32 v6, 9
        v_mov_b32 v7, 100
        global_atomic_cmpswap_b32 v5, v2, v[6:7], s[10:11] offset:8 {return_control(target)}
        {k.wait}
        """)
    k.keep("v4", "v5", "v20")
    data = np.array([1000, 0xFFFFFFFE, 100, 0], np.uint32)
    result = k.run(data, record=record)
    assert data.tolist() == [1000 + 5 * 64, 5, 9, 0]
    assert result.rows[0].tolist() == (1000 + 5 * LANES).tolist()
    assert sorted(result.rows[1].tolist()) == [9] * 31 + [100]
    assert (result.rows[2] == 0x77).all()


@pytest.mark.parametrize(
    ("target", "name", "old", "operand", "new"),
    [
        ("gfx1100", "global_atomic_csub_u32", 3, 5, 0),
        ("gfx1201", "global_atomic_sub_clamp_u32", 9, 5, 4),
        ("gfx1201", "global_atomic_cond_sub_u32", 3, 5, 3),
        ("gfx1201", "global_atomic_cond_sub_u32", 9, 5, 4),
        ("gfx1100", "global_atomic_min_f32", 2.0, 1.5, 1.5),
        ("gfx1201", "global_atomic_min_num_f32", 2.0, 1.5, 1.5),
        ("gfx1201", "global_atomic_max_num_f32", float("nan"), 1.5, 1.5),
        ("gfx1250", "global_atomic_max_num_f32", 2.0, float("nan"), 2.0),
    ],
)
def test_atomics_that_came_later(target: str, name: str, old: float, operand: float, new: float) -> None:
    kind = np.float32 if name.endswith("f32") else np.uint32
    bits = int(np.array([operand], kind).view(np.uint32)[0])
    k = Kernel(target, inputs=1)
    k(f"v_mov_b32 v2, 0\nv_mov_b32 v3, {bits:#x}\ns_mov_b32 exec_lo, 1")
    k(f"{name} v4, v2, v3, s[10:11] {return_control(target)}\n{k.wait}").keep("v4")
    data = np.array([old], kind)
    result = k.run(data)
    assert data[0] == new
    np.testing.assert_array_equal(result.rows[0, :1].view(kind), np.array([old], kind))


NAN, SIGNALLING, QUIETED = 0x7FC00000, 0xFFA00001, 0xFFE00001
MINUS_ZERO, TINY = 0x80000000, 0x00000007


@pytest.mark.parametrize("target", ["gfx1201", "gfx1250"])
@pytest.mark.parametrize("space", ["global", "ds"])
@pytest.mark.parametrize(
    ("name", "old", "operand", "new", "flushed"),
    [
        ("min_num", 0, MINUS_ZERO, MINUS_ZERO, MINUS_ZERO), ("min_num", MINUS_ZERO, 0, MINUS_ZERO, MINUS_ZERO),
        ("max_num", 0, MINUS_ZERO, 0, 0), ("max_num", MINUS_ZERO, 0, 0, 0),
        ("max_num", NAN, SIGNALLING, QUIETED, QUIETED), ("min_num", SIGNALLING, 5 << 23, 5 << 23, 5 << 23),
        ("max_num", 0, TINY, TINY, 0), ("add", 0, TINY, TINY, 0),
        ("add", 0x3F800000, 0x33C00000, 0x3F800001, 0x3F800001),
    ],
)  # fmt: skip
def test_float_atomics_follow_mode_in_lds_alone(
    target: str, space: str, name: str, old: int, operand: int, new: int, flushed: int
) -> None:
    """AMD CDNA5 ISA 12, RDNA4 ISA 13: minimum and maximum by number; denormals by MODE in LDS; rounding to nearest."""
    mode = {"float_denorm_mode_32": 0, "float_round_mode_32": 3}
    k = Kernel(target, inputs=1, descriptor=mode)
    k(f"v_mov_b32 v2, 0\nv_mov_b32 v3, {operand:#x}\nv_mov_b32 v4, {old:#x}\ns_mov_b32 exec_lo, 1")
    k(f"ds_store_b32 v2, v4\n{k.wait}\nds_{name}_f32 v2, v3\nglobal_atomic_{name}_f32 v2, v3, s[10:11]\n{k.wait}")
    k("ds_load_b32 v5, v2\ns_wait_dscnt 0").keep("v5")
    data = np.array([old], np.uint32)
    in_lds = k.run(data).rows[0, 0]
    result, expected = (in_lds, flushed) if space == "ds" else (data[0], new)
    assert result == expected


@pytest.mark.parametrize("target", ["gfx1201", "gfx1250"])
def test_packed_atomics_add_each_half(target: str) -> None:
    """Seed 000, section 5 "Packed global atomics": AMD RDNA4 ISA p. 707; return control by TH[0], p. 51."""
    k = Kernel(target, inputs=1)
    k("v_mov_b32 v2, 0\nv_mov_b32 v3, 0x3c004000\ns_mov_b32 exec_lo, 7")
    k(f"global_atomic_pk_add_f16 v4, v2, v3, s[10:11] th:TH_ATOMIC_RETURN\n{k.wait}").keep("v4")
    data = np.array([1.0, 10.0], np.float16)
    result = k.run(data)
    assert data.tolist() == [7.0, 13.0]
    old = result.rows[0, :3].copy().view(np.float16).reshape(3, 2)
    assert old.tolist() == [[1, 10], [3, 11], [5, 12]]


def test_gfx1250_offsets_are_signed_and_can_be_scaled() -> None:
    k = Kernel("gfx1250", inputs=1)
    k("v_sub_nc_u32 v2, 3, v0\ns_add_nc_u64 s[20:21], s[10:11], 0x80\ns_mov_b32 s22, 5")
    k(f"global_load_b32 v3, v2, s[20:21] scale_offset\ns_load_b64 s[24:25], s[10:11], s22 scale_offset\n{k.wait}")
    k("v_mov_b32 v4, s24").keep("v3", "v4")
    result = k.run(WORDS)
    assert (result.rows[0] == WORDS[32 + 3 - LANES]).all() and (result.rows[1] == WORDS[10]).all()


@pytest.mark.parametrize("target", ["gfx1100", "gfx1201"])
def test_offsets_of_a_scalar_base_are_unsigned_elsewhere(target: str) -> None:
    k = Kernel(target, inputs=1)
    k(f"v_mov_b32 v2, -4\nglobal_load_b32 v3, v2, s[10:11]\n{k.wait}").keep("v3")
    (fault, *_) = k.run(WORDS).execution.faults
    assert fault.kind == "read" and fault.address == WORDS.ctypes.data + 0xFFFFFFFC


@pytest.mark.parametrize("target", ALL)
def test_addtid_addresses_by_lane(target: str) -> None:
    k = Kernel(target, inputs=1)
    k(f"global_load_addtid_b32 v2, s[10:11] offset:8\n{k.wait}\ns_mov_b32 m0, 256\nds_store_addtid_b32 v2 offset:4")
    k(f"{k.wait}\nds_load_b32 v3, v1 offset:260\nds_load_addtid_b32 v4 offset:8\n{k.wait}").keep("v2", "v3", "v4")
    result = k.run(WORDS)
    assert (result.rows[0] == WORDS[2:34]).all() and (result.rows[1] == WORDS[2:34]).all()
    assert (result.rows[2, :31] == WORDS[3:34]).all()


@pytest.mark.parametrize("record", [False, True], ids=["fast", "recording"])
@pytest.mark.parametrize("target", ALL)
def test_flat_reaches_memory_lds_and_scratch_lane_by_lane(target: str, record: bool) -> None:
    private = "s_mov_b64 s[20:21], src_private_base\nv_mov_b32 v5, s21\nv_mov_b32 v4, 16"
    if target == "gfx1250":  # LLVM's addrspacecast
        private = (
            "v_mov_b32 v4, 16\nv_lshlrev_b32 v5, 20, v0\n"
            "v_add_nc_u32 v5, src_flat_scratch_base_hi, v5\nv_add_nc_u32 v4, src_flat_scratch_base_lo, v4"
        )
    k = Kernel(target, inputs=1, scratch=64)
    k(f"""
        ds_store_b32 v1, v0 offset:64
        v_add_nc_u32 v9, 200, v0
        scratch_store_b32 off, v9, off offset:16
        {k.wait}
        v_add_nc_u32 v2, 64, v1
        s_mov_b64 s[20:21], src_shared_base
        v_mov_b32 v3, s21
        {private}
        v_add_nc_u32 v6, s10, v1
        v_mov_b32 v7, s11
        v_cmp_lt_u32 vcc_lo, 9, v0
        v_cndmask_b32 v10, v2, v4, vcc_lo
        v_cndmask_b32 v11, v3, v5, vcc_lo
        v_cmp_lt_u32 vcc_lo, 19, v0
        v_cndmask_b32 v10, v10, v6, vcc_lo
        v_cndmask_b32 v11, v11, v7, vcc_lo
        flat_load_b32 v12, v[10:11]
        {k.wait}
        """)
    k.keep("v12")
    result = k.run(WORDS, record=record)
    assert not result.execution.faults
    expected = np.where(LANES < 10, LANES, np.where(LANES < 20, 200 + LANES, WORDS[:32]))
    # the carry into the upper half of the address is left out above: the array must not straddle 4 GiB
    assert result.rows[0].tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("wait", "arrived"),
    [("s_wait_loadcnt 0", "memory"), ("s_wait_dscnt 0", "lds"), ("s_wait_loadcnt_dscnt 0", "both"), ("s_nop 0", "")],
)
def test_a_flat_load_has_two_obligations(wait: str, arrived: str) -> None:
    """Lanes that hit LDS arrive by dscnt, the others by loadcnt; facts: counters, section 8."""
    k = Kernel("gfx1201", inputs=1)
    k(f"""
        ds_store_b32 v1, v0
        {k.wait}
        s_mov_b64 s[20:21], src_shared_base
        v_mov_b32 v3, s21
        v_add_nc_u32 v6, s10, v1
        v_mov_b32 v7, s11
        v_cmp_lt_u32 vcc_lo, 15, v0
        v_cndmask_b32 v10, v1, v6, vcc_lo
        v_cndmask_b32 v11, v3, v7, vcc_lo
        flat_load_b32 v12, v[10:11]
        {wait}
        v_mov_b32 v13, v12
        {k.wait}
        """)
    k.keep("v13", "v12")
    result = k.run(WORDS, record=True)
    good = result.rows[0] == result.rows[1]
    assert good[:16].all() == (arrived in ("lds", "both")) and good[16:].all() == (arrived in ("memory", "both"))


@pytest.mark.parametrize("target", ALL)
def test_buffers_give_zero_beyond_their_end(target: str) -> None:
    k = Kernel(target, inputs=1)
    k(f"""
        s_mov_b32 s20, s10
        s_mov_b32 s21, s11
        s_mov_b32 s22, {80 if target != "gfx1250" else 0}
        s_mov_b32 s23, {0x31027000 if target != "gfx1250" else 0}
        {"s_or_b32 s21, s21, 0xa0000000" if target == "gfx1250" else "s_nop 0"}
        v_mov_b32 v2, -1
        s_mov_b32 s24, 8
        buffer_load_b32 v2, v1, s[20:23], {null(target)} offen
        buffer_load_b64 v[4:5], v1, s[20:23], s24 offen offset:4
        {k.wait}
        buffer_store_b32 v0, v1, s[20:23], {null(target)} offen offset:64
        """)
    k.keep("v2", "v4", "v5")
    data = np.resize(WORDS, 64)
    before = data.copy()
    result = k.run(data)
    assert not result.execution.faults
    assert result.rows[0].tolist() == np.where(LANES < 20, before[:32], 0).tolist()
    # 12 bytes further on; each dword by itself
    assert result.rows[1].tolist() == np.where(LANES < 17, before[3:35], 0).tolist()
    assert result.rows[2].tolist() == np.where(LANES < 16, before[4:36], 0).tolist()
    assert (data[16:20] == LANES[:4]).all() and (data[20:] == before[20:]).all()


def test_structured_buffers_check_as_the_resource_says() -> None:
    k = Kernel("gfx1201", inputs=1)
    k("s_mov_b32 s20, s10\ns_or_b32 s21, s11, 0xc0000\ns_mov_b32 s22, 5\nv_mov_b32 v3, 8")
    for row, check in enumerate((0, 1, 2)):
        k(f"s_mov_b32 s23, {check << 28:#x}\nbuffer_load_b32 v{4 + row}, v0, s[20:23], null idxen offset:8")
        k(f"buffer_load_b64 v[{8 + 2 * row}:{9 + 2 * row}], v0, s[20:23], null idxen offset:8")
    k(k.wait).keep("v4", "v5", "v6", "v8", "v10", "v9", "v11")
    data = np.resize(WORDS, 400)
    rows = k.run(data).rows
    all_ = data[2 : 2 + 96 : 3]
    in_range = np.where(LANES < 5, all_, 0)
    assert (rows[0] == in_range).all() and (rows[1] == in_range).all() and (rows[2] == all_).all()
    assert (rows[3] == in_range).all() and (rows[4] == in_range).all()
    # byte 12 to 15 of a record of 12
    assert not rows[5].any() and (rows[6] == np.where(LANES < 5, data[3 : 3 + 96 : 3], 0)).all()


def test_structured_buffers_of_gfx1250() -> None:
    """Its resource: base in bits 56:0, records in bytes in 101:57, stride in 121:108 (AMD CDNA5 ISA 9.6)."""
    k = Kernel("gfx1250", inputs=1)
    k(f"s_mov_b32 s20, s10\ns_or_b32 s21, s11, {60 << 25:#x}\ns_mov_b32 s22, 4\ns_mov_b32 s23, {12 << 12:#x}")
    k("buffer_load_b32 v2, v0, s[20:23], null idxen offset:8")
    k(f"buffer_load_b32 v3, v[0:1], s[20:23], null idxen offen\n{k.wait}")
    k.keep("v2", "v3")
    data = np.resize(WORDS, 600)
    rows = k.run(data).rows
    assert (rows[0] == data[2 : 2 + 96 : 3]).all() and (rows[1] == data[0:128:4]).all()
    k.lines[k.lines.index("s_mov_b32 s22, 4")] = "s_mov_b32 s22, 0"
    assert (k.run(data).rows[0] == np.where(LANES < 5, data[2 : 2 + 96 : 3], 0)).all()


def test_buffers_of_gfx1250_can_check_the_record_too() -> None:
    """AMD CDNA5 ISA 9.4.1 and 9.6: bit 125 asks for the offset within the stride, bits 123:122 multiply that."""
    k = Kernel("gfx1250", inputs=1)
    k(f"s_mov_b32 s20, s10\ns_or_b32 s21, s11, {60 << 25:#x}\ns_mov_b32 s22, 4\ns_mov_b32 s24, 8")
    for row, (scale, in_record) in enumerate([(0, 0), (0, 1), (1, 1)]):
        k(f"s_mov_b32 s23, {in_record << 29 | scale << 26 | 12 << 12:#x}")
        k(f"buffer_load_b32 v{2 + row}, v0, s[20:23], s24 idxen offset:4")
    k(k.wait).keep("v2", "v3", "v4")
    data = np.resize(WORDS, 600)
    rows = k.run(data).rows
    # 572 bytes; records of 12, 12 and 48; 16 bytes of a record are read
    assert (rows[0] == data[3 : 3 + 96 : 3]).all() and not rows[1].any()
    assert (rows[2] == np.where(LANES * 48 + 16 <= 572, data[3 + 12 * np.minimum(LANES, 40)], 0)).all()


@pytest.mark.parametrize("kernel", [Kernel("gfx1100"), Kernel("gfx1151"), Snippet(), Snippet(target="gfx950")])
def test_a_buffer_offset_that_an_assembler_cuts_is_an_error(kernel: Kernel | Snippet) -> None:
    """Facts: isa-and-tools 5.1, offsets above 12 bits assemble as their low 12 bits; seed 000, "immediate offset"."""
    kernel("buffer_load_dword v2, off, s[20:23], 0 offset:4097")
    kernel.keep("v2")
    with pytest.raises(UserError, match=r"offset:4097 has more than 12 bits.*offset:1"):
        kernel.run()


def test_gfx12_buffer_offsets_have_24_bits() -> None:
    k = Kernel("gfx1201", inputs=1)
    k("s_mov_b32 s20, s10\ns_mov_b32 s21, s11\ns_movk_i32 s22, 0x7fff\ns_mov_b32 s23, 0x30000000")
    k(f"buffer_load_b32 v2, off, s[20:23], null offset:4100\n{k.wait}").keep("v2")
    data = np.arange(1100, dtype=np.uint32)
    assert (k.run(data).rows[0] == 1025).all()


def test_scalar_addresses_of_gfx1250_are_aligned_part_by_part() -> None:
    """AMD CDNA5 ISA 8.1.1: to the data, a dword at most, before they are added."""
    k = Kernel("gfx1250", inputs=1)
    k("s_add_co_u32 s20, s10, 3\ns_mov_b32 s21, s11\ns_mov_b32 s22, 7\ns_nop 0")
    k("s_load_b32 s24, s[20:21], s22 offset:10\ns_load_u16 s25, s[20:21], s22 offset:11\ns_load_u8 s26, s[20:21], 2")
    k(f"{k.wait}\nv_mov_b32 v2, s24\nv_mov_b32 v3, s25\nv_mov_b32 v4, s26").keep("v2", "v3", "v4")
    data = np.arange(64, dtype=np.uint8)
    rows = k.run(data).rows[:, 0].copy().view(np.uint8).reshape(3, 4)
    assert rows.tolist() == [[12, 13, 14, 15], [18, 19, 0, 0], [5, 0, 0, 0]]


@pytest.mark.parametrize("record", [False, True], ids=["fast", "recording"])
@pytest.mark.parametrize("target", ALL)
def test_scalar_loads_and_constant_buffers(target: str, record: bool) -> None:
    k = Kernel(target, inputs=1)
    k(f"""
        s_mov_b32 s20, s10
        s_mov_b32 s21, s11
        s_mov_b32 s22, {20 if target != "gfx1250" else 0}
        s_mov_b32 s23, 0
        {"s_or_b32 s21, s21, 0x28000000" if target == "gfx1250" else "s_nop 0"}
        s_movk_i32 s24, 8
        s_buffer_load_b128 s[28:31], s[20:23], s24 offset:4
        s_load_b32 s33, s[10:11], s24 offset:8
        s_add_u32 s34, s10, 64
        s_addc_u32 s35, s11, 0
        {k.wait}
        s_load_b32 s36, s[34:35], -4
        {k.wait}
        """)
    for i, register in enumerate((28, 29, 30, 31, 33, 36)):
        k(f"v_mov_b32 v{2 + i}, s{register}")
    k.keep(*(f"v{2 + i}" for i in range(6)))
    rows = k.run(WORDS, record=record).rows[:, 0].tolist()
    assert rows == [WORDS[3], WORDS[4], 0, 0, WORDS[4], WORDS[15]]


def test_gfx12_scalar_loads_of_bytes_shorts_and_three_dwords() -> None:
    k = Kernel("gfx1201", inputs=1)
    k("s_load_u8 s20, s[10:11], 3\ns_load_i8 s21, s[10:11], 3\ns_load_u16 s22, s[10:11], 2")
    k("s_load_i16 s23, s[10:11], 2\ns_load_b96 s[24:26], s[10:11], 4")
    k(f"s_prefetch_data s[10:11], 0, s20, 3\n{k.wait}")
    for i, register in enumerate((20, 21, 22, 23, 24, 26)):
        k(f"v_mov_b32 v{2 + i}, s{register}")
    k.keep(*(f"v{2 + i}" for i in range(6)))
    data = np.array([0x81028384, 5, 6, 7], np.uint32)
    rows = k.run(data).rows[:, 0].tolist()
    assert rows == [0x81, 0xFFFFFF81, 0x8102, 0xFFFF8102, 5, 7]


@pytest.mark.parametrize(
    ("target", "lines"),
    [
        ("gfx1100", "buffer_gl0_inv\nbuffer_gl1_inv\ns_gl1_inv\ns_dcache_inv"),
        (
            "gfx1201",
            "global_inv scope:SCOPE_DEV\nglobal_wb scope:SCOPE_SYS\nglobal_wbinv scope:SCOPE_SYS\ns_dcache_inv",
        ),
        (
            "gfx1250",
            "global_prefetch_b8 v1, s[10:11] scope:SCOPE_SE\nglobal_inv scope:SCOPE_DEV\nglobal_wb scope:SCOPE_DEV",
        ),
    ],
)
@pytest.mark.parametrize("record", [False, True], ids=["fast", "recording"])
def test_cache_control_moves_no_data(target: str, lines: str, record: bool) -> None:
    k = Kernel(target, inputs=1)
    k(f"{lines}\nglobal_load_b32 v2, v1, s[10:11]\n{k.wait}").keep("v2")
    assert (k.run(WORDS, record=record).rows[0] == WORDS[:32]).all()


@pytest.mark.parametrize(
    ("target", "wait", "arrives"),
    [
        ("gfx1100", "s_waitcnt vmcnt(1)", True), ("gfx1100", "s_waitcnt vmcnt(2)", False),
        ("gfx1100", "s_waitcnt_vscnt null, 0", False), ("gfx1201", "s_wait_loadcnt 1", True),
        ("gfx1201", "s_wait_storecnt 0", False), ("gfx1250", "s_wait_loadcnt 1", True),
        ("gfx1250", "s_wait_asynccnt 0", False),
    ],
)  # fmt: skip
def test_a_load_is_there_once_its_own_counter_says_so(target: str, wait: str, arrives: bool) -> None:
    k = Kernel(target, inputs=1)
    k(
        "global_load_b32 v2, v1, s[10:11]\nglobal_load_b32 v3, v1, s[10:11]\n"
        "global_store_b32 v1, v1, s[10:11] offset:128"
    )
    k(f"{wait}\nv_mov_b32 v4, v2\n{k.wait}").keep("v4", "v2")
    rows = k.run(np.resize(WORDS, 96).copy(), record=True).rows
    assert (rows[1] == WORDS[:32]).all() and (rows[0] == rows[1]).all() == arrives

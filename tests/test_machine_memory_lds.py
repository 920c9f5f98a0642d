"""LDS instructions, lane permutations, transposing and direct loads on RDNA 3, RDNA 4 and gfx1250."""

import _checked
import numpy as np
import pytest
from _memory_kernels import Kernel

from antiphase.frontends import launch_asm

ALL = ("gfx1100", "gfx1151", "gfx1201", "gfx1250")
LANES = np.arange(32)
BOTH_MODES = pytest.mark.parametrize("record", [False, True], ids=["fast", "recording"])


@BOTH_MODES
@pytest.mark.parametrize("target", ALL)
def test_two_places_at_once(target: str, record: bool) -> None:
    k = Kernel(target)
    k(
        "v_add_nc_u32 v2, 100, v0\nds_store_2addr_b32 v1, v0, v2 offset1:32\n"
        f"ds_store_2addr_stride64_b32 v1, v2, v0 offset0:1 offset1:2\n{k.wait}"
    )
    k(
        "ds_load_2addr_b32 v[4:5], v1 offset0:32 offset1:0\n"
        f"ds_load_2addr_stride64_b32 v[6:7], v1 offset0:2 offset1:1\n{k.wait}"
    )
    k.keep("v4", "v5", "v6", "v7")
    rows = k.run(record=record).rows
    assert rows.tolist() == [(100 + LANES).tolist(), LANES.tolist(), LANES.tolist(), (100 + LANES).tolist()]


@BOTH_MODES
@pytest.mark.parametrize(
    ("target", "line", "old", "data", "new"),
    [
        ("gfx1100", "ds_add_rtn_u32 v3, v1, v2", 7, 5, 12),
        ("gfx1201", "ds_min_rtn_i32 v3, v1, v2", 7, 0xFFFFFFFE, 0xFFFFFFFE),
        ("gfx1201", "ds_cond_sub_rtn_u32 v3, v1, v2", 7, 9, 7), ("gfx1250", "ds_sub_clamp_rtn_u32 v3, v1, v2", 7, 9, 0),
        ("gfx1100", "ds_add_rtn_f32 v3, v1, v2", 0x40000000, 0x3F800000, 0x40400000),
        ("gfx1100", "ds_max_rtn_f32 v3, v1, v2", 0x40000000, 0x3F800000, 0x40000000),
        ("gfx1201", "ds_max_num_rtn_f32 v3, v1, v2", 0x7FC00000, 0x3F800000, 0x3F800000),
        ("gfx1201", "ds_pk_add_rtn_bf16 v3, v1, v2", 0x40003F80, 0x3F803F80, 0x40404000),
        ("gfx1250", "ds_storexchg_rtn_b32 v3, v1, v2", 7, 9, 9),
    ],
)  # fmt: skip
def test_atomics(target: str, line: str, old: int, data: int, new: int, record: bool) -> None:
    k = Kernel(target)
    k(f"v_mov_b32 v4, {old:#x}\nds_store_b32 v1, v4\nv_mov_b32 v2, {data:#x}\n{line}\nds_load_b32 v5, v1\n{k.wait}")
    k.keep("v3", "v5")
    rows = k.run(record=record).rows
    assert (rows[0] == old).all() and (rows[1] == new).all()


@BOTH_MODES
def test_exchange_of_two_places(record: bool) -> None:
    k = Kernel("gfx1100")
    k("v_add_nc_u32 v2, 50, v0\nds_store_2addr_b32 v1, v0, v2 offset1:32\nv_mov_b32 v3, 1\nv_mov_b32 v4, 2")
    k(f"ds_storexchg_2addr_rtn_b32 v[6:7], v1, v3, v4 offset1:32\nds_load_2addr_b32 v[8:9], v1 offset1:32\n{k.wait}")
    k.keep("v6", "v7", "v8", "v9")
    rows = k.run(record=record).rows
    assert (rows[0] == LANES).all() and (rows[1] == 50 + LANES).all() and (rows[2] == 1).all() and (rows[3] == 2).all()


@BOTH_MODES
@pytest.mark.parametrize("target", ALL)
def test_append_and_consume_count_active_lanes(target: str, record: bool) -> None:
    k = Kernel(target)
    k(
        "v_mov_b32 v2, 0\nv_mov_b32 v3, 40\nds_store_b32 v2, v3 offset:132\n"
        f"{k.wait}\nv_mov_b32 v4, 0\ns_mov_b32 m0, 128"
    )
    k(
        f"s_mov_b32 exec_lo, 0xff0\nds_append v4 offset:4\n{k.wait}\n"
        f"s_mov_b32 exec_lo, 7\nds_consume v5 offset:4\n{k.wait}"
    )
    k(f"s_mov_b32 exec_lo, -1\nds_load_b32 v6, v2 offset:132\n{k.wait}").keep("v4", "v5", "v6")
    rows = k.run(record=record).rows
    assert rows[0].tolist() == [40 if 4 <= lane < 12 else 0 for lane in LANES]
    assert rows[1, :3].tolist() == [48] * 3 and (rows[2] == 45).all()


def permuted(target: str, lanes: int, line: str, exec_lo: int = -1) -> np.ndarray:
    """Row of v5 after a permutation of v3 = 1000 + lane with byte addresses in v2."""
    k = Kernel(target, threads=lanes, lanes=lanes)
    k(
        "v_add_nc_u32 v3, 0x3e8, v0\nv_mov_b32 v5, 7\nv_lshlrev_b32 v2, 2, v0\n"
        f"v_sub_nc_u32 v2, 28, v2\ns_mov_b32 exec_lo, {exec_lo}"
    )
    return k(f"{line}\n{k.wait}\ns_mov_b32 exec_lo, -1").keep("v5").run().rows[0]


@pytest.mark.parametrize(
    ("target", "crosses"), [("gfx1100", False), ("gfx1103", False), ("gfx1150", False), ("gfx1201", True)]
)
def test_ds_permutes_of_wave64_keep_to_their_half_before_rdna4(target: str, crosses: bool) -> None:
    """Seed 000, section 3 "DS gather in wave64": RDNA 3 pp. 137-138, RDNA 3.5 pp. 139-140, RDNA 4 p. 163."""
    lanes = np.arange(64)
    source = (7 - lanes) % 64 if crosses else lanes // 32 * 32 + (7 - lanes) % 32
    assert permuted(target, 64, "ds_bpermute_b32 v5, v2, v3").tolist() == (1000 + source).tolist()
    expected = np.zeros(64, int)
    expected[source] = 1000 + lanes
    assert permuted(target, 64, "ds_permute_b32 v5, v2, v3").tolist() == expected.tolist()


@pytest.mark.parametrize("target", ALL)
def test_ds_permutes_of_wave32_reach_all_lanes(target: str) -> None:
    assert permuted(target, 32, "ds_bpermute_b32 v5, v2, v3 offset:4").tolist() == (1000 + (8 - LANES) % 32).tolist()


@pytest.mark.parametrize("target", ["gfx1201", "gfx1250"])
def test_bpermute_fi_reads_inactive_lanes(target: str) -> None:
    """Seed 000, section 4: DS_BPERMUTE_FI_B32 reads source lanes whatever EXEC is (RDNA 4 p. 163)."""
    plain = permuted(target, 32, "ds_bpermute_b32 v5, v2, v3", 0xF)
    fetching = permuted(target, 32, "ds_bpermute_fi_b32 v5, v2, v3", 0xF)
    assert plain.tolist() == [0] * 4 + [7] * 28
    assert fetching.tolist() == [1007, 1006, 1005, 1004] + [7] * 28


# -- transposing loads ------------------------------------------------------------------------------------------


def pack(values: np.ndarray, bits: int) -> np.ndarray:
    """Elements of `bits` each, one after another, lowest first, as bytes; a row of elements per row of bytes."""
    spread = (values[..., None] >> np.arange(bits)) & 1
    return np.packbits(spread.reshape(*values.shape[:-1], -1).astype(np.uint8), axis=-1, bitorder="little")


def wmma_source(bits: int, lane: int, j: int) -> tuple[int, int]:
    """Lane and element a result comes from: the lane that loads column k and row m in the figure of CDNA5 ISA 10.9.2,
    for the k and m that 7.12.2 wants there."""
    per_lane = 8 if bits >= 8 else 16
    k, m = per_lane * (lane >> 4) + j, lane & 15
    columns = {
        16: [*range(8), *range(16, 24)],
        8: [*range(4), *range(8, 12), *range(16, 20), *range(24, 28)],
        6: [0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15, *range(16, 20), *range(24, 28), *range(20, 24),
            *range(28, 32)],
        4: [*range(8), *range(16, 24), *range(8, 16), *range(24, 32)],
    }  # fmt: skip
    lower_rows = {16: 8, 8: 4}.get(bits, 0)
    return columns[bits][k] + lower_rows * (m >> 3), m & 7 if bits >= 8 else m


TRANSPOSING = [
    ("gfx1201", "global_load_tr_b128", 16, 128), ("gfx1201", "global_load_tr_b64", 8, 64),
    ("gfx1250", "global_load_tr16_b128", 16, 128), ("gfx1250", "global_load_tr8_b64", 8, 64),
    ("gfx1250", "global_load_tr6_b96", 6, 96), ("gfx1250", "global_load_tr4_b64", 4, 64),
    ("gfx1250", "ds_load_tr16_b128", 16, 128), ("gfx1250", "ds_load_tr8_b64", 8, 64),
    ("gfx1250", "ds_load_tr6_b96", 6, 96), ("gfx1250", "ds_load_tr4_b64", 4, 64),
]  # fmt: skip


def transposing(target: str, name: str, bits: int, total: int, rng: np.random.Generator) -> tuple[Kernel, np.ndarray]:
    """A kernel that loads lane i's run of random elements from 16 * i on, in memory and in LDS; and the elements."""
    elements = rng.integers(0, 1 << bits, (32, total // bits))
    data = np.zeros((32, 16), np.uint8)
    data[:, : total // 8] = pack(elements, bits)
    k = Kernel(target, inputs=1)
    k(f"v_lshlrev_b32 v2, 4, v0\nglobal_load_b128 v[4:7], v2, s[10:11]\n{k.wait}\nds_store_b128 v2, v[4:7]\n{k.wait}")
    k("v_mov_b32 v8, 7\nv_mov_b32 v9, 7\nv_mov_b32 v10, 7\nv_mov_b32 v11, 7")
    k.data = data  # type: ignore[attr-defined]
    return k, elements


@BOTH_MODES
@pytest.mark.parametrize(("target", "name", "bits", "total"), TRANSPOSING)
def test_transposing_loads_exchange_elements(target: str, name: str, bits: int, total: int, record: bool) -> None:
    """Seed 000, section 5 "Transpose during a global load": RDNA 4 pp. 152-153; CDNA5 ISA 10.9 and 11.2.4."""
    k, elements = transposing(target, name, bits, total, np.random.default_rng(bits))
    last = 7 + total // 32
    operands = "v2, s[10:11]" if name.startswith("global") else "v2"
    k(f"{name} v[8:{last}], {operands}\n{k.wait}").keep(*(f"v{i}" for i in range(8, last + 1)))
    result = k.run(k.data, record=record)  # type: ignore[attr-defined]
    expected = np.array([[elements[wmma_source(bits, lane, j)] for j in range(total // bits)] for lane in range(32)])
    assert result.rows.T.copy().view(np.uint8).tolist() == pack(expected, bits).tolist()
    assert not result.execution.faults


@BOTH_MODES
@pytest.mark.parametrize("name", ["global_load_tr_b128", "global_load_tr_b64"])
def test_a_transposing_load_wants_all_lanes_or_none(name: str, record: bool) -> None:
    """Seed 000, section 5: EXEC = 0 makes it a no-op, any other incomplete EXEC is undefined (RDNA 4 ISA 11.6.2)."""
    k, _ = transposing("gfx1201", name, 16, 128, np.random.default_rng(0))
    registers = "v[8:11]" if name.endswith("128") else "v[8:9]"
    k(f"s_mov_b32 exec_lo, 0\n{name} {registers}, v2, s[10:11]\n{k.wait}\ns_mov_b32 exec_lo, -1").keep("v8")
    result = k.run(k.data, record=record)  # type: ignore[attr-defined]
    assert (result.rows[0] == 7).all() and not result.execution.faults
    k(f"s_mov_b32 exec_lo, 0xfffffff7\n{name} {registers}, v2, s[10:11]\n{k.wait}\ns_mov_b32 exec_lo, -1")
    (fault,) = k.run(k.data, record=record).execution.faults  # type: ignore[attr-defined]
    assert (fault.kind, fault.lane, fault.address) == ("exec", 3, 0xFFFFFFF7)


@BOTH_MODES
def test_lds_transposing_loads_of_gfx1250_ignore_exec(record: bool) -> None:
    """As if all lanes were active: CDNA5 ISA 11.2.4."""
    k, elements = transposing("gfx1250", "ds_load_tr16_b128", 16, 128, np.random.default_rng(16))
    k(f"s_mov_b32 exec_lo, 0xf0\nds_load_tr16_b128 v[8:11], v2\n{k.wait}\ns_mov_b32 exec_lo, -1")
    result = k.keep(*(f"v{i}" for i in range(8, 12))).run(k.data, record=record)  # type: ignore[attr-defined]
    expected = np.array([[elements[wmma_source(16, lane, j)] for j in range(8)] for lane in range(32)])
    assert result.rows.T.copy().view(np.uint8).tolist() == pack(expected, 16).tolist()
    assert not result.execution.faults


@BOTH_MODES
def test_lds_transposing_loads_of_gfx950_want_all_lanes(record: bool) -> None:
    """All bits of EXEC have to be set: CDNA4 ISA 11.4, p. 106."""
    body = """
        v_lshlrev_b32 v2, 3, v0
        ds_write_b64 v2, v[2:3]
        s_waitcnt lgkmcnt(0)
        s_mov_b64 exec, 0xfff7
        ds_read_b64_tr_b16 v[4:5], v2
        s_waitcnt lgkmcnt(0)
        s_endpgm
    """
    program = _checked.program(body, "gfx950", lds=4096)
    faults = launch_asm(program, grid=1, args=[], record=record).faults
    assert {(fault.kind, fault.lane) for fault in faults} == {("exec", 3)}


# -- LDS direct loads -------------------------------------------------------------------------------------------


@BOTH_MODES
@pytest.mark.parametrize(("target", "name"), [("gfx1100", "lds_direct_load"), ("gfx1201", "ds_direct_load")])
@pytest.mark.parametrize(
    ("kind", "address", "value"),
    [(2, 8, 0x81F2C3D4), (0, 9, 0xC3), (1, 10, 0x81F2), (4, 9, 0xFFFFFFC3), (5, 10, 0xFFFF81F2)],
)  # fmt: skip
def test_direct_loads_give_one_value_to_whole_quads(
    target: str, name: str, kind: int, address: int, value: int, record: bool
) -> None:
    """Seed 000, section 5 "LDS direct load": RDNA 4 ISA 12.4, p. 160."""
    k = Kernel(target, descriptor={"workgroup_processor_mode": 0})
    k(f"v_mov_b32 v2, 8\nv_mov_b32 v3, 0x81f2c3d4\nds_store_b32 v2, v3\n{k.wait}\nv_mov_b32 v4, 5")
    k(f"s_mov_b32 m0, {kind << 16 | address:#x}\ns_mov_b32 exec_lo, 0x00400002\n{name} v4").keep("v4")
    rows = k.run(record=record).rows
    assert rows[0].tolist() == [value if lane // 4 in (0, 5) else 5 for lane in LANES]


def test_direct_loads_are_for_cu_mode() -> None:
    from antiphase.errors import Unsupported

    k = Kernel("gfx1201", descriptor={"workgroup_processor_mode": 1})
    with pytest.raises(Unsupported, match="CU mode only"):
        k("s_mov_b32 m0, 0\nds_direct_load v4").run()

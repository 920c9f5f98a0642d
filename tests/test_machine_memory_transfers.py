"""gfx1250: asynchronous copies between memory and LDS, LDS barriers, and the tensor data mover."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from _memory_kernels import Kernel

BOTH_MODES = pytest.mark.parametrize("record", [False, True], ids=["fast", "recording"])
LANES = np.arange(32)
DATA = np.arange(256, dtype=np.uint32) * 0x01030507 + 11


def kernel(inputs: int = 2) -> Kernel:
    return Kernel("gfx1250", inputs=inputs)


@BOTH_MODES
@pytest.mark.parametrize("bits", [8, 32, 64, 128])
def test_asynchronous_copies_there_and_back(bits: int, record: bool) -> None:
    size = bits // 8
    k = kernel()
    k(f"v_mul_lo_u32 v2, v0, {size}\nv_add_nc_u32 v3, 512, v2\nv_add_nc_u32 v4, 16, v2")
    k(f"global_load_async_to_lds_b{bits} v3, v4, s[10:11] offset:16\ns_wait_asynccnt 0")
    k(f"global_store_async_from_lds_b{bits} v2, v3, s[12:13] offset:16\n{k.wait}")
    k(f"ds_load_u8 v5, v3 offset:16\n{k.wait}").keep("v5")
    out = np.zeros(160, np.uint32)
    result = k.run(DATA, out, record=record)
    assert not result.execution.faults
    there, back = DATA.view(np.uint8)[32 : 32 + 32 * size], out.view(np.uint8)
    assert (back[16 : 16 + 32 * size] == there).all() and not back[16 + 32 * size :].any()
    assert result.rows[0].tolist() == there[::size].tolist()


@BOTH_MODES
def test_a_lane_whose_lds_address_is_out_of_range_moves_nothing(record: bool) -> None:
    """AMD CDNA5 ISA 10.8: such lanes are dropped, whatever their memory address is; Triton masks them so."""
    k = kernel()
    k(
        "v_cmp_lt_u32 vcc_lo, 7, v0\nv_mov_b32 v5, 0x7fffffff\n"
        "v_cndmask_b32 v2, v1, v5, vcc_lo\nv_cndmask_b32 v3, v1, v5, vcc_lo"
    )
    k(
        f"v_mov_b32 v6, 3\nds_store_b32 v1, v6\n{k.wait}\n"
        "global_load_async_to_lds_b32 v2, v3, s[10:11]\nds_store_b32 v5, v5 offset:4"
    )
    k(f"{k.wait}\nds_load_b32 v4, v1\n{k.wait}").keep("v4")
    result = k.run(DATA, DATA, record=record)
    assert not result.execution.faults
    assert result.rows[0].tolist() == np.where(LANES < 8, DATA[:32], 3).tolist()


@pytest.mark.parametrize(
    ("wait", "arrived"),
    [
        ("s_wait_asynccnt 0", "both"),
        ("s_wait_asynccnt 1", "first"),
        ("s_wait_loadcnt 0", ""),
        ("s_wait_asynccnt 2", ""),
    ],
)
def test_asynchronous_loads_are_there_by_asynccnt(wait: str, arrived: str) -> None:
    k = kernel(1)
    k("global_load_async_to_lds_b32 v1, v1, s[10:11]\nglobal_load_async_to_lds_b32 v1, v1, s[10:11] offset:128")
    k(f"{wait}\nds_load_b32 v2, v1\nds_load_b32 v3, v1 offset:128\n{k.wait}").keep("v2", "v3")
    rows = k.run(DATA, record=True).rows
    assert (rows[0] == DATA[:32]).all() == (arrived in ("first", "both"))
    assert (rows[1] == DATA[32:64]).all() == (arrived == "both")


def test_a_store_does_not_stand_for_a_load_on_asynccnt() -> None:
    """Loads complete among loads in order, stores among stores, each in any order to the other (CDNA5 ISA 10.8)."""
    k = kernel(1)
    k(
        f"ds_store_b32 v1, v0 offset:768\n{k.wait}\nv_add_nc_u32 v4, 256, v1\n"
        "global_load_async_to_lds_b32 v1, v1, s[10:11]"
    )
    k(
        f"global_store_async_from_lds_b32 v1, v4, s[10:11] offset:512\ns_wait_asynccnt 1\nds_load_b32 v2, v1\n{k.wait}"
    ).keep("v2")
    data = DATA.copy()
    assert (k.run(data, record=True).rows[0] != data[:32]).all()
    assert (data[128:160] == LANES).all()


# -- LDS barriers -----------------------------------------------------------------------------------------------


@BOTH_MODES
def test_arrivals_turn_the_phase_when_the_count_runs_out(record: bool) -> None:
    """Triton's layout: pending count in bits 28:0, phase from bit 29, reload count from bit 32."""
    k = kernel(1)
    k(f"v_mov_b32 v2, 2\nv_mov_b32 v3, 2\nv_mov_b32 v4, 0\nds_store_b64 v4, v[2:3]\n{k.wait}\ns_mov_b32 exec_lo, 1")
    k("v_mov_b32 v6, 1\nv_mov_b32 v7, 0")
    for i in range(4):
        k(f"ds_atomic_barrier_arrive_rtn_b64 v[{10 + 2 * i}:{11 + 2 * i}], v4, v[6:7]")
    k(f"ds_load_b64 v[20:21], v4\n{k.wait}").keep("v10", "v12", "v14", "v16", "v20", "v21")
    rows = k.run(DATA, record=record).rows[:, 0]
    assert rows[:3].tolist() == [2, 1, 0]
    assert rows[3] >> 29 & 1 and rows[3] & 0x1FFFFFFF == 2 and rows[4] & 0x1FFFFFFF == 1 and rows[5] == 2


@BOTH_MODES
@pytest.mark.parametrize(
    ("pending", "arrivals", "phase", "left"), [(2, 3, 7, 5), (2, 7, 7, 5), (0, 1, 7, 5), (3, 2, 0, 1)]
)
def test_arrivals_beyond_the_pending_count_are_forgotten(
    pending: int, arrivals: int, phase: int, left: int, record: bool
) -> None:
    """AMD CDNA5 ISA 11.2.2: a phase begins with the initial count, here 5."""
    k = kernel(1)
    k(f"v_mov_b32 v2, {pending}\nv_mov_b32 v3, 5\nv_mov_b32 v4, 0\nds_store_b64 v4, v[2:3]\n{k.wait}")
    k(f"s_mov_b32 exec_lo, 1\nv_mov_b32 v6, {arrivals}\nv_mov_b32 v7, 0")
    k(f"ds_atomic_barrier_arrive_rtn_b64 v[10:11], v4, v[6:7]\nds_load_b64 v[20:21], v4\n{k.wait}").keep("v20", "v21")
    rows = k.run(DATA, record=record).rows[:, 0]
    assert (rows[0] >> 29, rows[0] & 0x1FFFFFFF, rows[1]) == (phase, left, 5)


@BOTH_MODES
def test_an_asynchronous_arrival_comes_after_the_loads_before_it(record: bool) -> None:
    k = kernel(1)
    k(f"v_mov_b32 v2, 0\nv_mov_b32 v3, 0\nv_mov_b32 v4, 0x400\nds_store_b64 v4, v[2:3]\n{k.wait}")
    k("global_load_async_to_lds_b32 v1, v1, s[10:11]\ns_mov_b32 s20, exec_lo\ns_mov_b32 exec_lo, 1")
    k("ds_atomic_async_barrier_arrive_b64 v4\ns_mov_b32 exec_lo, s20")
    # no wait for asynccnt: the phase has turned, so the data is there
    k("ds_load_b64 v[8:9], v4\nds_load_b32 v6, v1\ns_wait_dscnt 0").keep("v8", "v6")
    rows = k.run(DATA, record=record).rows
    assert (rows[0] >> 29 & 1).all() and (rows[1] == DATA[:32]).all()


# -- tensor data mover ------------------------------------------------------------------------------------------


@dataclass
class Descriptor:
    """Fields of a tensor descriptor (AMD CDNA5 ISA tables 62-67). lds: byte address; sizes and strides in elements."""

    lds: int = 0
    scale: int = 2
    tensor: tuple[int, ...] = (8,)
    tile: tuple[int, ...] = (8,)
    strides: tuple[int, ...] = ()
    count: int = 1
    pad: tuple[int, int] | None = None
    rows: tuple[int, ...] | None = None
    wide_rows: bool = False
    repeat: tuple[int, int, int] | None = None
    barrier: int | None = None
    words: list[int] = field(default_factory=lambda: [0] * 20)

    def put(self, group: int, first: int, width: int, value: int) -> None:
        bit = 32 * (0, 4, 12, 16)[group] + first
        for i in range(width):
            self.words[(bit + i) // 32] |= (value >> i & 1) << (bit + i) % 32

    def encode(self) -> list[int]:
        """The 20 words; global_addr is left for the kernel."""
        self.put(0, 0, 2, self.count)
        self.put(0, 32, 32, self.lds)
        self.put(0, 126, 2, 2)
        self.put(1, 16, 2, self.scale)
        for value, (group, first) in zip(self.tensor, ((1, 48), (1, 80), (2, 0), (2, 32), (3, 48)), strict=False):
            self.put(group, first, 32, value)
        for value, (group, first) in zip(self.tile, ((1, 112), (1, 128), (1, 144), (2, 112), (3, 80)), strict=False):
            self.put(group, first, 16, value)
        for value, (group, first) in zip(self.strides, ((1, 160), (1, 208), (2, 64), (3, 0)), strict=False):
            self.put(group, first, 48, value)
        if self.pad:
            self.put(1, 20, 1, 1)
            self.put(1, 22, 3, self.pad[0])
            self.put(1, 25, 7, self.pad[1])
        if self.rows is not None:
            self.put(0, 31, 1, 1)
            self.put(0, 30, 1, int(self.wide_rows))
            for i, row in enumerate(self.rows):
                width = 32 if self.wide_rows else 16
                self.put(2, width * i, width, row)
        if self.repeat:
            self.put(1, 19, 1, 1)
            self.put(2, 63 - 31, 32, self.repeat[1])
            self.put(2, 64, 48, self.repeat[2])
            self.put(2, 112, 16, self.repeat[0] - 1)
        if self.barrier is not None:
            self.put(1, 18, 1, 1)
            self.put(1, 32, 16, self.barrier >> 3)
        return self.words


def issue(k: Kernel, d: Descriptor, name: str, pointer: int, groups: int = 4) -> None:
    words = d.encode()
    for i, word in enumerate(words):
        k(f"s_mov_b32 s{20 + i}, {word:#x}")
    k(f"s_mov_b32 s22, s{pointer}\ns_or_b32 s23, s{pointer + 1}, {words[3]:#x}")
    rest = ", s[32:35], s[36:39]" if groups == 4 else ""
    k(f"{name} s[20:23], s[24:31]{rest}")


def loaded(d: Descriptor, data: np.ndarray, record: bool = False, groups: int = 4) -> np.ndarray:
    """The first 4 KiB of LDS as bytes after a tensor load from `data`, 0xEE where nothing was written."""
    k = kernel()
    k("v_mov_b32 v2, 0xeeeeeeee\nv_lshlrev_b32 v3, 4, v0")
    k("v_mov_b32 v4, v2\nv_mov_b32 v5, v2\nv_mov_b32 v6, v2\nv_mov_b32 v7, v2")
    for part in range(8):
        k(f"ds_store_b128 v3, v[4:7] offset:{512 * part}")
    k("s_wait_dscnt 0\ns_mov_b32 exec_lo, 0")
    issue(k, d, "tensor_load_to_lds", 10, groups)
    k("s_wait_tensorcnt 0\ns_mov_b32 exec_lo, -1")
    for part in range(8):
        k(
            f"ds_load_b128 v[4:7], v3 offset:{512 * part}\ns_wait_dscnt 0\n"
            f"global_store_b128 v3, v[4:7], s[12:13] offset:{512 * part}"
        )
    out = np.zeros(4096, np.uint8)
    result = k.run(data, out, record=record)
    assert not result.execution.faults
    return out


UNTOUCHED = 0xEE


@BOTH_MODES
@pytest.mark.parametrize("scale", [0, 1, 2, 3])
def test_a_tile_of_two_dimensions_at_the_edge_of_a_tensor(scale: int, record: bool) -> None:
    rng = np.random.default_rng(scale)
    data = rng.integers(1, 256, (16, 24 << scale), dtype=np.uint8)
    d = Descriptor(lds=64, scale=scale, tensor=(10, 5), tile=(12, 8), strides=(24,))
    out = loaded(d, data, record, groups=2)
    width = 12 << scale
    tile = np.zeros((8, width), np.uint8)
    tile[:5, : 10 << scale] = data[:5, : 10 << scale]
    assert (out[64 : 64 + 8 * width].reshape(8, width) == tile).all()
    assert (out[:64] == UNTOUCHED).all() and (out[64 + 8 * width :] == UNTOUCHED).all()


@BOTH_MODES
def test_a_tile_of_five_dimensions(record: bool) -> None:
    data = np.arange(2 * 3 * 4 * 5 * 6, dtype=np.uint16).reshape(2, 3, 4, 5, 6)
    d = Descriptor(scale=1, tensor=(6, 4, 4, 2, 2), tile=(4, 5, 2, 3, 2), strides=(6, 30, 120, 360))
    out = loaded(d, data, record)
    tile = np.zeros((2, 3, 2, 5, 4), np.uint16)
    tile[:, :2, :, :4] = data[:2, :2, :2, :4, :4]
    assert (out[: tile.nbytes].view(np.uint16) == tile.ravel()).all() and (out[tile.nbytes :] == UNTOUCHED).all()


@BOTH_MODES
def test_padding_leaves_holes(record: bool) -> None:
    """Intervals of 4 << n dwords are encoded as n + 1, amounts of n dwords as n - 1; holes are not written."""
    data = np.arange(1, 200, dtype=np.uint32)
    out = loaded(Descriptor(tensor=(16, 4), tile=(16, 4), strides=(20,), pad=(2, 1)), data, record)
    words = out.view(np.uint32)
    for n in range(64):
        assert words[n + n // 8 * 2] == data[n // 16 * 20 + n % 16]
    holes = np.setdiff1d(np.arange(1024), [n + n // 8 * 2 for n in range(64)])
    assert (words[holes] == 0xEEEEEEEE).all()


@BOTH_MODES
@pytest.mark.parametrize("wide", [False, True])
def test_gather_takes_rows_by_index(wide: bool, record: bool) -> None:
    data = np.arange(1, 8 * 12 + 1, dtype=np.uint32).reshape(8, 12)
    rows = (1, 1, 4, 6, 9) if not wide else (0, 5, 7, 100000)
    d = Descriptor(tensor=(9, 8), tile=(10, len(rows)), strides=(12,), rows=rows, wide_rows=wide)
    out = loaded(d, data, record).view(np.uint32)
    expected = np.zeros((len(rows), 10), np.uint32)
    for i, row in enumerate(rows):
        if row < 8:
            expected[i, :9] = data[row, :9]
    assert (out[: expected.size] == expected.ravel()).all() and (out[expected.size :] == 0xEEEEEEEE).all()


@BOTH_MODES
def test_iteration_moves_both_addresses_by_elements(record: bool) -> None:
    data = np.arange(1, 301, dtype=np.uint16)
    d = Descriptor(scale=1, tensor=(8, 2), tile=(8, 2), strides=(10,), repeat=(3, 20, 50))
    out = loaded(d, data, record).view(np.uint16)
    for turn in range(3):
        for row in range(2):
            start = 20 * turn + 8 * row
            assert (out[start : start + 8] == data[50 * turn + 10 * row :][:8]).all()
        assert (out[20 * turn + 16 : 20 * turn + 20] == 0xEEEE).all()


@pytest.mark.parametrize("d", [Descriptor(count=0), Descriptor(tile=(0, 4))], ids=["null", "empty"])
def test_descriptors_that_move_nothing(d: Descriptor) -> None:
    assert (loaded(d, DATA) == UNTOUCHED).all()


@BOTH_MODES
def test_a_store_drops_what_lies_outside_the_tensor(record: bool) -> None:
    k = kernel(1)
    k("v_add_nc_u32 v2, 1, v0\nds_store_b32 v1, v2\ns_wait_dscnt 0")
    issue(k, Descriptor(tensor=(6, 3), tile=(8, 4), strides=(10,)), "tensor_store_from_lds", 10, 2)
    k("s_wait_tensorcnt 0")
    out = np.zeros((5, 10), np.uint32)
    assert not k.run(out, record=record).execution.faults
    expected = np.zeros((5, 10), np.uint32)
    expected[:3, :6] = np.arange(1, 33).reshape(4, 8)[:3, :6]
    assert (out == expected).all()


@BOTH_MODES
def test_scatter_stores_rows_by_index(record: bool) -> None:
    k = kernel(1)
    k("v_add_nc_u32 v2, 1, v0\nds_store_b32 v1, v2\ns_wait_dscnt 0")
    issue(k, Descriptor(tensor=(8, 6), tile=(8, 3), strides=(8,), rows=(5, 2, 6)), "tensor_store_from_lds", 10)
    k("s_wait_tensorcnt 0")
    out = np.zeros((8, 8), np.uint32)
    k.run(out, record=record)
    assert (
        (out[5] == np.arange(1, 9)).all() and (out[2] == np.arange(9, 17)).all() and not out[[0, 1, 3, 4, 6, 7]].any()
    )


@BOTH_MODES
@pytest.mark.parametrize("rows", [None, (4, 0, 1, 7)], ids=["tile", "scatter"])
def test_what_a_store_drops_need_not_lie_in_lds(rows: tuple[int, ...] | None, record: bool) -> None:
    """As Triton's descriptor stores: rows of 8 with 2 of padding, but none behind the last; a fourth is all outside."""
    k = kernel(1)
    k("v_add_nc_u32 v2, 1, v0\nds_store_b32 v1, v2 offset:3968\ns_wait_dscnt 0")
    d = Descriptor(lds=4096 - 112, tensor=(8, 3 if rows is None else 6), tile=(10, 4), strides=(12,), rows=rows)
    issue(k, d, "tensor_store_from_lds", 10)
    k("s_wait_tensorcnt 0")
    out, expected = np.zeros((2, 6, 12), np.uint32)
    assert not k.run(out, record=record).execution.faults
    for i, row in enumerate(rows[:3] if rows else range(3)):
        expected[row, :8] = np.arange(5, 13) + 10 * i
    assert (out == expected).all()


@pytest.mark.parametrize(
    ("wait", "there"), [("s_wait_tensorcnt 0", True), ("s_wait_tensorcnt 1", False), ("s_wait_asynccnt 0", False)]
)
def test_a_tile_is_there_by_tensorcnt(wait: str, there: bool) -> None:
    k = kernel(1)
    issue(k, Descriptor(tensor=(32,), tile=(32,)), "tensor_load_to_lds", 10, 2)
    k(f"{wait}\nds_load_b32 v2, v1\ns_wait_dscnt 0").keep("v2")
    rows = k.run(DATA, record=True).rows
    assert (rows[0] == DATA[:32]).all() == there


@BOTH_MODES
def test_a_tile_signals_its_barrier_when_it_is_there(record: bool) -> None:
    k = kernel(1)
    k(f"v_mov_b32 v2, 0\nv_mov_b32 v3, 0\nv_mov_b32 v4, 0x400\nds_store_b64 v4, v[2:3]\n{k.wait}")
    issue(k, Descriptor(tensor=(32,), tile=(32,), barrier=0x400), "tensor_load_to_lds", 10, 2)
    k("ds_load_b64 v[8:9], v4\nds_load_b32 v6, v1\ns_wait_dscnt 0").keep("v8", "v6")
    rows = k.run(DATA, record=record).rows
    assert (rows[0] >> 29 & 1).all() and (rows[1] == DATA[:32]).all()


def test_tiles_outside_lds_or_memory_are_faults() -> None:
    k = kernel(1)
    issue(k, Descriptor(lds=4096 - 16, tensor=(8,), tile=(8,)), "tensor_load_to_lds", 10, 2)
    issue(k, Descriptor(tensor=(300, 2), tile=(300, 2), strides=(300,)), "tensor_load_to_lds", 10, 2)
    issue(k, Descriptor(lds=4096 - 16, tensor=(5,), tile=(8,)), "tensor_store_from_lds", 10, 2)
    issue(k, Descriptor(lds=4096 - 16, tensor=(4,), tile=(8,)), "tensor_load_to_lds", 10, 2)
    data = DATA.copy()
    first, second, _, third, zeros = k.run(data).execution.faults
    assert (first.kind, first.address, first.size) == ("lds", 4080, 32)
    assert (third.kind, third.address, third.size) == ("lds", 4080, 20)
    assert (zeros.kind, zeros.address, zeros.size) == ("lds", 4080, 32), "a load fills what the tensor has not"
    assert (second.kind, second.address, second.size) == ("read", data.ctypes.data, 1200)

"""ds_condxchg32_rtn_b64, and scalar and vector names that CDNA has beside others."""

from __future__ import annotations

import numpy as np
import pytest
from _asm import Snippet
from _memory_kernels import Kernel
from _wave import Wave

BOTH_MODES = pytest.mark.parametrize("record", [False, True], ids=["fast", "recording"])
MARK = 0x80000000


def exchanged(memory: np.ndarray, data: np.ndarray) -> np.ndarray:
    """The manual's pseudocode, on halves of 32 bits."""
    return np.where(data & MARK, data & 0x7FFFFFFF, memory)


def halves(count: int, seed: int) -> np.ndarray:
    """Two dwords a work-item; special values first."""
    drawn = np.random.default_rng(seed).integers(0, 1 << 32, (count, 2), np.uint32)
    drawn[:4] = [[MARK, MARK], [0, 0], [MARK | 5, 6], [7, 0xFFFFFFFF]]
    return drawn


@BOTH_MODES
@pytest.mark.parametrize("target", ["gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250"])
def test_each_half_is_exchanged_if_its_data_is_marked(target: str, record: bool) -> None:
    old = "gfx9" in target
    k = Snippet(inputs=2, target=target, lds=1024) if old else Kernel(target, inputs=2)
    threads = 64 if old else 32
    memory, data = halves(threads, 1), halves(threads, 2)[::-1].copy()
    data[:4] = [[1, MARK | 2], [MARK | 3, 4], [0, 0], [0xFFFFFFFF, 0xFFFFFFFF]]
    width, wait = (
        ("dwordx2", "s_waitcnt vmcnt(0) lgkmcnt(0)") if old else ("b64", k.wait if isinstance(k, Kernel) else "")
    )
    store, load = ("ds_write_b64", "ds_read_b64") if old else ("ds_store_b64", "ds_load_b64")
    k(f"v_lshlrev_b32 v2, 3, v0\nglobal_load_{width} v[4:5], v2, s[10:11]\nglobal_load_{width} v[6:7], v2, s[12:13]")
    k(f"{wait}\n{store} v2, v[4:5] offset:16\n{wait}")
    k(f"ds_condxchg32_rtn_b64 v[8:9], v2, v[6:7] offset:16\n{load} v[10:11], v2 offset:16\n{wait}")
    k.keep("v8", "v9", "v10", "v11")
    result = k.run(memory, data, record=record)
    assert not result.execution.faults
    rows = result.rows[0] if old else result.rows
    after = exchanged(memory, data)
    for i in range(2):
        assert rows[i].tolist() == memory[:, i].tolist() and rows[2 + i].tolist() == after[:, i].tolist()


@pytest.mark.parametrize("target", ["gfx942", "gfx950", "gfx1100"])
def test_whole_quads_of_32_bits(target: str) -> None:
    for value in (0, 1, 0x80000000, 0x00010080, 0xFFFFFFFF, 0x01000000):
        wave = Wave(target, 64, s2=value).run("s_wqm_b32 s3, s2")
        quads = sum(0xF << i for i in range(0, 32, 4) if value >> i & 0xF)
        assert (wave["s3"][0], wave["scc"][0]) == (quads, int(quads != 0))


def test_a_signed_product_has_the_low_half_of_an_unsigned_one() -> None:
    a = np.array([-1, 5, 1 << 31, 0x12345678] * 16, np.int64) & 0xFFFFFFFF
    b = np.array([-7, -1, -1, 0x87654321] * 16, np.int64) & 0xFFFFFFFF
    wave = Wave("gfx942", 64, v2=a, v3=b).run("v_mul_lo_i32 v4, v2, v3\nv_mul_lo_u32 v5, v2, v3")
    assert wave["v4"].tolist() == [int(x) * int(y) & 0xFFFFFFFF for x, y in zip(a, b, strict=True)]
    assert (wave["v4"] == wave["v5"]).all()

"""Workgroups of two and three dimensions: what v0, EXEC and the dispatch packet hold."""

from __future__ import annotations

import numpy as np
import pytest
from _asm import Snippet

from antiphase import asm
from antiphase.frontends import launch_asm

FLAT = """v_and_b32 v5, 0x3ff, v0
v_bfe_u32 v3, v0, 10, 10
v_bfe_u32 v4, v0, 20, 10
v_mul_u32_u24 v4, {y}, v4
v_add_u32 v4, v4, v3
v_mul_u32_u24 v4, {x}, v4
v_add_u32 v4, v4, v5
v_lshlrev_b32 v1, 2, v4"""


def ids(sides: tuple[int, int, int]) -> np.ndarray:
    place = np.arange(np.prod(sides))
    return place % sides[0] | place // sides[0] % sides[1] << 10 | place // (sides[0] * sides[1]) << 20


@pytest.mark.parametrize("sides", [(8, 4, 1), (5, 3, 7), (64, 1, 1), (1, 1, 130), (32, 32, 1)])
def test_work_item_ids_are_packed_x_fastest(sides: tuple[int, int, int]) -> None:
    count = int(np.prod(sides))
    k = Snippet(threads=count, descriptor={"system_vgpr_workitem_id": 2})
    k(FLAT.format(x=sides[0], y=sides[1]))
    k.keep("v0")
    out = np.zeros((1, 1, count), np.uint32)
    launch_asm(k.program(), grid=1, args=[out], threads=sides)
    assert (out[0, 0] == ids(sides)).all()


def test_without_being_asked_for_y_and_z_stay_out_of_v0() -> None:
    k = Snippet(threads=64)
    k("v_mov_b32 v2, v0\nv_mbcnt_lo_u32_b32 v1, -1, 0\nv_mbcnt_hi_u32_b32 v1, -1, v1\nv_lshlrev_b32 v1, 2, v1")
    k.keep("v2")
    out = np.zeros((1, 1, 64), np.uint32)
    launch_asm(k.program(), grid=1, args=[out], threads=(16, 4))
    assert (out[0, 0] == np.arange(64) % 16).all()


@pytest.mark.parametrize(("sides", "grid"), [((16, 4, 1), (3, 2, 1)), ((2, 3, 5), (1, 2, 3)), ((60, 1, 1), (7, 1, 1))])
def test_the_dispatch_packet_tells_the_shape(sides: tuple[int, int, int], grid: tuple[int, int, int]) -> None:
    """HSA runtime specification 2.9.6: dimensions, sides of the workgroup in 16 bits, sides of the grid in 32."""
    k = Snippet(
        threads=int(np.prod(sides)),
        descriptor={"user_sgpr_count": 4, "user_sgpr_dispatch_ptr": 1, "system_sgpr_workgroup_id_x": 0,
                    "system_sgpr_workgroup_id_y": 0, "system_sgpr_workgroup_id_z": 0},
    )  # fmt: skip
    text = k.text().replace("s_load_dwordx2 s[8:9], s[0:1], 0x0", "s_load_dwordx8 s[16:23], s[0:1], 0x0\n"
                            "s_load_dwordx2 s[8:9], s[2:3], 0x0")  # fmt: skip
    body = "".join(f"v_mov_b32 v2, s{16 + i}\nglobal_store_dword v1, v2, s[8:9] offset:{4 * i}\n" for i in range(6))
    program = asm.parse(text.replace("s_mul_i32 s94, s2, 0\n", "v_mov_b32 v1, 0\n" + body))
    out = np.zeros(6, np.uint32)
    launch_asm(program, grid=grid, args=[out], threads=sides)
    total = [a * b for a, b in zip(sides, grid, strict=True)]
    dimensions = max(i + 1 for i in range(3) if total[i] > 1)
    assert out[0] >> 16 == dimensions
    assert out[1] == sides[0] | sides[1] << 16 and out[2] == sides[2]
    assert out[3:].tolist() == total

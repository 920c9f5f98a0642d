"""GPR index mode of CDNA 3 and 4: M0[7:0] adds to VGPR numbers of the VALU, M0[15:12] says of which operands (6.6)."""

from __future__ import annotations

import numpy as np
import pytest
from _asm import Kept, Snippet

from antiphase.errors import Unsupported

LANES = np.arange(64)
NAMES = ("SRC0", "SRC1", "SRC2", "DST")
on_both_targets = pytest.mark.parametrize("target", ["gfx942", "gfx950"])


def kernel(target: str = "gfx942") -> Snippet:
    """v10 to v39 hold 1000 + 100 * i + lane."""
    k = Snippet(target=target)
    for i in range(30):
        k(f"v_add_u32 v{10 + i}, {1000 + 100 * i}, v0")
    return k


def filled(register: int) -> np.ndarray:
    return (100 * register + LANES).astype(np.uint32)


def after(body: str, *kept: str, target: str = "gfx942", record: bool = False) -> Kept:
    k = kernel(target)
    k(body)
    k("s_set_gpr_idx_off")
    k.keep(*kept)
    return k.run(record=record)


@on_both_targets
@pytest.mark.parametrize("record", [False, True], ids=["fast", "recording"])
def test_every_choice_of_operands(target: str, record: bool) -> None:
    k = kernel(target)
    for bits in range(16):
        chosen = ",".join(name for i, name in enumerate(NAMES) if bits >> i & 1)
        k(f"v_mov_b32 v40, 0\nv_mov_b32 v45, 0\ns_movk_i32 s20, 5\ns_set_gpr_idx_on s20, gpr_idx({chosen})")
        k("v_add3_u32 v40, v10, v20, v30\ns_set_gpr_idx_off")
        k.keep("v40", "v45")
    rows = k.run(record=record)
    for bits in range(16):
        total = sum(filled(10 * (i + 1) + 5 * (bits >> i & 1)) for i in range(3))
        moved = bits >> 3
        assert np.array_equal(rows[2 * bits + moved], total) and not rows[2 * bits + 1 - moved].any()


def test_the_index_and_the_operands_are_those_of_m0() -> None:
    """However they got there, and the other bits of M0 stay as they are."""
    k = kernel()
    k("s_mov_b32 m0, 0x12340f03\ns_movk_i32 s20, 0x107\ns_set_gpr_idx_on s20, 1\nv_mov_b32 v40, v10")
    k("s_mov_b32 s21, m0\ns_set_gpr_idx_idx 4\nv_mov_b32 v41, v10\ns_set_gpr_idx_mode 2")
    k("v_sub_u32 v42, v10, v11\ns_mov_b32 m0, 0x1009\nv_mov_b32 v43, v10\ns_set_gpr_idx_off")
    k("v_mov_b32 v44, v10\nv_mov_b32 v45, s21")
    k.keep("v40", "v41", "v42", "v43", "v44", "v45")
    rows = k.run()
    assert np.array_equal(rows[0], filled(17)) and np.array_equal(rows[1], filled(14))
    assert np.array_equal(rows[2], filled(10) - filled(15)) and np.array_equal(rows[3], filled(19))
    assert np.array_equal(rows[4], filled(10)) and (rows[5] == 0x12341F07).all()


def test_an_accumulator_moves_with_the_result() -> None:
    rows = after(
        "s_set_gpr_idx_on 3, gpr_idx(DST,SRC2)\nv_dot4c_i32_i8 v10, v1, v1\nv_fmac_f32 v20, 1.0, 0", "v10", "v13", "v23"
    )
    lanes = 4 * LANES
    assert np.array_equal(rows[0], filled(10))
    low, high = (lanes & 0xFF).astype(np.uint8).astype(np.int8).astype(np.int32), lanes >> 8
    assert np.array_equal(rows[1].astype(np.int64), filled(13) + low**2 + high**2)
    assert np.array_equal(rows[2], filled(23))


def test_constants_scalars_and_lane_moves() -> None:
    body = """s_movk_i32 s20, 6
              s_set_gpr_idx_on s20, gpr_idx(SRC0,SRC1,DST)
              v_fmamk_f32 v34, v10, 0x3f800000, v11
              v_mov_b32_dpp v35, v11 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0
              v_readlane_b32 s21, v12, 3
              v_readfirstlane_b32 s22, v13
              v_writelane_b32 v30, s22, 5
              v_cmp_lt_u32 vcc, 5, v14
              v_add_u32 v31, s20, v15"""
    rows = after(
        body + "\ns_set_gpr_idx_off\nv_mov_b32 v50, s21\nv_mov_b32 v51, s22", "v41", "v50", "v51", "v36", "v37"
    )
    shifted = np.where(LANES % 16 == 0, 0, np.roll(filled(17), 1))
    assert np.array_equal(rows[0], shifted)
    assert (rows[1] == 1800 + 3).all() and (rows[2] == 1900).all()
    assert rows[3][5] == 1900 and np.array_equal(np.delete(rows[3], 5), np.delete(filled(36), 5))
    assert np.array_equal(rows[4], 6 + filled(21))


def test_wide_and_narrow_operands() -> None:
    body = """s_set_gpr_idx_on 4, gpr_idx(SRC0,DST)
              v_mov_b64 v[20:21], v[10:11]
              v_add_u16_sdwa v26, v10, v11 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0 src1_sel:WORD_0"""
    rows = after(body, "v24", "v25", "v30")
    assert np.array_equal(rows[0], filled(14)) and np.array_equal(rows[1], filled(15))
    assert np.array_equal(rows[2], filled(30) | (filled(14) + filled(11)) << 16)


def test_inactive_lanes_keep_what_they_had() -> None:
    rows = after("s_mov_b64 exec, 0xff\ns_set_gpr_idx_on 2, gpr_idx(DST)\nv_mov_b32 v20, v10", "v22")
    assert np.array_equal(rows[0], np.where(LANES < 8, filled(10), filled(22)))


def test_accumulation_registers_are_read_relative() -> None:
    """What hipBLASLt does on gfx950 to store an accumulator in a loop (tensilelite, mapAcctoArchRegs)."""
    body = "\n".join(f"v_accvgpr_write_b32 a{i}, v{10 + i}" for i in range(8))
    body += (
        "\ns_mov_b32 m0, 3\ns_set_gpr_idx_on m0, gpr_idx(SRC0)\nv_accvgpr_read_b32 v40, a2\nv_accvgpr_read_b32 v41, a3"
    )
    rows = after(body, "v40", "v41", target="gfx950")
    assert np.array_equal(rows[0], filled(15)) and np.array_equal(rows[1], filled(16))


def test_memory_and_scalar_instructions_do_not_move() -> None:
    k = Snippet(inputs=1, lds=1024)
    k("v_mov_b32 v2, 5\nv_mov_b32 v3, 6\nv_mov_b32 v4, 7\ns_set_gpr_idx_on 1, 15\nds_write_b32 v1, v2")
    k("ds_read_b32 v5, v1\ns_mov_b32 s20, 9\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v1, v3, s[10:11]")
    k("s_waitcnt vmcnt(0)\ns_set_gpr_idx_off")
    k("v_mov_b32 v6, s20")
    k.keep("v5", "v6")
    data = np.zeros(64, np.uint32)
    rows = k.run(data)
    assert (rows[0] == 5).all() and (rows[1] == 9).all() and (data == 6).all()


def test_out_of_range() -> None:
    """256 VGPRs: v0 is the source, with a result nothing is written, VCC of the same instruction neither."""
    body = """s_mov_b64 vcc, 0x55
              s_movk_i32 s20, 250
              s_set_gpr_idx_on s20, gpr_idx(SRC0)
              v_mov_b32 v40, v10
              s_set_gpr_idx_on s20, gpr_idx(DST)
              v_mov_b32 v41, v10
              v_add_co_u32 v41, vcc, -1, v10
              s_set_gpr_idx_off
              v_mov_b32 v42, vcc_lo"""
    rows = after(body, "v40", "v41", "v42")
    assert np.array_equal(rows[0], LANES) and not rows[1].any() and (rows[2] == 0x55).all()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("v_mfma_f32_4x4x1_16b_f32 v[20:23], v10, v11, v[24:27]", "a matrix instruction in GPR index mode"),
        ("v_accvgpr_write_b32 a0, v10", "an AGPR written in GPR index mode"),
        ("v_swap_b32 v10, v11", "an exchange in GPR index mode"),
    ],
)
def test_what_no_manual_says_is_refused(line: str, reason: str) -> None:
    with pytest.raises(Unsupported, match=reason):
        after(f"s_set_gpr_idx_on 1, gpr_idx(SRC0)\n{line}")


def test_the_mode_is_followed_along_branches() -> None:
    body = """s_set_gpr_idx_on 1, gpr_idx(SRC0)
              s_branch .Lthere
              .Lthere:
              v_mov_b32 v40, v10
              s_getreg_b32 s20, hwreg(HW_REG_MODE, 27, 1)
              s_set_gpr_idx_off
              s_getreg_b32 s21, hwreg(HW_REG_MODE, 27, 1)
              v_mov_b32 v41, s20
              v_mov_b32 v42, s21"""
    rows = after(body, "v40", "v41", "v42")
    assert np.array_equal(rows[0], filled(11)) and (rows[1] == 1).all() and not rows[2].any()


def test_paths_that_disagree_are_refused() -> None:
    body = """s_cmp_eq_u32 s2, 0
              s_cbranch_scc1 .Lthere
              s_set_gpr_idx_on 1, gpr_idx(SRC0)
              .Lthere:
              v_mov_b32 v40, v10"""
    with pytest.raises(Unsupported, match="two different values of MODE"):
        after(body)


def test_many_of_one_form_share_it_with_those_outside() -> None:
    rows = after(
        "v_mov_b32 v40, v10\nv_mov_b32 v41, v11\nv_mov_b32 v42, v12\ns_set_gpr_idx_on 7, 1\nv_mov_b32 v43, v10\n"
        "v_mov_b32 v44, v11\nv_mov_b32 v45, v12",
        *(f"v{i}" for i in range(40, 46)),
    )
    for number, register in enumerate((10, 11, 12, 17, 18, 19)):
        assert np.array_equal(rows[number], filled(register))

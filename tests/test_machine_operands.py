"""EXEC, scalar state, and the operand modifiers: lane movement, parts of registers, signs, clamping."""

from __future__ import annotations

import numpy as np
import pytest
from _asm import Snippet
from _wave import Wave

LANES = np.arange(64, dtype=np.uint32)


def u16(kept_row: np.ndarray) -> np.ndarray:
    return (kept_row & 0xFFFF).astype(np.uint16).view(np.float16)


def test_exec_zero_partial_and_full() -> None:
    k = Snippet(inputs=1)
    k("v_mov_b32 v2, 1\nv_mov_b32 v3, 1\nv_add_u32 v4, 10, v0\ns_mov_b64 exec, 0\nv_mov_b32 v2, 2")
    k("""v_readfirstlane_b32 s16, v4
         v_cmp_eq_u32 vcc, v0, v0
         global_store_dword v1, v0, s[10:11]
         s_mov_b64 s[18:19], vcc""")
    k("""v_readlane_b32 s17, v4, 5
         v_writelane_b32 v3, 33, 9
         s_mov_b64 exec, 0xf0
         v_readfirstlane_b32 s20, v4
         v_mov_b32 v2, 3""")
    k("v_cmp_gt_u32 s[22:23], 6, v0\nv_cmp_ne_u32 vcc, 5, v0\ns_bcnt1_i32_b64 s21, exec\ns_mov_b64 exec, -1")
    k.keep("v2", "s16", "s18", "s17", "v3", "s20", "s22", "s23", "vcc_lo", "s21")
    data = LANES.copy() + 5
    kept = k.run(data)
    assert (kept[0] == np.where((LANES >= 4) & (LANES < 8), 3, 1)).all()
    assert kept[1][0] == 10, "with EXEC zero, v_readfirstlane takes lane 0"
    assert kept[2][0] == 0 and (data == LANES + 5).all()
    assert kept[3][0] == 15 and (kept[4] == np.where(LANES == 9, 33, 1)).all(), "readlane, writelane ignore EXEC"
    assert [int(kept[i][0]) for i in (5, 6, 7, 8, 9)] == [14, 0x30, 0, 0xD0, 4], "inactive lanes compare as 0"


def test_scalar_branches_and_flags() -> None:
    k = Snippet()
    k("""s_mov_b32 s16, 0
         s_cmp_eq_u32 s16, 1
         s_cselect_b32 s17, 3, 4
         s_add_u32 s18, -1, 2
         s_addc_u32 s19, 0, 0""")
    k("""s_mov_b64 vcc, 0
         s_cbranch_vccz .La
         s_or_b32 s16, s16, 1
         .La:
         s_mov_b64 vcc, 1
         s_cbranch_vccnz .Lb
         s_or_b32 s16, s16, 2
         .Lb:""")
    k("""s_mov_b64 exec, 0
         s_cbranch_execz .Lc
         s_or_b32 s16, s16, 4
         .Lc:
         s_cbranch_execnz .Ld
         s_or_b32 s16, s16, 8
         .Ld:
         s_mov_b64 exec, -1""")
    k("""s_and_b32 s20, s16, 1
         s_cbranch_scc0 .Le
         s_or_b32 s16, s16, 16
         .Le:
         s_cbranch_scc1 .Lf
         s_or_b32 s16, s16, 32
         .Lf:""")
    k("""s_movk_i32 m0, -7
         s_mov_b32 s21, m0
         s_and_saveexec_b64 s[24:25], vcc
         s_mov_b64 s[26:27], exec
         s_cselect_b32 s28, 1, 0
         s_mov_b64 exec, s[24:25]""")
    k.keep("s16", "s17", "s18", "s19", "s21", "s24", "s26", "s28")
    kept = k.run()
    got = [int(kept[i][0]) for i in range(8)]
    assert got == [8 | 32, 4, 1, 1, 2**32 - 7, 2**32 - 1, 1, 1]


DPP = [
    ("quad_perm:[3,0,0,2]", lambda i: (i & ~3) + [3, 0, 0, 2][i & 3]),
    ("row_shl:3", lambda i: i + 3 if i % 16 + 3 < 16 else None),
    ("row_shr:5", lambda i: i - 5 if i % 16 >= 5 else None),
    ("row_ror:4", lambda i: (i & ~15) + (i - 4) % 16),
    ("row_mirror", lambda i: (i & ~15) + 15 - i % 16),
    ("row_half_mirror", lambda i: (i & ~7) + 7 - i % 8),
    ("row_newbcast:6", lambda i: (i & ~15) + 6),
    ("row_bcast:15", lambda i: (i & ~15) - 1 if i >= 16 else None),
    ("row_bcast:31", lambda i: 31 if i >= 32 else None),
    ("wave_shl:1", lambda i: i + 1 if i < 63 else None),
    ("wave_shr:1", lambda i: i - 1 if i else None),
    ("wave_rol:1", lambda i: (i + 1) % 64),
    ("wave_ror:1", lambda i: (i - 1) % 64),
]


def test_every_lane_movement_with_and_without_bound_ctrl_under_partial_exec() -> None:
    """A lane without a source, or with an inactive one, keeps its register, or with bound_ctrl:1 reads 0."""
    k = Snippet()
    k("v_add_u32 v2, 100, v0\ns_mov_b32 s16, 0xfffffff7\ns_mov_b32 s17, 0x7fffffff")
    for control, _ in DPP:
        for bound in ("", " bound_ctrl:0"):
            k(f"""v_mov_b32 v3, 7
                  s_mov_b64 exec, s[16:17]
                  v_mov_b32_dpp v3, v2 {control} row_mask:0xf bank_mask:0xf{bound}
                  s_mov_b64 exec, -1""")
            k.keep("v3")
    k("""v_mov_b32 v3, 7
         v_mov_b32_dpp v3, v2 row_mirror row_mask:0x5 bank_mask:0xa
         v_add_u32_dpp v4, v2, v0 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf""")
    k.keep("v3", "v4")
    kept = k.run()
    active = (LANES != 3) & (LANES != 63)
    for n, (control, source) in enumerate(DPP):
        for bound in (0, 1):
            expected = []
            for i in range(64):
                from_ = source(i)
                if not active[i]:
                    expected.append(7)
                elif from_ is not None and active[from_]:
                    expected.append(100 + from_)
                else:
                    expected.append(0 if bound else 7)
            np.testing.assert_array_equal(kept[2 * n + bound], expected, f"{control} bound_ctrl {bound}")
    enabled = np.isin(LANES // 16, (0, 2)) & np.isin(LANES // 4 % 4, (1, 3))
    assert (kept[26] == np.where(enabled, 100 + (LANES & ~np.uint32(15)) + 15 - LANES % 16, 7)).all()
    assert (kept[27] == 100 + (LANES ^ 1) + LANES).all()


def test_sdwa_selects_parts_of_sources_and_of_the_result() -> None:
    k = Snippet()
    k("v_mov_b32 v2, 0x8899aabb\nv_mov_b32 v3, 0x01020304\nv_mov_b32 v9, 0x11223344")
    for unused in ("UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"):
        for part in ("BYTE_0", "BYTE_1", "BYTE_3", "WORD_0", "WORD_1"):
            k(f"""v_mov_b32 v4, v9
                  v_add_u32_sdwa v4, v2, v3 dst_sel:{part} dst_unused:{unused} src1_sel:BYTE_2""")
            k.keep("v4")
    k("v_add_u32_sdwa v4, v2, v3 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:BYTE_0")
    k("v_add_u32_sdwa v5, sext(v2), v3 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:WORD_0")
    k("""v_mov_b32 v6, 0xbc003c00
         v_add_f16_sdwa v7, |v6|, -v6 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:WORD_1""")
    k.keep("v4", "v5", "v7")
    kept = k.run()
    total = (0x8899AABB + 0x02) & 0xFFFFFFFF
    row = 0
    for unused in ("UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"):
        for bits, shift in ((8, 0), (8, 8), (8, 24), (16, 0), (16, 16)):
            field = (1 << bits) - 1
            part = (total & field) << shift
            if unused == "UNUSED_SEXT" and total >> (bits - 1) & 1:
                part |= 0xFFFFFFFF << (shift + bits) & 0xFFFFFFFF
            if unused == "UNUSED_PRESERVE":
                part |= 0x11223344 & ~(field << shift)
            assert kept[row][0] == part, (unused, bits, shift, hex(kept[row][0]))
            row += 1
    assert kept[row][0] == 0x8899 + 0x04
    assert kept[row + 1][0] == (0xFFFFFFAA + 0x0304) & 0xFFFFFFFF
    assert kept[row + 2][0] == 0x40000000, "|-1| - -1 = 2"


def test_op_sel_packs_and_signs() -> None:
    k = Snippet()
    # v2 = (1, -2), v3 = (0.5, 4) as halves, low first
    k("v_mov_b32 v2, 0xc0003c00\nv_mov_b32 v3, 0x44003800\nv_mov_b32 v4, 0xaaaa5555")
    k("""v_pk_add_f16 v5, v2, v3
         v_pk_add_f16 v6, v2, v3 op_sel:[1,0] op_sel_hi:[0,1]
         v_pk_mul_f16 v7, v2, v3 neg_lo:[1,0] neg_hi:[0,1]""")
    k("v_pk_add_f16 v8, v2, 1.0 op_sel_hi:[1,0]\nv_pk_add_u16 v9, v4, v2 clamp\nv_add_f16_e64 v10, -v2, |v3|")
    k("v_fma_f16 v4, v2, v3, v3 op_sel:[1,0,1,1]")
    k.keep("v5", "v6", "v7", "v8", "v9", "v10", "v4")
    k("""v_mov_b32 v12, 2.0
         v_mov_b32 v13, 3.0
         v_mov_b32 v14, -4.0
         v_mov_b32 v15, 1.0
         v_pk_fma_f32 v[16:17], v[12:13], v[14:15], v[12:13] op_sel_hi:[0,1,1]""")
    k("v_sub_f32_e64 v18, |v14|, -v12\nv_mul_f32_e64 v19, -|v14|, v12\nv_fma_f32 v20, -v12, v13, |v14|")
    k.keep("v16", "v17", "v18", "v19", "v20")
    kept = k.run()
    half = [kept[i].view(np.float16)[:2].tolist() for i in range(4)]
    assert half == [[1.5, 2.0], [-1.5, 5.0], [-0.5, 8.0], [2.0, -1.0]]
    assert kept[4][0] == (min(0xAAAA + 0xC000, 0xFFFF) << 16 | 0x5555 + 0x3C00)
    assert u16(kept[5])[0] == -0.5
    assert kept[6][0] == int(np.float16(-2 * 0.5 + 4).view(np.uint16)) << 16 | 0x5555, "the other half is kept"
    single = [float(kept.as_(i, np.float32)[0]) for i in range(7, 12)]
    assert single == [-6.0, 5.0, 6.0, -8.0, -2.0]


def test_inline_float_constants_have_the_width_of_their_instruction() -> None:
    """Integers on halves see an f32, of which only the high half is not zero (LLVM getInlineEncodingV216)."""
    wave = Wave("gfx1250", 32, v1=0x00030005)
    wave.run("v_pk_add_u16 v2, v1, 2.0\nv_pk_add_u16 v3, v1, 2.0 op_sel_hi:[1,0]\nv_pk_mul_lo_u16 v4, v1, -0.5")
    assert [wave[f"v{i}"][0] for i in (2, 3, 4)] == [0x40030005, 0x00030005, (3 * 0xBF00 & 0xFFFF) << 16]
    wave.run("v_add_nc_u16 v5, v1, 4.0\nv_add_nc_u16 v6, v1, 0.15915494\nv_pk_add_f16 v7, 1.0, 1.0")
    assert [wave[f"v{i}"][0] & 0xFFFF for i in (5, 6, 7)] == [5, 5 + 0xF983, 0x4000]


def test_inline_constants_of_bf16_instructions_are_f32_on_gfx1250() -> None:
    """AMD CDNA5 ISA 4.1, 7.7.2; LLVM FeatureBF16InlineConstFromUpperFP32, pull requests 183487, 209861 and 223035."""
    wave = Wave("gfx1250", 32, v1=0x40004040)
    wave.run("v_pk_add_bf16 v2, v1, 1.0\nv_pk_add_bf16 v3, v1, 1.0 op_sel:[0,1]\nv_pk_add_bf16 v4, v1, 3.0")
    assert [wave[f"v{i}"][0] for i in (2, 3, 4)] == [0x40404040, 0x40404080, 0x400040C0]
    wave.run("v_exp_bf16_e32 v5, 1.0\nv_exp_bf16_e64 v6, 1.0 op_sel:[1,0]\nv_cvt_f32_bf16_e64 v7, -2.0 op_sel:[1,0]")
    assert [wave[f"v{i}"][0] for i in (5, 6, 7)] == [0x3F80, 0x4000, 0xC0000000]
    wave.run("v_fma_mix_f32_bf16 v8, 1.0, 2.0, v1 op_sel:[1,1,0] op_sel_hi:[1,1,1]")
    assert wave["v8"][0] == 0x40A00000


@pytest.mark.parametrize(("ieee", "denormals", "works"), [(0, 0, True), (1, 0, False), (0, 3, False)])
def test_clamp_and_omod(ieee: int, denormals: int, works: bool) -> None:
    """omod does nothing in IEEE mode, nor where denormal results are kept."""
    k = Snippet(
        descriptor={
            "ieee_mode": ieee,
            "float_denorm_mode_32": denormals,
            "float_denorm_mode_16_64": denormals,
        }
    )
    k("""v_mov_b32 v2, 3.0
         v_mov_b32 v3, 0x7fc00000
         v_mov_b32 v4, 0x4200
         v_add_f32_e64 v5, v2, 0.5 mul:4
         v_add_f32_e64 v6, v2, 0.5 div:2""")
    k("""v_add_f32_e64 v7, v2, 0.5 clamp
         v_mul_f32_e64 v8, v2, -1.0 clamp
         v_mul_f32_e64 v9, v3, 1.0 clamp
         v_mul_f32_e64 v10, v2, 0.5 clamp mul:2""")
    k("""v_add_f16_e64 v11, v4, v4 mul:2
         v_add_f16_e64 v12, v4, v4 clamp
         v_sub_u32_e64 v13, v0, 10 clamp
         v_mul_f32 v14, 0x3e000000, v2
         v_max_f32_e64 v14, v14, v14 clamp""")
    k.keep(*(f"v{i}" for i in range(5, 15)))
    kept = k.run()
    single = [float(kept.as_(i, np.float32)[0]) for i in (0, 1, 2, 3, 4, 5, 9)]
    assert single == [14.0 if works else 3.5, 1.75 if works else 3.5, 1.0, 0.0, 0.0, 1.0, 0.375]
    assert u16(kept[6])[0] == (12.0 if works else 6.0) and u16(kept[7])[0] == 1.0
    assert (kept[8] == np.maximum(LANES.astype(np.int64) - 10, 0)).all()


def test_accumulation_registers_are_their_own_bank() -> None:
    k = Snippet(inputs=1)
    k("""v_add_u32 v2, 1, v0
         v_accvgpr_write_b32 a2, v0
         v_accvgpr_write_b32 a3, 17
         s_mov_b64 exec, 1
         v_accvgpr_write_b32 a3, 18
         s_mov_b64 exec, -1""")
    k("""v_accvgpr_read_b32 v3, a2
         v_accvgpr_mov_b32 a4, a2
         global_load_dword a5, v1, s[10:11]
         s_waitcnt vmcnt(0)
         global_store_dword v1, a3, s[10:11]""")
    k.keep("v2", "v3", "a3", "a4", "a5", "a255")
    data = LANES * 7
    kept = k.run(data.copy())
    for row, expected in enumerate((LANES + 1, LANES, np.where(LANES == 0, 18, 17), LANES, data, np.zeros(64))):
        assert (kept[row] == expected).all(), row


def test_a_denormal_literal_is_flushed_like_any_input() -> None:
    k = Snippet(descriptor={"float_denorm_mode_32": 0})
    k("v_mov_b32 v2, 0x7f000000\nv_mul_f32 v3, 0x00400000, v2")
    k.keep("v3")
    assert (k.run()[0] == 0).all()

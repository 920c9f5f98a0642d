"""The rows of the spacing tests: what comes first, what comes second, and how far apart they must be."""

from __future__ import annotations

from dataclasses import dataclass

CDNA = ("gfx942", "gfx950")
RDNA3 = ("gfx1100", "gfx1101", "gfx1102", "gfx1103")
RDNA35 = ("gfx1150", "gfx1151", "gfx1152", "gfx1153")
RDNA4 = ("gfx1200", "gfx1201")


@dataclass(frozen=True)
class Row:
    """rule: its id. before, after: instructions, `;` between them. need: separators; each is `filler`.

    need is a number for all targets or one for each.
    """

    rule: str
    before: str
    after: str
    need: int | tuple[int, ...]
    targets: tuple[str, ...] = CDNA
    filler: str = "s_nop 0"
    wave64: bool = False
    severity: str = "error"

    def cases(self) -> list[tuple[Row, str, int]]:
        """(row, target, separators needed)."""
        needs = self.need if isinstance(self.need, tuple) else (self.need,) * len(self.targets)
        return [(self, target, need) for target, need in zip(self.targets, needs, strict=True)]


MFMA = {  # passes: an XDL instruction of that many, with its D and its sources
    2: "v_mfma_f32_4x4x4_16b_f16 v[0:3], v[40:41], v[42:43], {c}",
    4: "v_mfma_f32_16x16x16_f16 v[0:3], v[40:41], v[42:43], {c}",
    8: "v_mfma_f32_32x32x8_f16 v[0:15], v[40:41], v[42:43], {c}",
    16: "v_mfma_f32_32x32x4_2b_f16 v[0:31], v[40:41], v[42:43], {c}",
}
SGEMM = {
    2: "v_mfma_f32_4x4x1_16b_f32 v[0:3], v40, v41, {c}",
    8: "v_mfma_f32_16x16x4_f32 v[0:3], v40, v41, {c}",
    16: "v_mfma_f32_32x32x2_f32 v[0:15], v40, v41, {c}",
}
SIZE = {2: 4, 4: 4, 8: 16, 16: 32}
XDL_USE = {2: (5, 5), 4: (7, 8), 8: (11, 12), 16: (19, 20)}
XDL_C = {2: (3, 4), 4: (5, 6), 8: (9, 10), 16: (17, 18)}
XDL_GEMM = {2: (3, 3), 4: (5, 6), 8: (9, 10), 16: (17, 18)}
D16 = "v_mfma_f64_16x16x4_f64 v[0:7], v[40:41], v[42:43], 0"
D4 = "v_mfma_f64_4x4x4_4b_f64 v[0:1], v[40:41], v[42:43], 0"
READ, WRITE, STORE = "v_add_f32 v90, v1, v91", "v_mov_b32 v1, v91", "global_store_dword v90, v1, s[2:3]"
IN_A = "v_mfma_f32_16x16x16_f16 v[44:47], v[0:1], v[42:43], 0"
XDL_PARTIAL = "v_mfma_f32_16x16x16_f16 v[2:5], v[40:41], v[42:43], v[2:5]"
SGEMM_PARTIAL = "v_mfma_f32_16x16x4_f32 v[2:5], v40, v41, v[2:5]"
CDNA_ROWS = [
    Row("valu_sgpr_to_vmem", "v_readfirstlane_b32 s4, v0", "global_load_dword v1, v2, s[4:5]", 5),
    Row("valu_sgpr_to_vmem", "v_cmp_eq_u32 s[4:5], v0, v1", "buffer_load_dword v1, v2, s[4:7], 0 offen", 5),
    Row("valu_sgpr_to_lane_select", "v_readfirstlane_b32 s4, v0", "v_readlane_b32 s5, v3, s4", 4),
    Row("valu_sgpr_to_lane_select", "v_readfirstlane_b32 s4, v0", "v_writelane_b32 v3, 0, s4", 4),
    Row("valu_vcc_to_div_fmas", "v_div_scale_f32 v0, vcc, v1, v2, v1", "v_div_fmas_f32 v5, v6, v7, v8", 4),
    Row(
        "valu_vgpr_to_dpp", "v_mov_b32 v1, v2", "v_mov_b32_dpp v3, v1 row_shr:1 row_mask:0xf bank_mask:0xf",
        2,
    ),
    Row(
        "load_vgpr_to_dpp", "ds_read_b32 v1, v2; s_waitcnt lgkmcnt(0)",
        "v_mov_b32_dpp v3, v1 row_shr:1 row_mask:0xf bank_mask:0xf", 1, severity="warning",
    ),
    Row(
        "valu_exec_to_dpp", "v_cmpx_eq_u32 v1, v2",
        "v_mov_b32_dpp v3, v4 row_shr:1 row_mask:0xf bank_mask:0xf", 5,
    ),
    Row(
        "setreg_to_same_register", "s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s0",
        "s_getreg_b32 s1, hwreg(HW_REG_MODE)", 2,
    ),
    Row("setreg_trapsts_to_rfe", "s_setreg_b32 hwreg(HW_REG_TRAPSTS, 0, 4), s0", "s_rfe_b64 s[2:3]", 1),
    Row(
        "setreg_vskip_to_vector", "s_setreg_b32 hwreg(HW_REG_MODE), s0", "v_mov_b32 v0, v1",
        2, severity="warning",
    ),
    Row(
        "setvskip_to_getreg_mode", "s_setvskip s0, 1", "s_getreg_b32 s1, hwreg(HW_REG_MODE)",
        2, severity="warning",
    ),
    Row("salu_m0_to_reader", "s_mov_b32 m0, s0", "s_sendmsg sendmsg(MSG_INTERRUPT)", 1),
    Row("salu_m0_to_reader", "s_mov_b32 m0, s0", "buffer_load_dword v2, s[4:7], 0 offen lds", 1),
    Row("salu_m0_to_reader", "s_mov_b32 m0, s0", "ds_read_addtid_b32 v0", 1),
    Row("wide_store_data_to_valu", "global_store_dwordx4 v4, v[0:3], s[2:3]", WRITE, 2),
    Row("wide_store_data_to_valu", "buffer_store_dwordx3 v[0:2], v4, s[4:7], 0 offen", WRITE, 2),
    Row("wide_store_data_to_valu", "buffer_store_dwordx3 v[0:2], v4, s[4:7], s8 offen", WRITE, 0),
    Row("wide_store_data_to_valu", "global_store_dwordx2 v4, v[0:1], s[2:3]", WRITE, 0),
    Row(
        "wide_store_data_to_other", "global_store_dwordx4 v4, v[0:3], s[2:3]", "ds_read_b32 v1, v4",
        1, severity="warning",
    ),
    Row("trans_result_to_valu", "v_exp_f32 v1, v2", READ, 1),
    Row("trans_result_to_valu", "v_rsq_f64 v[0:1], v[2:3]", READ, 1),
    Row("trans_result_to_valu", "v_exp_f32 v1, v2", "v_log_f32 v3, v1", 0),
    Row(
        "part_of_vgpr_to_valu", "v_add_f16_sdwa v1, v2, v3 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE", READ,
        1,
    ),
    Row("part_of_vgpr_to_valu", "v_add_f16_sdwa v1, v2, v3 dst_sel:DWORD", READ, 0),
    Row("part_of_vgpr_to_valu", "v_mad_f16 v1, v2, v3, v4 op_sel:[0,0,0,1]", WRITE, 1),
    Row("part_of_vgpr_to_valu", "v_cvt_sr_fp8_f32 v1, v2, v3 op_sel:[0,0,1,0]", READ, 1),
    Row("part_of_vgpr_to_valu", "v_cvt_scalef32_sr_pk_fp4_f32 v1, v[2:3], v4, v5", READ, 1, ("gfx950",)),
    Row(
        "converts_into_one_vgpr", "v_cvt_pk_fp8_f32 v1, v2, v3", "v_cvt_pk_fp8_f32 v1, v4, v5 op_sel:[0,0,1]", 1,
        severity="warning",
    ),
    Row("valu_sgpr_to_valu_constant", "v_readfirstlane_b32 s4, v0", "v_mov_b32 v1, s4", 2),
    Row("valu_sgpr_to_valu_constant", "v_cmp_eq_u32 vcc, v0, v1", "v_mov_b32 v1, vcc_lo", 2),
    Row(
        "valu_sgpr_to_valu_mask", "v_cmp_eq_u32 vcc, v0, v1", "v_cndmask_b32 v2, v3, v4, vcc",
        2, severity="warning",
    ),
    Row("valu_exec_to_valu_constant", "v_cmpx_eq_u32 v0, v1", "v_mov_b32 v1, exec_lo", 2),
    Row("valu_vgpr_to_readlane", "v_mov_b32 v1, v2", "v_readlane_b32 s4, v1, 3", 1),
    Row(
        "valu_vgpr_to_readfirstlane", "v_mov_b32 v1, v2", "v_readfirstlane_b32 s4, v1",
        1, severity="warning",
    ),
    Row("valu_exec_to_lane_access", "v_cmpx_eq_u32 v0, v1", "v_readlane_b32 s4, v2, 3", 4),
    Row("valu_exec_to_lane_access", "v_cmpx_eq_u32 v0, v1", "v_writelane_b32 v2, 0, 3", 4),
    Row(
        "valu_mask_to_zero_flag", "v_cmp_eq_u32 vcc, v0, v1", "v_mov_b32 v2, src_vccz",
        5, severity="warning",
    ),
    Row("valu_mask_to_zero_flag", "v_cmpx_eq_u32 v0, v1", "v_mov_b32 v2, src_execz", 5, severity="warning"),
    Row("valu_vgpr_to_permlane_swap", "v_mov_b32 v1, v2", "v_permlane16_swap_b32 v1, v3", 2, ("gfx950",)),
    Row("valu_exec_to_permlane_swap", "v_cmpx_eq_u32 v4, v5", "v_permlane32_swap_b32 v1, v3", 4, ("gfx950",)),
    Row("dot_to_same_dot", "v_dot2_f32_f16 v1, v2, v3, v4", "v_dot2_f32_f16 v5, v1, v3, v4", 3),
    Row("dot_to_same_dot", "v_dot2_f32_f16 v1, v2, v3, v4", "v_dot2_f32_f16 v1, v2, v3, v1", 0),
    Row("dot_to_valu", "v_dot2_f32_f16 v1, v2, v3, v4", READ, 3),
    Row("dot_to_valu", "v_dot2_f32_f16 v1, v2, v3, v4", WRITE, 3),
    Row("dot_to_memory", "v_dot2_f32_f16 v1, v2, v3, v4", STORE, 3),
    Row("dot_to_mfma", "v_dot2_f32_f16 v1, v2, v3, v4", IN_A, 3, severity="warning"),
    Row("dgemm_to_f64_fma", D16, "v_fma_f64 v[60:61], v[62:63], v[64:65], v[66:67]", 2),
    Row("dgemm_to_f64_fma", D4, "v_fmac_f64 v[60:61], v[62:63], v[64:65]", 2),
    Row(
        "half_of_vcc_to_vccz_branch", "s_mov_b32 vcc_lo, s0", "s_cbranch_vccz end",
        1, filler="s_mov_b64 vcc, vcc",
    ),
    Row(
        "lds_load_m0_to_salu", "buffer_load_dword v2, s[4:7], 0 offen lds", "s_mov_b32 m0, s0",
        1, ("gfx950", ), severity="info",
    ),
    Row("valu_vgpr_to_mfma", "v_mov_b32 v1, v2", IN_A, 2),
    Row("valu_exec_to_mfma", "v_cmpx_eq_u32 v50, v51", IN_A, 4),
    *(
        row
        for passes, xdl in MFMA.items()
        for mfma, last in ((xdl.format(c=0), SIZE[passes] - 1),)
        for row in (
            Row("xdl_to_xdl_c_exact", mfma, xdl.format(c=f"v[0:{last}]"), 2 if passes == 2 else 0),
            Row("xdl_to_xdl_c_overlap", mfma, XDL_PARTIAL, XDL_C[passes]),
            Row("xdl_to_gemm_c_overlap", mfma, SGEMM_PARTIAL, XDL_GEMM[passes]),
            Row("xdl_to_mfma_ab", mfma, IN_A, XDL_USE[passes]),
            Row("xdl_to_valu", mfma, READ, XDL_USE[passes]),
            Row("xdl_to_valu", mfma, WRITE, XDL_USE[passes]),
            Row("xdl_to_memory", mfma, STORE, XDL_USE[passes]),
            Row("xdl_to_memory", mfma, "ds_write_b32 v90, v1", XDL_USE[passes]),
            Row(
                "xdl_c_overwritten_by_valu", xdl.format(c=f"v[100:{100 + last}]"), "v_mov_b32 v100, v91",
                {2: 1, 4: 3, 8: 7, 16: 15}[passes],
            ),
        )
    ),
    Row(
        "xdl_to_xdl_c_other_passes", "v_mfma_f32_4x4x4_16b_f16 v[0:3], v[40:41], v[42:43], 0",
        "v_mfma_f32_16x16x16_f16 v[0:3], v[40:41], v[42:43], v[0:3]", (3, 4), severity="warning",
    ),
    Row(
        "xdl_to_gemm_c_same_registers", MFMA[4].format(c=0), SGEMM[8].format(c="v[0:3]"),
        (5, 6), severity="warning",
    ),
    *(
        row
        for passes, sgemm in SGEMM.items()
        for mfma, last in ((sgemm.format(c=0), 15 if passes == 16 else 3),)
        for row in (
            Row("sgemm_to_sgemm_c_exact", mfma, sgemm.format(c=f"v[0:{last}]"), 2 if passes == 2 else 0),
            Row("sgemm_to_gemm_c_overlap", mfma, SGEMM_PARTIAL, passes),
            Row("sgemm_to_mfma_ab", mfma, IN_A, passes + 2),
            Row("sgemm_to_valu", mfma, READ, passes + 2),
            Row("sgemm_to_valu", mfma, WRITE, passes + 2),
            Row("sgemm_to_memory", mfma, STORE, passes + 2),
        )
    ),
    Row(
        "sgemm_to_gemm_c_other_passes", SGEMM[2].format(c=0), SGEMM[8].format(c="v[0:3]"),
        2, severity="warning",
    ),
    Row("sgemm_to_xdl_c_overlap", SGEMM[8].format(c=0), XDL_PARTIAL, 8, ("gfx942",), severity="warning"),
    Row("sgemm_to_xdl_c_overlap", SGEMM[8].format(c=0), XDL_PARTIAL, 0, ("gfx950",)),
    Row("sgemm_to_xdl_c_same", SGEMM[2].format(c=0), MFMA[4].format(c="v[0:3]"), 2, severity="warning"),
    Row("dgemm16_to_gemm_c_exact", D16, D16.replace(", 0", ", v[0:7]"), 0),
    Row(
        "dgemm16_to_gemm_c_overlap", D16, "v_mfma_f64_4x4x4_4b_f64 v[2:3], v[40:41], v[42:43], v[2:3]",
        (9, 17),
    ),
    Row("dgemm16_to_xdl_c", D16, XDL_PARTIAL, 0),
    Row("dgemm16_to_mfma_ab", D16, IN_A, (11, 19)),
    Row("dgemm16_to_valu_read", D16, READ, (11, 19)),
    Row("dgemm16_to_valu_write", D16, WRITE, 11, ("gfx942",)),
    Row("dgemm16_to_valu_write_by_manual", D16, WRITE, 19, ("gfx950",), severity="warning"),
    Row("dgemm16_to_memory", D16, STORE, 18),
    Row("dgemm4_to_dgemm4_c_exact", D4, D4.replace(", 0", ", v[0:1]"), 4),
    Row("dgemm4_to_gemm_c_overlap", D4, SGEMM_PARTIAL.replace("[2:5]", "[0:3]"), 4),
    Row("dgemm4_to_xdl_c", D4, XDL_PARTIAL.replace("[2:5]", "[0:3]"), 0),
    Row("dgemm4_to_mfma_ab", D4, IN_A, 6),
    Row("dgemm4_to_valu", D4, READ, 6),
    Row("dgemm4_to_valu", D4, WRITE, 6),
    Row("dgemm4_to_memory", D4, STORE, 9),
]  # fmt: skip

WMMA = "v_wmma_f32_16x16x16_f16 v[0:7], v[40:47], v[48:55], v[0:7]"
WMMA12 = "v_wmma_f32_16x16x16_f16 v[0:7], v[40:43], v[44:47], v[0:7]"
NOP = "v_nop"
GFX11_WAIT, GFX12_WAIT = "s_waitcnt_depctr depctr_{}(0)", "s_wait_alu depctr_{}(0)"
RDNA_ROWS = [
    Row(
        "wmma_to_wmma_ab", WMMA, "v_wmma_f32_16x16x16_f16 v[60:67], v[0:7], v[48:55], v[60:67]",
        1, RDNA3 + RDNA35, NOP,
    ),
    Row("wmma_to_wmma_ab", WMMA, WMMA, 0, RDNA3 + RDNA35, NOP),
    Row(
        "wmma_to_wmma_ab", WMMA12, "v_wmma_f32_16x16x16_f16 v[60:67], v[0:3], v[44:47], v[60:67]",
        1, RDNA4, NOP,
    ),
    Row(
        "wmma_to_wmma_ab", WMMA12, "v_swmmac_f32_16x16x32_f16 v[60:67], v[40:43], v[48:55], v0",
        1, RDNA4, NOP,
    ),
    Row("wmma_to_wmma_ab", WMMA12, WMMA12, 0, RDNA4, NOP),
    Row(
        "cmpx_to_permlane", "v_cmpx_eq_u32 v1, v2", "v_permlane16_b32 v3, v4, s0, s1", 1,
        (*RDNA3, *RDNA35, *RDNA4, "gfx1250"), "v_mov_b32 v9, v9",
    ),
    Row(
        "cmpx_to_permlane", "v_cmpx_eq_u32 v1, v2", "v_permlane16_var_b32 v3, v4, v5",
        1, RDNA4, "v_mov_b32 v9, v9",
    ),
    Row(
        "cmpx_to_permlane", "v_cmpx_eq_u32 v1, v2", "v_permlane16_swap_b32 v3, v4",
        1, ("gfx1250", ), "v_mov_b32 v9, v9",
    ),
    Row(
        "cmpx_to_permlane_v_nop", "v_cmpx_eq_u32 v1, v2; v_nop", "v_permlane64_b32 v3, v4", 1,
        (*RDNA3, *RDNA35, *RDNA4, "gfx1250"), "v_mov_b32 v9, v9", severity="warning",
    ),
    Row(
        "valu_vgpr_to_lds_direct", "v_mov_b32 v1, v2", "lds_direct_load v1 wait_vdst:3",
        3, RDNA3 + RDNA35, NOP,
    ),
    Row(
        "valu_vgpr_to_lds_direct", "v_mov_b32 v2, v1", "lds_direct_load v1 wait_vdst:15",
        15, RDNA3 + RDNA35, NOP,
    ),
    Row(
        "valu_vgpr_to_lds_direct", "v_mov_b32 v1, v2", "ds_direct_load v1 wait_va_vdst:2 wait_vm_vsrc:1",
        2, RDNA4, NOP,
    ),
    Row(
        "valu_vgpr_to_lds_direct", "v_mov_b32 v1, v2; v_exp_f32 v5, v6", "lds_direct_load v1 wait_vdst:0",
        0, RDNA3, NOP,
    ),
    Row(
        "memory_vgpr_to_lds_direct", "ds_store_b32 v1, v2", "lds_direct_load v1 wait_vdst:0", 1, RDNA3 + RDNA35,
        GFX11_WAIT.format("vm_vsrc"),
    ),
    Row(
        "memory_vgpr_to_lds_direct", "ds_store_b32 v1, v2", "ds_direct_load v1 wait_va_vdst:0 wait_vm_vsrc:1", 1, RDNA4,
        GFX12_WAIT.format("vm_vsrc"),
    ),
    Row(
        "partial_forwarding", "v_mov_b32 v1, v5; s_mov_b64 exec, s[0:1]; v_mov_b32 v2, v5", "v_add_f32 v3, v1, v2", 1,
        RDNA3 + RDNA35, GFX11_WAIT.format("va_vdst"), wave64=True,
    ),
    Row(
        "partial_forwarding", "v_mov_b32 v1, v5; s_mov_b64 exec, s[0:1]; v_mov_b32 v2, v5", READ,
        0, RDNA3, wave64=True,
    ),
    Row("trans_result_to_valu", "v_exp_f32 v1, v2", READ, 1, RDNA3, GFX11_WAIT.format("va_vdst")),
    Row("trans_result_to_valu", "v_exp_f32 v1, v2; v_nop; v_nop; v_nop; v_nop; v_nop", READ, 1, RDNA3, NOP),
    Row("trans_result_to_valu", "v_exp_f32 v1, v2; v_exp_f32 v4, v5", READ, 1, RDNA3, "v_exp_f32 v6, v7"),
    Row("trans_result_to_valu", "v_exp_f32 v1, v2", READ, 0, RDNA35),
    Row(
        "mask_overwritten", "v_cndmask_b32 v1, v2, v3, s[4:5]; s_mov_b64 s[4:5], 0",
        "s_and_b64 s[8:9], s[4:5], s[10:11]", 1, RDNA3 + RDNA35, GFX11_WAIT.format("sa_sdst"), wave64=True,
    ),
    Row(
        "mask_overwritten", "v_cndmask_b32 v1, v2, v3, vcc; s_mov_b64 vcc, 0", "v_cndmask_b32 v1, v2, v3, vcc",
        1, RDNA3 + RDNA35, "v_mov_b32 v7, s20", wave64=True,
    ),
    Row(
        "mask_overwritten_by_valu", "v_cndmask_b32 v1, v2, v3, s[4:5]; v_cmp_eq_u32 s[4:5], v1, v2",
        "s_and_b64 s[8:9], s[4:5], s[10:11]", 1, RDNA3 + RDNA35, GFX11_WAIT.format("va_sdst"), True, "warning",
    ),
    Row(
        "dealloc_vgprs", "s_mov_b32 s0, 0", "s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)",
        1, RDNA3 + RDNA35 + RDNA4,
    ),
    Row(
        "read_sgpr", "v_mov_b32 v1, s4; s_mov_b32 s5, 0", "v_mov_b32 v2, s5", 1, RDNA4, GFX12_WAIT.format("sa_sdst"),
    ),
    Row(
        "read_sgpr", "v_mov_b32 v1, s4; v_readfirstlane_b32 s4, v3", "v_mov_b32 v2, s4", 1, RDNA4,
        GFX12_WAIT.format("va_sdst"),
    ),
    Row(
        "read_sgpr", "v_cndmask_b32 v1, v2, v3, vcc_lo; v_cmp_eq_u32 vcc_lo, v1, v2",
        "v_cndmask_b32 v1, v2, v3, vcc_lo", 1, RDNA4, GFX12_WAIT.format("va_vcc"),
    ),
    Row(
        "read_sgpr", "v_mov_b32 v1, s4; s_mov_b32 s4, 0", "s_add_co_i32 s6, s4, 1",
        1, RDNA4, "s_load_b32 s9, s[20:21], 0x0",
    ),
    Row(
        "read_sgpr_old", "v_mov_b32 v1, s4; s_mov_b32 s4, 0" + "; s_mov_b32 s30, 0" * 11, "v_mov_b32 v2, s4", 1, RDNA4,
        GFX12_WAIT.format("sa_sdst"), severity="warning",
    ),
]  # fmt: skip

DENSE = "v_wmma_f32_16x16x32_f16 v[0:7], v[40:47], v[48:55], v[0:7]"
GFX1250 = ("gfx1250",)
F4 = " matrix_a_fmt:MATRIX_FMT_FP4 matrix_b_fmt:MATRIX_FMT_FP4"
AS_A = "v_wmma_f32_16x16x32_f16 v[80:87], v[0:7], v[48:55], v[80:87]"
CATEGORIES = [  # instruction, before a WMMA, before a VALU instruction
    (DENSE, 5, 4),
    ("v_wmma_f32_16x16x64_fp8_fp8 v[0:7], v[40:47], v[48:55], v[0:7]", 2, 1),
    ("v_wmma_f32_16x16x128_fp8_fp8 v[0:7], v[40:55], v[56:71], v[0:7]", 5, 4),
    ("v_wmma_f32_16x16x128_f8f6f4 v[0:7], v[40:47], v[48:55], v[0:7]" + F4, 2, 1),
    ("v_wmma_f32_16x16x128_f8f6f4 v[0:7], v[40:55], v[56:71], v[0:7]", 5, 4),
    ("v_wmma_f32_32x16x128_f4 v[0:15], v[40:55], v[56:63], v[0:15]", 5, 4),
    ("v_wmma_i32_16x16x64_iu8 v[0:7], v[40:47], v[48:55], v[0:7]", 9, 8),
    ("v_swmmac_f32_16x16x64_f16 v[0:7], v[40:47], v[48:63], v70", 3, 2),
    ("v_swmmac_f32_16x16x128_fp8_fp8 v[0:7], v[40:47], v[48:63], v[70:71]", 3, 2),
    ("v_swmmac_i32_16x16x128_iu8 v[0:7], v[40:47], v[48:63], v[70:71]", 5, 4),
]
ARRIVE = "ds_atomic_async_barrier_arrive_b64 v40"
GFX1250_ROWS = [
    *(
        row
        for wmma, to_wmma, to_valu in CATEGORIES
        for row in (
            Row("wmma_result_to_wmma_ab", wmma, AS_A, to_wmma, GFX1250, NOP),
            Row("wmma_registers_to_valu", wmma, READ, to_valu, GFX1250, NOP),
            Row("wmma_registers_to_valu", wmma, WRITE, to_valu, GFX1250, NOP),
            Row("wmma_registers_to_valu", wmma, "v_mov_b32 v41, v91", to_valu, GFX1250, NOP),
            Row("wmma_registers_to_valu", wmma, "v_exp_f32 v48, v91", to_valu, GFX1250, NOP),
        )
    ),
    Row(
        "wmma_c_overwritten_by_valu", "v_wmma_bf16f32_16x16x32_bf16 v[0:3], v[40:47], v[48:55], v[60:67]",
        "v_mov_b32 v60, v91", 4, GFX1250, NOP, severity="warning",
    ),
    Row(
        "wmma_to_wmma_ab", "v_wmma_f32_16x16x4_f32 v[0:7], v[40:41], v[42:43], v[0:7]", AS_A,
        1, GFX1250, NOP,
    ),
    Row("trans_registers_to_valu", "v_exp_f32 v1, v2", READ, 1, GFX1250, NOP),
    Row("trans_registers_to_valu", "v_exp_f32 v7, v1", WRITE, 1, GFX1250, NOP),
    Row(
        "setreg_mode_after_valu", "v_mov_b32 v1, v2", "s_setreg_b32 hwreg(HW_REG_WAVE_MODE, 0, 4), s0",
        2, GFX1250, NOP, severity="warning",
    ),
    Row(
        "vgpr_msb_after_setreg_mode", "s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 0, 4), 1",
        "s_set_vgpr_msb 0", 1, GFX1250,
    ),
    Row(
        "getreg_of_state", "s_mov_b32 s0, 0", "s_getreg_b32 s1, hwreg(HW_REG_WAVE_STATUS)",
        1, GFX1250, "s_wait_alu 0",
    ),
    Row(
        "before_async_barrier_arrive", "ds_load_b32 v1, v2", ARRIVE,
        1, GFX1250, GFX12_WAIT.format("vm_vsrc"),
    ),
    Row("after_async_barrier_arrive", ARRIVE, "s_mov_b32 s0, 0", 1, GFX1250, GFX12_WAIT.format("vm_vsrc")),
    Row("async_barrier_arrive_in_clause", "s_clause 0x1", ARRIVE, 2, GFX1250),
    Row(
        "scratch_base_forwarding", "s_mov_b32 s102, s0", "s_mov_b32 s1, src_flat_scratch_base_lo", 1, GFX1250,
        GFX12_WAIT.format("sa_sdst") + " depctr_va_sdst(0)", severity="warning",
    ),
    Row(
        "scratch_base_forwarding", "s_mov_b32 s102, s0" + "; s_mov_b32 s9, 0" * 9,
        "s_mov_b32 s1, src_flat_scratch_base_lo", 1, GFX1250, "s_mov_b32 s9, 0", severity="warning",
    ),
]  # fmt: skip

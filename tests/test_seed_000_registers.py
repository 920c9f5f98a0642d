"""Seed 000, section 6 "Execution and register state", as kernels: dual issue, dynamic VGPRs, release, scalar float."""

import numpy as np
import pytest
from _memory_kernels import Kernel

from antiphase.errors import UserError

RDNA3 = ("gfx1100", "gfx1101", "gfx1102", "gfx1103")
RDNA35 = ("gfx1150", "gfx1151", "gfx1152", "gfx1153")
RDNA4 = ("gfx1200", "gfx1201")
LANES = np.arange(32)


@pytest.mark.parametrize("target", RDNA3 + RDNA35)
def test_a_dual_issue_read_sees_the_old_value(target: str) -> None:
    """Section 6, "Documented VOPD pairing semantics": RDNA 3 ISA p. 77, RDNA 3.5 p. 79."""
    k = Kernel(target)("v_mov_b32 v2, v0\nv_mov_b32 v3, 7\nv_dual_mov_b32 v2, v3 :: v_dual_mov_b32 v3, v2")
    k("v_mov_b32 v4, 1.0\nv_mov_b32 v5, 2.0\nv_dual_add_f32 v4, v4, v5 :: v_dual_fmac_f32 v5, v5, v4").keep("v2", "v3")
    rows = k.keep("v4", "v5").run().rows
    assert (rows[0] == 7).all() and (rows[1] == LANES).all()
    assert rows[2:, 0].view(np.float32).tolist() == [3.0, 4.0]


@pytest.mark.parametrize("target", RDNA4)
def test_rdna4_lets_the_second_half_write_what_the_first_reads(target: str) -> None:
    """Section 6, "Documented VOPD pairing semantics": RDNA 4 ISA p. 93."""
    k = Kernel(target)("v_mov_b32 v3, v0\nv_mov_b32 v4, 9\nv_dual_mov_b32 v2, v3 :: v_dual_mov_b32 v3, v4")
    rows = k.keep("v2", "v3").run().rows
    assert (rows[0] == LANES).all() and (rows[1] == 9).all()


@pytest.mark.parametrize("target", RDNA4)
@pytest.mark.parametrize(
    "pair",
    [
        "v_dual_add_f32 v2, v4, v7 :: v_dual_add_f32 v3, v4, v2",
        "v_dual_add_f32 v2, v5, v4 :: v_dual_sub_f32 v3, v2, v4",
        "v_dual_mul_f32 v2, v4, v7 :: v_dual_fmac_f32 v3, v4, v2",
    ],
)
def test_rdna4_forbids_the_first_half_to_write_what_the_second_reads(target: str, pair: str) -> None:
    """Section 6, "Documented VOPD pairing semantics": RDNA 4 ISA p. 93. An assembler accepts these lines.

    Refused where the halves share a source too; else compilers make such pairs (llvm-project pull request 191264).
    """
    k = Kernel(target)(pair)
    line = 1 + k.text().splitlines().index(pair)
    with pytest.raises(UserError, match=rf"k\.s:{line}: the first half .* writes v2, which the second half reads"):
        k.run()


@pytest.mark.parametrize("target", RDNA4)
def test_rdna4_runs_the_pairs_that_compilers_make(target: str) -> None:
    """Such as `v_dual_mov_b32 v1, s11 :: v_dual_lshlrev_b32 v4, 3, v1` in Triton 3.9's fused softmax for gfx1201."""
    k = Kernel(target)("v_mov_b32 v3, v0\ns_mov_b32 s20, 9\nv_dual_mov_b32 v3, s20 :: v_dual_lshlrev_b32 v2, 3, v3")
    rows = k.keep("v2", "v3").run().rows
    assert (rows[0] == LANES * 8).all() and (rows[1] == 9).all()


def test_gfx1250_has_no_such_rule_for_its_dual_issue_of_three_sources() -> None:
    k = Kernel("gfx1250")("v_mov_b32 v2, 1.0\nv_mov_b32 v3, 2.0\nv_mov_b32 v4, 4.0\nv_mov_b32 v5, 0.5")
    k("v_dual_fma_f32 v2, v3, v4, v5 :: v_dual_fma_f32 v3, v2, v4, v5").keep("v2", "v3")
    assert k.run().rows[:, 0].view(np.float32).tolist() == [8.5, 4.5]


@pytest.mark.parametrize("target", RDNA3 + RDNA35 + RDNA4)
def test_dual_issue_is_for_wave32(target: str) -> None:
    """Section 6, "Wave sizes": VOPD is wave32-only, RDNA 3 ISA p. 77, RDNA 3.5 p. 79, RDNA 4 p. 93."""
    k = Kernel(target, lanes=64, threads=64)("v_dual_mov_b32 v2, v3 :: v_dual_mov_b32 v5, v4")
    with pytest.raises(UserError, match="dual-issue instruction in a wave of 64 lanes"):
        k.run()


@pytest.mark.parametrize("target", RDNA4)
@pytest.mark.parametrize(("wanted", "granted"), [(0, 1), (96, 1), (128, 1), (129, 0), (256, 0)])
def test_a_request_for_vgprs_says_whether_it_was_granted(target: str, wanted: int, granted: int) -> None:
    """Section 6, "Documented VGPR management": S_ALLOC_VGPR, SCC = 1 success, 0 failure; RDNA 4 ISA pp. 28-29."""
    k = Kernel(target)
    k(f"s_cmp_eq_u32 s0, s{4 if granted else 0}\ns_movk_i32 s20, {wanted}\ns_alloc_vgpr s20\ns_cselect_b32 s21, 1, 0")
    rows = k("v_mov_b32 v2, s21").keep("v2").run().rows
    assert (rows[0] == granted).all()


@pytest.mark.parametrize("target", RDNA4)
def test_vgprs_are_allocated_dynamically_in_wave32_alone(target: str) -> None:
    """Section 6, "Documented VGPR management": wave32 only, RDNA 4 ISA p. 28."""
    with pytest.raises(UserError, match="s_alloc_vgpr in a wave of 64 lanes"):
        Kernel(target, lanes=64, threads=64)("s_alloc_vgpr 32").run()


@pytest.mark.parametrize("target", RDNA3 + RDNA35)
def test_after_the_release_of_its_vgprs_a_wave_may_only_end(target: str) -> None:
    """Section 6, "Documented VGPR management": whole-wave release by S_SENDMSG, RDNA 3 and RDNA 3.5 ISA p. 26."""
    k = Kernel(target)("v_mov_b32 v2, v0").keep("v2")("s_nop 0\ns_sendmsg sendmsg(MSG_DEALLOC_VGPRS)")
    assert (k.run().rows[0] == LANES).all()
    with pytest.raises(UserError, match="'v_mov_b32' follows the release of the wave's VGPRs"):
        k("v_mov_b32 v2, 0").run()


@pytest.mark.parametrize("target", RDNA35 + RDNA4)
def test_scalar_float_arithmetic_comparisons_and_conversions(target: str) -> None:
    """Section 6, "Scalar floating point": FP32 and FP16, comparisons, conversions; RDNA 3.5 ISA p. 62, RDNA 4 p. 73."""
    least = "s_min_f32" if target in RDNA35 else "s_min_num_f32"
    k = Kernel(target)(f"""s_mov_b32 s20, 0x40490fdb
        s_mul_f32 s21, s20, 2.0
        s_cvt_i32_f32 s22, s21
        {least} s23, s20, 1.0
        s_cmp_lt_f32 s20, s21
        s_cselect_b32 s24, 1, 0
        s_cvt_f16_f32 s25, s20
        s_add_f16 s26, s25, s25""")
    for i in range(21, 27):
        k(f"v_mov_b32 v2, s{i}").keep("v2")
    row = k.run().rows[:, 0]
    pi = np.float32(np.pi)
    assert row[[0, 2]].view(np.float32).tolist() == [2 * pi, 1.0] and row[[1, 3]].tolist() == [6, 1]
    assert row[4:].astype(np.uint16).view(np.float16).tolist() == [np.float16(pi), np.float16(pi) * 2]


@pytest.mark.parametrize("target", RDNA3)
def test_rdna3_has_no_scalar_float(target: str) -> None:
    """Section 6, "Scalar floating point": unavailable on gfx1100-gfx1103 (LLVM)."""
    with pytest.raises(UserError, match="has no 's_add_f32'"):
        Kernel(target)("s_add_f32 s20, s21, s22").run()


@pytest.mark.parametrize("target", RDNA35 + RDNA4)
def test_scalar_float_takes_no_modifiers(target: str) -> None:
    """Section 6, "Scalar floating point": operand modifiers are not supported; RDNA 3.5 ISA p. 62, RDNA 4 p. 73."""
    with pytest.raises(UserError, match=r"s_add_f32 s20, -s21, s22.*no input modifier"):
        Kernel(target)("s_add_f32 s20, -s21, s22").run()


@pytest.mark.parametrize("target", [*RDNA4, "gfx1250"])
@pytest.mark.parametrize("wide", [32, 16])
def test_transcendental_functions_of_scalars(target: str, wide: int) -> None:
    """The RDNA 4 functions of scalar operands that pass through the vector unit (RDNA4 ISA, VOP3 "pseudo-scalar")."""
    names = {"exp": 2.0, "log": 0.0, "rcp": 1.0, "rsq": 1.0, "sqrt": 1.0}
    k = Kernel(target)(f"s_mov_b32 s20, {0x3F800000 if wide == 32 else 0x3C00:#x}\ns_mov_b32 exec_lo, 0")
    for i, name in enumerate(names):
        k(f"v_s_{name}_f{wide} s{21 + i}, s20")
    k("s_mov_b32 exec_lo, -1")
    for i in range(len(names)):
        k(f"v_mov_b32 v2, s{21 + i}").keep("v2")
    results = k.run().rows[:, 0].astype(f"u{wide // 8}").view(f"f{wide // 8}")
    assert results.tolist() == list(names.values())

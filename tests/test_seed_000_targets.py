"""Seed 000: which of its instructions each target has, and that targets of one generation share every meaning.

A test of an instruction on one target of a generation is by that a test on all of them: the machine asks a target for
its records, its generation (isa.generation) and its counters, and these are compared here.
"""

from __future__ import annotations

import pytest

from antiphase import arch
from antiphase.isa import REGISTRY, find, generation

RDNA3 = ("gfx1100", "gfx1101", "gfx1102", "gfx1103")
RDNA35 = ("gfx1150", "gfx1151", "gfx1152", "gfx1153")
RDNA4 = ("gfx1200", "gfx1201")


@pytest.mark.parametrize("family", [RDNA3, RDNA35, RDNA4], ids=["RDNA 3", "RDNA 3.5", "RDNA 4"])
def test_targets_of_a_generation_share_every_record(family: tuple[str, ...]) -> None:
    first, *others = family
    for target in others:
        assert [n for n in REGISTRY.records if find(n, target) is not find(n, first)] == []
        assert generation(target) == generation(first)
        one, other = arch.target(target), arch.target(first)
        assert [c.largest for c in one.counters] == [c.largest for c in other.counters]


def test_rdna35_differs_from_rdna3_by_scalar_float_alone() -> None:
    """Section 6, "Scalar floating point"; the other meanings of RDNA 3.5 in the seed are those of RDNA 3."""
    different = [n for n in REGISTRY.records if find(n, "gfx1150") is not find(n, "gfx1100")]
    assert different and all(n.startswith("s_") and ("f16" in n or "f32" in n) for n in different), different


ONLY_RDNA4 = {
    'section 2 "Sparse matrix instruction availability": RDNA 4 ISA p. 100': (
        "v_swmmac_f32_16x16x32_f16", "v_swmmac_f32_16x16x32_bf16", "v_swmmac_f16_16x16x32_f16",
        "v_swmmac_bf16_16x16x32_bf16", "v_swmmac_i32_16x16x32_iu8", "v_swmmac_i32_16x16x32_iu4",
        "v_swmmac_i32_16x16x64_iu4", "v_swmmac_f32_16x16x32_fp8_fp8", "v_swmmac_f32_16x16x32_fp8_bf8",
        "v_swmmac_f32_16x16x32_bf8_fp8", "v_swmmac_f32_16x16x32_bf8_bf8",
    ),
    'section 2 "Dense input formats and shapes": RDNA 4 ISA p. 100': (
        "v_wmma_i32_16x16x32_iu4", "v_wmma_f32_16x16x16_fp8_fp8", "v_wmma_f32_16x16x16_fp8_bf8",
        "v_wmma_f32_16x16x16_bf8_fp8", "v_wmma_f32_16x16x16_bf8_bf8",
    ),
    'section 4 "FP32 -> FP8 / BF8": RDNA 4 ISA pp. 528-529': (
        "v_cvt_pk_fp8_f32", "v_cvt_pk_bf8_f32", "v_cvt_sr_fp8_f32", "v_cvt_sr_bf8_f32",
    ),
    'section 4 "Cross-lane operations": RDNA 4 ISA pp. 94, 163, 513-514': (
        "v_permlane16_var_b32", "v_permlanex16_var_b32", "ds_bpermute_fi_b32",
    ),
    'section 5 "Data movement interfaces": RDNA 4 ISA pp. 152-153, 160': (
        "global_load_tr_b128", "global_load_tr_b64", "ds_direct_load",
    ),
    'section 5 "Packed global atomics": RDNA 4 ISA p. 707': (
        "global_atomic_pk_add_f16", "global_atomic_pk_add_bf16",
    ),
    'section 6 "Documented VGPR management", "Wait mechanism", "Workgroup barriers": RDNA 4 ISA pp. 28, 62': (
        "s_alloc_vgpr", "s_wait_loadcnt", "s_wait_storecnt", "s_wait_dscnt", "s_wait_kmcnt", "s_barrier_signal",
        "s_barrier_wait", "s_min_num_f32", "s_minimum_f32", "v_min_num_f32", "v_minimum_f32",
    ),
}  # fmt: skip


@pytest.mark.parametrize("where", ONLY_RDNA4)
def test_what_rdna4_alone_has(where: str) -> None:
    for name in ONLY_RDNA4[where]:
        assert all(find(name, target) for target in RDNA4), name
        # the vector minimum has its later name as a second spelling
        old = RDNA3 + RDNA35 if "_num_f32" not in name or name.startswith("s_") else ()
        assert not any(find(name, target) for target in old), name


@pytest.mark.parametrize(
    "name", ["global_load_lds_dword", "global_load_lds_dwordx4", "global_load_async_to_lds_b128", "s_singleuse_vdst"]
)
def test_what_none_of_them_has(name: str) -> None:
    """Section 5, "Global-to-LDS builtin availability"; section 6, "Single-use VGPR writes": LLVM removed the hint."""
    accepted = arch.assembler_inventory().mnemonics.get(name)
    assert accepted is None or not set(accepted.forms) & {*RDNA3, *RDNA35, *RDNA4}


@pytest.mark.parametrize("target", RDNA3 + RDNA35)
def test_what_rdna3_and_rdna35_alone_have(target: str) -> None:
    """Section 6: S_WAITCNT with its counters and S_WAITCNT_VSCNT (RDNA 3 ISA pp. 52-53, 214; 3.5 pp. 53-54, 221)."""
    assert find("s_waitcnt", target) and find("s_waitcnt_vscnt", target) and find("s_barrier", target)
    assert find("lds_direct_load", target)
    accepted = arch.assembler_inventory().mnemonics["s_waitcnt_vscnt"].forms
    assert target in accepted and not set(RDNA4) & set(accepted)

"""The instruction table: every record builds, assembles and compiles, and what Triton emits is in it."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from isa_forms import forms, varied
from isa_harness import Machine

from antiphase import arch
from antiphase.asm import parse_instruction
from antiphase.frontends._llvm import assembler
from antiphase.isa import REGISTRY, Alu, Slot, find
from antiphase.machine import refusal

VECTOR = [r for r in REGISTRY.all() if isinstance(r, Alu) and r.unit == "valu"]
TARGETS = ("gfx942", "gfx950")

# What Triton 3.9 emitted for the corpus of this folder on both targets, encoding suffixes taken off.
EMITTED = """
    v_accvgpr_mov_b32 v_accvgpr_read_b32 v_accvgpr_write_b32 v_add3_u32 v_add_co_u32 v_add_f16 v_add_f32
    v_add_f64 v_add_lshl_u32 v_add_u16 v_add_u32 v_addc_co_u32 v_alignbit_b32 v_and_b32 v_and_or_b32
    v_ashrrev_i16 v_ashrrev_i32 v_ashrrev_i64 v_bcnt_u32_b32 v_bfe_i32 v_bfe_u32 v_bfi_b32 v_bfrev_b32
    v_bitop3_b32 v_ceil_f32 v_cmp_class_f32 v_cmp_eq_f32 v_cmp_eq_u16 v_cmp_eq_u32 v_cmp_eq_u64
    v_cmp_ge_f32 v_cmp_ge_i32 v_cmp_ge_u32 v_cmp_gt_f32 v_cmp_gt_i32 v_cmp_gt_i64 v_cmp_gt_u16
    v_cmp_gt_u32 v_cmp_gt_u64 v_cmp_le_f32 v_cmp_le_i32 v_cmp_le_u32 v_cmp_lg_f32 v_cmp_lt_f32
    v_cmp_lt_i32 v_cmp_lt_i64 v_cmp_lt_u32 v_cmp_lt_u64 v_cmp_ne_u16 v_cmp_ne_u32 v_cmp_ne_u64
    v_cmp_neq_f32 v_cmp_ngt_f32 v_cmp_nlt_f32 v_cmp_o_f16 v_cmp_o_f32 v_cmp_u_f32 v_cndmask_b32
    v_cvt_f16_f32 v_cvt_f16_i16 v_cvt_f32_f16 v_cvt_f32_f64 v_cvt_f32_i32 v_cvt_f32_u32 v_cvt_f32_ubyte0
    v_cvt_f64_f32 v_cvt_f64_i32 v_cvt_f64_u32 v_cvt_i32_f32 v_cvt_i32_f64 v_cvt_pk_bf16_f32
    v_cvt_pk_bf8_f32 v_cvt_pk_f16_f32 v_cvt_pk_f32_bf8 v_cvt_pk_f32_fp8 v_cvt_pk_fp8_f32
    v_cvt_scalef32_pk_bf16_fp8 v_cvt_scalef32_pk_bf8_f16 v_cvt_scalef32_pk_bf8_f32
    v_cvt_scalef32_pk_f16_bf8 v_cvt_scalef32_pk_f32_fp8 v_cvt_scalef32_pk_fp8_f32 v_cvt_u32_f32
    v_cvt_u32_f64 v_div_fixup_f32 v_div_fmas_f32 v_div_scale_f32 v_exp_f32 v_ffbh_i32 v_ffbh_u32
    v_floor_f32 v_floor_f64 v_fma_f32 v_fma_mix_f32 v_fma_mixlo_f16 v_fmaak_f32 v_fmac_f32 v_fmac_f64
    v_fmamk_f32 v_frexp_exp_i32_f64 v_frexp_mant_f32 v_ldexp_f32 v_ldexp_f64 v_log_f32 v_lshl_add_u32
    v_lshl_add_u64 v_lshl_or_b32 v_lshlrev_b16 v_lshlrev_b32 v_lshlrev_b64 v_lshrrev_b16 v_lshrrev_b32
    v_lshrrev_b64 v_mad_i64_i32 v_mad_legacy_u16 v_mad_u32_u24 v_mad_u64_u32 v_max3_f32 v_max3_i32
    v_max_f32 v_max_f64 v_max_i16 v_max_i32 v_max_u32 v_mbcnt_hi_u32_b32 v_mbcnt_lo_u32_b32 v_med3_f32
    v_min3_f32 v_min3_i32 v_min_f32 v_min_i16 v_min_i32 v_min_u32 v_mov_b32 v_mov_b64 v_mul_f32
    v_mul_hi_i32 v_mul_hi_u32 v_mul_lo_u16 v_mul_lo_u32 v_mul_u32_u24 v_not_b32 v_or3_b32 v_or_b32
    v_pack_b32_f16 v_perm_b32 v_permlane16_swap_b32 v_permlane32_swap_b32 v_pk_add_f32 v_pk_fma_f32
    v_pk_mov_b32 v_pk_mul_f32 v_rcp_f32 v_rcp_iflag_f32 v_readfirstlane_b32 v_readlane_b32 v_rndne_f32
    v_rsq_f32 v_sqrt_f32 v_sub_co_u32 v_sub_f32 v_sub_u16 v_sub_u32 v_subb_co_u32 v_subbrev_co_u32
    v_subrev_u32 v_trunc_f32 v_trunc_f64 v_writelane_b32 v_xad_u32 v_xor_b32
"""
# Names of later targets for the same instruction, and the cube instructions that these two no longer have.
ELSEWHERE = (
    "_nc_",
    "_num_",
    "_co_ci_",
    "_pk_norm_",
    "_pk_rtz_",
    "v_cube",
    "v_mad_mix",
    "v_mad_co_",
    "v_dot2acc",
)
RENAMED = {
    "v_clz_i32_u32",
    "v_ctz_i32_b32",
    "v_cls_i32",
    "v_cvt_floor_i32_f32",
    "v_cvt_nearest_i32_f32",
    "v_mul_dx9_zero_f32",
}


def test_what_triton_emits_is_known() -> None:
    assert not [name for name in EMITTED.split() if find(name, "gfx950") is None]
    missing = [name for name in EMITTED.split() if find(name, "gfx942") is None]
    assert all(
        "scalef32" in m or "permlane" in m or m in ("v_bitop3_b32", "v_cvt_pk_bf16_f32", "v_cvt_pk_f16_f32")
        for m in missing
    )


@pytest.mark.parametrize("suffix", ["_e32", "_e64", "_sdwa", "_dpp"])
def test_encoding_suffixes_are_taken_off(suffix: str) -> None:
    record = find(f"v_add_u32{suffix}", "gfx942")
    assert record is not None and record.name == "v_add_u32"


def test_results_have_the_types_of_their_signatures() -> None:
    for record in VECTOR:
        slots = record.signature.results * (2 if record.pair else 1)
        types = [slot.type for slot in slots for _ in range(slot.count)]
        assert [r.type for r in record.results] == types, record.name
        assert [r.type for r in record.saturated_results] == types, record.name


def test_every_record_names_its_source() -> None:
    for record in VECTOR:
        assert record.cite and (record.status == "exact" or record.note), record.name


def test_every_record_compiles() -> None:
    machine = Machine()
    for i, record in enumerate(r for r in VECTOR if r.pair or sum(s.count for s in r.signature.results) < 6):
        slots = record.signature.sources * (2 if record.pair else 1)
        types = tuple(slot.type for slot in slots for _ in range(slot.count))
        known = {k: 0x96 for k, slot in enumerate(slots) if slot.role == "bitop3"}
        known |= {1: 3} if record.name == "v_readlane_b32" else {}
        machine.add(f"{record.name}_{i}", record.results, types, constants=known)
    machine.compile()


def operand(slot: Slot, at: int, record: Alu) -> str:
    """A register that suits a slot."""
    width = slot.dwords * (2 if record.packed and slot.type.bits == 32 else 1)
    return f"v{at}" if width == 1 else f"v[{at}:{at + width - 1}]"


def example(record: Alu) -> str:
    """A line of assembly with the operands of the signature, in its order."""
    words = []
    for i, slot in enumerate((*record.signature.results, *record.signature.sources)):
        if slot.role in ("operand", "mask"):
            words.append("vcc" if slot.role == "mask" else operand(slot, 2 + 32 * i, record))
    scalar = {
        "v_readfirstlane_b32": {0: "s4"},
        "v_readlane_b32": {0: "s4", 2: "s5"},
        "v_writelane_b32": {1: "s4", 2: "3"},
    }
    agprs = {
        "v_accvgpr_read_b32": {1: "a1"},
        "v_accvgpr_write_b32": {0: "a1"},
        "v_accvgpr_mov_b32": {0: "a1", 1: "a2"},
    }
    literal = {
        n: {3 if n[3:].startswith("ak") or "ak_" in n else 2: "0x1234"}
        for n in ("v_fmaak_f32", "v_madak_f16", "v_fmamk_f32", "v_madmk_f16")
    }
    for i, word in {**scalar, **agprs, **literal}.get(record.name, {}).items():
        words[i] = word
    table = " bitop3:0x12" if any(slot.role == "bitop3" for slot in record.signature.sources) else ""
    return f"{record.name} {', '.join(words)}{table}"


@pytest.mark.parametrize("target", TARGETS)
def test_signatures_are_the_assemblers(target: str) -> None:
    """LLVM's assembler takes each instruction with the operands its record names, on the targets it names."""
    compiler = pytest.importorskip("triton.backends.amd.compiler")
    lines = [
        example(record)
        for record in VECTOR
        if (record.targets is None or target in record.targets)
        and record.name not in RENAMED
        and not any(part in record.name for part in ELSEWHERE)
    ]
    assert len(lines) > 400
    compiler.assemble_amdgcn("\n".join([".text", *lines, ""]), target, "")


# -- random lines of every record -------------------------------------------------------------------------------

ALL_TARGETS = [target.name for target in arch.targets()]
ONE_OF_EACH = ["gfx942", "gfx950", "gfx1100", "gfx1150", "gfx1201", "gfx1250"]
random_seeds = st.integers(0, 1 << 32)


@pytest.mark.parametrize("target", ALL_TARGETS)
@settings(max_examples=3, deadline=None, derandomize=True)
@given(seed=random_seeds)
def test_every_record_prints_what_it_parses(target: str, seed: int) -> None:
    """Any registers, sources, signs, offsets and cache controls that the format of an instruction allows."""
    random = Random(seed)
    for record, form in forms(target):
        instruction = varied(record, form, target, random)
        assert parse_instruction(instruction.text()) == instruction, instruction.text()
        assert find(instruction.mnemonic, target) is record


@pytest.mark.parametrize("target", ONE_OF_EACH)
@settings(max_examples=5, deadline=None, derandomize=True)
@given(seed=random_seeds)
def test_llvm_takes_what_is_printed(target: str, seed: int) -> None:
    pytest.importorskip("triton")
    random = Random(seed)
    lines = ["end:", *(varied(record, form, target, random).text() for record, form in forms(target))]
    refused = assembler().refusals(lines, target)
    assert not [f"{lines[index]}: {why}" for index, why in refused.items()]


@pytest.mark.parametrize("target", ALL_TARGETS)
def test_a_printed_line_has_the_code_of_the_line_that_was_read(target: str) -> None:
    pytest.importorskip("triton")
    accepted = [line for line in arch.assembler_inventory().accepted(target).values() if line]
    read = [line for line in accepted if not line.startswith("image_")]
    printed = [parse_instruction(line).text() for line in read]
    codes = [assembler().assemble("\n".join(["end:", *lines, ""]), target) for lines in (read, printed)]
    assert codes[0] == codes[1]


@pytest.mark.parametrize("target", ["gfx942", "gfx1100", "gfx1201", "gfx1250"])
def test_other_operands_are_executed_where_those_of_the_form_are(target: str) -> None:
    random = Random(target)
    chosen = random.sample([each for each in forms(target) if isinstance(each[0], Alu)], 250)
    for record, form in chosen:
        instruction = varied(record, form, target, random)
        assert refusal(instruction, target) == refusal(form, target) == "", instruction.text()

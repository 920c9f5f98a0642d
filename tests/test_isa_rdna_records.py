"""The instruction tables of GFX11, GFX12 and gfx1250 against LLVM's assembler and what Triton emits."""

from __future__ import annotations

import contextlib
import re

import pytest
from isa_harness import Machine

from antiphase.isa import REGISTRY, Alu, Slot, find

TARGETS = ("gfx1100", "gfx1151", "gfx1201", "gfx1250")
ALU = [r for r in REGISTRY.all() if isinstance(r, Alu)]

# What Triton 3.9 emitted for the corpus of this folder on gfx1100, gfx1201 and gfx1250 beside CDNA's names.
EMITTED = """
    s_and_not1_b32 s_and_not1_saveexec_b32 s_and_saveexec_b32 s_ctz_i32_b32 s_or_saveexec_b32 v_and_b16
    v_cndmask_b16 v_cvt_u32_u16 v_mov_b16 v_or_b16 v_permlanex16_b32 v_xor3_b32 v_xor_b16 v_add_nc_u32
    v_add_co_ci_u32 v_dual_cndmask_b32 v_dual_fmac_f32 v_cmpx_gt_i32
"""
EMITTED_GFX12 = """
    s_add_co_ci_u32 s_add_co_i32 s_add_co_u32 s_add_f32 s_add_nc_u64 s_barrier_signal s_barrier_wait
    s_cvt_f32_i32 s_cvt_f32_u32 s_cvt_u32_f32 s_fmac_f32 s_mul_f32 s_mul_u64 s_sub_co_i32 s_sub_nc_u64
    s_trunc_f32 s_wait_alu s_wait_dscnt s_wait_kmcnt s_wait_loadcnt s_wait_loadcnt_dscnt s_wait_storecnt
    v_s_rcp_f32
"""
EMITTED_GFX1250 = """
    s_get_pc_i64 s_set_pc_i64 s_set_vgpr_msb s_swap_pc_i64 s_wait_asynccnt s_wait_xcnt v_add_nc_u64_e32
    v_bitop3_b16 v_bitop3_b32 v_cvt_pk_f16_f32 v_cvt_scale_pk8_f16_bf8 v_cvt_scalef32_pk8_bf8_f16
    v_dual_bitop2_b32 v_fmaak_f64 v_fmamk_f64 v_mad_nc_u64_u32 v_mad_u32 v_nop v_sub_nc_u64_e32
"""


@pytest.mark.parametrize("target", TARGETS)
def test_what_triton_emits_is_known(target: str) -> None:
    names = EMITTED.split()
    if target.startswith("gfx12"):
        names += EMITTED_GFX12.split()
    if target == "gfx1250":
        names += EMITTED_GFX1250.split()
    assert not [name for name in names if find(name, target) is None]


def test_records_of_a_target_go_before_those_of_all() -> None:
    old, new = find("v_cmpx_eq_u32_e32", "gfx942"), find("v_cmpx_eq_u32_e32", "gfx1100")
    assert isinstance(old, Alu) and isinstance(new, Alu)
    assert [len(r.signature.results) for r in (old, new)] == [2, 1]
    assert find("v_min_f32", "gfx1100") is not find("v_min_f32", "gfx1201")


def test_every_record_compiles() -> None:
    machine = Machine()
    for record in ALU:
        if record.targets and any(t.startswith("gfx1") for t in record.targets):
            slots = record.signature.sources * (2 if record.pair else 1)
            constants = {i: 0x54 for i, slot in enumerate(slots) if slot.role == "bitop3"}
            machine.add_record(record, constants=constants)
    machine.compile()


# halves of dual-issue lines alone, and moves whose only form names register halves
OTHER_FORMS = ("v_bitop2_b32", "v_dot2acc_f32_f16", "v_dot2acc_f32_bf16", "v_mov_b16", "v_swap_b16")


def registers(bank: str, slot: Slot, at: int, packed: bool) -> str:
    width = slot.dwords * (2 if packed and slot.type.bits == 32 else 1)
    return f"{bank}{at}" if width == 1 else f"{bank}[{at}:{at + width - 1}]"


SCALAR_OPERANDS = {
    "v_readfirstlane_b32": {0: "s4"}, "v_readlane_b32": {0: "s4", 2: "s5"},
    "v_writelane_b32": {1: "s4", 2: "3"},
    "v_permlane16_b32": {2: "s4", 3: "s5"}, "v_permlanex16_b32": {2: "s4", 3: "s5"},
    **{f"v_permlane_{kind}_b32": {2: "s4", 3: "s5"} for kind in ("bcast", "up", "down", "xor")},
    "v_permlane_idx_gen_b32": {2: "s4"},
}  # fmt: skip


def example(record: Alu) -> str:
    """A line of assembly with the operands of the signature, in its order."""
    bank = "s" if record.unit == "salu" else "v"
    words = []
    for i, slot in enumerate((*record.signature.results, *record.signature.sources)):
        if slot.role == "mask":
            words.append("vcc_lo")
        elif slot.role == "constant":
            words.append("0x1234")
        elif slot.role == "operand":
            words.append(registers(bank, slot, (8 if bank == "s" else 32) * i + 2, record.packed))
    for i, word in SCALAR_OPERANDS.get(record.name, {}).items():
        words[i] = word
    for part, position in (("ak_", 3), ("mk_", 2)):
        if part in record.name and "v_fma" + part in record.name.replace("s_", "v_"):
            words[position] = "0x1234"
    table = " bitop3:0x12" if any(slot.role == "bitop3" for slot in record.signature.sources) else ""
    return f"{record.name} {', '.join(words)}{table}"


@pytest.mark.parametrize("target", TARGETS)
def test_signatures_are_the_assemblers(target: str, capfd: pytest.CaptureFixture[str]) -> None:
    """LLVM takes each instruction with its record's operands, and knows all that name the target."""
    compiler = pytest.importorskip("triton.backends.amd.compiler")
    records = [r for r in ALU if find(r.name, target) is r and r.name not in OTHER_FORMS]
    lines = [example(r) for r in records]
    with contextlib.suppress(RuntimeError):
        compiler.assemble_amdgcn("\n".join([".text", *lines, ""]), target, "-real-true16")
    wrong = []
    for line, message in re.findall(r"assembler:(\d+):\d+: error: (.*)", capfd.readouterr().err):
        record = records[int(line) - 2]
        unknown = "not supported on this GPU" in message or "invalid instruction" in message
        if not unknown or record.targets is not None:
            wrong.append(f"{lines[int(line) - 2]}: {message}")
    assert not wrong

"""`port`: what does not survive a move to another target, what becomes of it there, and what does survive."""

from __future__ import annotations

import pytest
from _checked import program

from antiphase.checks import Finding, check_program
from antiphase.errors import UserError


def found(body: str, to: str, target: str = "gfx942", **metadata: int) -> dict[str, Finding]:
    part = check_program(program(body, target, **metadata), ["port"], to=to)
    assert len({f.rule for f in part.checked.findings}) == len(part.checked.findings)
    return {f.rule: f for f in part.checked.findings}


def fix(finding: Finding) -> tuple[str, ...]:
    assert finding.fix is not None
    return finding.fix.text


LOAD, STORE = "global_load_dword v{}, v[0:1], off\n", "global_store_dword v[0:1], v9, off\n"
B32 = "global_load_b32 v{}, v[0:1], off\n"
LOADS, B32S = "".join(map(LOAD.format, range(2, 7))), "".join(map(B32.format, range(2, 7)))
DS, DS2, SMEM = "ds_read_b32 v7, v0\n", "ds_load_b32 v7, v0\n", "s_load_dword s4, s[0:1], 0x0\n"


@pytest.mark.parametrize(
    ("body", "wait", "target", "to", "text"),
    [
        # what is on the split counter is in the text: the count can stay
        (LOADS, "s_waitcnt vmcnt(3)", "gfx942", "gfx1250", ("s_wait_loadcnt 3",)),
        # of stores and loads together, those of each kind
        (LOAD.format(2) + STORE + LOAD.format(3) + STORE, "s_waitcnt vmcnt(2)", "gfx942", "gfx1250",
         ("s_wait_loadcnt 1", "s_wait_storecnt 1")),
        (DS + DS, "s_waitcnt lgkmcnt(1)", "gfx942", "gfx1250", ("s_wait_dscnt 1",)),
        (SMEM, "s_waitcnt lgkmcnt(0)", "gfx942", "gfx1250", ("s_wait_kmcnt 0",)),
        (DS + SMEM, "s_waitcnt lgkmcnt(0)", "gfx942", "gfx1250", ("s_wait_dscnt 0", "s_wait_kmcnt 0")),
        ("flat_load_dword v2, v[0:1]\n", "s_waitcnt vmcnt(0) lgkmcnt(0)", "gfx942", "gfx1250",
         ("s_wait_loadcnt 0", "s_wait_dscnt 0")),
        (LOADS, "s_waitcnt lgkmcnt(0)", "gfx942", "gfx1250", ()),
        ("buffer_wbl2 sc1\n", "s_waitcnt vmcnt(0)", "gfx942", "gfx1250", ("s_wait_storecnt 0",)),
        ("buffer_load_dword v0, s[0:3], 0 offen lds\n", "s_waitcnt vmcnt(0)", "gfx942", "gfx1250",
         ("s_wait_loadcnt 0",)),
        ("global_load_lds_dword v[0:1], off\n", "s_waitcnt vmcnt(0)", "gfx942", "gfx1250", ("s_wait_asynccnt 0",)),
        (B32S, "s_waitcnt vmcnt(3)", "gfx1100", "gfx1201", ("s_wait_loadcnt 3",)),
        ("global_store_b32 v[0:1], v9, off\n" * 3, "s_waitcnt_vscnt null, 2", "gfx1100", "gfx1201",
         ("s_wait_storecnt 2",)),
        ("global_store_b32 v[0:1], v9, off\n" * 3, "s_waitcnt_vscnt null, 2", "gfx1100", "gfx942",
         ("s_waitcnt vmcnt(2)",)),
        (DS2 + DS2, "s_wait_dscnt 1", "gfx1201", "gfx942", ("s_waitcnt lgkmcnt(1)",)),
        (B32S, "s_wait_loadcnt 4", "gfx1201", "gfx1100", ("s_waitcnt vmcnt(4)",)),
    ],
)  # fmt: skip
def test_waits_are_translated_to_ones_as_strict(
    body: str, wait: str, target: str, to: str, text: tuple[str, ...]
) -> None:
    finding = found(body + wait, to, target)["legacy_wait"]
    assert fix(finding) == text


def test_the_shortest_path_decides_the_count() -> None:
    body = LOADS + "s_cbranch_scc1 .Lskip\n" + LOAD.format(8) + ".Lskip:\ns_waitcnt vmcnt(2)"
    assert fix(found(body, "gfx1250")["legacy_wait"]) == ("s_wait_loadcnt 2",)


def test_without_all_instructions_known_every_counter_must_reach_0() -> None:
    body = LOADS + "s_mystery_b32 s0, s1\ns_waitcnt vmcnt(3) lgkmcnt(1)"
    expected = ("s_wait_loadcnt 0", "s_wait_storecnt 0", "s_wait_dscnt 0", "s_wait_kmcnt 0")
    assert fix(found(body, "gfx1250")["legacy_wait"]) == expected


def test_an_older_wait_that_rdna4_takes_for_everything_is_a_warning() -> None:
    assert found(B32S + "s_waitcnt vmcnt(3)", "gfx1201", "gfx1100")["legacy_wait"].severity == "warning"
    assert found(B32S + "s_waitcnt vmcnt(3)", "gfx1250", "gfx1100")["legacy_wait"].severity == "error"


def test_a_packed_wait_means_another_on_another_generation() -> None:
    assert fix(found("s_waitcnt 0xf70", "gfx1100")["packed_wait"]) == ("s_waitcnt vmcnt(0)",)
    assert not found("s_waitcnt 0xf70", "gfx950")


def test_waits_of_the_same_generation_stay() -> None:
    assert not found("s_waitcnt vmcnt(3) lgkmcnt(0)", "gfx950")
    assert not found("s_wait_loadcnt 0\ns_wait_dscnt 2", "gfx1250", "gfx1201", wavefront_size=32)


def test_stores_leave_vmcnt() -> None:
    body = "global_store_dword v1, v2, s[2:3]\ns_waitcnt vmcnt(0)"
    assert fix(found(body, "gfx1100")["split_counter"]) == ("s_waitcnt_vscnt null, 0",)
    assert "split_counter" not in found(body, "gfx950")
    assert "split_counter" not in found(LOADS + "s_waitcnt vmcnt(0)", "gfx1100")


@pytest.mark.parametrize(
    ("line", "target", "to", "rule", "text"),
    [
        ("ds_read_b32 v1, v0", "gfx942", "gfx1250", "other_name", "ds_load_b32 v1, v0"),
        ("s_load_dwordx2 s[2:3], s[0:1], 0x0", "gfx942", "gfx1100", "other_name", "s_load_b64 s[2:3], s[0:1], 0x0"),
        ("v_min_f32_e32 v0, v1, v2", "gfx1100", "gfx1201", "other_name", "v_min_num_f32_e32 v0, v1, v2"),
        ("ds_load_b32 v1, v0", "gfx1201", "gfx942", "renamed_instruction", "ds_read_b32 v1, v0"),
        ("v_min_num_f32_e32 v0, v1, v2", "gfx1201", "gfx942", "renamed_instruction", "v_min_f32_e32 v0, v1, v2"),
        ("v_add_u16 v0, v1, v2", "gfx942", "gfx1250", "renamed_instruction", "v_add_nc_u16 v0, v1, v2"),
        ("v_lshlrev_b16_e32 v0, v1, v2", "gfx942", "gfx1100", "renamed_instruction", "v_lshlrev_b16 v0, v1, v2"),
        ("s_cmpk_lg_u32 s0, 0x1234", "gfx1100", "gfx1201", "renamed_instruction", "s_cmp_lg_u32 s0, 0x1234"),
        ("s_memtime s[2:3]", "gfx942", "gfx1250", "renamed_instruction", "s_get_shader_cycles_u64 s[2:3]"),
        ("buffer_gl1_inv", "gfx1100", "gfx1201", "renamed_instruction", "global_inv scope:SCOPE_DEV"),
        ("s_barrier_wait -1", "gfx1201", "gfx942", "renamed_instruction", "s_barrier"),
    ],
)  # fmt: skip
def test_instructions_that_go_by_another_name(line: str, target: str, to: str, rule: str, text: str) -> None:
    finding = found(line, to, target)[rule]
    assert fix(finding) == (text,)
    assert finding.severity == ("info" if rule == "other_name" else "error")


def test_names_that_both_know_stay() -> None:
    assert not found("v_add_f32_e32 v0, v1, v2\nds_read_b128 v[0:3], v4", "gfx950")
    assert not found("v_fmamk_f32 v0, v1, 0x4f800000, v0\ns_nop 0\ns_load_b32 s4, s[0:1], 0x0", "gfx1100", "gfx1151")


def test_hints_that_a_target_lacks_go() -> None:
    finding = found("s_delay_alu instid0(VALU_DEP_1)", "gfx942", "gfx1201")["renamed_instruction"]
    assert finding.fix is not None and finding.fix.action == "delete"


def test_one_finding_tells_all_of_its_kind() -> None:
    finding = found("ds_read_b32 v1, v0\nds_read_b64 v[2:3], v0\nds_read_b32 v4, v0", "gfx1250")["other_name"]
    assert finding.count == 3
    assert finding.facts["forms"] == (
        ("ds_read_b32", ("ds_load_b32",), (0, 2)), ("ds_read_b64", ("ds_load_b64",), (1,)),
    )  # fmt: skip


def test_all_that_is_wrong_with_an_instruction_is_mended_at_once() -> None:
    line = "buffer_load_dword v1, v0, s[0:3], 0 offen nt"
    whole = found(line, "gfx1250")
    assert {"other_name", "scalar_offset", "cache_policy"} <= set(whole)
    assert fix(whole["cache_policy"]) == ("buffer_load_b32 v1, v0, s[0:3], null offen th:TH_LOAD_NT",)


def test_a_barrier_splits() -> None:
    assert fix(found("s_barrier", "gfx1201")["missing_instruction"]) == ("s_barrier_signal -1", "s_barrier_wait -1")


def test_matrix_instructions() -> None:
    line = "v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]"
    there = found(line, "gfx1250")["missing_matrix"]
    assert there.fix is None and "v_wmma_f32_16x16x32_f16" in str(there.facts["alike"])
    wmma = "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]"
    assert "matrix_layout" in found(wmma, "gfx1201", "gfx1100")
    assert "matrix_layout" not in found(wmma, "gfx1151", "gfx1100")


@pytest.mark.parametrize(
    ("line", "target", "to", "rule"),
    [
        ("v_and_b32_sdwa v0, v1, v2 dst_sel:DWORD src0_sel:WORD_1 src1_sel:DWORD", "gfx942", "gfx1100",
         "missing_encoding"),
        ("v_mov_b32_dpp v0, v1 row_bcast:15 row_mask:0xa bank_mask:0xf", "gfx942", "gfx1100", "missing_modifier"),
        ("buffer_load_dword v0, s[0:3], 0 offen lds", "gfx942", "gfx1100", "missing_modifier"),
        ("global_load_dword v1, v[2:3], off sc0", "gfx942", "gfx1250", "cache_policy"),
        ("v_lshlrev_b64 v[1:2], 1, v[4:5]", "gfx1201", "gfx1250", "register_alignment"),
        ("v_add_f16 v0.l, v1.h, v2.l", "gfx1201", "gfx942", "operand"),
        ("v_add3_u32 v0, s1, s2, v3", "gfx1201", "gfx942", "operand"),
        ("v_add3_u32 v0, v1, 0x1234, v3", "gfx1201", "gfx942", "operand"),
        ("buffer_load_b32 v1, v0, s[0:3], null offen", "gfx1201", "gfx942", "scalar_offset"),
    ],
)  # fmt: skip
def test_forms_that_a_target_does_not_take(line: str, target: str, to: str, rule: str) -> None:
    assert rule in found(line, to, target)
    assert rule not in found(line, target, target)


def test_wave_size_lds_and_registers() -> None:
    body = "v_accvgpr_read_b32 v1, a7\nv_mov_b32 v200, v1\nv_cmp_eq_u32 vcc, v1, v2\nv_mbcnt_hi_u32_b32 v3, -1, v1"
    whole = found(body, "gfx1250", lds=400_000)
    assert {"wave_size", "lds_size", "registers"} <= set(whole)
    assert whole["registers"].facts["bank"] == "a" and whole["registers"].facts["used"] == 8
    # what the text assumes of 64 lanes: a mask, and a count in the upper half
    assert (whole["wave_size"].facts["masks"], whole["wave_size"].facts["upper"]) == (1, 1)
    assert whole["wave_size"].sites[0].instruction == 2
    assert not found("v_mov_b32 v1, v2", "gfx1100")


def test_workgroup_ids_are_elsewhere() -> None:
    # without user SGPRs in the descriptor, x comes first
    finding = found("s_mov_b32 s9, s0", "gfx1201", "gfx1100")["entry_registers"]
    assert finding.facts["here"] == "s0"
    assert "entry_registers" not in found("s_mov_b32 s0, 0\ns_mov_b32 s9, s0", "gfx1201", "gfx1100")
    assert found("s_mov_b32 s9, ttmp9", "gfx1100", "gfx1201")["entry_registers"].facts["here"] == "ttmp9"
    assert "entry_registers" not in found("s_mov_b32 s9, s0", "gfx942", "gfx1100")


@pytest.mark.parametrize(
    ("line", "target", "to", "fits"),
    [
        ("global_load_dword v1, v2, s[2:3] offset:4095", "gfx1201", "gfx942", True),
        ("global_load_dword v1, v2, s[2:3] offset:-4096", "gfx1201", "gfx942", True),
        ("global_load_dword v1, v2, s[2:3] offset:4096", "gfx1201", "gfx942", False),
        ("buffer_load_dword v1, v2, s[0:3], null offen offset:4096", "gfx1201", "gfx1100", False),
        ("buffer_load_dword v1, v2, s[0:3], 0 offen offset:4095", "gfx942", "gfx1201", True),
        ("s_load_b32 s4, s[0:1], 0x100000", "gfx1201", "gfx1100", False),
        ("s_load_b32 s4, s[0:1], 0xfffff", "gfx1201", "gfx1100", True),
    ],
)  # fmt: skip
def test_offsets_that_would_be_cut(line: str, target: str, to: str, fits: bool) -> None:
    assert ("offset_range" not in found(line, to, target)) == fits


def test_eight_bit_floats_change_their_meaning() -> None:
    body = "v_mfma_f32_16x16x32_fp8_fp8 v[0:3], v[4:5], v[6:7], v[0:3]"
    assert found(body, "gfx950")["number_format"].severity == "warning"
    assert not found("v_add_f32 v1, v2, v3", "gfx950")


def test_port_runs_only_with_a_target() -> None:
    assert "port" not in check_program(program("s_barrier")).ran
    with pytest.raises(UserError, match="unknown target"):
        check_program(program("s_barrier"), to="gfx9")

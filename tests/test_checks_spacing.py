"""`spacing`: for every rule, enough separation is clean and one fewer is one finding that asks for one."""

from __future__ import annotations

import pytest

from antiphase import asm
from antiphase.asm import Program
from antiphase.checks import Finding, Fix
from antiphase.checks.spacing import check_spacing
from antiphase.checks.spacing._rules import rules
from tests._asm import ARGUMENT, FILE
from tests._spacing_rows import CDNA_ROWS, GFX1250_ROWS, RDNA_ROWS, Row

CASES = [case for row in (*CDNA_ROWS, *RDNA_ROWS, *GFX1250_ROWS) for case in row.cases()]
NAMES = [f"{target}-{row.rule}-{number}" for number, (row, target, _) in enumerate(CASES)]
EVERY_TARGET = sorted({target for _, target, _ in CASES})


def kernel(target: str, lines: list[str], wave64: bool = False, features: str = "") -> Program:
    text = FILE.format(
        target=target + features, body="\n".join([*lines, "end:", "s_endpgm"]),
        descriptor=f".amdhsa_wavefront_size32 {int(not wave64)}",
        args=ARGUMENT.format(offset=0), lds=0, scratch=0, size=8,
    )  # fmt: skip
    return asm.parse(text, "k.s")


def checked(program: Program) -> list[Finding]:
    return check_spacing(program, program.kernel())


def fixed(program: Program, fix: Fix) -> Program:
    new = [asm.parse_instruction(line) for line in fix.text]
    old = [program.kernel().instructions[fix.instruction]] if fix.action == "insert" else []
    return program.edit({fix.instruction: [*new, *old]})


def body(row: Row, separators: int) -> list[str]:
    return [*row.before.split("; "), *[row.filler] * separators, *row.after.split("; ")]


@pytest.mark.parametrize(("row", "target", "need"), CASES, ids=NAMES)
def test_enough_is_clean(row: Row, target: str, need: int) -> None:
    assert checked(kernel(target, body(row, need), row.wave64)) == []


@pytest.mark.parametrize(
    ("row", "target", "need"), [c for c in CASES if c[2]], ids=[n for n, c in zip(NAMES, CASES, strict=True) if c[2]]
)
def test_one_fewer_is_one_finding_for_one_and_its_fix_removes_it(row: Row, target: str, need: int) -> None:
    lines = body(row, need - 1)
    program = kernel(target, lines, row.wave64)
    (finding,) = checked(program)
    assert (finding.rule, finding.severity, finding.facts["missing"]) == (row.rule, row.severity, 1)
    assert finding.sites[1].instruction == len(lines) - 1
    assert finding.fix is not None
    assert checked(fixed(program, finding.fix)) == []


@pytest.mark.parametrize("target", EVERY_TARGET)
def test_every_rule_has_a_row(target: str) -> None:
    tested = {row.rule for row, where, need in CASES if where == target and need}
    elsewhere = {"xnack_scalar_clause", "xnack_vector_clause", "xdl_to_gemm_c_same", "dgemm16_to_valu_write"}
    assert {rule.id for rule in rules(target)} - tested <= elsewhere


MFMA = "v_mfma_f32_16x16x16_f16 v[0:3], v[40:41], v[42:43], 0"  # on gfx942 its result is readable after 7 wait states


def test_s_nop_counts_its_wait_states_and_the_fix_says_how_many_are_missing() -> None:
    (finding,) = checked(kernel("gfx942", [MFMA, "s_nop 2", "v_add_f32 v9, v0, v1"]))
    assert [finding.facts[key] for key in ("required", "have", "missing", "registers")] == [7, 3, 4, ("v0", "v1")]
    assert finding.fix == Fix("insert", 2, ("s_nop 3",))


def test_the_path_with_the_fewest_counts() -> None:
    lines = [MFMA, "s_cbranch_scc0 join", "s_nop 7", "join:", "v_add_f32 v9, v0, v1"]
    (finding,) = checked(kernel("gfx942", lines))
    assert (finding.facts["have"], finding.facts["missing"]) == (1, 6)


def test_a_producer_at_the_end_of_a_loop_is_near_its_start() -> None:
    lines = ["s_nop 0", "loop:", "v_add_f32 v9, v0, v1", "s_nop 7", MFMA, "s_cbranch_scc0 loop", "s_nop 7"]
    (finding,) = checked(kernel("gfx942", lines))
    assert [site.instruction for site in finding.sites] == [3, 1]
    assert finding.facts["missing"] == 6


def test_one_insertion_is_asked_for_once() -> None:
    lines = [MFMA, "v_add_f32 v9, v0, v1", "v_add_f32 v10, v1, v2", "v_add_f32 v11, v2, v3"]
    (finding,) = checked(kernel("gfx942", lines))
    assert finding.facts["missing"] == 7


def test_more_than_one_s_nop_where_one_cannot_hold_them() -> None:
    lines = ["v_mfma_f32_32x32x4_2b_f16 v[0:31], v[40:41], v[42:43], 0", "v_mov_b32 v9, v0"]
    (finding,) = checked(kernel("gfx942", lines))
    assert finding.fix == Fix("insert", 1, ("s_nop 15", "s_nop 2"))


def test_f8f6f4_takes_longer_with_an_8_bit_operand() -> None:
    scaled = "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[40:47], v[48:55], 0"
    missing = [
        checked(kernel("gfx950", [scaled + formats, "v_mov_b32 v90, v0"]))[0].facts["missing"]
        for formats in ("", " cbsz:4", " cbsz:4 blgp:4", " cbsz:2 blgp:3")
    ]
    assert missing == [12, 12, 8, 8]


def test_a_field_of_the_consumer_is_lowered() -> None:
    (finding,) = checked(kernel("gfx1100", ["v_mov_b32 v1, v2", "v_nop", "lds_direct_load v1 wait_vdst:15"]))
    assert finding.fix == Fix("replace", 2, ("lds_direct_load v1 wait_vdst:1",))


def test_a_transcendental_among_the_results_makes_the_field_useless() -> None:
    lines = ["v_mov_b32 v1, v2", "v_exp_f32 v3, v4", "v_nop", "lds_direct_load v1 wait_vdst:1"]
    (finding,) = checked(kernel("gfx1100", lines))
    assert finding.fix == Fix("replace", 3, ("lds_direct_load v1 wait_vdst:0",))


def test_a_memory_instruction_waits_for_valu_results() -> None:
    lines = ["v_exp_f32 v1, v2", "ds_load_b32 v8, v9", "v_add_f32 v3, v1, v1"]
    assert checked(kernel("gfx1100", lines)) == []


def test_s_nop_does_not_separate_wmma() -> None:
    lines = ["v_wmma_f32_16x16x16_f16 v[0:7], v[40:43], v[44:47], v[0:7]", "s_nop 7"]
    (finding,) = checked(kernel("gfx1201", [*lines, "v_wmma_f32_16x16x16_f16 v[60:67], v[0:3], v[44:47], v[60:67]"]))
    assert finding.fix == Fix("insert", 2, ("v_nop",))


def test_upper_bits_of_vgpr_numbers_are_followed() -> None:
    wmma = "v_wmma_f32_16x16x32_f16 v[0:7], v[40:47], v[48:55], v[0:7]"
    read = "v_mov_b32 v90, v0"
    assert len(checked(kernel("gfx1250", [wmma, read]))) == 1
    assert checked(kernel("gfx1250", [wmma, "s_set_vgpr_msb 1", read])) == []  # it reads v256


@pytest.mark.parametrize(("features", "count"), [(":xnack+", 1), (":xnack-", 0), ("", 0)])
def test_clauses_matter_with_xnack(features: str, count: int) -> None:
    scalar = ["s_load_dwordx2 s[4:5], s[2:3], 0x0", "s_load_dword s6, s[4:5], 0x0"]
    vector = ["global_load_dword v1, v2, s[2:3]", "global_load_dword v2, v3, s[2:3]"]
    for lines in (scalar, vector):
        assert len(checked(kernel("gfx942", lines, features=features))) == count
        assert checked(kernel("gfx942", [lines[0], "s_nop 0", lines[1]], features=features)) == []


def test_the_mask_hazard_needs_64_lanes() -> None:
    lines = ["v_cndmask_b32 v1, v2, v3, vcc_lo", "s_mov_b32 vcc_lo, 0", "s_and_b32 s8, vcc_lo, s10"]
    assert checked(kernel("gfx1100", lines)) == []


def test_one_wait_for_both_units() -> None:
    lines = ["v_fma_f32 v1, s4, v3, s6", "s_mov_b32 s4, 0", "v_readfirstlane_b32 s6, v3", "v_fma_f32 v1, s4, v3, s6"]
    (finding,) = checked(kernel("gfx1201", lines))
    assert finding.fix == Fix("insert", 3, ("s_wait_alu depctr_sa_sdst(0) depctr_va_sdst(0)",))


def test_an_instruction_nobody_knows_separates_like_any_other() -> None:
    lines = [MFMA, *["s_mystery_b32 s0, s1"] * 7, "v_add_f32 v9, v0, v1"]
    assert checked(kernel("gfx942", lines)) == []


@pytest.mark.parametrize(
    ("target", "mask", "write"),
    [
        ("gfx1100", "v_cndmask_b32 v1, v2, v3, s[4:5]", "s_mov_b64 s[4:5], {}"),
        ("gfx1201", "v_mov_b32 v1, s4", "s_mov_b32 s4, {}"),
    ],
)
def test_two_writers_meet_in_a_loop(target: str, mask: str, write: str) -> None:
    lines = [
        "loop:", mask, "s_cbranch_scc0 other", write.format(0), "s_branch join", "other:", write.format(1), "join:",
        "s_cbranch_scc1 loop",
    ]  # fmt: skip
    (finding,) = checked(kernel(target, lines, wave64=target == "gfx1100"))
    assert [site.instruction for site in finding.sites] == [2, 0]

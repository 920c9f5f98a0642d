"""`resources`: scratch and accumulator moves in loops, and waves per SIMD."""

from __future__ import annotations

import pytest
from _checked import program

from antiphase.checking import check
from antiphase.checks import Finding, check_program
from antiphase.kernels import MI300X, MI350, StagedGemm
from antiphase.report.findings import message

LOOP = ".L:\n{body}\ns_cbranch_scc0 .L"


def found(body: str, rule: str, waves: int | None = None, **metadata: int) -> list[Finding]:
    part = check_program(program(body, "gfx942", **metadata), ["resources"], waves_per_simd=waves)
    return [f for f in part.checked.findings if f.rule == rule]


def test_scratch_counts_where_a_loop_repeats_it() -> None:
    load, store = "scratch_load_dwordx4 v[0:3], off, off", "scratch_store_dword off, v1, off"
    (finding,) = found("\n".join([load, LOOP.format(body="\n".join([load, store]))]), "scratch_in_loop")
    assert finding.severity == "warning" and finding.facts == {"accesses": 2, "stores": 1, "bytes": 20}
    assert [site.instruction for site in finding.sites] == [1, 3]
    assert not found("\n".join([load, LOOP.format(body="s_nop 0")]), "scratch_in_loop")


def test_an_inner_loop_is_part_of_the_outer_one() -> None:
    inner = "scratch_load_dword v1, off, off\n.I:\nscratch_load_dword v2, off, off\ns_cbranch_scc1 .I"
    (finding,) = found(LOOP.format(body=inner), "scratch_in_loop")
    assert finding.facts["accesses"] == 2


@pytest.mark.parametrize(("moves", "severity"), [(1, "info"), (2, "warning"), (3, "warning")])
def test_accumulator_moves_weigh_against_matrix_instructions(moves: int, severity: str) -> None:
    matrix = "v_mfma_f32_16x16x16_f16 a[0:3], v[4:5], v[6:7], a[0:3]\n" * 2
    (finding,) = found(LOOP.format(body=matrix + "v_accvgpr_read_b32 v1, a0\n" * moves), "accumulator_moves_in_loop")
    assert finding.severity == severity and finding.facts["moves"] == moves and finding.facts["matrix"] == 2


def test_spills_outside_loops_are_a_note() -> None:
    (finding,) = found("scratch_store_dword off, v1, off", "spills", vgpr_spill_count=3)
    assert finding.severity == "info" and finding.facts == {"vgprs": 3, "sgprs": 0}


def test_waves_per_simd_against_what_is_wanted() -> None:
    (note,) = found("s_nop 0", "waves_per_simd", vgpr_count=256, max_flat_workgroup_size=256)
    assert note.facts["waves"] == 2 and note.severity == "info"
    assert not found("s_nop 0", "fewer_waves", 2, vgpr_count=256, max_flat_workgroup_size=256)
    (fewer,) = found("s_nop 0", "fewer_waves", 4, vgpr_count=256, max_flat_workgroup_size=256)
    assert fewer.severity == "warning" and (fewer.facts["waves"], fewer.facts["wanted"]) == (2, 4)


def test_lds_can_be_what_limits() -> None:
    (note,) = found("s_nop 0", "waves_per_simd", lds=40_000, max_flat_workgroup_size=256)
    assert (note.facts["by_registers"], note.facts["waves"]) == (8, 1)


def test_lds_of_a_launch_counts_where_it_is_known() -> None:
    kernel = program("s_nop 0", "gfx942", lds=1024, max_flat_workgroup_size=256)
    (unknown,) = check_program(kernel, ["resources"]).checked.findings
    assert (unknown.facts["lds"], unknown.facts["waves"]) == (1024, 8)
    assert message(unknown).endswith(
        "1,024 bytes of LDS a workgroup of 4 waves allow 8 by the text; what a launch adds is not known"
    )
    for result in (
        check(kernel, args=[], lds_bytes=32768, only=["resources"]),
        check(kernel, lds_bytes=32768, only=["resources"]),
    ):
        (known,) = result.kept[0].checked.findings
        assert (known.facts["lds"], known.facts["waves"]) == (33792, 1)
        assert message(known).endswith("33,792 bytes of LDS a workgroup of 4 waves allow 1")


def test_a_workgroup_that_does_not_fit_is_an_error() -> None:
    (finding,) = found("s_nop 0", "does_not_fit", vgpr_count=512, max_flat_workgroup_size=1024)
    assert finding.severity == "error"


@pytest.mark.parametrize("kernel", [MI300X, MI350], ids=lambda kernel: kernel.target)
def test_the_staged_kernels_have_no_findings(kernel: StagedGemm) -> None:
    part = check_program(kernel.compile("fp16").program, ["resources"], waves_per_simd=2)
    assert part.checked.verdict == "clean"

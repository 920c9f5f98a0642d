"""`port`: what does not survive a move to another target, and what does."""

from __future__ import annotations

import pytest
from _checked import program

from antiphase.checks import Finding, check_program
from antiphase.errors import UserError


def found(body: str, to: str, target: str = "gfx942", **metadata: int) -> dict[str, Finding]:
    part = check_program(program(body, target, **metadata), ["port"], to=to)
    return {f.rule: f for f in part.checked.findings}


@pytest.mark.parametrize(
    ("wait", "target", "to", "text"),
    [
        ("s_waitcnt vmcnt(3)", "gfx942", "gfx1250", ("s_wait_loadcnt 0", "s_wait_storecnt 0")),
        ("s_waitcnt lgkmcnt(2)", "gfx942", "gfx1250", ("s_wait_dscnt 0", "s_wait_kmcnt 0")),
        ("s_waitcnt vmcnt(3)", "gfx1100", "gfx1201", ("s_wait_loadcnt 3",)),
        ("s_waitcnt_vscnt null, 2", "gfx1100", "gfx1201", ("s_wait_storecnt 2",)),
        ("s_waitcnt_vscnt null, 2", "gfx1100", "gfx942", ("s_waitcnt vmcnt(2)",)),
        ("s_wait_dscnt 1", "gfx1201", "gfx942", ("s_waitcnt lgkmcnt(1)",)),
        ("s_wait_loadcnt 4", "gfx1201", "gfx1100", ("s_waitcnt vmcnt(4)",)),
    ],
)
def test_waits_are_translated_to_ones_as_strict(wait: str, target: str, to: str, text: tuple[str, ...]) -> None:
    finding = found(wait, to, target)["legacy_wait"]
    assert finding.fix is not None and finding.fix.text == text


def test_a_packed_wait_means_another_on_another_generation() -> None:
    finding = found("s_waitcnt 0xf70", "gfx1100")["packed_wait"]
    assert finding.fix is not None and finding.fix.text == ("s_waitcnt vmcnt(0)",)
    assert not found("s_waitcnt 0xf70", "gfx950")


def test_waits_of_the_same_generation_stay() -> None:
    assert not found("s_waitcnt vmcnt(3) lgkmcnt(0)", "gfx950")
    assert not found("s_wait_loadcnt 0\ns_wait_dscnt 2", "gfx1250", "gfx1201", wavefront_size=32)


def test_stores_leave_vmcnt() -> None:
    body = "global_store_dword v1, v2, s[2:3]\ns_waitcnt vmcnt(0)"
    assert found(body, "gfx1100")["store_counter"].sites[0].instruction == 1
    assert "store_counter" not in found(body, "gfx950")
    assert "store_counter" not in found("s_waitcnt vmcnt(0)", "gfx1100")


def test_instructions_that_a_target_lacks() -> None:
    finding = found("v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]", "gfx1100")["missing_instruction"]
    assert finding.facts["mnemonic"] == "v_mfma_f32_16x16x16_f16"
    assert not found("v_add_f32_e32 v0, v1, v2\nds_read_b128 v[0:3], v4", "gfx1100")


def test_a_barrier_splits() -> None:
    finding = found("s_barrier", "gfx1201")["missing_instruction"]
    assert finding.fix is not None and finding.fix.text == ("s_barrier_signal -1", "s_barrier_wait -1")


def test_wave_size_lds_and_registers() -> None:
    whole = found("v_mov_b32 v1, a7\nv_mov_b32 v300, v1", "gfx1250", lds=400_000)
    assert {"wave_size", "lds_size", "registers", "vgpr_banks"} == set(whole)
    assert whole["registers"].facts["bank"] == "a" and whole["registers"].facts["used"] == 8
    assert not found("v_mov_b32 v1, v2", "gfx1100")


@pytest.mark.parametrize(
    ("line", "target", "to", "fits"),
    [
        ("global_load_dword v1, v2, s[2:3] offset:4095", "gfx1201", "gfx942", True),
        ("global_load_dword v1, v2, s[2:3] offset:-4096", "gfx1201", "gfx942", True),
        ("global_load_dword v1, v2, s[2:3] offset:4096", "gfx1201", "gfx942", False),
        ("buffer_load_dword v1, v2, s[0:3], null offen offset:4096", "gfx1201", "gfx1100", False),
        ("buffer_load_dword v1, v2, s[0:3], 0 offen offset:4095", "gfx942", "gfx1201", True),
    ],
)
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

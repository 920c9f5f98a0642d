"""Lines that an assembler reads and no machine runs are errors, to a launch and to the static checks alike."""

from __future__ import annotations

import pytest
from _asm import FILE

from antiphase import asm
from antiphase.checks import check_program
from antiphase.errors import UserError
from antiphase.machine import check_lines, refusal


def read(line: str, target: str) -> asm.Program:
    text = FILE.format(target=target, body=f"{line}\ns_endpgm", descriptor="", args="    []", lds=0, scratch=0, size=0)
    if target != "gfx942":
        text = text.replace(".wavefront_size: 64", ".wavefront_size: 32")
    return asm.parse(text.replace(".args:\n    []", ".args: []"), "k.s")


@pytest.mark.parametrize(
    ("target", "line", "what"),
    [
        ("gfx942", "v_add_f32_e64 v0, s0, s1", "reads s0 and s1; gfx942 reads one scalar value there"),
        ("gfx942", "v_fma_f32 v0, s0, s1, v2", "reads s0 and s1"),
        ("gfx1100", "v_fma_f32 v0, s0, s1, s2", "reads s0 and s1 and s2; gfx1100 reads two scalar values there"),
        ("gfx1100", "v_fma_f32 v0, s0, s1, 0x12345678", "reads 0x12345678 and s0 and s1"),
        ("gfx1100", "v_fma_f32 v0, 0x12345678, 0x12345679, v1", "has two constants, 0x12345678 and 0x12345679"),
        (
            "gfx1100",
            "v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v2, v3",
            "results v0 and v2 of a dual-issue instruction share",
        ),
        ("gfx1100", "v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v3, v5", "first sources v1 and v5"),
        ("gfx1201", "v_dual_add_f32 v0, v1, v6 :: v_dual_add_f32 v3, v2, v10", "second sources v6 and v10"),
        ("gfx1100", "v_lshlrev_b64 v[0:1], s0, s[2:3]", "reads one scalar value there"),
        ("gfx942", "s_waitcnt vmcnt(999)", "vmcnt(999) does not fit its field"),
        ("gfx942", "global_load_dword v0, v[2:3], off offset:5000", "offset 5000 of global_load_dword does not fit"),
    ],
)
def test_such_a_line_is_an_error(target: str, line: str, what: str) -> None:
    program = read(line, target)
    for judge in (lambda: check_program(program), lambda: check_lines(program, program.kernel())):
        with pytest.raises(UserError, match=r"k\.s") as error:
            judge()
        assert what in str(error.value), str(error.value)
        assert error.value.line


@pytest.mark.parametrize(
    ("target", "line"),
    [
        ("gfx942", "v_add_f32_e64 v0, s0, s0"),
        ("gfx942", "v_writelane_b32 v0, s0, m0"),
        ("gfx942", "v_cndmask_b32_e32 v0, 1.0, v1, vcc"),
        ("gfx942", "v_cndmask_b32_e64 v0, v2, v1, s[4:5]"),
        ("gfx942", "v_add_co_u32_e64 v0, s[4:5], s0, v1"),
        ("gfx1100", "v_fma_f32 v0, s0, s1, 1.0"),
        ("gfx1100", "v_fma_f32 v0, s0, 0x12345678, 0x12345678"),
        ("gfx1100", "v_lshlrev_b64 v[0:1], s0, v[2:3]"),
        ("gfx1100", "v_dual_add_f32 v0, s1, v2 :: v_dual_add_f32 v1, s1, v3"),
        ("gfx1201", "v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v3, v5"),
        ("gfx1201", "v_dual_add_f32 v0, v1, v6 :: v_dual_add_f32 v3, v2, v6"),
    ],
)
def test_such_a_line_is_none(target: str, line: str) -> None:
    program = read(line, target)
    check_lines(program, program.kernel())


def test_a_lane_mask_is_as_wide_as_a_wave() -> None:
    line = "v_cmp_lt_f32_e64 {}, v0, v1"
    assert "is no mask of 32 lanes" in refusal(asm.parse_instruction(line.format("s[2:3]")), "gfx1100")
    assert "is no mask of 64 lanes" in refusal(asm.parse_instruction(line.format("s2")), "gfx942")
    assert not refusal(asm.parse_instruction(line.format("s2")), "gfx1100")
    assert not refusal(asm.parse_instruction(line.format("s[2:3]")), "gfx942")

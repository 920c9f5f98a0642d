"""Seed 000, section 4 "FP32 minimum / maximum": the invalid flag of RDNA 4, as wave programs read it."""

import numpy as np
import pytest
from _memory_kernels import Kernel

from antiphase.errors import Unsupported

RDNA4 = ("gfx1200", "gfx1201")
NUMBER, QUIET, SIGNALLING = 0x3FC00000, 0x7FC00001, 0xFF800001
FAMILIES = ("v_min_num_f32", "v_max_num_f32", "v_minimum_f32", "v_maximum_f32")


def flag_after(target: str, line: str, word: int, before: str = "") -> int:
    """Bit 0 of the flags after a line with 1.5 in v2 and `word` in lane 9 of v3, where other lanes have 1.5."""
    k = Kernel(target)(f"v_mov_b32 v2, {NUMBER:#x}\nv_mov_b32 v3, v2\ns_mov_b32 exec_lo, 0x200")
    k(f"v_mov_b32 v3, {word:#x}\ns_mov_b32 exec_lo, -1\n{before}\n{line}\ns_mov_b32 exec_lo, -1")
    k("s_getreg_b32 s20, hwreg(HW_REG_WAVE_EXCP_FLAG_USER, 0, 1)\nv_mov_b32 v4, s20").keep("v4")
    return int(k.run().rows[0, 0])


@pytest.mark.parametrize("target", RDNA4)
@pytest.mark.parametrize("name", FAMILIES)
def test_a_signalling_nan_sets_the_invalid_flag(name: str, target: str) -> None:
    """Either family, with a number and a signalling NaN, CLAMP = 0: RDNA 4 ISA pp. 304-305, 525-526."""
    for operands in ("v2, v3", "v3, v2", "-v3, v2"):
        assert flag_after(target, f"{name} v4, {operands}", SIGNALLING) == 1
    for word in (NUMBER, QUIET, 0x7F800000, 1, 0):
        assert flag_after(target, f"{name} v4, v2, v3", word) == 0


@pytest.mark.parametrize("target", RDNA4)
def test_the_flag_stays_until_it_is_cleared_and_inactive_lanes_set_none(target: str) -> None:
    line = "v_min_num_f32 v4, v2, v3"
    assert flag_after(target, f"{line}\nv_mov_b32 v3, 0\n{line}", SIGNALLING) == 1
    assert flag_after(target, f"{line}\ns_setreg_imm32_b32 hwreg(HW_REG_WAVE_EXCP_FLAG_USER, 0, 7), 0", SIGNALLING) == 0
    assert flag_after(target, line, SIGNALLING, before="s_mov_b32 exec_lo, 0xfffffdff") == 0


def test_flags_that_are_not_modelled_are_not_read() -> None:
    with pytest.raises(Unsupported, match="exception flags of other float instructions"):
        flag_after("gfx1201", "v_add_f32 v4, v2, v3", SIGNALLING)
    skipped = "s_branch .Lover\nv_add_f32 v4, v2, v3\n.Lover:"
    assert flag_after("gfx1201", skipped, SIGNALLING) == 0


@pytest.mark.parametrize("target", RDNA4)
def test_results_are_those_without_flags(target: str) -> None:
    k = Kernel(target)(f"v_mov_b32 v2, {NUMBER:#x}\nv_mov_b32 v3, {SIGNALLING:#x}\nv_min_num_f32 v4, v2, v3")
    k("v_minimum_f32 v5, v2, v3\ns_getreg_b32 s20, hwreg(HW_REG_WAVE_EXCP_FLAG_USER)").keep("v4", "v5")
    rows = k.run().rows
    assert (rows[0] == NUMBER).all() and (rows[1] == SIGNALLING | 0x400000).all()
    assert np.isnan(rows[1].view(np.float32)).all()

"""`race` around a loop: LDS written at its bottom is read behind the barrier at its top.

The shape that LLVM leaves where it takes a fence's wait out of a loop header (llvm#220357, docs/findings.md): a wait on
memory before the barrier, the one on LDS behind it.
"""

from __future__ import annotations

import pytest
from _checked import program

from antiphase.asm import Program, parse_instruction
from antiphase.checks import Checked
from antiphase.checks.race import check_races
from antiphase.frontends import launch_asm

LOOP = """\
v_lshlrev_b32 v1, 2, v0
v_xor_b32 v2, 0x100, v1
ds_store_b32 v1, v0
s_waitcnt lgkmcnt(0)
s_mov_b32 s4, 3
.LBB0_1:
{fence}
s_barrier
s_waitcnt lgkmcnt(0)
buffer_gl0_inv
ds_load_b32 v3, v2
s_waitcnt lgkmcnt(0)
s_barrier
ds_store_b32 v1, v3
s_sub_u32 s4, s4, 1
s_cmp_lg_u32 s4, 0
s_cbranch_scc1 .LBB0_1"""


def races(kernel: Program) -> Checked:
    recording = launch_asm(kernel, grid=1, args=[], threads=128, record=True).recording
    assert recording is not None
    return check_races(recording)


@pytest.mark.parametrize("target", ["gfx1100", "gfx1151"])
def test_the_wait_belongs_before_the_barrier_of_the_header(target: str) -> None:
    assert races(program(LOOP.format(fence="s_waitcnt vmcnt(0) lgkmcnt(0)"), target, lds=512)).verdict == "clean"
    kernel = program(LOOP.format(fence="s_waitcnt vmcnt(0)"), target, lds=512)
    (finding,) = races(kernel).findings
    texts = [instruction.text() for instruction in kernel.kernel().instructions]
    cause, effect = (texts[site.instruction] for site in finding.sites)
    assert (finding.rule, cause, effect) == ("missing_completion", "ds_store_b32 v1, v3", "ds_load_b32 v3, v2")
    assert finding.fix is not None and finding.fix.text == ("s_waitcnt lgkmcnt(0)",)
    at = finding.fix.instruction
    assert texts[at] == "s_barrier"
    fixed = [*map(parse_instruction, finding.fix.text), kernel.kernel().instructions[at]]
    assert races(kernel.edit({at: fixed})).verdict == "clean"

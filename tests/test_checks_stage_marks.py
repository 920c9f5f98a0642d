"""`stage`: stages that were marked and never formed, in Gluon kernels and in text with marks."""

from __future__ import annotations

from pathlib import Path

import pytest
from _checked import program

from antiphase.asm import parse
from antiphase.checks import Finding, check_program

LOOP = """s_mov_b32 s4, 3
.LBB0_1:
; antiphase: stage load
ds_load_b32 v3, v2
{0}; antiphase: stage compute
s_waitcnt lgkmcnt(0)
v_add_f32 v4, v3, v3
{0}s_sub_u32 s4, s4, 1
s_cmp_lg_u32 s4, 0
s_cbranch_scc1 .LBB0_1"""


def stage(text: str) -> list[Finding]:
    return list(check_program(program(text, "gfx1100", lds=512), ["stage"]).checked.findings)


def test_marked_stages_of_a_loop_without_a_barrier() -> None:
    (finding,) = stage(LOOP.format(""))
    assert (finding.rule, finding.severity, finding.facts["labels"]) == (
        "stages_not_separate", "warning", ("load", "compute"),
    )  # fmt: skip
    assert not stage(LOOP.format("s_barrier\n"))


triton = pytest.importorskip("triton")

from triton.experimental import gluon  # noqa: E402
from triton.experimental.gluon import language as gl  # noqa: E402
from triton.experimental.gluon.language.amd import warp_pipeline_stage  # noqa: E402

from antiphase.frontends import Compiled, compile_kernel  # noqa: E402


@gluon.jit
def within_if(x, y, n, flag, BLOCK: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [64], [8], [0])  # pyright: ignore[reportAssignmentType]
    i = gl.arange(0, BLOCK, layout=layout)
    total = gl.zeros([BLOCK], gl.float32, layout=layout)
    for k in range(n):
        if flag > k:
            with warp_pipeline_stage("load", priority=1):
                value = gl.load(x + k * BLOCK + i)
            with warp_pipeline_stage("compute", priority=0):
                total = total + value * value
    gl.store(y + i, total)


@gluon.jit
def within_while(x, y, n, flag, BLOCK: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [64], [8], [0])  # pyright: ignore[reportAssignmentType]
    i = gl.arange(0, BLOCK, layout=layout)
    total = gl.zeros([BLOCK], gl.float32, layout=layout)
    k = 0
    while k < n:
        with warp_pipeline_stage("load", priority=1):
            value = gl.load(x + k * BLOCK + i)
        with warp_pipeline_stage("compute", priority=0):
            total = total + value * value
        k += 1
    gl.store(y + i, total)


@gluon.jit
def within_for(x, y, n, flag, BLOCK: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [64], [8], [0])  # pyright: ignore[reportAssignmentType]
    i = gl.arange(0, BLOCK, layout=layout)
    total = gl.zeros([BLOCK], gl.float32, layout=layout)
    for k in range(n):
        with warp_pipeline_stage("load", priority=1):
            value = gl.load(x + k * BLOCK + i)
        with warp_pipeline_stage("compute", priority=0):
            total = total + value * value
    gl.store(y + i, total)


def compiled(kernel: object) -> Compiled:
    signature = {"x": "*fp32", "y": "*fp32", "n": "i32", "flag": "i32"}
    return compile_kernel(kernel, signature, {"BLOCK": 512}, target="gfx942", num_warps=8)


@pytest.mark.parametrize(("kernel", "unused"), [(within_if, True), (within_while, True), (within_for, False)])
def test_stages_that_the_compiler_ignores(kernel: object, unused: bool) -> None:
    one = compiled(kernel)
    found = check_program(one.program, ["stage"]).checked.findings
    assert [f.rule for f in found] == (["unused_borders"] if unused else [])
    assert unused == ("s_barrier" not in one.asm)
    if unused:
        (finding,) = found
        assert (finding.count, finding.facts["labels"]) == (2, ("load", "compute"))
        loc = one.program.kernel().instructions[finding.sites[0].instruction].loc
        source = Path(__file__).read_text().splitlines()
        assert loc is not None and "gl.load(x + k * BLOCK + i)" in source[loc.line - 1]
        assert parse(one.program.text(), "again.s").kernel().markers == one.program.kernel().markers


SCRIPT = """
import numpy as np
from antiphase.frontends import tensor
import test_checks_stage_marks as kernels

x, y = tensor(np.ones(4 * 512, np.float32)), tensor(np.zeros(512, np.float32))
kernels.within_while[(1,)](x, y, 4, 9, BLOCK=512, num_warps=8)
assert (y.numpy() == 4).all()
"""


def test_a_script_is_told_of_stages_that_the_compiler_ignores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from antiphase.checking import Options, check_script

    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    (part,) = check_script(str(script), [], "gfx942", Options(["stage"]))
    assert [f.rule for f in part.checked.findings] == ["unused_borders"]

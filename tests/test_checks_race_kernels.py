"""`race` on compiled kernels: clean as they are, and no LDS wait or needed barrier can go without a finding."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest

pytest.importorskip("triton")

import triton
import triton.language as tl
from corpus import CASES, Case

from antiphase.asm import Program
from antiphase.checks import Checked, CheckedKernel, Fix, causes
from antiphase.checks.init import check_init
from antiphase.checks.race import check_races
from antiphase.checks.stage import check_stages
from antiphase.checks.sync import check_sync
from antiphase.frontends import Compiled, compile_kernel, launch_asm
from antiphase.kernels import MI300X, MI350, StagedGemm
from antiphase.machine import Recording

TARGETS = ("gfx942", "gfx950", "gfx1100", "gfx1151", "gfx1201", "gfx1250")
LDS_KERNELS = (
    "softmax", "layer_norm", "reduce", "scan", "sort", "histogram", "gather", "transpose", "attention",
    "dot_fp16_64x64x64", "dot_bf16_128x128x64_w8s2", "dot_fp32_64x64x32", "atomic_add_fp16",
)  # fmt: skip
CHOSEN = [case for case in CASES if case.name.startswith(LDS_KERNELS)]
RUNS = [(case, TARGETS[i % len(TARGETS)]) for i, case in enumerate(CHOSEN)]


@pytest.mark.parametrize(("case", "target"), RUNS, ids=lambda value: str(value))
def test_compiled_kernels_are_clean(case: Case, target: str) -> None:
    if target.startswith("gfx9") and target not in case.targets:
        target = case.targets[0]
    execution = launch_asm(case.compile(target), grid=case.grid, args=case.inputs(), record=True)
    recording = execution.recording
    assert recording is not None
    checked = check_races(recording)
    assert checked.verdict == "clean", (checked.incomplete, checked.findings[:3])
    assert not check_sync(recording) and not check_init(execution) and not check_stages(recording)


@triton.jit
def double(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)


@pytest.mark.parametrize("target", TARGETS)
def test_a_block_smaller_than_the_workgroup_works_in_place(target: str) -> None:
    """All four waves load what one or two of them store."""
    kernel = compile_kernel(double, {"x": "*fp32", "n": "i32"}, {"BLOCK": 64}, target=target, num_warps=4)
    x = np.arange(256, dtype=np.float32)
    recording = launch_asm(kernel, grid=4, args=[x, 256], record=True).recording
    assert recording is not None and (x == 2 * np.arange(256)).all()
    assert check_races(recording) == Checked(())


@cache
def compiled(gemm: StagedGemm) -> Compiled:
    return gemm.compile("fp16")


def recorded(gemm: StagedGemm, program: Program) -> Recording:
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal((256, 384)).astype(np.float16) for _ in "ab")
    arguments: Sequence[Any] = gemm.arguments(a, b, np.zeros((256, 256), np.float16))
    execution = launch_asm(
        program, grid=gemm.grid(256, 256), args=arguments, threads=compiled(gemm).threads_per_workgroup,
        lds_bytes=compiled(gemm).shared, record=True,
    )  # fmt: skip
    assert execution.recording is not None
    return execution.recording


@pytest.mark.parametrize("gemm", [MI300X, MI350], ids=lambda gemm: gemm.target)
def test_a_staged_gemm_is_clean_and_each_completion_in_its_loop_is_needed(gemm: StagedGemm) -> None:
    program = compiled(gemm).program
    recording = recorded(gemm, program)
    assert check_races(recording) == Checked(()) and not check_stages(recording) and not check_sync(recording)
    kernel = program.kernel()
    instructions = kernel.instructions
    loop = max(kernel.blocks, key=lambda b: b.end - b.start if b.index in b.successors else 0)
    before_barriers = [
        i for i in range(loop.start, loop.end - 1)
        if instructions[i].mnemonic == "s_waitcnt" and instructions[i + 1].mnemonic == "s_barrier"
    ]  # fmt: skip
    assert before_barriers
    for wait in before_barriers[::2]:
        mutant = recorded(gemm, program.without(wait))
        races = check_races(mutant).findings
        assert {f.rule for f in races} & {"missing_completion"}, instructions[wait].line
        assert {f.rule for f in check_stages(mutant)} & {"completed_too_late"}, instructions[wait].line


@pytest.mark.parametrize("gemm", [MI300X, MI350], ids=lambda gemm: gemm.target)
def test_an_offset_that_is_not_closed_is_found(gemm: StagedGemm) -> None:
    program = compiled(gemm).program
    mutants = []
    for block in program.kernel().blocks:
        instructions = program.kernel().instructions[block.start : block.end]
        if [i.mnemonic for i in instructions] == ["s_barrier"]:
            mutants.append(recorded(gemm, program.without(block.start)))
    assert len(mutants) == 2, "one opens the offset, one closes it"
    for mutant in mutants:
        assert [f.rule for f in check_sync(mutant)] == ["uneven_arrivals"]


@triton.jit
def matmul(a, b, c, K, stride: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rows[:, None] * stride + (k + depth)[None, :])
        y = tl.load(b + (k + depth)[:, None] * stride + columns[None, :])
        total = tl.dot(x, y, total, input_precision="ieee")
    tl.store(c + rows[:, None] * stride + columns[None, :], total)


def test_local_reads_that_outlive_their_barrier_are_found() -> None:
    """The shape that Triton 3.8 raced in (triton-lang/triton#11696), mended since: half of the waves are one rendezvous
    ahead, and the barrier behind the LDS reads came without a wait. Taking that wait away gives the race back."""
    kernel = compile_kernel(
        matmul, {"a": "*fp32", "b": "*fp32", "c": "*fp32", "K": "i32"}, {"stride": 256, "BM": 128, "BN": 128, "BK": 64},
        divisible_by_16=["K"], num_warps=8, num_stages=2,
    )  # fmt: skip

    def run(program: Program) -> tuple[Recording, np.ndarray]:
        a, b = (np.full((256, 256), value, np.float32) for value in (1, 2))
        c = np.zeros((256, 256), np.float32)
        execution = launch_asm(
            program, grid=(2, 2), args=[a, b, c, 256], threads=512, lds_bytes=kernel.shared, record=True
        )
        assert execution.recording is not None
        return execution.recording, c

    recording, c = run(kernel.program)
    assert check_races(recording) == Checked(()) and not check_stages(recording) and (c == 512).all()
    instructions = kernel.program.kernel().instructions
    rereads = []
    for i, wait in enumerate(instructions[:-1]):
        if wait.text() == "s_waitcnt lgkmcnt(0)" and instructions[i + 1].mnemonic == "s_barrier":
            mutant, _ = run(kernel.program.without(i))
            found = [f for f in check_races(mutant).findings if f.facts["conflict"] == "read_write"]
            if any(f.rule == "missing_completion" and f.fix and f.fix.instruction == i for f in found):
                rereads.append(i)
                late = check_stages(mutant)
                assert {f.rule for f in late} == {"completed_too_late"}
                # one wait is missing, so each check tells one thing, and both ask for what was taken away
                part = CheckedKernel(mutant.program, mutant.program.kernel(), Checked((*found, *late)), ())
                fixes = [cause.finding.fix for cause in causes(part)]
                assert fixes == [Fix("insert", i, (wait.text(),))] * 2
    assert len(rereads) == 1, "one barrier stands behind the LDS reads"

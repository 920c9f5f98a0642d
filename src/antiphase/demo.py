"""The demonstration: a staged GEMM is compiled for a target, run on the CPU, checked and looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from antiphase import arch, isa, kernels
from antiphase.errors import UserError
from antiphase.frontends import Compiled, launch_asm
from antiphase.kernels import StagedGemm
from antiphase.machine import Execution
from antiphase.stages import StageTimeline, stage_timeline

SHAPE = (512, 768, 512)
"""M, N and K: a few workgroups, and enough iterations to see a loop in the middle."""

_FP32_ROUNDING = 2.0**-24


@dataclass(frozen=True)
class Accuracy:
    """A product against the float64 product of the same inputs.

    largest: greatest absolute error of an element.
    relative: greatest error of an element over the sum of its products' absolute values.
    bound: what `relative` may reach when k exact products are summed in fp32 in any order, each addition
    rounded to nearest: k u / (1 - k u) with u = 2^-24. Source: N. J. Higham, Accuracy and Stability of
    Numerical Algorithms, 2nd edition, section 3.1.
    """

    largest: float
    relative: float
    bound: float

    @property
    def ok(self) -> bool:
        return self.relative <= self.bound


@dataclass(frozen=True)
class Demo:
    """What the demonstration found.

    shape: M, N, K. grid: workgroups.
    vgprs, agprs: of a wave. spills: VGPRs and SGPRs together. lds_bytes: of a workgroup.
    waves_per_simd: resident at once. matrix_instructions: executed, by all waves.
    timeline: of workgroup 0. workgroups_alike: all others have the same.
    """

    gemm: StagedGemm
    shape: tuple[int, int, int]
    grid: tuple[int, int, int]
    accuracy: Accuracy
    vgprs: int
    agprs: int
    spills: int
    lds_bytes: int
    waves_per_simd: int
    matrix_instructions: int
    execution: Execution
    timeline: StageTimeline
    workgroups_alike: bool

    @property
    def ok(self) -> bool:
        """The product is right, no access went astray, and the offset opens, holds and closes everywhere."""
        right = self.accuracy.ok and not self.execution.fault_count
        return right and self.timeline.offset.ok and self.workgroups_alike


def demonstrate(target: str, step: Callable[[str], object] = lambda text: None) -> Demo:
    """Compile, run and look at the staged GEMM of `target`; `step` is told what is about to happen.

    UserError where the target has no staged GEMM or Triton is missing.
    """
    gemm = kernels.for_target(target)
    step(f"compiling {gemm.name} for {target} with Triton")
    compiled = gemm.compile("bf16", "fp32")
    m, n, k = SHAPE
    random = np.random.default_rng(0)
    a, b = (random.standard_normal((rows, k)).astype(ml_dtypes.bfloat16) for rows in (m, n))
    c = np.full((m, n), np.nan, np.float32)
    step("translating it for this CPU and running it")
    execution = launch_asm(compiled, grid=gemm.grid(m, n), args=gemm.arguments(a, b, c), record=True)
    step("comparing with NumPy")
    return _findings(gemm, compiled, execution, accuracy(a, b, c))


def accuracy(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> Accuracy:
    """How close C (M x N) comes to A @ B.T, with A (M x K) and B (N x K). A NaN in C is an error of NaN."""
    wide_a, wide_b, k = a.astype(np.float64), b.astype(np.float64), a.shape[1]
    error = np.abs(c - wide_a @ wide_b.T)
    terms = np.abs(wide_a) @ np.abs(wide_b).T
    bound = k * _FP32_ROUNDING / (1 - k * _FP32_ROUNDING)
    return Accuracy(float(error.max()), float((error / terms).max()), bound)


def _findings(gemm: StagedGemm, compiled: Compiled, execution: Execution, accuracy: Accuracy) -> Demo:
    if execution.recording is None:
        raise UserError("the launch was not recorded", remedy="launch with record=True")
    metadata, agprs = execution.kernel.metadata, execution.kernel.metadata.agpr_count or 0
    lds_bytes = metadata.group_segment_fixed_size + compiled.shared
    x, y, z = execution.recording.grid
    timelines = [stage_timeline(execution.recording, gemm, group) for group in range(x * y * z)]
    target = arch.target(gemm.target)
    # With AGPRs, LLVM's .vgpr_count is of both kinds together (AMDGPUAsmPrinter.cpp, getTotalNumVGPRs).
    vgprs = metadata.vgpr_count - agprs
    return Demo(
        gemm,
        SHAPE,
        (x, y, z),
        accuracy,
        vgprs,
        agprs,
        metadata.vgpr_spill_count + metadata.sgpr_spill_count,
        lds_bytes,
        target.waves_per_simd(vgprs, agprs, lds_bytes, compiled.num_warps),
        _matrix_instructions(execution),
        execution,
        timelines[0],
        all(other.waves == timelines[0].waves for other in timelines),
    )


def _matrix_instructions(execution: Execution) -> int:
    target = execution.program.target
    return sum(
        int(count)
        for instruction, count in zip(execution.kernel.instructions, execution.counts, strict=True)
        if isinstance(isa.find(instruction.mnemonic, target), isa.Matrix)
    )

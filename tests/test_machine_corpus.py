"""Recording mode on compiled kernels: NumPy's results, and no needed wait goes missing unnoticed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from corpus import CASES, Case

from antiphase.asm import Modified, Program, Reg, Waits
from antiphase.errors import Incomplete
from antiphase.frontends import Compiled, launch_asm
from antiphase.kernels import MI300X, MI350, StagedGemm
from antiphase.machine import Recording

# every case on one of its targets; fast mode runs them on all
RUNS = [(case, case.targets[i % len(case.targets)]) for i, case in enumerate(CASES)]


@pytest.mark.parametrize(("case", "target"), RUNS, ids=lambda value: str(value))
def test_recording_computes_the_same(case: Case, target: str) -> None:
    before, after = case.inputs(), case.inputs()
    execution = launch_asm(case.compile(target), grid=case.grid, args=after, record=True)
    assert not execution.faults and execution.recording is not None
    case.check(before, after)


def contents(values: Sequence[Any]) -> list[bytes]:
    return [v.tobytes() for v in values if isinstance(v, np.ndarray)]


def survives(
    program: Program,
    compiled: Compiled,
    grid: tuple[int, ...],
    inputs: Callable[[], Sequence[Any]],
    expected: list[bytes],
) -> bool:
    """Whether a program runs as if nothing were missing."""
    values = inputs()
    try:
        execution = launch_asm(
            program,
            grid=grid,
            args=values,
            threads=compiled.threads_per_workgroup,
            lds_bytes=compiled.shared,
            record=True,
            max_instructions=2_000_000,
        )
    except Incomplete:
        return False
    return not execution.faults and contents(values) == expected


Registers = set[tuple[str, int]]


def touched(operands: Sequence[object]) -> Registers:
    regs = [o.operand if isinstance(o, Modified) else o for o in operands]
    return {(r.bank, r.index + k) for r in regs if isinstance(r, Reg) for k in range(r.count)}


def counter(mnemonic: str) -> str:
    if mnemonic.startswith(("ds_", "s_load", "s_buffer_load", "s_memtime")):
        return "lgkmcnt"
    return "vmcnt" if mnemonic.startswith(("global_", "buffer_load", "buffer_store", "scratch_")) else ""


def needed(recording: Recording, wait: int) -> bool:
    """Whether anything used what only this wait had completed: registers, or stores to LDS at a barrier.

    A second opinion, from the instructions that ran and the order of the counters alone.
    """
    instructions = recording.program.kernel().instructions
    for trace in recording.waves:
        open_: list[tuple[str, Registers, bool]] = []  # counter, registers, whether it changes LDS
        late: list[tuple[str, Registers, bool]] = []  # what would be open still without the wait
        for i in (i for first, end in recording.instructions(trace) for i in range(first, end)):
            one = instructions[i]
            if isinstance(one.operands[0] if one.operands else None, Waits):
                for name, left in one.operands[0].counts:  # type: ignore[union-attr]
                    mine = [op for op in open_ if op[0] == name]
                    if i != wait:
                        late = [op for op in late if op[0] != name or left]
                        done = len(mine) - left
                        gone = mine[: max(0, done)]
                    else:
                        gone = mine[: max(0, len(mine) - left)]
                        late += gone
                    open_ = [op for op in open_ if op not in gone]
                continue
            if late and any(touched(one.operands) & registers for _, registers, _ in late):
                return True
            if one.mnemonic == "s_barrier" and any(in_lds for _, _, in_lds in late):
                return True
            if name := counter(one.mnemonic):
                loads = "load" in one.mnemonic or "read" in one.mnemonic or "memtime" in one.mnemonic
                result = touched(one.operands[:1]) if loads and one.modifier("lds") is None else set()
                in_lds = (one.mnemonic.startswith("ds_") and not loads) or one.modifier("lds") is not None
                open_.append((name, result, in_lds))
    return False


def superfluous(
    compiled: Compiled, grid: tuple[int, ...], inputs: Callable[[], Sequence[Any]], every: int = 1
) -> tuple[list[int], int]:
    """Needed waits, out of every so many, that nothing shows the absence of; and how many were removed."""
    values = inputs()
    recording = launch_asm(compiled, grid=grid, args=values, record=True).recording
    assert recording is not None
    expected = contents(values)
    program = compiled.program
    waits = [i for i, one in enumerate(program.kernel().instructions) if one.mnemonic == "s_waitcnt"][::every]
    unnoticed = [i for i in waits if survives(program.without(i), compiled, grid, inputs, expected)]
    return [i for i in unnoticed if needed(recording, i)], len(waits)


# kernels in which every single wait is needed for these inputs: loads of arguments and data, LDS exchanges
# before and after barriers, scans, LDS atomics, matrix operands
NEEDED = [
    ("reduce_sum_fp32", "gfx942", 5), ("scan_sum_fp32", "gfx942", 13), ("layer_norm_fp16", "gfx950", 13),
    ("histogram", "gfx942", 8), ("gather", "gfx942", 16), ("transpose_fp16", "gfx950", 9),
    ("sort_fp32", "gfx950", 2), ("dot_fp16_64x64x64_w4s2", "gfx942", 23),
]  # fmt: skip


@pytest.mark.parametrize(("name", "target", "least"), NEEDED)
def test_no_wait_of_a_triton_kernel_can_be_missing_unnoticed(name: str, target: str, least: int) -> None:
    (case,) = (c for c in CASES if c.name == name)
    unnoticed, removed = superfluous(case.compile(target), case.grid, case.inputs)
    assert not unnoticed and removed >= least // 2, "another Triton may need fewer waits, but not none"


@cache
def gemm(kernel: StagedGemm) -> Compiled:
    return kernel.compile("fp16")


@pytest.mark.parametrize("kernel", [MI300X, MI350], ids=lambda kernel: kernel.target)
def test_no_wait_of_a_staged_gemm_can_be_missing_unnoticed(kernel: StagedGemm) -> None:
    def inputs() -> Sequence[Any]:
        rng = np.random.default_rng(1)
        a, b = (rng.standard_normal((256, 256)).astype(np.float16) for _ in "ab")
        return kernel.arguments(a, b, np.zeros((256, 256), np.float16))

    unnoticed, removed = superfluous(gemm(kernel), kernel.grid(256, 256), inputs, every=5)
    assert not unnoticed and removed > 5

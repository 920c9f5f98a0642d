"""Warp-pipelining as our own staged kernels do it: one recorded run a target, reduced to what the page draws."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path

import msgspec

from antiphase import __version__, kernels
from antiphase._paths import cache_directory, keep, read_kept
from antiphase.asm import Instruction, Kernel
from antiphase.demo import Demo, demonstrate
from antiphase.errors import AntiphaseError
from antiphase.report.stages import stage_kind, stage_name
from antiphase.stages import Interval, staged_loop


class Box(msgspec.Struct, frozen=True):
    """One wave group in one interval. kind: 'mfma', 'memory', 'wait' or the phase; follows: one stage behind A."""

    kind: str
    name: str
    instructions: int
    matrix: int
    memory: int
    priority: int


class StageRow(msgspec.Struct, frozen=True):
    """One stage of the loop. waits: wait instructions in front of the rendezvous it ends with, with source lines."""

    name: str
    kind: str
    instructions: float
    matrix: float
    memory: float
    priority: int | None
    waits: tuple[tuple[str, int], ...]


class Run(msgspec.Struct, frozen=True):
    """One recorded run of a staged GEMM.

    shape: M, N, K; grid: workgroups. opens, closes: rendezvous at which the offset opens and closes.
    behind: intervals in which group B is one stage behind, of `held` between opening and closing.
    """

    target: str
    kernel: str
    tile: tuple[int, int, int]
    shape: tuple[int, int, int]
    waves: int
    vgprs: int
    spills: int
    lds_bytes: int
    waves_per_simd: int
    matrix_instructions: int
    opens: int
    closes: int
    behind: int
    held: int
    group_a: tuple[Box, ...]
    group_b: tuple[Box, ...]
    stages: tuple[StageRow, ...]


def pipeline_runs(step: Callable[[str], object]) -> tuple[list[Run], str]:
    """The runs, from the cache where the kernels have not changed; and why there are none, if so."""
    runs = []
    for gemm in (kernels.MI300X, kernels.MI350):
        path = _cached(gemm.target)
        try:
            content = read_kept(path)
            if content is None:
                step(f"running {gemm.name} for {gemm.target}")
                content = msgspec.json.encode(_reduced(demonstrate(gemm.target)))
                keep(path, content)
            runs.append(msgspec.json.decode(content, type=Run))
        except AntiphaseError as error:
            return [], str(error)
    return runs, ""


def _cached(target: str) -> Path:
    """Where the run of these sources is kept."""
    digest = hashlib.sha256(__version__.encode())
    for package in ("kernels", "site"):
        for path in sorted(files("antiphase").joinpath(package).iterdir(), key=lambda each: each.name):
            if path.name.endswith(".py"):
                digest.update(path.read_bytes())
    return cache_directory() / "site" / f"{target}-{digest.hexdigest()[:16]}.kept"


def _reduced(demo: Demo) -> Run:
    timeline, gemm = demo.timeline, demo.gemm
    offset = timeline.offset
    held = range(offset.opens or 0, offset.closes or 0)
    waits = list(_waits(demo))
    return Run(
        gemm.target,
        gemm.name,
        gemm.tile,
        demo.shape,
        gemm.num_warps,
        demo.vgprs,
        demo.spills,
        demo.lds_bytes,
        demo.waves_per_simd,
        demo.matrix_instructions,
        held.start,
        held.stop,
        sum(offset.lags[k] == 1 for k in held),
        len(held),
        tuple(_box(demo, each) for each in timeline.group_a),
        tuple(_box(demo, each) for each in timeline.group_b),
        tuple(
            StageRow(s.label, s.kind, w.instructions, w.matrix, w.memory, w.priority, tuple(waits[index]))
            for index, (s, w) in enumerate(zip(gemm.stages, timeline.work, strict=True))
        ),
    )


def _box(demo: Demo, interval: Interval) -> Box:
    stages = demo.gemm.stages
    return Box(
        stage_kind(interval, stages),
        stage_name(interval, stages),
        interval.instructions,
        interval.matrix,
        interval.memory,
        interval.priority,
    )


def _waits(demo: Demo) -> Iterator[list[tuple[str, int]]]:
    """For each stage, the waits between its first instruction and the rendezvous that ends it."""
    kernel, gemm = demo.execution.kernel, demo.gemm
    rendezvous = staged_loop(demo.execution.program, kernel).rendezvous
    found: dict[int, list[tuple[str, int]]] = {}
    for count, end in enumerate(rendezvous):
        stage = gemm.stage_after((count - 1) % len(rendezvous))
        start = rendezvous[count - 1] + 1 if count else _block_start(kernel, end)
        found.setdefault(stage, []).extend(map(_worded, filter(_is_wait, kernel.instructions[start:end])))
    yield from (found.get(stage, []) for stage in range(len(gemm.stages)))


def _block_start(kernel: Kernel, index: int) -> int:
    return next(block.start for block in kernel.blocks if block.start <= index < block.end)


def _is_wait(instruction: Instruction) -> bool:
    return instruction.mnemonic.startswith(("s_waitcnt", "s_wait_"))


def _worded(instruction: Instruction) -> tuple[str, int]:
    return instruction.text(), instruction.loc.line if instruction.loc else 0

"""From a kernel, its argument values and a grid to a run of the machine; every launch passes through here."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from antiphase.errors import UserError
from antiphase.frontends._buffers import Buffer, merged

if TYPE_CHECKING:
    from antiphase.asm import Kernel, KernelArg, Program
    from antiphase.machine import Execution, Memory

Grid = tuple[int, int, int]


@dataclass(frozen=True)
class RunOptions:
    """How the machine is to run a launch.

    record: keep a Recording.
    recorded_workgroups: only of the first so many, the others run in fast mode after them (None: of all).
    workers: threads (None: the machine's choice).
    max_instructions: wave-instructions after which the launch is cut short (None: no limit).
    recording_limit: bytes that a launch may record (None: the machine's choice).
    progress: called by the machine as workgroups finish.
    """

    record: bool = False
    recorded_workgroups: int | None = None
    workers: int | None = None
    max_instructions: int | None = None
    recording_limit: int | None = None
    progress: Callable[..., Any] | None = None


@dataclass(frozen=True)
class Launch:
    """One launch, ready to run. lds_bytes: static and dynamic LDS of a workgroup together."""

    program: Program
    kernel: str
    grid: Grid
    kernarg: bytes
    threads_per_workgroup: int
    lds_bytes: int
    buffers: Sequence[Buffer]
    cluster: Grid = (1, 1, 1)


def execute(launch: Launch, options: RunOptions) -> Execution:
    """Run a launch; results are in the memory of its buffers."""
    from antiphase.machine import Memory
    from antiphase.machine.uninitialised import unwritten

    memory = Memory()
    for buffer in merged(launch.buffers):
        memory.add(buffer.address, buffer.size, buffer.name, writable=buffer.writable, owner=buffer.owner)
    if options.record:
        memory.unwritten = unwritten((a.address, a.size) for a in memory.allocations)
    total = math.prod(launch.grid) // max(1, math.prod(launch.cluster))
    recorded = options.recorded_workgroups
    if not options.record or recorded is None or recorded >= total:
        return _run(launch, memory, options, options.record, (0, total))
    first = _run(launch, memory, options, True, (0, recorded))
    rest = _run(launch, memory, options, False, (recorded, total))
    return replace(
        first,
        instructions=first.instructions + rest.instructions,
        counts=first.counts + rest.counts,
        faults=first.faults + rest.faults,
        fault_count=first.fault_count + rest.fault_count,
        seconds=first.seconds + rest.seconds,
    )


def _run(launch: Launch, memory: Memory, options: RunOptions, record: bool, workgroups: tuple[int, int]) -> Execution:
    from antiphase.machine import run

    return run(
        launch.program,
        grid=launch.grid,
        kernarg=launch.kernarg,
        memory=memory,
        threads_per_workgroup=launch.threads_per_workgroup,
        lds_bytes=launch.lds_bytes,
        kernel=launch.kernel,
        record=record,
        workgroups=workgroups,
        cluster=launch.cluster,
        workers=options.workers,
        max_instructions=options.max_instructions,
        recording_limit=options.recording_limit,
        progress=options.progress,
    )


def explicit_args(kernel: Kernel) -> list[KernelArg]:
    """The arguments a caller passes, in order: all that the runtime does not fill in by itself."""
    return [arg for arg in kernel.metadata.args if not arg.value_kind.startswith("hidden_")]


def build_kernarg(kernel: Kernel, values: Sequence[bytes], grid: Grid, threads: int, dynamic_lds: int) -> bytes:
    """The kernel argument block: `values` in the order of `explicit_args`, hidden arguments filled in.

    Arguments after the last value are zero. Workgroups are `threads` x 1 x 1. The hidden arguments and their
    widths are those of LLVM's AMDGPUUsage, "Code Object V5 Kernel Argument Metadata"; those that point at
    host services stay null.
    """
    arguments = explicit_args(kernel)
    end = max((arg.offset + arg.size for arg in kernel.metadata.args), default=0)
    block = bytearray(max(kernel.metadata.kernarg_segment_size, end))
    for arg, value in zip(arguments, values, strict=False):
        if len(value) != arg.size:
            where = f"kernel {kernel.name}, argument at offset {arg.offset}"
            raise UserError(f"{where}: {len(value)} bytes given, {arg.size} wanted")
        block[arg.offset : arg.offset + arg.size] = value
    hidden = _hidden_values(grid, threads, dynamic_lds)
    for arg in kernel.metadata.args:
        if arg.value_kind in hidden:
            block[arg.offset : arg.offset + arg.size] = hidden[arg.value_kind].to_bytes(arg.size, "little")
    return bytes(block)


def pointer(address: int) -> bytes:
    """A 64-bit pointer argument."""
    return struct.pack("<Q", address)


def _hidden_values(grid: Grid, threads: int, dynamic_lds: int) -> dict[str, int]:
    x, y, z = grid
    return {
        "hidden_block_count_x": x,
        "hidden_block_count_y": y,
        "hidden_block_count_z": z,
        "hidden_group_size_x": threads,
        "hidden_group_size_y": 1,
        "hidden_group_size_z": 1,
        "hidden_grid_dims": 3 if z > 1 else 2 if y > 1 else 1,
        "hidden_dynamic_lds_size": dynamic_lds,
    }

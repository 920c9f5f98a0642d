"""From a kernel, its argument values and a grid to a run of the machine; every launch passes through here."""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from antiphase.errors import UserError
from antiphase.frontends._buffers import Buffer, merged

if TYPE_CHECKING:
    from antiphase.asm import Kernel, KernelArg, Program
    from antiphase.frontends._hostcall import Hostcalls
    from antiphase.machine import Execution, Memory

Grid = tuple[int, int, int]
_HOSTCALLS = "hidden_hostcall_buffer"


@dataclass(frozen=True)
class RunOptions:
    """How the machine is to run a launch.

    record: keep a Recording.
    recorded_workgroups: only of the first so many, the others run in fast mode after them (None: of all).
    workers: threads (None: the machine's choice).
    max_instructions: wave-instructions after which the launch is cut short (None: no limit).
    recording_limit: bytes that a launch may record (None: the machine's choice).
    progress: called by the machine as workgroups finish.
    interrupt: called by the machine when a wave asks for the host.
    """

    record: bool = False
    recorded_workgroups: int | None = None
    workers: int | None = None
    max_instructions: int | None = None
    recording_limit: int | None = None
    progress: Callable[..., Any] | None = None
    interrupt: Callable[[], None] | None = None

    def within(self, outer: RunOptions) -> RunOptions:
        """These options, completed by those of the run that the launch is part of."""
        limits = ("workers", "max_instructions", "recording_limit", "progress")
        return replace(
            self,
            record=self.record or outer.record,
            recorded_workgroups=None if self.record else outer.recorded_workgroups,
            **{name: getattr(outer, name) for name in limits if getattr(self, name) is None},
        )


@dataclass(frozen=True)
class Launch:
    """One launch, ready to run. threads: work-items of a workgroup in x, y, z. lds_bytes: static and dynamic LDS of one
    together."""

    program: Program
    kernel: str
    grid: Grid
    kernarg: bytes
    threads: Grid
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
    kernel = launch.program.kernel(launch.kernel)
    if any(arg.value_kind == _HOSTCALLS for arg in kernel.metadata.args):
        calls = _hostcalls(kernel, launch, options)
        memory.add_array(calls.memory, "buffer of host calls", host=True)
        kernarg = _with_hidden(kernel, launch.kernarg, {_HOSTCALLS: calls.address})
        launch, options = replace(launch, kernarg=kernarg), replace(options, interrupt=calls.answer)
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


def _hostcalls(kernel: Kernel, launch: Launch, options: RunOptions) -> Hostcalls:
    """Packets for all waves that the machine's threads may have under way."""
    from antiphase.frontends._hostcall import Hostcalls

    waves = -(-math.prod(launch.threads) // kernel.metadata.wavefront_size) * math.prod(launch.cluster)
    return Hostcalls(waves * (options.workers or len(os.sched_getaffinity(0))))


def _run(launch: Launch, memory: Memory, options: RunOptions, record: bool, workgroups: tuple[int, int]) -> Execution:
    from antiphase.machine import run

    return run(
        launch.program,
        grid=launch.grid,
        kernarg=launch.kernarg,
        memory=memory,
        threads_per_workgroup=launch.threads,
        lds_bytes=launch.lds_bytes,
        kernel=launch.kernel,
        record=record,
        workgroups=workgroups,
        cluster=launch.cluster,
        workers=options.workers,
        max_instructions=options.max_instructions,
        recording_limit=options.recording_limit,
        progress=options.progress,
        interrupt=options.interrupt,
    )


def explicit_args(kernel: Kernel) -> list[KernelArg]:
    """The arguments a caller passes, in order: all that the runtime does not fill in by itself."""
    return [arg for arg in kernel.metadata.args if not arg.value_kind.startswith("hidden_")]


def build_kernarg(kernel: Kernel, values: Sequence[bytes], grid: Grid, threads: Grid, dynamic_lds: int) -> bytes:
    """The kernel argument block: `values` in the order of `explicit_args`, hidden arguments filled in.

    Arguments after the last value are zero. threads: work-items of a workgroup in x, y, z. The hidden arguments and
    their widths are those of LLVM's AMDGPUUsage, "Code Object V5 Kernel Argument Metadata"; those that point at
    host services stay null here.
    """
    arguments = explicit_args(kernel)
    end = max((arg.offset + arg.size for arg in kernel.metadata.args), default=0)
    block = bytearray(max(kernel.metadata.kernarg_segment_size, end))
    for arg, value in zip(arguments, values, strict=False):
        if len(value) != arg.size:
            where = f"kernel {kernel.name}, argument at offset {arg.offset}"
            raise UserError(f"{where}: {len(value)} bytes given, {arg.size} wanted")
        block[arg.offset : arg.offset + arg.size] = value
    return _with_hidden(kernel, block, _hidden_values(grid, threads, dynamic_lds))


def _with_hidden(kernel: Kernel, kernarg: bytes | bytearray, hidden: Mapping[str, int]) -> bytes:
    """The argument block with hidden arguments, by their kinds, filled in."""
    block = bytearray(kernarg)
    for arg in kernel.metadata.args:
        if arg.value_kind in hidden:
            block[arg.offset : arg.offset + arg.size] = hidden[arg.value_kind].to_bytes(arg.size, "little")
    return bytes(block)


def pointer(address: int) -> bytes:
    """A 64-bit pointer argument."""
    return struct.pack("<Q", address)


def _hidden_values(grid: Grid, threads: Grid, dynamic_lds: int) -> dict[str, int]:
    sides = [groups * items for groups, items in zip(grid, threads, strict=True)]
    counts = {f"hidden_block_count_{axis}": n for axis, n in zip("xyz", grid, strict=True)}
    sizes = {f"hidden_group_size_{axis}": n for axis, n in zip("xyz", threads, strict=True)}
    return {
        **counts,
        **sizes,
        "hidden_grid_dims": 3 if sides[2] > 1 else 2 if sides[1] > 1 else 1,
        "hidden_dynamic_lds_size": dynamic_lds,
    }

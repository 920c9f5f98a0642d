"""Launch assembly text, a code object or a compiled kernel on arrays and scalars."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from antiphase import arch, asm
from antiphase.errors import UserError
from antiphase.frontends import _launch
from antiphase.frontends._arguments import pack
from antiphase.frontends._compile import Compiled
from antiphase.frontends._launch import Grid, Launch, RunOptions
from antiphase.frontends._sizes import check_grid, sides, whole
from antiphase.frontends.code_object import load

if TYPE_CHECKING:
    from antiphase.asm import Kernel
    from antiphase.frontends._session import Session
    from antiphase.machine import Execution

MAX_WORKGROUP = 1024  # work-items; AMDGPUUsage, amdgpu-flat-workgroup-size


def launch_asm(
    source: str | os.PathLike[str] | asm.Program | Compiled,
    *,
    grid: int | Sequence[int],
    args: Sequence[Any],
    target: str | None = None,
    threads: int | Sequence[int] | None = None,
    lds_bytes: int | None = None,
    kernel: str | None = None,
    record: bool = False,
    cluster: int | Sequence[int] = (1, 1, 1),
    workers: int | None = None,
    max_instructions: int | None = None,
    recording_limit: int | None = None,
    progress: Callable[[int, int], Any] | None = None,
    session: Session | None = None,
) -> Execution:
    """`antiphase.launch`, which describes what is given, without its warning: for callers that report faults.

    session: the run that the launch is part of, which learns of it.
    """
    program, signature = _program(source)
    where = program.name
    _check_target(program, target)
    chosen = program.kernel(kernel)
    workgroups, clusters = sides(grid, "grid", "workgroups"), sides(cluster, "cluster", "workgroups")
    items = _threads(chosen, threads, source, where)
    check_grid(workgroups, items, clusters, program.target, where)
    dynamic = source.shared if isinstance(source, Compiled) else 0
    if lds_bytes is not None:
        dynamic = whole(lds_bytes, "lds_bytes", 0, "the bytes of dynamic LDS")
    values, buffers = pack(chosen, args, signature, where)
    launch = Launch(
        program=program,
        kernel=chosen.name,
        grid=workgroups,
        kernarg=_launch.build_kernarg(chosen, values, workgroups, items, dynamic),
        threads=items,
        lds_bytes=chosen.metadata.group_segment_fixed_size + dynamic,
        buffers=buffers,
        cluster=clusters,
    )
    if progress is not None and not callable(progress):
        raise UserError(f"progress is {progress!r}", remedy="give a function of workgroups done and workgroups in all")
    options = RunOptions(
        record,
        workers=_limit(workers, "workers", 1, "host threads"),
        max_instructions=_limit(max_instructions, "max_instructions", 1, "wave-instructions"),
        recording_limit=_limit(recording_limit, "recording_limit", 0, "bytes"),
        progress=progress,
    )
    return _launch.execute(launch, options) if session is None else session.run(launch, options)


def _limit(given: int | None, name: str, least: int, of: str) -> int | None:
    return None if given is None else whole(given, name, least, of)


def _program(source: object) -> tuple[asm.Program, Mapping[str, str] | None]:
    if isinstance(source, Compiled):
        return source.program, source.signature
    if isinstance(source, asm.Program):
        return source, None
    if isinstance(source, str) and ("\n" in source or "\0" in source):
        raise UserError("the source is text, not the path of a file", remedy="pass antiphase.parse(text)")
    if isinstance(source, str | os.PathLike):
        return load(source if isinstance(source, str) else Path(source)), None
    raise UserError(
        f"what is to be launched is of type {type(source).__name__}",
        remedy="pass a path, a Program, or what antiphase.compile_kernel made of a Triton or Gluon function",
    )


def _check_target(program: asm.Program, target: str | None) -> None:
    if target is not None and arch.target(target).name != program.target:
        raise UserError(
            f"the text is for {program.target}, not for {target}",
            file=program.name,
            remedy=f"pass target='{program.target}' or compile for {target}",
        )
    arch.target(program.target)


def _threads(kernel: Kernel, threads: int | Sequence[int] | None, source: object, where: str) -> Grid:
    if threads is None and not kernel.metadata.stated:
        raise UserError(
            f"kernel {kernel.name} has no .amdgpu_metadata, which says how large a workgroup is",
            file=where,
            remedy="name the work-items (--threads N)",
        )
    if threads is None:
        if isinstance(source, Compiled):
            return source.threads_per_workgroup, 1, 1
        return kernel.metadata.reqd_workgroup_size or (kernel.metadata.max_flat_workgroup_size, 1, 1)
    items = sides(threads, "threads", "work-items")
    if isinstance(source, Compiled):
        _check_compiled_for(source, items, where)
    count = math.prod(items)
    limit = min(kernel.metadata.max_flat_workgroup_size or MAX_WORKGROUP, MAX_WORKGROUP)
    if count > limit:
        raise UserError(
            f"{count} threads in a workgroup; kernel {kernel.name} takes 1 to {limit}",
            file=where,
            remedy="the limit is .max_flat_workgroup_size of its metadata",
        )
    required = kernel.metadata.reqd_workgroup_size
    if required is not None and items != required:
        raise UserError(
            f"a workgroup of {items} work-items; kernel {kernel.name} is compiled for {required}",
            file=where,
            remedy="leave threads out, or compile without reqd_work_group_size",
        )
    return items


def _check_compiled_for(compiled: Compiled, items: Grid, where: str) -> None:
    """Triton spreads a program over all its waves: with fewer, part of it would not be computed."""
    if items != (compiled.threads_per_workgroup, 1, 1):
        raise UserError(
            f"a workgroup of {items} work-items; kernel {compiled.name} is compiled for "
            f"{compiled.threads_per_workgroup}, in {compiled.num_warps} waves of {compiled.wave_size}",
            file=where,
            remedy="leave threads out, or compile with another num_warps",
        )

"""`antiphase.launch`: a launch whose stray accesses nobody overlooks."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from antiphase.errors import AccessWarning
from antiphase.frontends import Compiled, launch_asm
from antiphase.frontends._session import current_session

if TYPE_CHECKING:
    from antiphase.asm import Program
    from antiphase.machine import Execution


def launch(
    source: str | os.PathLike[str] | Program | Compiled,
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
) -> Execution:
    """Run one kernel on arrays in place and return what the machine reports.

    An access outside the arrays (of a view: what it is a view of), LDS or private memory has no effect.
    `Execution.faults` lists them, and an `errors.AccessWarning` tells of the first; under `antiphase run` and `check`,
    where they are reported with those of Triton's launches, there is no warning.

    source: path of a .s file or a code object, a `Program`, or what `compile_kernel` returned.
    grid: workgroups, one to three positive numbers.
    args: one value for each kernel argument in order. Arrays (NumPy, `Tensor`, torch CPU) for pointers, used
        in place; None for a null pointer; ints, floats, bools and NumPy scalars by value. A plain float takes
        the width the kernel declares (4 or 8 bytes). The two scratch pointers that Triton appends may be left
        out. What `compile_kernel` returned also says the types: an array's must be the pointer's, where integers of
        either sign serve, and integers as the bits of bf16 and fp8.
    target: checked against the target the text names.
    threads: work-items of a workgroup, or as many in x, y and z; by default those of the compiled kernel, or
        .max_flat_workgroup_size.
    lds_bytes: dynamic LDS of a workgroup, on top of what the text declares; Triton's text declares none.
    kernel: which kernel of the text, where it has several.
    record: keep a Recording; a load's result is then there once a wait covers it.
    cluster: workgroups in x, y, z that run together and share a barrier (gfx1250).
    workers: host threads, by default one a core. max_instructions: wave-instructions in all, roughly.
    recording_limit: bytes that may be recorded; by default a quarter of the memory that is free, and at most 2 GiB.
    progress: called with (workgroups done, workgroups in all).
    Raises UserError when the arguments do not fit the kernel, Unsupported for what is not modelled, Incomplete at a
    limit, Deadlock, and Trapped if the kernel ends its launch.
    """
    session = current_session()
    execution = launch_asm(
        source, grid=grid, args=args, target=target, threads=threads, lds_bytes=lds_bytes, kernel=kernel, record=record,
        cluster=cluster, workers=workers, max_instructions=max_instructions, recording_limit=recording_limit,
        progress=progress, session=session,
    )  # fmt: skip
    if execution.fault_count and session is None:
        from antiphase.report.faults import fault_warning

        warnings.warn(fault_warning(execution), AccessWarning, stacklevel=2)
    return execution

"""Run an unmodified Triton script with the CPU standing in for a GPU."""

from __future__ import annotations

import contextlib
import os
import runpy
import sys
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING

from antiphase.errors import AntiphaseError, UserError
from antiphase.frontends._compile import require_triton
from antiphase.frontends._launch import RunOptions
from antiphase.frontends._script_file import check_is_python

if TYPE_CHECKING:
    from antiphase.frontends._driver import Session
    from antiphase.frontends._launch import Launch
    from antiphase.machine import Execution
    from antiphase.machine.fault_tally import FaultTally


def run_script(
    path: str | os.PathLike[str],
    args: Sequence[str] = (),
    target: str = "gfx942",
    *,
    on_faults: Callable[[FaultTally], object] | None = None,
    on_launch: Callable[[str, Execution], None] | None = None,
    on_failure: Callable[[Launch, AntiphaseError], None] | None = None,
    on_error: Callable[[Exception], object] | None = None,
    options: RunOptions | None = None,
) -> int:
    """Run a Python file as `python path args` would, its Triton kernels compiled for `target`, on the CPU.

    Device 'cuda' means the CPU to torch while the script runs (see `_torch`); triton.testing.do_bench
    measures one run in host time; the autotuner counts executed wave-instructions.

    on_faults: called when the script has ended, however it did, if a kernel touched memory it must not.
    on_launch, on_failure: called after every launch, as those of `Session`.
    on_error: called with an exception that ended the script, its traceback from the script's first frame on.
    options: how its launches are run.
    Returns 0, or 1 if there were such faults or such an exception.
    Without on_error the script's exceptions pass through; SystemExit and antiphase's own errors always do, SystemExit
    unless it would hide faults. Raises UserError if there is no such file, or it is not a Python script.
    """
    script = os.fspath(path)
    if not os.path.isfile(script):
        raise UserError("no such script", file=script, remedy="give the path of a Python file")
    with triton_on_cpu(target, options) as session, _as_main(script, args):
        session.on_launch, session.on_failure = on_launch, on_failure
        failed = False
        try:
            runpy.run_path(script, run_name="__main__")
        except SystemExit as exit:
            if exit.code or not session.faults:
                raise
        except AntiphaseError:
            raise
        except Exception as error:
            own = _frames_of_script(error)
            if own is None:
                check_is_python(script)
            if on_error is None:
                raise
            failed = True
            on_error(error.with_traceback(own))
        finally:
            if session.faults and on_faults:
                on_faults(session.faults)
    return 1 if session.faults or failed else 0


def _frames_of_script(error: Exception) -> TracebackType | None:
    """The traceback from the script's first frame on; None where Python could not compile the script."""
    step = error.__traceback__
    while step is not None and not _in_runpy(step):
        step = step.tb_next
    while step is not None and _in_runpy(step):
        step = step.tb_next
    return step


def _in_runpy(step: TracebackType) -> bool:
    return step.tb_frame.f_globals is vars(runpy)


@contextlib.contextmanager
def triton_on_cpu(target: str, options: RunOptions | None = None) -> Iterator[Session]:
    """Make antiphase Triton's device for the block; yields the record of its launches."""
    require_triton()
    import triton.testing
    from triton.runtime import driver

    from antiphase.frontends._blas import hipblas_by_torch
    from antiphase.frontends._driver import AntiphaseDriver, Session, time_one_run
    from antiphase.frontends._numpy import numpy_arrays_as_arguments
    from antiphase.frontends._torch import cuda_on_cpu

    session = Session(options or RunOptions())
    ours = AntiphaseDriver(target, session)
    previous, benches = driver._active, (triton.testing.do_bench, triton.testing.do_bench_cudagraph)
    driver.set_active(ours)
    triton.testing.do_bench = triton.testing.do_bench_cudagraph = time_one_run
    try:
        with hipblas_by_torch(), numpy_arrays_as_arguments(), cuda_on_cpu(ours.device_interface, session.exposed.add):
            yield session
    finally:
        triton.testing.do_bench, triton.testing.do_bench_cudagraph = benches
        driver._active = previous


@contextlib.contextmanager
def _as_main(script: str, args: Sequence[str]) -> Iterator[None]:
    """sys.argv and sys.path as Python itself sets them for a script."""
    argv, path = sys.argv, sys.path[:]
    sys.argv = [script, *args]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    try:
        yield
    finally:
        sys.argv, sys.path[:] = argv, path

"""`antiphase check`: what to load, what to run, and which checks see it."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from antiphase import arch
from antiphase.asm import Kernel, Program
from antiphase.checks import (
    STATIC_CHECKS,
    Checked,
    CheckedKernel,
    CheckResult,
    Finding,
    Site,
    check_execution,
    check_program,
    chosen,
    load_suppressions,
    together,
)
from antiphase.checks import suppress as left_by
from antiphase.errors import AntiphaseError, Deadlock, Incomplete, Trapped, Unsupported, UserError
from antiphase.frontends import Compiled, LaunchSpec, RunOptions, launch_asm, load, run_script
from antiphase.frontends._launch import Launch
from antiphase.machine import Execution

RECORDED_WORKGROUPS = 4
"""Workgroups of a script's launch that are recorded: neighbours in both directions of most tile orders."""
MAX_INSTRUCTIONS = 2_000_000_000

_UNFINISHED = (Deadlock, Trapped, Unsupported, Incomplete)

Step = Callable[[str], None]


@dataclass(frozen=True)
class Options:
    """checks: names, None for all. to: target of `port`. waves_per_simd: resident waves to hold the kernel to.

    recording_limit: bytes that a launch may record, None for the machine's choice. max_instructions:
    wave-instructions after which a launch is cut short.
    """

    checks: Collection[str] | None = None
    to: str | None = None
    waves_per_simd: int | None = None
    recording_limit: int | None = None
    max_instructions: int = MAX_INSTRUCTIONS

    def __post_init__(self) -> None:
        chosen(self.checks)
        if self.to is not None:
            arch.target(self.to)
        if self.waves_per_simd is not None and self.waves_per_simd < 1:
            raise UserError(f"{self.waves_per_simd} waves a SIMD", remedy="a schedule counts on at least 1")

    def static(self, program: Program, kernel: str, lds_bytes: int | None = None) -> CheckedKernel:
        """The static checks. lds_bytes: what a workgroup has in the launch, None where there is none."""
        return check_program(
            program, self.checks, kernel=kernel, to=self.to, waves_per_simd=self.waves_per_simd, lds_bytes=lds_bytes
        )

    @property
    def run(self) -> RunOptions:
        """How the launches of a script are run."""
        return RunOptions(
            record=True, recorded_workgroups=RECORDED_WORKGROUPS,
            max_instructions=self.max_instructions, recording_limit=self.recording_limit,
        )  # fmt: skip


def check(
    source: str | os.PathLike[str] | Program | Compiled,
    *,
    args: Sequence[Any] | None = None,
    grid: int | Sequence[int] | None = None,
    threads: int | Sequence[int] | None = None,
    lds_bytes: int | None = None,
    kernel: str | None = None,
    target: str | None = None,
    only: Collection[str] | None = None,
    to: str | None = None,
    waves_per_simd: int | None = None,
    recording_limit: int | None = None,
    max_instructions: int = MAX_INSTRUCTIONS,
    suppress: str | Path | None = None,
) -> CheckResult:
    """Check assembly text, a code object, a Program or a compiled kernel: every path, and one launch if args are given.

    args, grid (1 by default), threads, lds_bytes: as for `antiphase.launch`; arrays are used in place. kernel: only
    this one, where there are several. only: names of checks, or one. to: target of a move. waves_per_simd: resident
    waves the schedule counts on. recording_limit: bytes that the launch may record. max_instructions: wave-instructions
    after which it is cut short. suppress: file of suppressions.
    The result has `verdict`, `findings`, `notes` and `incomplete`; print it to read it. Raises UserError for bad input.
    """
    options = Options(only, to, waves_per_simd, recording_limit, max_instructions)
    if args is None and (grid is not None or threads is not None):
        raise UserError("grid or threads without args", remedy="give the launch its args, [] for a kernel without any")
    loaded = _loaded(source, target)
    program = loaded if isinstance(loaded, Program) else loaded.program
    dynamic = loaded.shared if lds_bytes is None and isinstance(loaded, Compiled) else lds_bytes
    if args is not None:
        dynamic = dynamic or 0
    parts = check_text(program, options, kernel, launched=args is not None, dynamic_lds=dynamic)
    if args is not None:
        launch = {"grid": 1 if grid is None else grid, "args": args, "threads": threads, "lds_bytes": lds_bytes}
        parts += record(loaded, options, kernel=kernel, **launch)
    return left_by(together(parts), load_suppressions(suppress) if suppress is not None else [])


def _loaded(source: object, target: str | None) -> Program | Compiled:
    """What there is to check. UserError for anything else, and for code that is not for the target."""
    if isinstance(source, str) and "\n" in source:
        raise UserError("the source is text, not the path of a file", remedy="pass antiphase.parse(text)")
    if isinstance(source, str | os.PathLike):
        return load(source if isinstance(source, str) else Path(source), target)
    if not isinstance(source, Program | Compiled):
        raise UserError(
            f"what is to be checked is of type {type(source).__name__}",
            remedy="pass a path, a Program, or what antiphase.compile_kernel made of a Triton or Gluon function",
        )
    program = source if isinstance(source, Program) else source.program
    if target is not None and arch.target(target).name != program.target:
        raise UserError(
            f"the text is for {program.target}, not for {target}", file=program.name, remedy="leave target out"
        )
    return source


def check_text(
    program: Program,
    options: Options,
    kernel: str | None = None,
    *,
    launched: bool = False,
    dynamic_lds: int | None = None,
) -> list[CheckedKernel]:
    """The static checks on every kernel of a program, or on one.

    dynamic_lds: bytes that a launch adds to what the text declares, None where that is not known.
    UserError if only checks are asked for that need what is not there: a launch, unless there is one, or a target.
    """
    asked = chosen(options.checks)
    if asked == ("port",) and options.to is None:
        raise UserError("'port' needs a target to move to", remedy="name one with --to (to= in Python)")
    if not launched and not set(asked) & set(STATIC_CHECKS):
        raise UserError(
            f"'{asked[0]}' looks at a launch" if asked else "no check is named",
            remedy="describe one with --args (args= in Python)",
        )
    kernels = program.kernels if kernel is None else [program.kernel(kernel)]
    return [options.static(program, each.name, _lds(each, dynamic_lds)) for each in kernels]


def _lds(kernel: Kernel, dynamic: int | None) -> int | None:
    return None if dynamic is None else kernel.metadata.group_segment_fixed_size + dynamic


def check_launch(
    program: Program, spec: LaunchSpec, options: Options, kernel: str | None = None, step: Step = lambda text: None
) -> list[CheckedKernel]:
    """The static checks on one kernel, and the dynamic ones on one launch of it.

    UserError where the launch does not fit the kernel.
    """
    one = program.kernel(kernel)
    step("checking every path")
    parts = [options.static(program, one.name, _lds(one, spec.lds_bytes or 0))]
    step("recording a launch")
    launch = {"grid": spec.grid or 1, "args": spec.fresh(), "threads": spec.threads, "lds_bytes": spec.lds_bytes}
    return together([*parts, *record(program, options, kernel=one.name, step=step, **launch)])


def record(
    source: Program | Compiled,
    options: Options,
    *,
    kernel: str | None = None,
    step: Step = lambda text: None,
    **launch: Any,
) -> list[CheckedKernel]:
    """The dynamic checks on one launch. launch: grid, args, threads, lds_bytes as for `launch_asm`.

    UserError where the launch does not fit the kernel.
    """
    try:
        limits = {"max_instructions": options.max_instructions, "recording_limit": options.recording_limit}
        execution = launch_asm(source, kernel=kernel, record=True, **limits, **launch)
    except _UNFINISHED as error:
        program = source if isinstance(source, Program) else source.program
        return [failed(program, program.kernel(kernel), error)]
    step("checking the recording")
    return [check_execution(execution, options.checks)]


def check_script(
    path: str,
    args: Sequence[str],
    target: str,
    options: Options,
    step: Step = lambda text: None,
    on_error: Callable[[Exception], object] = traceback.print_exception,
) -> list[CheckedKernel]:
    """Run a Triton script on the CPU; all checks on every kernel it launches. What the script prints goes out.

    on_error: called with an exception of the script, which leaves the last kernel's result incomplete, as does a status
    other than 0. UserError if there is no such script, or if it ended before any launch.
    """
    watch = Watch(options, step)
    reason = ""

    def script_failed(error: Exception) -> None:
        nonlocal reason
        on_error(error)
        reason = f"{path} failed: {type(error).__name__}: {error}"

    try:
        run_script(
            path,
            args,
            target,
            on_launch=watch.launched,
            on_failure=watch.failed,
            on_error=script_failed,
            options=options.run,
        )
    except SystemExit as exit:
        reason = f"{path} ended with status {exit.code}" if exit.code else ""
    except _UNFINISHED:
        if not watch.parts:
            raise
    parts = watch.parts
    if not parts:
        raise UserError(reason or f"{path} launched no Triton kernel", remedy="there was nothing to check")
    if reason:
        last = parts[-1]
        parts.append(CheckedKernel(last.program, last.kernel, Checked((), (reason,)), ()))
    return together(parts)


@dataclass
class Watch:
    """Checks launches as they happen. parts: what was found so far, a part for each program and launch."""

    options: Options
    step: Step = lambda text: None
    parts: list[CheckedKernel] = field(default_factory=list)
    _seen: set[tuple[int, str]] = field(default_factory=set)

    def launched(self, name: str, execution: Execution) -> None:
        """Check one launch that was recorded; the first of a kernel brings the static checks."""
        self._static(execution.program, execution.kernel, execution.lds_bytes)
        self.step(f"checking a launch of {name}")
        self.parts.append(check_execution(execution, self.options.checks))

    def failed(self, launch: Launch, error: AntiphaseError) -> None:
        """Note a launch that the machine could not finish."""
        kernel = launch.program.kernel(launch.kernel)
        self._static(launch.program, kernel, launch.lds_bytes)
        self.parts.append(failed(launch.program, kernel, error))

    def _static(self, program: Program, kernel: Kernel, lds_bytes: int) -> None:
        if (id(program), kernel.name) not in self._seen:
            self._seen.add((id(program), kernel.name))
            self.step(f"checking every path of {kernel.name}")
            self.parts.append(self.options.static(program, kernel.name, lds_bytes))


def failed(program: Program, kernel: Kernel, error: AntiphaseError) -> CheckedKernel:
    """A launch that did not end: a deadlock and a trap are findings, everything else leaves the verdict open."""
    if isinstance(error, Deadlock):
        finding = Finding("sync", "deadlock", "error", (), {"text": str(error)})
    elif isinstance(error, Trapped):
        site = Site(error.instruction, "trap", (error.wave,))
        finding = Finding("mem", "trap", "error", (site,), {"workgroup": error.workgroup})
    else:
        return CheckedKernel(program, kernel, Checked((), (str(error),)), (), 1)
    return CheckedKernel(program, kernel, Checked((finding,)), (finding.check,), 1)

"""`antiphase run`. Thin: imports what it needs when it runs, so that --help stays quick."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from antiphase._cli_end import print_script_error
from antiphase._cli_shared import max_instructions_option, settle_triton_cache, silence_shutdown, target_option
from antiphase.errors import UserError

if TYPE_CHECKING:
    from antiphase.machine.fault_tally import FaultTally


@click.command(context_settings={"allow_interspersed_args": False})
@target_option
@max_instructions_option
@click.argument("script", metavar="SCRIPT.py")
@click.argument("args", nargs=-1, type=click.UNPROCESSED, metavar="[ARGS]...")
def run(target: str, max_instructions: int | None, script: str, args: tuple[str, ...]) -> int:
    """Run an unmodified Triton script with its kernels executed on the CPU as TARGET would execute them.

    Exit status: the script's own; 1 if it fails, or if its kernels touch memory they must not; 2: a launch could not be
    finished, or misused.
    """
    from antiphase import arch

    name = arch.target(target).name
    if not os.path.isfile(script):
        raise UserError("no such script", file=script, remedy="give the path of a Python file")
    silence_shutdown()
    settle_triton_cache()
    from antiphase.frontends import RunOptions, run_script

    options = RunOptions(max_instructions=max_instructions)
    return run_script(script, list(args), name, on_faults=_print_faults, on_error=print_script_error, options=options)


def _print_faults(tally: FaultTally) -> None:
    from antiphase.report.faults import fault_lines

    for line in fault_lines(tally):
        print(f"antiphase: {line}", file=sys.stderr)

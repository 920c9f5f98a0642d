"""The `antiphase` command. Thin: a command imports what it needs when it runs, so that --help stays quick."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import IO

import click

from antiphase import __version__
from antiphase._cli_arch import arch
from antiphase._cli_checks import check, mutate
from antiphase._cli_end import ENDINGS, ended_by, flush_output, open_standard_streams
from antiphase._cli_layout import layout
from antiphase._cli_run import run
from antiphase._cli_shared import json_option, settle_triton_cache, silence_shutdown, target_option, write_json

_any_target_option = click.option("--target", metavar="TARGET", help="Only one GPU target; all of them by default.")


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="antiphase", message="%(prog)s %(version)s")
def cli() -> None:
    """Run and check AMD GPU kernels with no GPU, and look up what their instructions do."""


@cli.command()
@target_option
@json_option
def demo(target: str, json_to: IO[str] | None) -> int:
    """Compile a warp-pipelined GEMM, run it on the CPU and show its two wave groups."""
    from antiphase import arch

    name = arch.target(target).name
    silence_shutdown()
    settle_triton_cache()
    from antiphase.report import terminal, working

    with working() as step:
        step("loading")
        from antiphase.demo import demonstrate
        from antiphase.report import demo as report

        found = demonstrate(name, step)
    if json_to:
        write_json(report.as_json(found), json_to)
    else:
        report.print_demo(found, terminal())
    return 0 if found.ok else 1


@cli.command()
@json_option
def doctor(json_to: IO[str] | None) -> int:
    """Say what is installed, what each missing piece would enable, and how to install it."""
    from antiphase.doctor import diagnose
    from antiphase.report import doctor as report
    from antiphase.report import terminal

    diagnosis = diagnose()
    if json_to:
        write_json(report.as_json(diagnosis), json_to)
    else:
        report.print_doctor(diagnosis, terminal())
    return 0 if diagnosis.ok else 1


@cli.group()
def isa() -> None:
    """The instructions: what they mean, where they exist, which of them run."""


@isa.command("list")
@_any_target_option
@click.option("--class", "group", metavar="CLASS", help="Only one class, such as VALU or LDS.")
@json_option
def isa_list(target: str | None, group: str | None, json_to: IO[str] | None) -> None:
    """List the instructions."""
    from antiphase.coverage import instructions
    from antiphase.report import isa as report
    from antiphase.report import terminal

    rows = instructions(target, group)
    if json_to:
        write_json(report.list_as_json(rows), json_to)
    else:
        report.print_list(rows, terminal())


@isa.command("show")
@click.argument("name")
@_any_target_option
@json_option
def isa_show(name: str, target: str | None, json_to: IO[str] | None) -> None:
    """Show one instruction: operands, meaning, status, source, and where it exists by which evidence."""
    from antiphase.coverage import sheet
    from antiphase.report import isa as report
    from antiphase.report import terminal

    found = sheet(name, target)
    if json_to:
        write_json(report.sheet_as_json(found), json_to)
    else:
        report.print_sheet(found, terminal())


@isa.command("coverage")
@_any_target_option
@click.option("--reasons", is_flag=True, help="List the unsupported instructions with the reason of each.")
@json_option
def isa_coverage(target: str | None, reasons: bool, json_to: IO[str] | None) -> None:
    """Count the instructions that the assembler accepts, antiphase parses, and antiphase executes."""
    from antiphase import arch as reference
    from antiphase.report import terminal, working

    names = [each.name for each in reference.targets()] if target is None else [reference.target(target).name]
    with working() as step:
        step("loading")
        from antiphase.coverage import survey
        from antiphase.report import isa as report

        surveys = []
        for name in names:
            step(f"trying the instructions of {name}")
            surveys.append(survey(name))
    if json_to:
        write_json(report.coverage_as_json(surveys), json_to)
    else:
        report.print_coverage(surveys, terminal(), reasons=reasons)


cli.add_command(arch)
cli.add_command(check)
cli.add_command(layout)
cli.add_command(mutate)
cli.add_command(run)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status.

    1 if a kernel stopped its launch by a trap or a deadlock, 2 after an error the user can mend, 74 if output cannot be
    written, 130 after Ctrl-C, 141 if the reader of our output left.
    """
    if "_ANTIPHASE_COMPLETE" in os.environ:
        cli.main(prog_name="antiphase")
    open_standard_streams()
    # Not click's own main: it turns an EOFError of the user's script into an abort, and EPIPE into status 1.
    try:
        with cli.make_context("antiphase", list(sys.argv[1:] if arguments is None else arguments)) as context:
            status = cli.invoke(context)
        flush_output()
    except click.exceptions.Exit as done:
        return done.exit_code
    except ENDINGS as error:
        return ended_by(error)
    return status if isinstance(status, int) else 0


if __name__ == "__main__":
    sys.exit(main())

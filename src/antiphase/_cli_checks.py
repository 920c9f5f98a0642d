"""`antiphase check` and `antiphase mutate`. Thin: imports what it needs when it runs, so that --help stays quick."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING, Any

import click

from antiphase._cli_end import print_script_error
from antiphase._cli_shared import (
    DEFAULT_TARGET,
    OutputFile,
    json_option,
    max_instructions_option,
    settle_triton_cache,
    silence_shutdown,
    write_json,
)
from antiphase.errors import UserError

if TYPE_CHECKING:
    from antiphase.asm import Program
    from antiphase.frontends import LaunchSpec


class _Size(click.ParamType):
    """Bytes, with K, M or G for powers of 1,024."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        match = re.fullmatch(r"(\d+)([KMG]?)", str(value), re.IGNORECASE)
        if match is None:
            self.fail(f"'{value}' is no size: give bytes, as in 8G or 512M", param, ctx)
        return int(match[1]) << 10 * " KMG".index(match[2].upper() or " ")


class _FileOrScript(click.Command):
    """Options may follow an assembly file; what follows a Python script is the script's own."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.allow_interspersed_args = not any(arg.endswith(".py") for arg in args)
        return super().parse_args(ctx, args)


def _launch_options(command: Callable[..., object]) -> Callable[..., object]:
    """The options that describe one launch of an assembly file."""
    options = (
        click.option("--kernel", metavar="NAME", help="Only this kernel of the file."),
        click.option(
            "--args",
            "launch_args",
            metavar="SPEC",
            help="Launch it too: arguments in order, as 'a=random:f16:64x64 c=zeros:f32:64x64 n=64', or a .json file.",
        ),
        click.option("--grid", metavar="X[,Y[,Z]]", help="Workgroups of that launch; 1 by default."),
        click.option("--threads", metavar="X[,Y[,Z]]", help="Work-items of a workgroup."),
        click.option("--lds-bytes", type=int, metavar="N", help="Dynamic LDS of a workgroup."),
    )
    for option in reversed(options):
        command = option(command)
    return command


_recording_limit_option = click.option(
    "--recording-limit",
    type=_Size(),
    metavar="SIZE",
    help="Memory that the recording of a launch may take, as 8G; by default a quarter of what is free, at most 2G.",
)


@click.command(cls=_FileOrScript)
@click.option("--target", metavar="TARGET", help="GPU target; a script needs one.")
@click.option("--only", metavar="CHECK,...", help="Only these checks.")
@click.option("--to", metavar="TARGET", help="Say also what would not survive a move to that target.")
@click.option("--waves-per-simd", type=int, metavar="N", help="Resident waves that the schedule counts on.")
@_launch_options
@_recording_limit_option
@max_instructions_option
@click.option("--suppress", "suppress_file", metavar="FILE", help="Findings to leave out, each with a reason (TOML).")
@click.option("--print-limit", type=click.IntRange(min=0), default=20, show_default=True, help="Findings to print.")
@click.option("--sarif", "sarif_to", type=OutputFile(), metavar="FILE", help="Write SARIF 2.1.0 too.")
@click.option("--save-asm", "texts_to", metavar="FOLDER", help="Write the text of the kernels that a script compiles.")
@click.option("--github", is_flag=True, help="Print annotations of GitHub Actions instead of text.")
@json_option
@click.argument("path", metavar="FILE.s|SCRIPT.py")
@click.argument("args", nargs=-1, type=click.UNPROCESSED, metavar="[ARGS]...")
def check(
    path: str,
    args: tuple[str, ...],
    target: str | None,
    only: str | None,
    to: str | None,
    waves_per_simd: int | None,
    recording_limit: int | None,
    max_instructions: int | None,
    suppress_file: str | None,
    print_limit: int,
    sarif_to: IO[str] | None,
    texts_to: str | None,
    github: bool,
    json_to: IO[str] | None,
    **launch: Any,
) -> int:
    """Find missing waits, short spacing and races in assembly text, a code object, or what a Triton script launches.

    Exit status 0: clean; 1: findings; 2: incomplete, or misused.
    """
    from antiphase.report import terminal, working

    with working() as step:
        step("loading")
        from dataclasses import replace

        from antiphase.checking import Options, check_launch, check_script, check_text
        from antiphase.checks import load_suppressions, suppress
        from antiphase.report import findings as report
        from antiphase.report.texts import save_texts, text_hint

        options = Options(only.split(",") if only is not None else None, to, waves_per_simd, recording_limit)
        if max_instructions is not None:
            options = replace(options, max_instructions=max_instructions)
        allowed = load_suppressions(suppress_file) if suppress_file else []
        if path.endswith(".py"):
            name = _script_target(path, target)
            silence_shutdown()
            settle_triton_cache()
            with _script_output(json_to):
                parts = check_script(path, list(args), name, options, step, print_script_error)
        else:
            program, spec = _loaded(path, args, target, launch)
            if spec is None:
                step("checking every path")
                parts = check_text(program, options, launch["kernel"])
            else:
                parts = check_launch(program, spec, options, launch["kernel"], step)
        result = suppress(parts, allowed)
    if texts_to is not None:
        result = save_texts(result, texts_to)
    if sarif_to:
        from antiphase.report.sarif import as_sarif

        write_json(as_sarif(result), sarif_to)
    if json_to:
        from antiphase.report.findings_json import as_json

        write_json(as_json(result), json_to)
    elif github:
        from antiphase.report.github import workflow_commands

        for line in workflow_commands(result):
            print(line)
    else:
        report.print_findings(result, terminal(), print_limit)
        if hint := text_hint(result):
            print(hint)
    return report.STATUS[report.verdict(result.kept)]


@click.command()
@click.option("--target", metavar="TARGET", help="GPU target; by default the one the text names.")
@click.option("--only", metavar="CHECK,...", help="Only these checks.")
@_launch_options
@_recording_limit_option
@json_option
@click.argument("path", metavar="FILE.s")
def mutate(
    path: str,
    target: str | None,
    only: str | None,
    recording_limit: int | None,
    json_to: IO[str] | None,
    **launch: Any,
) -> int:
    """Delete or loosen one wait, barrier or nop at a time and say which of these mutants the checks catch.

    Exit status 0: all caught or proved redundant; 1: some survive; 2: some could not be judged, or misused.
    """
    from antiphase.report import terminal, working

    with working() as step:
        step("loading")
        from antiphase.mutate import mutate as run_mutants
        from antiphase.report import mutants as report

        program, spec = _loaded(path, (), target, launch)
        names = only.split(",") if only is not None else None
        outcome = run_mutants(program, spec, launch["kernel"], names, recording_limit, step)
    if json_to:
        write_json(report.as_json(outcome), json_to)
    else:
        report.print_mutants(outcome, terminal())
    return report.status(outcome)


def _script_target(path: str, target: str | None) -> str:
    from antiphase import arch

    if not os.path.isfile(path):
        raise UserError("no such script", file=path, remedy="give the path of a Python file")
    return arch.target(target or DEFAULT_TARGET).name


@contextlib.contextmanager
def _script_output(json_to: IO[str] | None) -> Iterator[None]:
    """What a script prints goes to standard error where standard output is for one JSON object."""
    if json_to is None or json_to is not sys.stdout:
        yield
        return
    with contextlib.redirect_stdout(sys.stderr):
        yield


def _loaded(
    path: str, args: tuple[str, ...], target: str | None, launch: dict[str, Any]
) -> tuple[Program, LaunchSpec | None]:
    """A program, and the launch that the options describe; None without --args."""
    from dataclasses import replace

    from antiphase import arch
    from antiphase.frontends import load, read_launch_spec

    if args:
        raise UserError(f"'{args[0]}' follows {path}", remedy="arguments of a launch go into --args")
    program = load(path, None if target is None else arch.target(target).name)
    given = {key: launch[key] for key in ("grid", "threads", "lds_bytes") if launch[key] is not None}
    if launch["launch_args"] is None:
        if given:
            raise UserError(f"--{next(iter(given)).replace('_', '-')} without --args", remedy="give --args ''")
        return program, None
    given |= {option: _sides(option, given[option]) for option in ("grid", "threads") if option in given}
    return program, replace(read_launch_spec(launch["launch_args"]), **given)


def _sides(option: str, text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise UserError(f"--{option} {text}", remedy="give one to three numbers, as in 16,4") from None

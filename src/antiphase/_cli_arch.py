"""`antiphase arch`. Thin: imports what it needs when it runs, so that --help stays quick."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import IO

import click

from antiphase._cli_shared import json_option, silence_shutdown, write_json


@click.group()
def arch() -> None:
    """The architecture reference: targets, and every fact with its evidence and source."""


@arch.command("list")
@click.argument("words", nargs=-1, metavar="[TARGET]... [TOPIC]")
@json_option
def arch_list(words: tuple[str, ...], json_to: IO[str] | None) -> None:
    """List the targets and the topics, or the subjects of TOPIC."""
    from antiphase import arch as reference
    from antiphase.report import arch as targets_report
    from antiphase.report import reference as report
    from antiphase.report import terminal

    if words:
        answer = reference.ask(words)
        if json_to:
            write_json(report.subjects_as_json(answer), json_to)
        else:
            report.print_subjects(answer, terminal())
        return
    book, targets = reference.reference(), reference.targets()
    if json_to:
        write_json({"targets": targets_report.targets_as_json(targets), "topics": report.topics_as_json(book)}, json_to)
    else:
        targets_report.print_targets(targets, terminal())
        report.print_topics(book, terminal())


@arch.command("show")
@click.argument("words", nargs=-1, required=True, metavar="[TARGET]... [TOPIC]")
@json_option
def arch_show(words: tuple[str, ...], json_to: IO[str] | None) -> None:
    """Show facts in full: every value with its evidence, conditions and sources.

    A TARGET alone shows the numbers the machine computes with. TOPIC is a chapter, topic or subject as
    `arch list` prints them, or words to search for.
    """
    from antiphase import arch as reference
    from antiphase.report import arch as targets_report
    from antiphase.report import reference as report
    from antiphase.report import terminal

    if len(words) == 1 and words[0].lower().startswith("gfx"):
        found = reference.target(words[0])
        if json_to:
            write_json(targets_report.target_as_json(found), json_to)
        else:
            targets_report.print_target(found, terminal())
        return
    answer = reference.ask(words)
    if json_to:
        write_json(report.answer_as_json(answer), json_to)
    else:
        report.print_answer(answer, terminal())


@arch.command("compare")
@click.argument("words", nargs=-1, required=True, metavar="TARGET TARGET... [TOPIC]")
@click.option("--differences", is_flag=True, help="Only the rows in which the targets differ.")
@json_option
def arch_compare(words: tuple[str, ...], differences: bool, json_to: IO[str] | None) -> None:
    """Compare targets side by side, with the source under each answer."""
    from antiphase import arch as reference
    from antiphase.errors import UserError
    from antiphase.report import reference as report
    from antiphase.report import terminal

    answer = reference.ask(words)
    if len(reference.target_names(words)) < 2:
        raise UserError("compare needs two targets or a generation of several", remedy="arch show asks for one")
    if differences:
        answer = answer.differing()
    if json_to:
        write_json(report.answer_as_json(answer), json_to)
    else:
        report.print_comparison(answer, terminal())


@arch.command("schema")
def arch_schema() -> None:
    """Print the JSON Schema of a fact file."""
    from antiphase.arch import fact_schema

    write_json(fact_schema(), sys.stdout)


@arch.command("site")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
def arch_site(folder: Path) -> None:
    """Write the reference as static pages into FOLDER; open its index.html."""
    silence_shutdown()
    from antiphase.report import terminal, working
    from antiphase.site import build

    with working() as step:
        pages = build(folder, step)
    terminal().print(f"{len(pages)} pages in {folder}", highlight=False)


@arch.command("serve")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 takes a free one.")
def arch_serve(port: int) -> None:
    """Serve the reference on this machine until Ctrl-C."""
    silence_shutdown()
    from antiphase.report import terminal, working
    from antiphase.site import build, serve

    with tempfile.TemporaryDirectory(prefix="antiphase-site-") as folder:
        with working() as step:
            build(Path(folder), step)
        serve(Path(folder), port, lambda address: terminal().print(f"{address} (Ctrl-C ends it)", highlight=False))


@arch.command("verify")
@click.argument("query", required=False)
@click.option("--target", metavar="TARGET", help="Only one GPU target; all of them by default.")
@click.option("--stamp", is_flag=True, help="Record what ran and agreed in the reference's data (checked.toml).")
@json_option
def arch_verify(query: str | None, target: str | None, stamp: bool, json_to: IO[str] | None) -> int:
    """Re-run what a machine can of every fact, or of those that QUERY names, and say where it disagrees.

    QUERY is a chapter, topic or subject as `arch list` prints them, or words to search for. Asks LLVM 22, the LLVM in
    the Triton wheel and antiphase's own machine, each where it is installed.

    Exit status 0: nothing disagrees; 1: something does; 2: misused.
    """
    from antiphase import arch as reference
    from antiphase.errors import UserError
    from antiphase.report import counting, terminal

    if stamp and (query or target):
        raise UserError("--stamp replaces all stamps", remedy="leave QUERY and --target out")
    with counting() as step:
        step("loading", 0, 1)
        from antiphase.report import verify as report
        from antiphase.verify import stamps, verify, write_stamps

        verified = verify(reference.reference(), query=query, target=target, step=step)
    written = write_stamps(stamps(verified)) if stamp else None
    if json_to:
        write_json(report.as_json(verified), json_to)
    else:
        report.print_verified(verified, terminal())
        if written is not None:
            report.print_stamped(written, terminal())
    return 1 if verified.count("disagree") else 0

"""`python -m benchmarks [NAME]...`: measure, print a table, write benchmarks.json."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from antiphase import arch
from antiphase.errors import AntiphaseError
from antiphase.report import terminal
from benchmarks._checks import checks
from benchmarks._families import families, large_kernel
from benchmarks._full import SIZE, full_launch
from benchmarks._measurement import Results, write
from benchmarks._report import print_families, print_results
from benchmarks._settings import Settings
from benchmarks._speed import against_tinygrad, recording
from benchmarks._startup import cold_start, help_time

BENCHMARKS: dict[str, Callable[[Settings], Results]] = {
    "help": help_time,
    "cold": cold_start,
    "recording": recording,
    "tinygrad": against_tinygrad,
    "full": full_launch,
    "families": families,
    "large": large_kernel,
    "checks": checks,
}
# The bar is set on gfx1100; gfx942 stands in for it where it cannot be run.
_GEMM_TARGETS = ("gfx1100", "gfx942")
_FILE_WIDTH = 120


@click.command()
@click.argument("names", nargs=-1, type=click.Choice(list(BENCHMARKS)))
@click.option("--runs", default=3, show_default=True, type=click.IntRange(1), help="Repetitions of each.")
@click.option("--target", type=click.Choice(_GEMM_TARGETS), help="Of the GEMM that tinygrad runs too.")
@click.option("--full-size", nargs=3, type=int, default=SIZE, show_default=True, help="M, N, K on MI300X.")
@click.option("--output", default="benchmarks.json", show_default=True, type=click.Path(path_type=Path))
def command(
    names: tuple[str, ...], runs: int, target: str | None, full_size: tuple[int, int, int], output: Path
) -> None:
    """Measure the named benchmarks, or all of them.

    TINYGRAD in the environment names a checkout of tinygrad, whose emulator is measured beside ours.
    """
    target = arch.target(target or _GEMM_TARGETS[0]).name
    console = terminal()
    if not console.is_terminal:
        console.width = _FILE_WIDTH
    results: Results = {}
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with tempfile.TemporaryDirectory() as folder, Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None)
        settings = Settings(
            runs=runs,
            target=target,
            full=full_size,
            tinygrad=os.environ.get("TINYGRAD") or None,
            folder=Path(folder),
            show=lambda text, done, total: bar.update(task, description=text, completed=done, total=total),
        )
        for name in dict.fromkeys(names or BENCHMARKS):
            results |= BENCHMARKS[name](settings)
    write(results, output)
    print_results(results, console)
    print_families(results, console)
    for note in settings.notes:
        console.print(f"- {note}", markup=False, highlight=False)


if __name__ == "__main__":
    try:
        command()
    except AntiphaseError as error:
        print(f"benchmarks: error: {error}", file=sys.stderr)
        sys.exit(2)

"""The terminal that everything is printed on."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console


class _Terminal(Console):
    def on_broken_pipe(self) -> None:
        # rich would leave with status 1, which is ours for "findings"; the command line knows better.
        raise BrokenPipeError


def terminal() -> Console:
    """A console on standard output; OSError if that cannot be written, BrokenPipeError if its reader goes away.

    Letters that the locale's encoding lacks become question marks.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    return _Terminal()


@contextmanager
def working() -> Iterator[Callable[[str], None]]:
    """A spinner on standard error while the block runs, and the function that changes its words.

    Nothing is shown where standard error is not a terminal.
    """
    console = Console(stderr=True)
    with console.status("starting") as status:
        yield lambda text: status.update(text)


@contextmanager
def counting() -> Iterator[Callable[[str, int, int], None]]:
    """A progress bar on standard error while the block runs, and the function that is told words, done and total.

    Nothing is shown where standard error is not a terminal.
    """
    # most commands have no use for it
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    console = Console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("starting", total=None)
        yield lambda what, done, total: bar.update(task, description=what, completed=done, total=total)

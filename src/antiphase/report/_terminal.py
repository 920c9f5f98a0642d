"""The terminal that everything is printed on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console


class _Terminal(Console):
    def on_broken_pipe(self) -> None:
        # rich would leave with status 1, which is ours for "findings"; the command line knows better.
        raise BrokenPipeError


def terminal() -> Console:
    """A console on standard output; BrokenPipeError if its reader goes away."""
    return _Terminal()


@contextmanager
def working() -> Iterator[Callable[[str], None]]:
    """A spinner on standard error while the block runs, and the function that changes its words.

    Nothing is shown where standard error is not a terminal.
    """
    console = Console(stderr=True)
    with console.status("starting") as status:
        yield lambda text: status.update(text)

"""The terminal that everything is printed on."""

from __future__ import annotations

from rich.console import Console


class _Terminal(Console):
    def on_broken_pipe(self) -> None:
        # rich would leave with status 1, which is ours for "findings"; the command line knows better.
        raise BrokenPipeError


def terminal() -> Console:
    """A console on standard output; BrokenPipeError if its reader goes away."""
    return _Terminal()

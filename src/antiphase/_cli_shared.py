"""What commands have in common: options, JSON output, the end of the process."""

from __future__ import annotations

import atexit
import contextlib
import errno
import io
import os
import sys
from pathlib import Path
from typing import IO, Any

import click

DEFAULT_TARGET = "gfx942"


class OutputFile(click.File):
    """A file to write, in UTF-8 whatever the locale says; - is standard output."""

    def __init__(self) -> None:
        super().__init__("w", encoding="utf-8")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> IO[Any]:
        if value != "-":
            _check_writable(value)
            return super().convert(value, param, ctx)
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8")
        return sys.stdout


def _check_writable(name: str) -> None:
    """Before the work and not after it; opening it only then leaves an older file alone if the work fails."""
    path = Path(name)
    place = path if path.exists() else path.parent
    problem = ""
    if path.is_dir():
        problem = os.strerror(errno.EISDIR)
    elif not place.exists():
        problem = os.strerror(errno.ENOENT)
    elif not os.access(place, os.W_OK):
        problem = os.strerror(errno.EACCES)
    if problem:
        raise click.FileError(name, problem)


json_option = click.option(
    "--json",
    "json_to",
    type=OutputFile(),
    metavar="FILE",
    help="Write one JSON object to FILE instead of text; - is standard output.",
)
target_option = click.option(
    "--target",
    default=DEFAULT_TARGET,
    show_default=True,
    metavar="TARGET",
    help="GPU target; see antiphase arch list.",
)
max_instructions_option = click.option(
    "--max-instructions",
    type=click.IntRange(min=1),
    metavar="N",
    help="Wave-instructions after which a launch is cut short.",
)


def silence_shutdown() -> None:
    """Close standard error once everything of ours is done: Triton's library reports its leaks after that."""

    def silence() -> None:
        with contextlib.suppress(OSError):
            sys.stderr.flush()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)

    # Handlers run last first: those registered later may still write.
    atexit.register(silence)


def settle_triton_cache() -> None:
    """See to it that Triton can write its cache, and say so where it is not in its usual place."""
    from antiphase import _paths

    if place := _paths.settle_triton_cache():
        print(
            f"antiphase: note: Triton cannot write its cache in {place.path} ({place.problem}); a temporary directory "
            "serves this run; TRITON_CACHE_DIR names one that lasts",
            file=sys.stderr,
        )


def write_json(value: object, stream: IO[str]) -> None:
    import json

    write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", stream)


def write_text(text: str, stream: IO[str]) -> None:
    """Write all of a text. OSError that names the file where that fails, which may be at its last byte."""
    try:
        stream.write(text)
        stream.flush()
    except OSError as error:
        if stream is sys.stdout:
            raise
        # closing writes what is left, and fails again; click closes it later once more, which does nothing
        with contextlib.suppress(OSError):
            stream.close()
        raise OSError(error.errno, error.strerror, stream.name) from error

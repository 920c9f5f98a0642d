"""What commands have in common: options, JSON output, the end of the process."""

from __future__ import annotations

import atexit
import os
import sys
from typing import IO

import click

DEFAULT_TARGET = "gfx942"

json_option = click.option(
    "--json",
    "json_to",
    type=click.File("w"),
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


def silence_shutdown() -> None:
    """Close standard error once everything of ours is done: Triton's library reports its leaks after that."""

    def silence() -> None:
        sys.stderr.flush()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)

    # Handlers run last first: those registered later may still write.
    atexit.register(silence)


def write_json(value: object, stream: IO[str]) -> None:
    import json

    json.dump(value, stream, indent=2, ensure_ascii=False)
    stream.write("\n")

"""The asking end of a worker process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from antiphase.errors import AntiphaseError, UserError

_ROOT = Path(__file__).resolve().parent.parent
# Set on some machines for older OpenBLAS builds; they make a current one slower than it is.
_OPENBLAS_OVERRIDES = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
_QUIT_SECONDS = 30


def require_right(answer: Mapping[str, float]) -> None:
    """WrongResult unless a checked launch computed what it should: a fast wrong answer is no measurement."""
    if answer["right"] < 1 or answer["faults"]:
        raise WrongResult(f"antiphase computed {answer['right']:.2%} right with {answer['faults']} faults")


class WrongResult(AntiphaseError):
    """What was measured does not compute the product."""


class Worker:
    """A running `benchmarks.workers` module. Make one with `worker`."""

    def __init__(self, process: subprocess.Popen[str], name: str, log: Any) -> None:
        self._process, self._name, self._log = process, name, log

    def ask(self, progress: Callable[[int, int], None] | None = None, /, **request: object) -> dict[str, float]:
        """The worker's answer. Raises UserError with its last words if it died."""
        assert self._process.stdin and self._process.stdout
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._death() from None
        for line in self._process.stdout:
            message = json.loads(line)
            if "done" not in message:
                return message
            if progress:
                progress(message["done"], message["total"])
        raise self._death()

    def _death(self) -> UserError:
        status = self._process.wait()
        self._log.seek(0)
        words = self._log.read().strip().splitlines()
        last = words[-1] if words else "no message"
        return UserError(f"worker {self._name} ended with status {status}: {last}")


@contextmanager
def worker(
    name: str,
    *arguments: str | Path,
    cache: Path,
    python_path: str = "",
    environment: Mapping[str, str] | None = None,
) -> Iterator[Worker]:
    """Start `python -m benchmarks.workers.NAME ARGUMENTS...` and end it afterwards.

    cache: where it keeps compiled code; an empty folder for a cold start.
    python_path: where it looks for modules first. environment: further variables.
    """
    variables = {key: value for key, value in os.environ.items() if key not in _OPENBLAS_OVERRIDES}
    paths = [path for path in (python_path, str(_ROOT), variables.get("PYTHONPATH")) if path]
    variables |= {"PYTHONPATH": os.pathsep.join(paths), "ANTIPHASE_CACHE": str(cache), **(environment or {})}
    command = [sys.executable, "-m", f"benchmarks.workers.{name}", *map(str, arguments)]
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, env=variables
        )
        try:
            yield Worker(process, name, log)
            assert process.stdin
            process.stdin.close()
            process.wait(_QUIT_SECONDS)
        finally:
            process.kill()
            process.wait()

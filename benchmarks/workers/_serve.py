"""The worker's end of the conversation: a JSON request a line in, a JSON answer a line out."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

Answer = dict[str, float]
Send = Callable[[Answer], None]


def serve(answer: Callable[[dict[str, Any], Send], Answer]) -> None:
    """Answer requests until standard input ends. Progress may come before the answer: {"done", "total"}."""
    # Anything a library prints goes to standard error, so that it cannot be taken for an answer.
    channel = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def send(message: Answer) -> None:
        channel.write(json.dumps(message) + "\n")

    for line in sys.stdin:
        send(answer(json.loads(line), send))


def pin(request: dict[str, Any]) -> None:
    """Stay on the core that the request names, if it names one."""
    if "core" in request:
        os.sched_setaffinity(0, {request["core"]})


def timed(call: Callable[[], object], request: dict[str, Any]) -> float:
    """Mean seconds of one call: as many calls as fit the request's "seconds", one if it names none.

    Pinned to a core, processor time of this process and of those it started: on a machine that is not idle,
    wall time would favour whoever has the shorter calls. On all cores, wall time.
    """
    clock = _processor_seconds if "core" in request else time.perf_counter
    started, taken, calls = clock(), 0.0, 0
    while not calls or taken < request.get("seconds", 0):
        call()
        calls += 1
        taken = clock() - started
    return taken / calls


def _processor_seconds() -> float:
    times = os.times()
    return time.process_time() + times.children_user + times.children_system

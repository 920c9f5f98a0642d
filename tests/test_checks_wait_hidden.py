"""Missing waits that a result may hide: a comparison or a maximum drops the poison that a load has not replaced.

Of each kernel every wait is deleted in turn, and `antiphase.check` is given the launch.
"""

from __future__ import annotations

import numpy as np
import pytest
from corpus import CASES

import antiphase
from antiphase.checks import CheckResult
from antiphase.mutate import mutants

CHECKS = ("wait", "race", "sync", "mem")
"""What a missing wait can show in."""


def bytes_of(values: list[object]) -> list[bytes]:
    return [value.tobytes() for value in values if isinstance(value, np.ndarray)]


def rules(result: CheckResult) -> set[tuple[str, str]]:
    return {(found.check, found.rule) for found in result}


@pytest.mark.parametrize("target", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("name", ["reduce_argmax_fp32", "softmax_fp32"])
def test_every_missing_wait_is_told_whether_or_not_the_result_shows_it(name: str, target: str) -> None:
    case = next(c for c in CASES if c.name == name)
    compiled = case.compile(target)
    launch = {"grid": case.grid, "threads": compiled.threads_per_workgroup, "lds_bytes": compiled.shared}

    def checked(program: antiphase.Program) -> tuple[CheckResult, list[bytes]]:
        values = case.inputs()
        result = antiphase.check(program, args=values, only=CHECKS, **launch)
        return result, bytes_of(values)

    sound, expected = checked(compiled.program)
    assert sound.verdict == "clean"
    hidden, untold = [], []
    for wait in (m for m in mutants(compiled.program) if m.kind == "wait" and not m.after):
        result, left = checked(compiled.program.edit(wait.changes))
        if left == expected:
            hidden.append(wait.before)
        if not rules(result):
            untold.append((wait.instruction, wait.before))
    assert untold == [], "a wait that no check misses"
    assert hidden, "the kernel is here for a result that hides what is missing"

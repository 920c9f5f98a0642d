"""Functions that the compiler does not inline: calls, a call inside a callee, and one inside a loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import triton
import triton.language as tl

from ._case import BOTH, Case, Expected, exact

N = 64


@triton.jit(noinline=True)
def mixed(x, y):
    return x * y + (x >> 3)


@triton.jit(noinline=True)
def looked_up(table, x, y):
    return tl.load(table + (x & 15)) + mixed(x, y) - mixed(y, x)


@triton.jit
def calling(table, out, n):
    pid = tl.program_id(0)
    total = looked_up(table, pid, n)
    for i in range(pid):
        total += mixed(i, n)
    tl.store(out + pid, total)


def _mixed(x: Any, y: Any) -> Any:
    return x * y + (x >> 3)


def _reference(table: np.ndarray, out: np.ndarray, n: int) -> dict[int, Expected]:
    at = np.arange(N)
    loops = np.array([sum(_mixed(i, n) for i in range(pid)) for pid in range(N)])
    return {1: exact(table[at & 15] + _mixed(at, n) - _mixed(n, at) + loops)}


CASES = [
    Case(
        "calls_noinline",
        calling,
        (N, 1, 1),
        lambda rng: (rng.integers(0, 1000, 16, dtype=np.int32), np.zeros(N, np.int32), 37),
        _reference,
        targets=(*BOTH, "gfx1100", "gfx1201", "gfx1250"),
    ),
]

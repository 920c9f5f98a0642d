"""Atomic operations whose outcome does not depend on the order in which waves reach them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import triton
import triton.language as tl

from ._case import Case, Expected, exact

N, SLOTS = 1000, 37


@triton.jit
def scatter(x, index, out, n, OPERATION: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    slot = out + tl.load(index + at, mask=inside, other=0)
    v = tl.load(x + at, mask=inside)
    if OPERATION == "add":
        tl.atomic_add(slot, v, mask=inside)
    elif OPERATION == "max":
        tl.atomic_max(slot, v, mask=inside)
    elif OPERATION == "min":
        tl.atomic_min(slot, v, mask=inside)
    elif OPERATION == "and":
        tl.atomic_and(slot, v, mask=inside)
    elif OPERATION == "or":
        tl.atomic_or(slot, v, mask=inside)
    else:
        tl.atomic_xor(slot, v, mask=inside)


@triton.jit
def exchange(x, out, old, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(old + at, tl.atomic_xchg(out + at, tl.load(x + at, mask=inside), mask=inside), mask=inside)


@triton.jit
def compare_exchange(expected, new, out, old, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(old + at, tl.atomic_cas(out + at, tl.load(expected + at), tl.load(new + at)))


@triton.jit
def ticket(counter, out, lock, total):
    mine = tl.atomic_add(counter, 1)
    tl.store(out + mine, mine * 3)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(total, tl.load(total) + 5)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def sum_all(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out, tl.sum(tl.load(x + at, mask=at < n, other=0), 0))


def _scatter_case(operation: str, dtype: Any, label: str, ufunc: Any) -> Case:
    def arguments(rng: np.random.Generator) -> tuple[object, ...]:
        # Small integers: sums in any order are exact even in half precision.
        # Not negative for min and max: Triton 3.9 first combines a wave's lanes of equal address with an unsigned
        # maximum (v_max_u32 before global_atomic_smax), so that signed results are wrong on hardware as well.
        lowest = 0 if operation in ("min", "max") else -999
        x = rng.integers(-2, 3, N) if operation == "add" else rng.integers(lowest, 1000, N)
        slots = rng.integers(-99, 100, SLOTS)
        return x.astype(dtype), rng.integers(0, SLOTS, N).astype(np.int32), slots.astype(dtype), N

    def reference(x: np.ndarray, index: np.ndarray, out: np.ndarray, n: int) -> dict[int, Expected]:
        wide = out.astype(np.float64) if np.dtype(dtype).kind not in "iu" else out.copy()
        ufunc.at(wide, index, x.astype(wide.dtype))
        return {2: exact(wide.astype(dtype))}

    return Case(
        f"atomic_{operation}_{label}",
        scatter,
        (4, 1, 1),
        arguments,
        reference,
        {"OPERATION": operation, "BLOCK": 256},
    )


def _exchange_case(dtype: type, label: str) -> Case:
    def arguments(rng: np.random.Generator) -> tuple[object, ...]:
        x, out = (rng.integers(-999, 999, N).astype(dtype) for _ in range(2))
        return x, out, np.zeros(N, dtype), N

    return Case(
        f"atomic_xchg_{label}",
        exchange,
        (4, 1, 1),
        arguments,
        lambda x, out, old, n: {1: exact(x), 2: exact(out)},
        {"BLOCK": 256},
    )


def _compare_case(dtype: type, label: str) -> Case:
    def arguments(rng: np.random.Generator) -> tuple[object, ...]:
        expected, new, out = (rng.integers(0, 4, 1024).astype(dtype) for _ in range(3))
        return expected, new, out, np.zeros(1024, dtype)

    return Case(
        f"atomic_cas_{label}",
        compare_exchange,
        (4, 1, 1),
        arguments,
        lambda expected, new, out, old: {2: exact(np.where(out == expected, new, out)), 3: exact(out)},
        {"BLOCK": 256},
    )


def _sum_case(dtype: type, label: str) -> Case:
    total: Callable[..., dict[int, Expected]] = lambda x, out, n: {1: exact(out + x.sum(dtype=dtype))}  # noqa: E731
    return Case(
        f"atomic_sum_{label}",
        sum_all,
        (4, 1, 1),
        lambda rng: (rng.integers(-99, 100, N).astype(dtype), np.zeros(1, dtype), N),
        total,
        {"BLOCK": 256},
    )


CASES = [
    _scatter_case("add", np.float32, "fp32", np.add),
    _scatter_case("add", np.int32, "i32", np.add),
    _scatter_case("add", np.int64, "i64", np.add),
    _scatter_case("add", np.float16, "fp16", np.add),
    _scatter_case("add", ml_dtypes.bfloat16, "bf16", np.add),
    _scatter_case("add", np.float64, "fp64", np.add),
    *(
        _scatter_case(name, dtype, label, ufunc)
        for dtype, label in ((np.float32, "fp32"), (np.int32, "i32"), (np.uint32, "u32"), (np.int64, "i64"))
        for name, ufunc in (("max", np.maximum), ("min", np.minimum))
    ),
    _scatter_case("and", np.int32, "i32", np.bitwise_and),
    _scatter_case("or", np.int32, "i32", np.bitwise_or),
    _scatter_case("xor", np.int32, "i32", np.bitwise_xor),
    _scatter_case("xor", np.int64, "i64", np.bitwise_xor),
    _exchange_case(np.float32, "fp32"),
    _exchange_case(np.int64, "i64"),
    _compare_case(np.int32, "i32"),
    _compare_case(np.int64, "i64"),
    _sum_case(np.float32, "fp32"),
    _sum_case(np.int32, "i32"),
    Case(
        "atomic_ticket_lock",
        ticket,
        (12, 1, 1),
        lambda rng: tuple(np.zeros(size, np.int32) for size in (1, 12, 1, 1)),
        lambda counter, out, lock, total: {
            0: exact(np.full(1, 12)),
            1: exact(np.arange(12) * 3),
            2: exact(lock),
            3: exact(np.full(1, 60)),
        },
    ),
]

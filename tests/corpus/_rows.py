"""Row-wise work: softmax, layer norm, reductions, scans, sorting, gathering."""

# Triton annotates parameters as constexpr that take plain values.
# pyright: reportArgumentType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import triton
import triton.language as tl

from ._case import Case, Expected, close, exact

ROWS, COLUMNS = 5, 700


@triton.jit
def softmax(x, out, n, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + at, mask=at < n, other=-float("inf")).to(tl.float32)
    power = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * stride + at, (power / tl.sum(power, axis=0)).to(out.dtype.element_ty), mask=at < n)


@triton.jit
def layer_norm(x, weight, bias, out, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < n
    v = tl.load(x + row * n + at, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(v, axis=0) / n
    centred = tl.where(inside, v - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / n + eps)
    v = centred * scale * tl.load(weight + at, mask=inside) + tl.load(bias + at, mask=inside)
    tl.store(out + row * n + at, v.to(out.dtype.element_ty), mask=inside)


@triton.jit
def reduce_rows(x, out, where, n, KIND: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    if KIND == "sum":
        tl.store(out + row, tl.sum(tl.load(x + row * n + at, mask=at < n, other=0), 0))
    elif KIND == "xor":
        tl.store(out + row, tl.xor_sum(tl.load(x + row * n + at, mask=at < n, other=0), 0))
    elif KIND == "min":
        tl.store(out + row, tl.min(tl.load(x + row * n + at, mask=at < n, other=1000), 0))
    elif KIND == "max":
        tl.store(out + row, tl.max(tl.load(x + row * n + at, mask=at < n, other=-1000), 0))
    elif KIND == "argmax":
        best, index = tl.max(tl.load(x + row * n + at, mask=at < n, other=-1000), 0, return_indices=True)
        tl.store(out + row, best)
        tl.store(where + row, index)
    else:
        index = tl.argmin(tl.load(x + row * n + at, mask=at < n, other=1000), 0)
        tl.store(where + row, index)


@triton.jit
def reduce_axis(x, out, AXIS: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    total = tl.sum(tl.load(x + i[:, None] * N + j[None, :]), AXIS)
    if AXIS == 0:
        tl.store(out + j, total)
    else:
        tl.store(out + i, total)


@triton.jit
def _linear(a0, b0, a1, b1):
    return a0 * a1, b0 * a1 + b1


@triton.jit
def recurrence(a, b, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    _, v = tl.associative_scan((tl.load(a + at), tl.load(b + at)), 0, _linear)
    tl.store(out + at, v)


@triton.jit
def scan_rows(x, out, KIND: tl.constexpr, REVERSE: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    v = tl.load(x + at)
    v = tl.cumsum(v, 1, reverse=REVERSE) if KIND == "sum" else tl.cumprod(v, 1, reverse=REVERSE)
    tl.store(out + at, v)


@triton.jit
def sort_rows(x, out, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + at, tl.sort(tl.load(x + at), 1))


@triton.jit
def count(x, out, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + tl.arange(0, BINS), tl.histogram(tl.load(x + at, mask=at < n, other=BINS - 1), BINS))


@triton.jit
def gather_rows(x, index, out, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + at, tl.gather(tl.load(x + at), tl.load(index + at), 1))


@triton.jit
def transpose(x, out, m, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = tl.program_id(1) * B + tl.arange(0, B)
    tile = tl.load(x + i[:, None] * n + j[None, :], mask=(i[:, None] < m) & (j[None, :] < n), other=0)
    tl.store(out + j[:, None] * m + i[None, :], tl.trans(tile), mask=(j[:, None] < n) & (i[None, :] < m))


@triton.jit
def interleave(x, y, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    both = tl.interleave(tl.load(x + at), tl.load(y + at))
    low, high = tl.split(tl.reshape(tl.flip(both, 0), (BLOCK, 2)))
    tl.store(out + tl.arange(0, 2 * BLOCK), tl.join(low, high + low).reshape(2 * BLOCK))


def _softmax_case(dtype: type, label: str, bound: float) -> Case:
    def reference(x: np.ndarray, *_: object) -> dict[int, Expected]:
        power = np.exp(x.astype(np.float64) - x.astype(np.float64).max(1, keepdims=True))
        return {1: close(power / power.sum(1, keepdims=True), bound, 1e-6)}

    return Case(
        f"softmax_{label}",
        softmax,
        (ROWS, 1, 1),
        lambda rng: (
            rng.standard_normal((ROWS, COLUMNS)).astype(dtype),
            np.zeros((ROWS, COLUMNS), dtype),
            COLUMNS,
            COLUMNS,
        ),
        reference,
        {"BLOCK": 1024},
    )


def _layer_norm_case(dtype: type, label: str, bound: float) -> Case:
    def arguments(rng: np.random.Generator) -> tuple[object, ...]:
        x = rng.standard_normal((ROWS, COLUMNS)).astype(dtype)
        w, b = (rng.standard_normal(COLUMNS).astype(np.float32) for _ in range(2))
        return x, w, b, np.zeros((ROWS, COLUMNS), dtype), COLUMNS, 1e-5

    def reference(x: np.ndarray, w: np.ndarray, b: np.ndarray, out: object, n: int, eps: float) -> dict[int, Expected]:
        v = x.astype(np.float64)
        v = (v - v.mean(1, keepdims=True)) / np.sqrt(v.var(1, keepdims=True) + eps)
        return {3: close(v * w + b, bound, bound)}

    return Case(f"layer_norm_{label}", layer_norm, (ROWS, 1, 1), arguments, reference, {"BLOCK": 1024})


def _reduce_case(kind: str, dtype: type, label: str) -> Case:
    def arguments(rng: np.random.Generator) -> tuple[object, ...]:
        x = rng.integers(-99, 100, (ROWS, COLUMNS)).astype(dtype)
        return x, np.zeros(ROWS, dtype), np.zeros(ROWS, np.int32), COLUMNS

    results: dict[str, Callable[[np.ndarray], dict[int, Expected]]] = {
        "sum": lambda x: {1: exact(x.sum(1))},
        "xor": lambda x: {1: exact(np.bitwise_xor.reduce(x, 1))},
        "min": lambda x: {1: exact(x.min(1))},
        "max": lambda x: {1: exact(x.max(1))},
        "argmax": lambda x: {1: exact(x.max(1)), 2: exact(x.argmax(1))},
        "argmin": lambda x: {2: exact(x.argmin(1))},
    }
    return Case(
        f"reduce_{kind}_{label}",
        reduce_rows,
        (ROWS, 1, 1),
        arguments,
        lambda x, *_: results[kind](x),
        {"KIND": kind, "BLOCK": 1024},
    )


def _axis_case(axis: int, m: int, n: int) -> Case:
    return Case(
        f"reduce_axis{axis}_{m}x{n}",
        reduce_axis,
        (1, 1, 1),
        lambda rng: (
            rng.integers(-99, 100, (m, n)).astype(np.float32),
            np.zeros(n if axis == 0 else m, np.float32),
        ),
        lambda x, out: {1: exact(x.sum(axis))},
        {"AXIS": axis, "M": m, "N": n},
    )


def _recurrence(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> dict[int, Expected]:
    v, values = np.zeros(len(a)), np.zeros(a.shape)
    for at in range(a.shape[1]):
        v = values[:, at] = a[:, at] * v + b[:, at]
    return {2: close(values, 1e-4, 1e-4)}


def _scan_case(kind: str, reverse: bool, dtype: type, label: str) -> Case:
    numpy_scan: Any = np.cumsum if kind == "sum" else np.cumprod
    flip = slice(None, None, -1) if reverse else slice(None)

    def arguments(rng: np.random.Generator) -> tuple[object, ...]:
        values = rng.integers(-9, 10, (8, 256)) if kind == "sum" else rng.choice([-1, 1], (8, 256))
        return values.astype(dtype), np.zeros((8, 256), dtype)

    return Case(
        f"scan_{kind}_{label}{'_reverse' if reverse else ''}",
        scan_rows,
        (1, 1, 1),
        arguments,
        lambda x, out: {1: exact(numpy_scan(x[:, flip], 1, dtype=dtype)[:, flip])},
        {"KIND": kind, "REVERSE": reverse, "M": 8, "N": 256},
    )


def _sort_case(dtype: type, label: str) -> Case:
    return Case(
        f"sort_{label}",
        sort_rows,
        (1, 1, 1),
        lambda rng: (rng.integers(-999, 999, (4, 128)).astype(dtype), np.zeros((4, 128), dtype)),
        lambda x, out: {1: exact(np.sort(x, 1))},
        {"M": 4, "N": 128},
    )


def _transpose_case(dtype: type, label: str) -> Case:
    return Case(
        f"transpose_{label}",
        transpose,
        (2, 3, 1),
        lambda rng: (rng.integers(-99, 100, (50, 90)).astype(dtype), np.zeros((90, 50), dtype), 50, 90),
        lambda x, out, m, n: {1: exact(x.T)},
        {"B": 32},
    )


def _interleave(x: np.ndarray, y: np.ndarray, out: np.ndarray) -> dict[int, Expected]:
    pairs = np.stack([x, y], 1).reshape(-1)[::-1].reshape(-1, 2)
    return {2: exact(np.stack([pairs[:, 0], pairs[:, 1] + pairs[:, 0]], 1).reshape(-1))}


CASES = [
    _softmax_case(np.float32, "fp32", 1e-5),
    _softmax_case(np.float16, "fp16", 2e-3),
    _layer_norm_case(np.float32, "fp32", 2e-5),
    _layer_norm_case(np.float16, "fp16", 2e-3),
    *(_reduce_case(kind, np.float32, "fp32") for kind in ("sum", "min", "max", "argmax", "argmin")),
    *(_reduce_case(kind, np.int32, "i32") for kind in ("sum", "xor", "min", "max", "argmax")),
    *(_reduce_case(kind, np.int64, "i64") for kind in ("sum", "max")),
    *(_reduce_case(kind, np.float64, "fp64") for kind in ("sum", "max")),
    _axis_case(0, 64, 32),
    _axis_case(1, 64, 32),
    _axis_case(1, 8, 512),
    _axis_case(0, 256, 8),
    Case(
        "scan_recurrence",
        recurrence,
        (3, 1, 1),
        lambda rng: (
            rng.uniform(-1, 1, (3, 512)).astype(np.float32),
            rng.standard_normal((3, 512)).astype(np.float32),
            np.zeros((3, 512), np.float32),
        ),
        _recurrence,
        {"BLOCK": 512},
    ),
    _scan_case("sum", False, np.float32, "fp32"),
    _scan_case("sum", True, np.int32, "i32"),
    _scan_case("sum", False, np.int64, "i64"),
    _scan_case("product", False, np.float32, "fp32"),
    _sort_case(np.float32, "fp32"),
    _sort_case(np.int32, "i32"),
    Case(
        "histogram",
        count,
        (1, 1, 1),
        lambda rng: (rng.integers(0, 64, 900).astype(np.int32), np.zeros(64, np.int32), 900),
        lambda x, out, n: {1: exact(np.bincount(np.concatenate([x, np.full(1024 - n, 63)]), minlength=64))},
        {"BLOCK": 1024, "BINS": 64},
    ),
    Case(
        "gather",
        gather_rows,
        (1, 1, 1),
        lambda rng: (
            rng.standard_normal((32, 64)).astype(np.float32),
            rng.integers(0, 64, (32, 64)).astype(np.int32),
            np.zeros((32, 64), np.float32),
        ),
        lambda x, index, out: {2: exact(np.take_along_axis(x, index, 1))},
        {"M": 32, "N": 64},
    ),
    _transpose_case(np.float32, "fp32"),
    _transpose_case(np.float16, "fp16"),
    _transpose_case(np.int8, "i8"),
    Case(
        "interleave",
        interleave,
        (1, 1, 1),
        lambda rng: (
            *(rng.integers(-99, 99, 256).astype(np.int32) for _ in range(2)),
            np.zeros(512, np.int32),
        ),
        _interleave,
        {"BLOCK": 256},
    ),
]

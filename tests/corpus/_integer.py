"""Integer arithmetic: division, modulo, shifts, bit tricks, wide products."""

from __future__ import annotations

from typing import Any

import numpy as np
import triton
import triton.language as tl

from ._case import Case, Expected, exact

N = 1000


@triton.jit
def binary(x, y, out, n, OPERATION: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    a = tl.load(x + at, mask=inside, other=1)
    b = tl.load(y + at, mask=inside, other=1)
    if OPERATION == "div":
        v = a // b
    elif OPERATION == "mod":
        v = a % b
    elif OPERATION == "mul":
        v = a * b
    elif OPERATION == "sub":
        v = a - b
    elif OPERATION == "shl":
        v = a << (b & 7)
    elif OPERATION == "shr":
        v = a >> (b & 7)
    elif OPERATION == "and_or_xor":
        v = (a & b) ^ (a | ~b)
    elif OPERATION == "min_max":
        v = tl.minimum(a, b) * 3 + tl.maximum(a, b)
    elif OPERATION == "umulhi":
        v = tl.umulhi(a, b)
    elif OPERATION == "compare":
        v = tl.where(a < b, a, b) + (a >= b).to(tl.int32) + (a == b).to(tl.int32)
    else:
        v = a // 7 + b % 10 + a // 16 + b % 32
    tl.store(out + at, v, mask=inside)


@triton.jit
def indices(out, width, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row = at // width
    column = at % width
    tl.store(out + at, row.to(tl.int64) * 1000003 + column * tl.cdiv(n, width), mask=at < n)


def _truncated(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Quotient rounded towards zero, as C and Triton divide."""
    return np.where((a < 0) ^ (b < 0), -(np.abs(a) // np.abs(b)), np.abs(a) // np.abs(b)).astype(a.dtype)


def _mulhi(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    bits = a.dtype.itemsize * 8
    product = a.astype(object) * b.astype(object)
    return np.array([int(p) >> bits for p in product], dtype=a.dtype)


_RESULTS: dict[str, Any] = {
    "div": _truncated,
    "mod": lambda a, b: a - _truncated(a, b) * b,
    "mul": lambda a, b: a * b,
    "sub": lambda a, b: a - b,
    "shl": lambda a, b: a << (b & 7),
    "shr": lambda a, b: a >> (b & 7),
    "and_or_xor": lambda a, b: (a & b) ^ (a | ~b),
    "min_max": lambda a, b: np.minimum(a, b) * 3 + np.maximum(a, b),
    "umulhi": _mulhi,
    "compare": lambda a, b: np.where(a < b, a, b) + (a >= b) + (a == b),
    "constants": lambda a, b: (
        _truncated(a, np.full_like(a, 7)) + b - _truncated(b, np.full_like(b, 10)) * 10
        + _truncated(a, np.full_like(a, 16)) + b - _truncated(b, np.full_like(b, 32)) * 32
    ),
}  # fmt: skip


def _case(operation: str, dtype: type, label: str) -> Case:
    info = np.iinfo(dtype)

    def arguments(rng: np.random.Generator) -> tuple[object, ...]:
        x, y = (rng.integers(info.min // 2, info.max // 2, N, dtype=dtype) for _ in range(2))
        y[::3] = rng.integers(1, 20, len(y[::3]))
        y[y == 0] = 3
        return x, y, np.zeros(N, dtype), N

    def reference(x: np.ndarray, y: np.ndarray, out: np.ndarray, n: int) -> dict[int, Expected]:
        with np.errstate(over="ignore"):
            return {2: exact(_RESULTS[operation](x, y).astype(dtype))}

    return Case(
        f"integer_{operation}_{label}",
        binary,
        (4, 1, 1),
        arguments,
        reference,
        {"OPERATION": operation, "BLOCK": 256},
    )


CASES = [
    *(_case(operation, np.int32, "i32") for operation in _RESULTS if operation != "umulhi"),
    *(_case(operation, np.uint32, "u32") for operation in ("div", "mod", "shr", "umulhi", "compare", "constants")),
    *(
        _case(o, np.int64, "i64")
        for o in ("div", "mod", "mul", "sub", "shl", "shr", "and_or_xor", "min_max", "constants")
    ),
    *(_case(operation, np.uint64, "u64") for operation in ("div", "umulhi")),
    *(_case(operation, np.int16, "i16") for operation in ("mul", "div", "shr", "min_max")),
    *(_case(operation, np.int8, "i8") for operation in ("mul", "sub", "shl")),
    Case(
        "integer_indices",
        indices,
        (4, 1, 1),
        lambda rng: (np.zeros(N, np.int64), 37, N),
        lambda out, width, n: {0: exact(np.arange(n) // width * 1000003 + np.arange(n) % width * -(-n // width))},
        {"BLOCK": 256},
    ),
]

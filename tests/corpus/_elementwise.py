"""Element-wise kernels: vector add, maths functions, conversions, selects, loops and random numbers."""

# Triton types the results of reductions as tuples, too.
# pyright: reportOperatorIssue=false

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import triton
import triton.language as tl
from triton.language.extra import libdevice

from ._case import BOTH, Case, Expected, close, exact

N = 1000  # not a multiple of any block, so that masks matter


@triton.jit
def vector_add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def unary(x, out, n, FUNCTION: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    v = tl.load(x + at, mask=inside, other=1.0)
    if FUNCTION == "exp":
        v = tl.exp(v)
    elif FUNCTION == "exp2":
        v = tl.exp2(v)
    elif FUNCTION == "log":
        v = tl.log(v)
    elif FUNCTION == "log2":
        v = tl.log2(v)
    elif FUNCTION == "sin":
        v = tl.sin(v)
    elif FUNCTION == "cos":
        v = tl.cos(v)
    elif FUNCTION == "sqrt":
        v = tl.sqrt(v)
    elif FUNCTION == "sqrt_rn":
        v = tl.sqrt_rn(v)
    elif FUNCTION == "rsqrt":
        v = tl.rsqrt(v)
    elif FUNCTION == "erf":
        v = tl.erf(v)
    elif FUNCTION == "tanh":
        v = libdevice.tanh(v)
    elif FUNCTION == "abs":
        v = tl.abs(v)
    elif FUNCTION == "floor":
        v = tl.floor(v)
    elif FUNCTION == "ceil":
        v = tl.ceil(v)
    elif FUNCTION == "sigmoid":
        v = tl.sigmoid(v)
    elif FUNCTION == "reciprocal":
        v = 1.0 / v
    elif FUNCTION == "div_rn":
        v = tl.div_rn(1.0, v)
    elif FUNCTION == "pow":
        v = libdevice.pow(v, 2.5)
    elif FUNCTION == "silu":
        v = v * tl.sigmoid(v.to(tl.float32))
    tl.store(out + at, v, mask=inside)


@triton.jit
def fused_multiply(x, y, z, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    a = tl.load(x + at, mask=inside)
    b = tl.load(y + at, mask=inside)
    c = tl.load(z + at, mask=inside)
    tl.store(out + at, tl.clamp(tl.fma(a, b, c), -2.0, 2.0) + tl.minimum(a, b) - tl.maximum(b, c), mask=inside)


@triton.jit
def convert(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside).to(out.dtype.element_ty), mask=inside)


@triton.jit
def select(x, y, out, n, limit, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    a = tl.load(x + at, mask=inside, other=0.0)
    b = tl.load(y + at, mask=inside, other=0.0)
    either = ((a > limit) & (b < limit)) | (at % 3 == 0)
    tl.store(out + at, tl.where(either, a * 2, -b), mask=inside)


@triton.jit
def collatz(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    v = tl.load(x + at, mask=inside, other=1)
    steps = tl.zeros((BLOCK,), tl.int32)
    while tl.max(v, 0) > 1:
        running = v > 1
        v = tl.where(running, tl.where(v % 2 == 0, v // 2, 3 * v + 1), v)
        steps += running.to(tl.int32)
    tl.store(out + at, steps, mask=inside)


@triton.jit
def branch(x, out, n, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    at = program * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n, other=0.0)
    if program % 2 == 0:
        for _ in range(program + 1):
            v = v * 0.5 + 1.0
    else:
        v = -v
    tl.store(out + at, v, mask=at < n)


@triton.jit
def random_bits(out, seed, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.randint(seed, at), mask=at < n)


@triton.jit
def random_uniform(out, seed, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.rand(seed, at), mask=at < n)


def philox_word(seed: int, offsets: np.ndarray) -> np.ndarray:
    """First word of Philox 4x32-10 (Salmon et al., SC 2011) for the counter (offset, 0, 0, 0)."""
    mask = np.uint64(0xFFFFFFFF)
    c0, c1, c2, c3 = offsets.astype(np.uint64), *(np.zeros(offsets.shape, np.uint64) for _ in range(3))
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32
    for _ in range(10):
        a, b = c0 * np.uint64(0xD2511F53), c2 * np.uint64(0xCD9E8D57)
        c0, c2 = (b >> np.uint64(32)) ^ c1 ^ np.uint64(k0), (a >> np.uint64(32)) ^ c3 ^ np.uint64(k1)
        c1, c3 = b & mask, a & mask
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c0.astype(np.uint32)


def _uniform(seed: int, n: int) -> np.ndarray:
    # Triton folds the word to a non-negative int and scales it by just under 2**-31.
    word = philox_word(seed, np.arange(n)).view(np.int32).astype(np.int64)
    return np.where(word < 0, -word - 1, word) * 4.6566127342e-10


def _collatz_steps(x: np.ndarray) -> np.ndarray:
    v, steps = x.astype(np.int64), np.zeros(x.shape, np.int32)
    while (running := v > 1).any():
        steps += running
        v = np.where(running, np.where(v % 2 == 0, v // 2, 3 * v + 1), v)
    return steps


def _branch_reference(x: np.ndarray, out: np.ndarray, n: int) -> dict[int, Expected]:
    value = x.copy()
    for program in range(math.ceil(n / 256)):
        part = slice(program * 256, (program + 1) * 256)
        for _ in range(program + 1 if program % 2 == 0 else 0):
            value[part] = value[part] * np.float32(0.5) + np.float32(1)
        if program % 2:
            value[part] = -value[part]
    return {1: close(value, 1e-6)}


_ERF = np.vectorize(math.erf, otypes=[np.float64])
# function: low and high end of the inputs, reference, relative and absolute error allowed
_MATHS = {
    "exp": (-20, 20, np.exp, 4e-6, 0),
    "exp2": (-30, 30, np.exp2, 4e-6, 0),
    "log": (1e-3, 50, np.log, 4e-6, 1e-6),
    "log2": (1e-3, 50, np.log2, 4e-6, 1e-6),
    "sin": (-200, 200, np.sin, 0, 2e-6),
    "cos": (-200, 200, np.cos, 0, 2e-6),
    "sqrt": (0, 1000, np.sqrt, 4e-7, 0),
    "sqrt_rn": (0, 1000, np.sqrt, 6e-8, 0),
    "rsqrt": (1e-3, 1000, lambda v: 1 / np.sqrt(v), 4e-7, 0),
    "erf": (-4, 4, _ERF, 4e-6, 2e-7),
    "tanh": (-5, 5, np.tanh, 4e-6, 1e-6),
    "abs": (-5, 5, np.abs, 0, 0),
    "floor": (-9, 9, np.floor, 0, 0),
    "ceil": (-9, 9, np.ceil, 0, 0),
    "sigmoid": (-9, 9, lambda v: 1 / (1 + np.exp(-v)), 4e-6, 0),
    "reciprocal": (0.1, 100, lambda v: 1 / v, 4e-7, 0),
    "div_rn": (0.1, 100, lambda v: 1 / v, 6e-8, 0),
    "pow": (0.1, 20, lambda v: v**2.5, 4e-6, 0),
    "silu": (-9, 9, lambda v: v / (1 + np.exp(-v)), 4e-6, 1e-7),
}


def _maths_case(function: str) -> Case:
    low, high, numpy_function, relative, absolute = _MATHS[function]
    return Case(
        f"maths_{function}",
        unary,
        (4, 1, 1),
        lambda rng: (rng.uniform(low, high, N).astype(np.float32), np.zeros(N, np.float32), N),
        lambda x, out, n: {1: close(numpy_function(x.astype(np.float64)), relative, absolute)},
        {"FUNCTION": function, "BLOCK": 256},
    )


def _half_maths_case(dtype: type, label: str, relative: float) -> Case:
    return Case(
        f"maths_silu_{label}",
        unary,
        (4, 1, 1),
        lambda rng: (rng.uniform(-9, 9, N).astype(dtype), np.zeros(N, dtype), N),
        lambda x, out, n: {
            1: close(x.astype(np.float64) / (1 + np.exp(-x.astype(np.float64))), relative, relative / 100)
        },
        {"FUNCTION": "silu", "BLOCK": 256},
    )


def _add_case(dtype: type, label: str, block: int, warps: int) -> Case:
    def arguments(rng: np.random.Generator) -> tuple[object, ...]:
        x, y = (rng.integers(-9, 10, N).astype(dtype) for _ in range(2))
        return x, y, np.zeros(N, dtype), N

    return Case(
        f"add_{label}_{block}_{warps}",
        vector_add,
        (math.ceil(N / block), 1, 1),
        arguments,
        lambda x, y, out, n: {2: exact(x + y)},
        {"BLOCK": block},
        {"num_warps": warps},
    )


_FLOAT8 = {
    "fp8e4nv": ml_dtypes.float8_e4m3fn,
    "fp8e4b8": ml_dtypes.float8_e4m3fnuz,
    "fp8e5": ml_dtypes.float8_e5m2,
    "fp8e5b16": ml_dtypes.float8_e5m2fnuz,
}
_TYPES = {
    "i8": np.int8, "u8": np.uint8, "i16": np.int16, "i32": np.int32, "u32": np.uint32, "i64": np.int64,
    "fp16": np.float16, "bf16": ml_dtypes.bfloat16, "fp32": np.float32, "fp64": np.float64, **_FLOAT8,
}  # fmt: skip


def _convert_case(pair: str, targets: tuple[str, ...]) -> Case:
    source, result = pair.split(":")
    low = 0 if "u" in (source[0], result[0]) else -100

    def arguments(rng: np.random.Generator) -> tuple[object, ...]:
        return rng.uniform(low, 100, N).astype(_TYPES[source]), np.zeros(N, _TYPES[result]), N

    return Case(
        f"convert_{source}_{result}",
        convert,
        (4, 1, 1),
        arguments,
        lambda x, out, n: {1: exact(x.astype(_TYPES[result]))},
        {"BLOCK": 256},
        targets=targets,
    )


_CONVERSIONS = """
    fp32:fp16 fp32:bf16 fp16:fp32 bf16:fp32 fp16:bf16 fp32:fp64 fp64:fp32 fp32:i32 fp32:i8
    fp32:u32 fp32:i64 i32:fp32 u32:fp32 i64:fp32 i8:fp16 u8:bf16 i64:fp64 fp64:i64 i16:i64
    i32:i8 fp32:fp8e4nv fp32:fp8e5 fp16:fp8e5 fp8e4nv:fp32 fp8e5:fp16 fp8e4nv:bf16
"""
_CONVERSIONS_942 = "fp32:fp8e4b8 fp32:fp8e5b16 fp8e4b8:fp32 fp8e5b16:fp16"

CASES = [
    _add_case(np.float32, "fp32", 256, 4),
    _add_case(np.float16, "fp16", 1024, 4),
    _add_case(ml_dtypes.bfloat16, "bf16", 512, 2),
    _add_case(np.int32, "i32", 64, 1),
    _add_case(np.int64, "i64", 512, 8),
    _add_case(np.float64, "fp64", 256, 4),
    _add_case(np.int8, "i8", 1024, 4),
    *map(_maths_case, _MATHS),
    _half_maths_case(np.float16, "fp16", 2e-3),
    _half_maths_case(ml_dtypes.bfloat16, "bf16", 1e-2),
    Case(
        "fused_multiply",
        fused_multiply,
        (4, 1, 1),
        lambda rng: (
            *(rng.standard_normal(N).astype(np.float32) for _ in range(3)),
            np.zeros(N, np.float32),
            N,
        ),
        lambda x, y, z, out, n: {
            3: close(np.clip(x.astype(np.float64) * y + z, -2, 2) + np.minimum(x, y) - np.maximum(y, z), 1e-6, 1e-6)
        },
        {"BLOCK": 256},
    ),
    *(_convert_case(pair, BOTH) for pair in _CONVERSIONS.split()),
    *(_convert_case(pair, ("gfx942",)) for pair in _CONVERSIONS_942.split()),
    Case(
        "select",
        select,
        (4, 1, 1),
        lambda rng: (
            *(rng.standard_normal(N).astype(np.float32) for _ in range(2)),
            np.zeros(N, np.float32),
            N,
            0.25,
        ),
        lambda x, y, out, n, limit: {
            2: exact(np.where(((x > limit) & (y < limit)) | (np.arange(n) % 3 == 0), x * 2, -y))
        },
        {"BLOCK": 256},
    ),
    Case(
        "while_collatz",
        collatz,
        (4, 1, 1),
        lambda rng: (rng.integers(1, 200, N).astype(np.int32), np.zeros(N, np.int32), N),
        lambda x, out, n: {1: exact(_collatz_steps(x))},
        {"BLOCK": 256},
    ),
    Case(
        "branch",
        branch,
        (4, 1, 1),
        lambda rng: (rng.standard_normal(N).astype(np.float32), np.zeros(N, np.float32), N),
        _branch_reference,
        {"BLOCK": 256},
    ),
    Case(
        "random_bits",
        random_bits,
        (4, 1, 1),
        lambda rng: (np.zeros(N, np.int32), 0x1234567, N),
        lambda out, seed, n: {0: exact(philox_word(seed, np.arange(n)).view(np.int32))},
        {"BLOCK": 256},
    ),
    Case(
        "random_uniform",
        random_uniform,
        (4, 1, 1),
        lambda rng: (np.zeros(N, np.float32), 42, N),
        lambda out, seed, n: {0: close(_uniform(seed, n), 1e-6)},
        {"BLOCK": 256},
    ),
]

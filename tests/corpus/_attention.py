"""Fused attention with an online softmax, causal and not."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import triton
import triton.language as tl

from ._case import Case, Expected


@triton.jit
def attention(q, k, v, out, scale, N, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr):
    block = tl.program_id(0)
    base = tl.program_id(1) * N * D
    rows = block * BM + tl.arange(0, BM)
    features = tl.arange(0, D)
    queries = tl.load(q + base + rows[:, None] * D + features[None, :])
    peak = tl.full((BM,), -float("inf"), tl.float32)
    weight = tl.zeros((BM,), tl.float32)
    total = tl.zeros((BM, D), tl.float32)
    end = (block + 1) * BM if CAUSAL else N
    for start in range(0, end, BN):
        columns = start + tl.arange(0, BN)
        keys = tl.load(k + base + columns[None, :] * D + features[:, None])
        scores = tl.dot(queries, keys) * scale
        if CAUSAL:
            scores = tl.where(rows[:, None] >= columns[None, :], scores, -float("inf"))
        new_peak = tl.maximum(peak, tl.max(scores, 1))
        p = tl.exp2(scores - new_peak[:, None])
        shrink = tl.exp2(peak - new_peak)
        weight = weight * shrink + tl.sum(p, 1)
        values = tl.load(v + base + columns[:, None] * D + features[None, :])
        total = tl.dot(p.to(values.dtype), values, total * shrink[:, None])
        peak = new_peak
    tl.store(out + base + rows[:, None] * D + features[None, :], (total / weight[:, None]).to(out.dtype.element_ty))


def _case(dtype: Any, label: str, causal: bool, D: int, BM: int, BN: int, warps: int, stages: int) -> Case:
    heads, N = 2, 2 * max(BM, BN)
    scale = 1.4426950408889634 / D**0.5  # log2(e): the kernel works with powers of two

    def arguments(rng: np.random.Generator) -> tuple[object, ...]:
        q, k, v = (rng.standard_normal((heads, N, D)).astype(dtype) for _ in range(3))
        return q, k, v, np.zeros((heads, N, D), dtype), scale, N

    def reference(q: np.ndarray, k: np.ndarray, v: np.ndarray, *_: object) -> dict[int, Expected]:
        q, k, v = (t.astype(np.float64) for t in (q, k, v))
        scores = q @ k.transpose(0, 2, 1) * scale
        if causal:
            scores = np.where(np.tri(N, dtype=bool), scores, -np.inf)
        p = np.exp2(scores - scores.max(-1, keepdims=True))
        p /= p.sum(-1, keepdims=True)
        # Weights and result are rounded to the storage type once each.
        return {3: Expected(p @ v, float(ml_dtypes.finfo(dtype).eps) * (p @ np.abs(v)) + 1e-4)}

    return Case(
        f"attention_{label}_{'causal' if causal else 'full'}_{D}_{BM}x{BN}_w{warps}s{stages}",
        attention,
        (N // BM, heads, 1),
        arguments,
        reference,
        {"D": D, "BM": BM, "BN": BN, "CAUSAL": causal},
        {"num_warps": warps, "num_stages": stages},
    )


CASES = [
    _case(np.float16, "fp16", False, 64, 128, 64, 4, 2),
    _case(np.float16, "fp16", True, 64, 64, 64, 4, 1),
    _case(ml_dtypes.bfloat16, "bf16", True, 128, 64, 32, 4, 2),
    _case(ml_dtypes.bfloat16, "bf16", False, 32, 32, 32, 2, 1),
]

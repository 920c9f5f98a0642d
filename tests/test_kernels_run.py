"""The staged GEMMs compute the right product: exactly on small integers, to what fp32 sums allow on random inputs."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from antiphase.frontends import launch_asm
from antiphase.kernels import for_target

TYPES = {"fp16": np.float16, "bf16": ml_dtypes.bfloat16}
# without a trip of the loop, with one, and with several
DEPTHS = {"gfx942": (64, 128, 448), "gfx950": (128, 256, 512)}
RUNS = [pytest.param(t, d, k, id=f"{t}-{d}-{k}") for t in DEPTHS for d in TYPES for k in DEPTHS[t]]


def product(target: str, dtype: str, a: np.ndarray, b: np.ndarray, record: bool = False) -> np.ndarray:
    """A x B^T by the staged GEMM, fp32 out; a is M x K, b is N x K."""
    gemm = for_target(target)
    c = np.zeros((len(a), len(b)), np.float32)
    compiled = gemm.compile(dtype, out_dtype="fp32")
    execution = launch_asm(compiled, grid=gemm.grid(*c.shape), args=list(gemm.arguments(a, b, c)), record=record)
    assert not execution.faults
    return c


@pytest.mark.parametrize(("target", "dtype", "depth"), RUNS)
def test_random_inputs(target: str, dtype: str, depth: int) -> None:
    rng = np.random.default_rng(depth)
    a, b = (rng.standard_normal((rows, depth)).astype(TYPES[dtype]) for rows in (256, 512))
    exact = a.astype(np.float64) @ b.astype(np.float64).T
    # each of K fused steps rounds once; Higham, "Accuracy and Stability of Numerical Algorithms", 3.1
    bound = depth * 2.0**-24 * (np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64)).T)
    assert (np.abs(product(target, dtype, a, b) - exact) <= bound).all()


@pytest.mark.parametrize("record", [False, True], ids=["fast", "recording"])
@pytest.mark.parametrize(("target", "dtype", "depth"), RUNS[1::3])
def test_small_integers_are_exact(target: str, dtype: str, depth: int, record: bool) -> None:
    rng = np.random.default_rng(depth)
    a, b = (rng.integers(-4, 5, (rows, depth)).astype(TYPES[dtype]) for rows in (512, 256))
    exact = a.astype(np.float64) @ b.astype(np.float64).T
    assert (product(target, dtype, a, b, record) == exact).all()

"""A launch of a compiled kernel on operands that are made the same everywhere: what a worker process is told."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import ml_dtypes
import msgspec
import numpy as np
from numpy.typing import NDArray

_CHUNK_ROWS = 256
_CHECKED_ROWS = 16
_DTYPES = {
    "fp8e4nv": np.dtype(ml_dtypes.float8_e4m3fn),
    "fp16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "fp32": np.dtype(np.float32),
}
# Half the distance between neighbours, relative.
_ROUNDING = {"fp16": 2.0**-11, "bf16": 2.0**-8, "fp32": 2.0**-24}


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """What launches have in common.

    text, code_object: paths of the kernel's .s and .hsaco, the latter "" where there is none. kernel: its symbol.
    threads: work-items of a workgroup. lds_bytes: its dynamic LDS.
    """

    target: str
    text: str
    code_object: str = ""
    kernel: str
    threads: int
    lds_bytes: int
    grid: tuple[int, int, int]

    def save(self, path: Path) -> Path:
        """Write the job for `load` in another process."""
        path.write_bytes(msgspec.json.encode(self))
        return path


class Job(Launch, frozen=True, kw_only=True, tag=True):
    """A kernel computing C[m, n] from A[m, k] and B with arguments (A, B, C, m, n, k).

    b_by_columns: B is stored as n x k, so that C = A @ B.T; else k x n.
    """

    m: int
    n: int
    k: int
    dtype: str
    out_dtype: str
    b_by_columns: bool

    def operands(self) -> tuple[NDArray, NDArray, NDArray]:
        """A and B of normal random numbers, the same in every process, and a C of zeros."""
        rng = np.random.default_rng(0)
        a = _random(rng, (self.m, self.k), self.dtype)
        b = _random(rng, (self.n, self.k) if self.b_by_columns else (self.k, self.n), self.dtype)
        return a, b, np.zeros((self.m, self.n), _DTYPES[self.out_dtype])

    def share_right(self, a: NDArray, b: NDArray, c: NDArray) -> float:
        """Share of C, over evenly spaced rows, within the error that fp32 sums in any order can have."""
        rows = np.linspace(0, self.m - 1, _CHECKED_ROWS).astype(int)
        # float32 holds both operand types exactly and halves the memory; the product is taken in float64.
        columns = b.T if self.b_by_columns else b
        exact, magnitude = np.zeros((2, len(rows), self.n))
        for first in range(0, self.k, 4096):
            left = a[rows, first : first + 4096].astype(np.float64)
            right = columns[first : first + 4096].astype(np.float64)
            exact += left @ right
            magnitude += np.abs(left) @ np.abs(right)
        bound = self.k * _ROUNDING["fp32"] * magnitude + _ROUNDING[self.out_dtype] * np.abs(exact)
        return float((np.abs(c[rows].astype(np.float64) - exact) <= bound).mean())

    def arguments(self, operands: Sequence[NDArray]) -> list[NDArray | int]:
        """The kernel's arguments."""
        return [*operands, self.m, self.n, self.k]


class Softmax(Launch, frozen=True, kw_only=True, tag=True):
    """A kernel that takes the softmax of every row of X, f32, a workgroup a row, with arguments (X, Y, columns)."""

    columns: int

    def operands(self) -> tuple[NDArray, NDArray]:
        """X of normal random numbers, and a Y of zeros."""
        shape = self.grid[0], self.columns
        return _random(np.random.default_rng(0), shape, "fp32"), np.zeros(shape, np.float32)

    def share_right(self, x: NDArray, y: NDArray) -> float:
        """Share of Y within what f32 sums and an exponential of a few units in the last place leave."""
        powers = np.exp(x.astype(np.float64))
        exact = powers / powers.sum(axis=1, keepdims=True)
        return float((np.abs(y - exact) <= self.columns * _ROUNDING["fp32"] * exact).mean())

    def arguments(self, operands: Sequence[NDArray]) -> list[NDArray | int]:
        """The kernel's arguments."""
        return [*operands, self.columns]


def load(path: str | Path) -> Job | Softmax:
    """Read a saved job."""
    return msgspec.json.decode(Path(path).read_bytes(), type=Job | Softmax)


def product(path: str | Path) -> Job:
    """Read a saved job that is a product; TypeError for another."""
    job = load(path)
    if not isinstance(job, Job):
        raise TypeError(f"{path} is no matrix product")
    return job


def _random(rng: np.random.Generator, shape: tuple[int, int], dtype: str) -> NDArray:
    """Filled by rows, so that the wide random numbers never are all in memory."""
    array = np.empty(shape, _DTYPES[dtype])
    for first in range(0, shape[0], _CHUNK_ROWS):
        part = array[first : first + _CHUNK_ROWS]
        part[:] = rng.standard_normal(part.shape, np.float32)
    return array

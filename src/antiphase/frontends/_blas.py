"""Triton's hipBLASLt handle, computed by torch: scripts compare their kernels with the vendor's product."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any


class HipblasLt:
    """Stands in for `triton._C.libtriton.amd.hipblas.HipblasLt`, whose constructor needs ROCm's library.

    Row-major operands, the second one transposed, float32 sums rounded once, as in Triton 3.9's
    third_party/amd/include/hipblas_instance.h. workspace: any tensor; it is not used.
    """

    def __init__(self, workspace: Any) -> None:
        self._workspace = workspace

    def matmul(self, A: Any, B: Any, C: Any) -> None:
        """C[m, n] = A[m, k] B[n, k]^T"""
        C.copy_(A.float() @ B.float().T)

    def gemm(self, A: Any, B: Any, C: Any, D: Any, alpha: float, beta: float) -> None:
        """D[m, n] = alpha A[m, k] B[n, k]^T + beta C[m, n]"""
        D.copy_(alpha * (A.float() @ B.float().T) + beta * C.float())


@contextlib.contextmanager
def hipblas_by_torch() -> Iterator[None]:
    """Replace Triton's hipBLASLt handle for the block."""
    from triton._C.libtriton import amd

    before = amd.hipblas.HipblasLt
    amd.hipblas.HipblasLt = HipblasLt
    try:
        yield
    finally:
        amd.hipblas.HipblasLt = before

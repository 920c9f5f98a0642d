"""The vendor's product that scripts compare with; run where torch is installed."""

import pytest

torch = pytest.importorskip("torch")

from antiphase.frontends._blas import hipblas_by_torch  # noqa: E402


def test_handle_multiplies_by_the_transpose():
    from triton._C.libtriton import amd

    theirs = amd.hipblas.HipblasLt
    a, b = torch.randn(3, 8).half(), torch.randn(5, 8).half()
    product = a.double() @ b.double().T
    c = torch.ones(3, 5).half()
    d = torch.empty_like(c)
    with hipblas_by_torch():
        handle = amd.hipblas.HipblasLt(torch.empty(16, dtype=torch.uint8))
        handle.gemm(a, b, c, d, 2.0, 1.0)
        handle.matmul(a, b, c)
    torch.testing.assert_close(c, product.half())
    torch.testing.assert_close(d, (2 * product + 1).half())
    assert amd.hipblas.HipblasLt is theirs

"""NumPy arrays as arguments of Triton kernels, which by itself takes what has `data_ptr()` and torch's dtypes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from antiphase.frontends._tensor import Tensor


@contextlib.contextmanager
def numpy_arrays_as_arguments() -> Iterator[None]:
    """Have Triton specialise an array as it does a tensor; the launcher takes arrays as they are."""
    from triton.runtime import jit

    before = jit.native_specialize_impl

    def specialize(backend: Any, value: Any, *options: Any) -> Any:
        return before(backend, _as_tensor(value), *options)

    jit.native_specialize_impl = specialize  # read when a kernel is first launched on a device
    try:
        yield
    finally:
        jit.native_specialize_impl = before


def _as_tensor(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return Tensor(value)
    return tuple(map(_as_tensor, value)) if type(value) is tuple else value

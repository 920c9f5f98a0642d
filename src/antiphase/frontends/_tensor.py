"""A thin tensor over NumPy memory, with what Triton asks of one, for use where torch is not installed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from antiphase.frontends._types import NUMPY_OF_TRITON, TORCH_NAME, triton_type

_ALIGNMENT = 256  # bytes; device allocators give at least this, and Triton specialises on 16


@dataclass(frozen=True)
class DType:
    """An element type; `str()` is torch's name for it, by which Triton recognises it."""

    triton: str

    @property
    def numpy(self) -> np.dtype[Any]:
        return NUMPY_OF_TRITON[self.triton]

    @property
    def itemsize(self) -> int:
        return self.numpy.itemsize

    @property
    def is_floating_point(self) -> bool:
        return self.triton.startswith(("fp", "bf"))

    def __str__(self) -> str:
        return TORCH_NAME[self.triton]


class Tensor:
    """A view of a NumPy array that Triton kernels take as an argument.

    The array is shared, not copied: `Tensor(array)` passes the array's own memory to a kernel. bf16 and fp8
    use the dtypes of ml_dtypes. Strides are in elements.
    """

    def __init__(self, array: np.ndarray) -> None:
        self._array = array
        self.dtype = DType(triton_type(array.dtype))

    @property
    def shape(self) -> tuple[int, ...]:
        return self._array.shape

    @property
    def ndim(self) -> int:
        return self._array.ndim

    @property
    def device(self) -> str:
        return "cpu"

    @property
    def T(self) -> Tensor:
        return Tensor(self._array.T)

    def numpy(self) -> np.ndarray:
        """The array itself, so a kernel's results show in it."""
        return self._array

    def data_ptr(self) -> int:
        return self._array.ctypes.data

    def ptr_range(self) -> int:
        """Bytes of the whole allocation; below 2 GiB Triton chooses buffer instructions."""
        from antiphase.frontends._buffers import root_array

        return root_array(self._array).nbytes

    def size(self, dimension: int | None = None) -> tuple[int, ...] | int:
        return self.shape if dimension is None else self.shape[dimension]

    def stride(self, dimension: int | None = None) -> tuple[int, ...] | int:
        strides = tuple(step // self._array.itemsize for step in self._array.strides)
        return strides if dimension is None else strides[dimension]

    def numel(self) -> int:
        return self._array.size

    def element_size(self) -> int:
        return self._array.itemsize

    def is_contiguous(self) -> bool:
        return self._array.flags.c_contiguous

    def zero_(self) -> Tensor:
        self._array.fill(0)
        return self

    def fill_(self, value: float) -> Tensor:
        self._array.fill(value)
        return self

    def copy_(self, other: Tensor | ArrayLike) -> Tensor:
        self._array[...] = other.numpy() if isinstance(other, Tensor) else np.asarray(other)
        return self

    def clone(self) -> Tensor:
        return tensor(self._array)

    def __getitem__(self, key: Any) -> Tensor:
        return Tensor(self._array[key])

    def __len__(self) -> int:
        return len(self._array)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self._array, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        return f"Tensor({self._array!r})"


def tensor(values: ArrayLike, dtype: DTypeLike | None = None) -> Tensor:
    """A new contiguous tensor holding a copy of `values`."""
    array = np.asarray(values, dtype=dtype)
    made = _allocated(array.shape, array.dtype)
    made.numpy()[...] = array
    return made


def empty(shape: int | Sequence[int], dtype: DTypeLike = np.float32) -> Tensor:
    """A new contiguous tensor that holds nothing, aligned as a device allocation would be: `init` finds reads of it."""
    from antiphase.machine.uninitialised import leave_unwritten

    made = _allocated(shape, dtype)
    leave_unwritten(made.numpy())
    return made


def _allocated(shape: int | Sequence[int], dtype: DTypeLike) -> Tensor:
    element = np.dtype(dtype)
    size = int(np.prod(shape)) * element.itemsize
    if size == 0:
        return Tensor(np.empty(shape, element))
    raw = np.empty(size + _ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % _ALIGNMENT
    # Through a memoryview, so that the padding is no part of the array's allocation and an overrun is found.
    exact = np.frombuffer(raw.data[start : start + size], element)
    return Tensor(exact.reshape(shape))


def zeros(shape: int | Sequence[int], dtype: DTypeLike = np.float32) -> Tensor:
    """A new contiguous tensor of zeros."""
    return _allocated(shape, dtype).zero_()

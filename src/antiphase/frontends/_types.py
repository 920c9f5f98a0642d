"""Triton's type names, NumPy's and torch's dtypes, and the bytes of a scalar argument."""

from __future__ import annotations

import struct
from typing import Any

import ml_dtypes
import numpy as np

from antiphase.errors import UserError

# Triton's short name of each element type and the NumPy dtype that holds it.
NUMPY_OF_TRITON: dict[str, np.dtype[Any]] = {
    "i1": np.dtype(np.bool_),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "u8": np.dtype(np.uint8),
    "u16": np.dtype(np.uint16),
    "u32": np.dtype(np.uint32),
    "u64": np.dtype(np.uint64),
    "fp16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "fp32": np.dtype(np.float32),
    "fp64": np.dtype(np.float64),
    "fp8e4nv": np.dtype(ml_dtypes.float8_e4m3fn),
    "fp8e4b8": np.dtype(ml_dtypes.float8_e4m3fnuz),
    "fp8e5": np.dtype(ml_dtypes.float8_e5m2),
    "fp8e5b16": np.dtype(ml_dtypes.float8_e5m2fnuz),
}

# The spelling of a dtype's name that Triton looks up when it specialises an argument: torch's.
TORCH_NAME: dict[str, str] = {
    "i1": "bool",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "u8": "uint8",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
    "fp16": "float16",
    "bf16": "bfloat16",
    "fp32": "float32",
    "fp64": "float64",
    "fp8e4nv": "float8_e4m3fn",
    "fp8e4b8": "float8_e4m3fnuz",
    "fp8e5": "float8_e5m2",
    "fp8e5b16": "float8_e5m2fnuz",
}

_TRITON_OF_NUMPY = {dtype: name for name, dtype in NUMPY_OF_TRITON.items()}
_FLOAT_FORMATS = {"fp16": "<e", "fp32": "<f", "f32": "<f", "fp64": "<d"}


def triton_type(dtype: np.dtype[Any]) -> str:
    """Triton's name of a NumPy dtype; UserError when Triton has none."""
    name = _TRITON_OF_NUMPY.get(np.dtype(dtype))
    if name is None:
        raise UserError(
            f"no Triton type for NumPy dtype {dtype}", remedy=f"use one of {', '.join(TORCH_NAME.values())}"
        )
    return name


def pack_scalar(value: Any, triton_name: str) -> bytes:
    """The little-endian bytes of a scalar kernel argument of Triton type `triton_name` ('i32', 'fp16', ...).

    Integers take either sign's range of their width, as a C launcher would. UserError when the
    value does not fit.
    """
    if triton_name == "bf16":
        return np.array(value, dtype=ml_dtypes.bfloat16).tobytes()
    if triton_name in _FLOAT_FORMATS:
        return _pack_float(float(value), _FLOAT_FORMATS[triton_name])
    return pack_integer(int(value), max(8, int(triton_name[1:])) // 8)


def pack_integer(value: int, size: int) -> bytes:
    """`value` in `size` bytes, two's complement; UserError when it fits neither as signed nor as unsigned."""
    if not -(1 << (8 * size - 1)) <= value < 1 << (8 * size):
        raise UserError(f"{value} does not fit in {size} byte{'s' if size > 1 else ''}")
    return (value & ((1 << (8 * size)) - 1)).to_bytes(size, "little")


def _pack_float(value: float, layout: str) -> bytes:
    try:
        return struct.pack(layout, value)
    except OverflowError:
        # A finite double beyond the format's range rounds to infinity, as the C cast does.
        return struct.pack(layout, float("inf") if value > 0 else float("-inf"))

"""Triton's type names, NumPy's and torch's dtypes, and the bytes of a scalar argument."""

from __future__ import annotations

import math
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
_TRITON_OF_TORCH = {spelling: name for name, spelling in TORCH_NAME.items()}
_FLOAT_FORMATS = {"fp16": "<e", "fp32": "<f", "f32": "<f", "fp64": "<d"}
_OTHER_NAMES = {"B": "i1", "u1": "i1"}  # Triton's


def triton_type(dtype: np.dtype[Any]) -> str:
    """Triton's name of a NumPy dtype; UserError when Triton has none."""
    name = _TRITON_OF_NUMPY.get(np.dtype(dtype))
    if name is None:
        raise UserError(
            f"no Triton type for NumPy dtype {dtype}", remedy=f"use one of {', '.join(TORCH_NAME.values())}"
        )
    return name


def element_type(array: Any) -> str | None:
    """Triton's name of an array's or a tensor's elements, their own where Triton has none; None without a dtype."""
    dtype = getattr(array, "dtype", None)
    spelling = str(dtype).removeprefix("torch.")
    return None if dtype is None else _TRITON_OF_TORCH.get(spelling, spelling)


def pointed_to(triton_name: str) -> str:
    """The element type of a pointer type: 'fp16' of '*fp16', and of '*kfp16' to constants."""
    return plain_name(triton_name[1:].removeprefix("k"))


def plain_name(triton_name: str) -> str:
    """The name that a type has in `NUMPY_OF_TRITON`, if it is there."""
    return _OTHER_NAMES.get(triton_name, triton_name)


def may_hold(given: str, wanted: str) -> bool:
    """Whether an array of `given` elements may stand for a pointer to `wanted`.

    The same type, or integers of the width: of either sign, a byte for i1, and as plain bits for the formats that NumPy
    by itself has not (bf16, fp8).
    """
    wide = "u64" if wanted.startswith("*") else wanted
    bits = 16 if wide == "bf16" else 8 if wide.startswith("fp8") else _integer_bits(wide)
    return given == wide or (bits > 0 and _integer_bits(given) == bits)


def _integer_bits(name: str) -> int:
    """Bits that an element of an integer type takes in memory; 0 for other types."""
    return max(8, int(name[1:])) if name[0] in "iu" and name[1:].isdigit() else 0


def plain_number(value: object) -> int | float | None:
    """A Python number of the same value; None for what is no real number."""
    if not isinstance(value, np.generic):
        return value if isinstance(value, int | float) else None
    if value.dtype.kind in "biu":
        return value.item()
    return float(value) if value.dtype.kind == "f" or value.dtype in _TRITON_OF_NUMPY else None  # type: ignore[arg-type]


def pack_scalar(value: Any, triton_name: str, *, to_infinity: bool = False) -> bytes:
    """The little-endian bytes of a scalar kernel argument of Triton type `triton_name` ('i32', 'fp16', ...).

    Integers take either sign's range of their width, as a C launcher would.
    to_infinity: a finite value beyond a float type's range becomes infinite, as C's cast makes it.
    UserError when the value does not fit.
    """
    name = plain_name(triton_name)
    if name[0] in "iu":
        return pack_integer(int(value), max(8, int(name[1:])) // 8)
    try:
        packed = _pack_float(float(value), name)
    except OverflowError:
        packed = _pack_float(math.inf if value > 0 else -math.inf, name) if to_infinity else None
    if packed is None:
        raise UserError(f"{_shown(value)} does not fit in {name}", remedy="pass a value in its range, or an infinity")
    return packed


def pack_integer(value: int, size: int) -> bytes:
    """`value` in `size` bytes, two's complement; UserError when it fits neither as signed nor as unsigned."""
    if not -(1 << (8 * size - 1)) <= value < 1 << (8 * size):
        raise UserError(f"{_shown(value)} does not fit in {size} byte{'s' if size > 1 else ''}")
    return (value & ((1 << (8 * size)) - 1)).to_bytes(size, "little")


def _shown(value: float) -> str:
    bits = value.bit_length() if isinstance(value, int) else 0
    return f"a number of {bits} bits" if bits > 128 else repr(value)


def _pack_float(value: float, name: str) -> bytes:
    """OverflowError for a finite value that the format has no finite value for."""
    if name in _FLOAT_FORMATS:
        return struct.pack(_FLOAT_FORMATS[name], value)
    with np.errstate(over="ignore", invalid="ignore"):
        packed = np.array(value, NUMPY_OF_TRITON[name])
    if math.isfinite(value) and not np.isfinite(packed):
        raise OverflowError
    return packed.tobytes()

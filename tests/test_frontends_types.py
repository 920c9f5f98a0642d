"""Type names and the bytes of scalar arguments."""

import struct

import ml_dtypes
import numpy as np
import pytest

from antiphase.errors import UserError
from antiphase.frontends._types import NUMPY_OF_TRITON, TORCH_NAME, pack_integer, pack_scalar, triton_type


@pytest.mark.parametrize("name", NUMPY_OF_TRITON)
def test_triton_type_is_the_inverse_of_its_table(name):
    assert triton_type(NUMPY_OF_TRITON[name]) == name
    assert name in TORCH_NAME


def test_dtype_that_triton_lacks():
    with pytest.raises(UserError, match="no Triton type for NumPy dtype complex64; use one of bool, int8"):
        triton_type(np.dtype(np.complex64))


@pytest.mark.parametrize(
    ("value", "name", "expected"),
    [
        (True, "i1", b"\x01"),
        (-2, "i8", b"\xfe"),
        (200, "u8", b"\xc8"),
        (-1, "i32", b"\xff\xff\xff\xff"),
        (0xFFFFFFFF, "i32", b"\xff\xff\xff\xff"),
        (1 << 40, "i64", struct.pack("<q", 1 << 40)),
        (3, "fp32", struct.pack("<f", 3.0)),
        (1.5, "fp16", struct.pack("<e", 1.5)),
        (1.5, "bf16", np.array(1.5, ml_dtypes.bfloat16).tobytes()),
        (0.1, "fp64", struct.pack("<d", 0.1)),
        (float("-inf"), "fp32", struct.pack("<f", float("-inf"))),
        (1.5, "fp8e5", np.array(1.5, ml_dtypes.float8_e5m2).tobytes()),
        (True, "u1", b"\x01"),
    ],
)
def test_pack_scalar(value, name, expected):
    assert pack_scalar(value, name) == expected


@pytest.mark.parametrize(
    ("value", "name"),
    [(-1e300, "fp32"), (65520, "fp16"), (1e39, "bf16"), (1e6, "fp8e5"), (500.0, "fp8e4nv"), (10**400, "fp64")],
)
def test_a_finite_value_does_not_become_infinite_unless_as_in_c(value, name):
    with pytest.raises(UserError, match=f"does not fit in {name}; pass a value in its range, or an infinity"):
        pack_scalar(value, name)
    infinite = pack_scalar(float("inf") if value > 0 else float("-inf"), name)
    assert pack_scalar(value, name, to_infinity=True) == infinite


@pytest.mark.parametrize(("value", "size"), [(256, 1), (-129, 1), (1 << 32, 4), (-(1 << 31) - 1, 4), (1 << 64, 8)])
def test_integer_that_does_not_fit(value, size):
    with pytest.raises(UserError, match=f"{value} does not fit in {size} byte"):
        pack_integer(value, size)

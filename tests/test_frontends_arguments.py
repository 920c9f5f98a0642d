"""Values of a launch against the types that a compiled kernel declares."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import triton
import triton.language as tl

from antiphase import asm
from antiphase.errors import UserError
from antiphase.frontends import Compiled, Tensor, compile_kernel, launch_asm
from antiphase.frontends._arguments import pack


@triton.jit
def take(x, n, s, flag, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at), mask=(at < n) & flag & (s > 0))


TYPES = {"x": "*fp32", "n": "i32", "s": "fp32", "flag": "i1"}


def build(pointer: str = "*fp32") -> Compiled:
    return compile_kernel(take, {**TYPES, "x": pointer}, {"BLOCK": 64}, num_warps=1)


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    return build()


def packed(compiled: Compiled, *args: Any, pointer: str = "*fp32") -> list[bytes]:
    return pack(compiled.program.kernel(), args, {**TYPES, "x": pointer}, "take")[0]


class Torch:
    """As much of a torch tensor as a launch asks for."""

    def __init__(self, dtype: str, array: np.ndarray) -> None:
        self.dtype, self._array = type("dtype", (), {"__str__": lambda _: f"torch.{dtype}"})(), array

    def data_ptr(self) -> int:
        return self._array.ctypes.data

    def numel(self) -> int:
        return self._array.size

    def element_size(self) -> int:
        return self._array.itemsize


@pytest.mark.parametrize(
    ("pointer", "dtype"),
    [
        ("*fp32", np.float32), ("*kfp32", np.float32), ("*fp64", np.float64), ("*fp16", np.float16),
        ("*bf16", ml_dtypes.bfloat16), ("*bf16", np.uint16), ("*bf16", np.int16),
        ("*fp8e4nv", ml_dtypes.float8_e4m3fn), ("*fp8e4nv", np.uint8), ("*fp8e5b16", np.int8),
        ("*i1", np.bool_), ("*i1", np.uint8), ("*i1", np.int8), ("*u1", np.bool_), ("*B", np.bool_),
        ("*i8", np.uint8), ("*u8", np.int8), ("*u8", np.bool_), ("*i16", np.uint16), ("*u32", np.int32),
        ("*i64", np.uint64), ("*i64", np.longlong), ("**fp32", np.uint64), ("**fp32", np.int64),
    ],
)  # fmt: skip
def test_arrays_that_hold_what_the_pointer_points_to(compiled: Compiled, pointer: str, dtype: type) -> None:
    array = np.zeros(64, dtype)
    spelling = str(np.dtype(dtype))
    for value in (array, Tensor(array), Torch(spelling, array)):
        assert packed(compiled, value, 1, 1.0, True, pointer=pointer)[0] == array.ctypes.data.to_bytes(8, "little")
    assert packed(compiled, None, 1, 1.0, True, pointer=pointer)[0] == bytes(8)


@pytest.mark.parametrize(
    ("pointer", "dtype", "given", "wanted"),
    [
        ("*fp32", np.float64, "float64", "float32"), ("*fp32", np.int32, "int32", "float32"),
        ("*fp32", np.uint8, "uint8", "float32"), ("*fp32", np.complex64, "complex64", "float32"),
        ("*fp16", np.int32, "int32", "float16"), ("*fp16", np.uint16, "uint16", "float16"),
        ("*fp16", ml_dtypes.bfloat16, "bfloat16", "float16"), ("*bf16", np.float16, "float16", "bfloat16"),
        ("*fp8e4nv", ml_dtypes.float8_e4m3fnuz, "float8_e4m3fnuz", "float8_e4m3fn"),
        ("*fp8e4nv", np.uint16, "uint16", "float8_e4m3fn"), ("*i32", np.int64, "int64", "int32"),
        ("*i32", np.float32, "float32", "int32"), ("*i1", np.int32, "int32", "bool"),
        ("**fp32", np.float32, "float32", "uint64"),
    ],
)  # fmt: skip
def test_arrays_that_do_not(compiled: Compiled, pointer: str, dtype: type, given: str, wanted: str) -> None:
    array = np.zeros(64, dtype)
    for value in (array, Torch(str(array.dtype), array)):
        with pytest.raises(UserError, match=rf"argument 0 .*: array of {given} given for {pointer[0]}") as caught:
            packed(compiled, value, 1, 1.0, True, pointer=pointer)
        if wanted != "uint64":
            assert caught.value.remedy is not None and f"an array of {wanted}" in caught.value.remedy
        assert "\n" not in str(caught.value)


def test_a_launch_checks_them(compiled: Compiled) -> None:
    x = np.zeros(64)
    with pytest.raises(UserError, match=r"take: argument 0 \(offset 0\): array of float64 given for \*fp32"):
        launch_asm(compiled, grid=1, args=[x, 1, 1.0, True])
    with pytest.raises(UserError, match="array of float64"):
        launch_asm(compiled, grid=1, args=[Tensor(x), 1, 1.0, True])
    assert not launch_asm(compiled, grid=1, args=[x.view(np.float32), 1, 1.0, True]).faults


def test_text_states_no_types(compiled: Compiled) -> None:
    text = asm.parse(compiled.asm)
    assert not launch_asm(text, grid=1, args=[np.zeros(64), 1, 1.0, True]).faults


def test_an_object_without_dtype_is_taken_as_it_is(compiled: Compiled) -> None:
    tensor = Torch("float64", np.zeros(64))
    del tensor.dtype
    assert packed(compiled, tensor, 1, 1.0, True)


def test_big_endian_arrays(compiled: Compiled) -> None:
    with pytest.raises(UserError, match=r"dtype >f4 is big-endian and GPUs are little-endian; pass array\.astype"):
        launch_asm(asm.parse(compiled.asm), grid=1, args=[np.zeros(64, ">f4"), 1, 1.0, True])


@pytest.mark.parametrize(
    ("index", "value", "message"),
    [
        (2, 1e39, r"1e\+39 does not fit in fp32; pass a value in its range, or an infinity"),
        (2, np.float64(-1e39), r"-1e\+39 does not fit in fp32"),
        (2, 1 << 1400, "a number of 1401 bits does not fit in fp32"),
        (2, np.complex64(1), "a complex64 given for a value of type fp32; pass a number"),
        (2, np.str_("1"), "a str_ given"),
        (1, 1.0, r"1\.0 given for a value of type i32; pass an integer"),
        (1, ml_dtypes.bfloat16(1.5), r"1\.5 given for a value of type i32; pass an integer"),
        (1, 1 << 32, "4294967296 does not fit in 4 bytes"),
        (1, -(1 << 200), "a number of 201 bits does not fit in 4 bytes"),
        (3, 2, "2 given for a value of type i1; pass True or False"),
    ],
)
def test_scalars_that_do_not_fit(compiled: Compiled, index: int, value: object, message: str) -> None:
    args = [None, 1, 1.0, True]
    args[index] = value  # type: ignore[call-overload]
    with pytest.raises(UserError, match=message):
        packed(compiled, *args)


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan"), 3.4028235e38, 3, True, np.float16(2)])
def test_scalars_that_do(compiled: Compiled, value: float) -> None:
    (one,) = np.frombuffer(packed(compiled, None, 1, value, True)[2], np.float32)
    np.testing.assert_equal(one, np.float32(value))


def test_a_float_by_size_does_not_become_infinite(compiled: Compiled) -> None:
    text = asm.parse(compiled.asm)
    with pytest.raises(UserError, match=r"argument 2 .* 1e\+39 does not fit in fp32"):
        launch_asm(text, grid=1, args=[np.zeros(64), 1, 1e39, True])
    with pytest.raises(UserError, match="a str_ given; pass an int, a float"):
        launch_asm(text, grid=1, args=[np.zeros(64), np.str_("a"), 1.0, True])


@pytest.mark.parametrize(
    ("args", "kind"),
    [(None, "None"), ({"x": 1}, "a dict"), (np.zeros(4), "an array"), ("abcd", "a str"), (4, "an int")],
)
def test_args_that_are_no_list(compiled: Compiled, args: Any, kind: str) -> None:
    with pytest.raises(UserError, match=f"take: args is {kind}; give a list with a value for each argument"):
        launch_asm(compiled, grid=1, args=args)

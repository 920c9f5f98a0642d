"""The NumPy tensor and the allocations behind array arguments."""

import gc

import ml_dtypes
import numpy as np
import pytest

from antiphase.errors import UserError
from antiphase.frontends import Tensor, empty, tensor, zeros
from antiphase.frontends._buffers import Buffer, Exposed, buffer_of, merged


def test_tensor_shares_its_array():
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    shared = Tensor(array)
    shared.zero_()
    assert not array.any()
    assert (shared.shape, shared.stride(), shared.numel(), shared.element_size()) == ((2, 3), (3, 1), 6, 4)
    assert shared.T.stride() == (1, 3)
    assert str(shared.dtype) == "float32"


def test_tensor_copies_and_keeps_the_dtype():
    source = np.array([1.5, 2.5], ml_dtypes.bfloat16)
    made = tensor(source)
    source[0] = 9
    assert made.numpy().tolist() == [1.5, 2.5]
    assert str(made.dtype) == "bfloat16"
    assert made.clone().copy_([3, 4]).numpy().tolist() == [3, 4]


@pytest.mark.parametrize("shape", [7, (3, 5), (0, 4)])
def test_empty_is_aligned_and_its_allocation_is_exact(shape):
    made = empty(shape, np.int16)
    assert made.numel() == 0 or made.data_ptr() % 256 == 0
    assert buffer_of(made, "x").size == made.numel() * 2


def test_a_view_registers_the_whole_allocation():
    base = np.zeros((8, 8), np.float32)
    buffer = buffer_of(base[2:4, ::2], "x")
    assert (buffer.address, buffer.size) == (base.ctypes.data, 256)
    assert buffer_of(zeros(10)[4:6], "x").size == 40


def test_a_read_only_array_is_registered_as_such():
    array = np.zeros(4)
    array.flags.writeable = False
    assert not buffer_of(array, "x").writable


def test_object_with_an_address_and_no_size():
    class Opaque:
        def data_ptr(self) -> int:
            return 16

    with pytest.raises(UserError, match="argument x: Opaque has an address and no size; pass a NumPy array"):
        buffer_of(Opaque(), "x")


def test_overlapping_buffers_are_joined_and_empty_ones_dropped():
    parts = [
        Buffer(100, 50, "b", False, None),
        Buffer(0, 40, "a", True, None),
        Buffer(120, 60, "c", True, None),
        Buffer(10, 0, "empty", True, None),
        Buffer(180, 4, "d", True, None),
    ]
    joined = [(one.address, one.size, one.name, one.writable) for one in merged(parts)]
    assert joined == [(0, 40, "a", True), (100, 80, "b/c", True), (180, 4, "d", True)]


def test_exposed_forgets_what_the_script_forgets():
    exposed = Exposed()
    kept, dropped = zeros(4), zeros(8)
    exposed.add(kept)
    exposed.add(dropped)
    assert len(exposed.buffers()) == 2
    del dropped
    gc.collect()
    assert [buffer.size for buffer in exposed.buffers()] == [16]

"""launch_asm: arguments packed by the kernel's metadata, and the errors when they do not fit."""

import struct
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl

from antiphase import asm
from antiphase.errors import UserError
from antiphase.frontends import Compiled, Tensor, _launch, compile_kernel, launch_asm
from antiphase.frontends._launch import Launch


@triton.jit
def blend(x, out, n, weight, half, wide, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) * weight + half + wide, mask=at < n)


SIGNATURE = {"x": "*fp32", "out": "*fp32", "n": "i32", "weight": "fp32", "half": "fp16", "wide": "i64"}


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    return compile_kernel(blend, SIGNATURE, {"BLOCK": 128}, "gfx950", num_warps=2)


@pytest.fixture
def file(compiled: Compiled, tmp_path: Path) -> Path:
    path = tmp_path / "k.s"
    path.write_text(compiled.asm)
    return path


@pytest.fixture
def launches(monkeypatch: pytest.MonkeyPatch) -> list[Launch]:
    """Launches that reached the machine, which is replaced."""
    seen: list[Launch] = []

    def execute(launch: Launch, options: object) -> SimpleNamespace:
        seen.append(launch)
        return SimpleNamespace(instructions=0, faults=[])

    monkeypatch.setattr(_launch, "execute", execute)
    return seen


def arrays() -> tuple[np.ndarray, np.ndarray]:
    return np.zeros(100, np.float32), np.zeros(100, np.float32)


def good() -> list[Any]:
    return [*arrays(), 100, 0.5, np.float16(1.5), -1]


def test_arguments_are_packed_at_their_offsets(file, launches):
    x, out = arrays()
    launch_asm(file, grid=3, args=[x, out, 100, 0.5, np.float16(1.5), -1], target="gfx950")
    launch = launches[0]
    args = _launch.explicit_args(launch.program.kernel())
    values = [launch.kernarg[arg.offset : arg.offset + arg.size] for arg in args]
    assert values == [
        struct.pack("<Q", x.ctypes.data),
        struct.pack("<Q", out.ctypes.data),
        struct.pack("<i", 100),
        struct.pack("<f", 0.5),
        struct.pack("<e", 1.5),
        struct.pack("<q", -1),
        bytes(8),
        bytes(8),
    ]
    assert launch.grid == (3, 1, 1)
    assert launch.threads == (128, 1, 1)
    assert [(b.address, b.size) for b in launch.buffers] == [(a.ctypes.data, 400) for a in (x, out)]


def test_hidden_arguments_are_filled_in(compiled):
    kernel = compiled.program.kernel()
    kinds = [f"hidden_block_count_{axis}" for axis in "xyz"] + ["hidden_grid_dims", "hidden_dynamic_lds_size"]
    args = tuple(asm.KernelArg(4 * at, 4, kind) for at, kind in enumerate(["by_value", *kinds, "hidden_none"]))
    kernel = replace(kernel, metadata=replace(kernel.metadata, args=args, kernarg_segment_size=32))
    block = _launch.build_kernarg(kernel, [struct.pack("<i", -1)], (5, 6, 1), (128, 1, 1), 64)
    assert struct.unpack("<8i", block) == (-1, 5, 6, 1, 2, 64, 0, 0)


@pytest.mark.parametrize("value", [7, -7, True, 0xFFFFFFFF, np.int64(7), np.float32(0.5), 0.5, b"abcd"])
def test_what_a_four_byte_argument_takes(file, launches, value):
    launch_asm(file, grid=1, args=replaced(2, value), lds_bytes=64)
    assert launches[0].lds_bytes == 64


def test_a_compiled_kernel_brings_its_types_threads_and_lds(compiled, launches):
    launch_asm(compiled, grid=(2,), args=[*arrays(), 100, 1, 2, 3])
    launch = launches[0]
    weight, half = (_launch.explicit_args(launch.program.kernel())[i] for i in (3, 4))
    assert launch.kernarg[weight.offset :][:4] == struct.pack("<f", 1.0), "an int for an fp32 argument"
    assert launch.kernarg[half.offset :][:2] == struct.pack("<e", 2.0)
    assert (launch.threads, launch.lds_bytes) == ((128, 1, 1), compiled.shared)


def test_null_pointers_tensors_and_explicit_scratch(compiled, launches):
    x = np.zeros(100, np.float32)
    launch_asm(asm.parse(compiled.asm), grid=1, args=[Tensor(x), None, 1, 1.0, np.float16(0), 0, None, None])
    assert launches[0].kernarg[:16] == struct.pack("<QQ", x.ctypes.data, 0)


@triton.jit
def nothing():
    pass


def test_a_kernel_whose_only_arguments_are_scratch_takes_none(tmp_path):
    text = tmp_path / "nothing.s"
    text.write_text(compile_kernel(nothing, {}, target="gfx942").asm)
    assert not launch_asm(text, grid=1, args=[]).faults


def replaced(index: int, value: Any) -> list[Any]:
    args = good()
    args[index] = value
    return args


def read_only() -> np.ndarray:
    array = np.zeros(100, np.float32)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            good()[:3],
            r"k\.s: kernel blend takes 6 arguments \(or 8 with Triton's scratch pointers\), 3 given; arg",
        ),
        (
            replaced(0, 3),
            r"k\.s: argument 0 \(offset 0\): array expected, an int given; pass an array, or None",
        ),
        (
            replaced(2, arrays()[0]),
            r"argument 2 \(offset 16\): 4-byte value expected, an array given; pass a",
        ),
        (
            replaced(2, 1 << 33),
            r"argument 2 \(offset 16\): 4-byte value: 8589934592 does not fit in 4 bytes; pass",
        ),
        (replaced(2, None), r"argument 2 \(offset 16\): 4-byte value: None given; pass an int, a float"),
        (
            replaced(4, 1.5),
            r"argument 4 \(offset 24\): 2-byte value: a float given, 2 bytes wide; pass a NumPy",
        ),
        (
            replaced(4, np.float32(1)),
            r"argument 4 \(offset 24\): 2-byte value: a float32 has 4 bytes; pass a",
        ),
        (
            replaced(0, np.zeros((9, 9))[:, ::2]),
            r"argument 0 \(offset 0\): array: the array is not contiguous; p",
        ),
        (replaced(1, read_only()), r"argument 1 \(offset 8\): array: the array is read-only; pass a copy"),
        (replaced(1, np.array([None])), r"argument 1 \(offset 8\): array: dtype object has no bytes"),
    ],
)
def test_arguments_that_do_not_fit(file, launches, args, message):
    with pytest.raises(UserError, match=message) as caught:
        launch_asm(file, grid=1, args=args)
    assert "\n" not in str(caught.value)
    assert not launches


def test_float_for_an_integer_argument_of_a_compiled_kernel(compiled):
    with pytest.raises(UserError, match=r"1\.5 given for a value of type i32; pass an integer"):
        launch_asm(compiled, grid=1, args=replaced(2, 1.5))


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        (0, "grid .* has no workgroups; every dimension must be at least 1"),
        ((4, -1), "has no workgroups"),
        ((), "grid has 0 dimensions; give one to three"),
        ((1, 1, 1, 1), "grid has 4 dimensions"),
        ((1.5,), "is not made of integers"),
    ],
)
def test_grid_that_is_none(file, grid, message):
    with pytest.raises(UserError, match=message):
        launch_asm(file, grid=grid, args=good())


def test_targets_are_checked(file):
    with pytest.raises(UserError, match=r"the text is for gfx950, not for gfx942; pass target='gfx950' or compile"):
        launch_asm(file, grid=1, args=good(), target="gfx942")
    with pytest.raises(UserError, match="gfx95O"):
        launch_asm(file, grid=1, args=good(), target="gfx95O")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threads": 0}, "has no work-items"),
        ({"threads": (16, 0)}, "has no work-items"),
        ({"threads": (16, 9)}, "takes 1 to 128"),
        ({"threads": (2, 2, 2, 2)}, "4 dimensions"),
        ({"threads": 129}, "takes 1 to 128"),
        ({"lds_bytes": -1}, "lds_bytes is -1"),
    ],
)
def test_workgroup_that_does_not_fit(file, options, message):
    with pytest.raises(UserError, match=message):
        launch_asm(file, grid=1, args=good(), **options)


def test_missing_file(tmp_path):
    with pytest.raises(UserError, match=r"none\.s"):
        launch_asm(tmp_path / "none.s", grid=1, args=[])

"""What clang makes of HIP kernels, with and without optimisation, as text and as linked code object, against NumPy."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from antiphase import arch
from antiphase._llvm_tools import find_objdump
from antiphase.asm import Program
from antiphase.errors import Trapped
from antiphase.frontends import launch_asm, load

CLANG = shutil.which("clang-22") or ""
SOURCE = Path(__file__).with_name("hip_kernels.hip")
TARGETS = ("gfx942", "gfx950", "gfx1100", "gfx1150", "gfx1201", "gfx1250")
pytestmark = pytest.mark.skipif(not CLANG, reason="HIP is compiled by clang-22, which is not on PATH")

N = 1024
_random = np.random.default_rng(7)
FLOATS, MORE_FLOATS = _random.standard_normal((2, N)).astype(np.float32)
INTS = _random.integers(-1000, 1000, N).astype(np.int32)
SMALL = _random.integers(0, 8, N).astype(np.int32)
ITEMS = np.arange(N, dtype=np.int32)
Kernel = Callable[..., Any]
CASES: dict[str, Callable[[Run], None]] = {}


@dataclass(frozen=True)
class Run:
    """Launches kernels of one program; wave: its lanes."""

    program: Program
    wave: int
    record: bool = False

    def __call__(self, kernel: str, *args: Any, grid: Any = N // 256, **options: Any) -> None:
        options = {"threads": 256, **options}
        execution = launch_asm(
            self.program, kernel=kernel, grid=grid, args=list(args), record=self.record, **options
        )  # fmt: skip
        assert not execution.faults, execution.faults[0]


def case(function: Callable[[Run], None]) -> Callable[[Run], None]:
    CASES[function.__name__] = function
    return function


def ints(*shape: int) -> np.ndarray:
    return np.zeros(shape or N, np.int32)


@case
def add(run: Run) -> None:
    c = np.zeros(N, np.float32)
    run("add", FLOATS, MORE_FLOATS, c, N, grid=2)
    np.testing.assert_array_equal(c, FLOATS + MORE_FLOATS)


@case
def block_sum(run: Run) -> None:
    out = ints(4)
    run("block_sum", INTS, out)
    np.testing.assert_array_equal(out, INTS.reshape(4, 256).sum(1))


@case
def wave_max(run: Run) -> None:
    out = np.zeros(N, np.float32)
    run("wave_max", FLOATS, out)
    np.testing.assert_array_equal(out, FLOATS.reshape(-1, 32).max(1).repeat(32))


@case
def row_scan(run: Run) -> None:
    out = ints()
    run("row_scan", INTS, out)
    np.testing.assert_array_equal(out, INTS.reshape(-1, 16).cumsum(1).ravel())


@case
def swizzled(run: Run) -> None:
    out = ints()
    run("swizzled", INTS, out)
    np.testing.assert_array_equal(out, INTS[ITEMS ^ 16] + 3 * INTS[ITEMS ^ 3])


@case
def voted(run: Run) -> None:
    out = np.zeros(N, np.uint64)
    run("voted", INTS, out)
    masks = np.packbits(INTS > 0, bitorder="little").view(np.uint64)
    if run.wave == 32:
        halves = masks.view(np.uint32).astype(np.uint64)
        masks = halves << (np.arange(len(halves), dtype=np.uint64) % np.uint64(2) * np.uint64(32))
    np.testing.assert_array_equal(out, masks.repeat(run.wave))


@case
def histogram(run: Run) -> None:
    data, out = _random.integers(0, 256, N).astype(np.uint8), np.zeros(256, np.uint32)
    run("histogram", data, out, N, grid=2)
    np.testing.assert_array_equal(out, np.bincount(data, minlength=256))


@case
def matmul(run: Run) -> None:
    a, b, c = FLOATS.reshape(32, 32).copy(), MORE_FLOATS.reshape(32, 32).copy(), np.zeros((32, 32), np.float32)
    run("matmul", a, b, c, 32, grid=(2, 2))
    np.testing.assert_allclose(c, a @ b.T, rtol=1e-4, atol=1e-4)


@case
def packed(run: Run) -> None:
    a, b, c = FLOATS.astype(np.float16), MORE_FLOATS.astype(np.float16), np.zeros(N, np.float16)
    run("packed", a, b, c, grid=2)
    fused = (a.astype(np.float64) * b + a).astype(np.float16)
    np.testing.assert_array_equal(c, np.maximum(fused, b))


@case
def doubles(run: Run) -> None:
    a, b, c = FLOATS.astype(np.float64), MORE_FLOATS.astype(np.float64), np.zeros(N)
    run("doubles", a, b, c)
    np.testing.assert_allclose(c, a / b + np.sqrt(np.abs(a)) * 0.1, rtol=1e-15)


@case
def divisions(run: Run) -> None:
    a = _random.integers(-(2**62), 2**62, N)
    b = _random.integers(1, 2**40, N) * _random.choice([-1, 1], N)
    c = np.zeros(N, np.int64)
    run("divisions", a, b, c)
    signs = np.sign(a) * np.sign(b)
    quotients = np.abs(a) // np.abs(b) * signs
    low = (a & 0xFFFFFFFF) // np.maximum(b & 0xFFFFFFFF, 1)
    np.testing.assert_array_equal(c, quotients ^ (a - quotients * b) ^ low)


@case
def tables(run: Run) -> None:
    out = np.zeros(N, np.float32)
    run("tables", SMALL, out)
    hashes = []
    for word in ("ab", "cde", "f"):
        number = 0
        for letter in word:
            number = number * 31 + ord(letter)
        hashes.append(number)
    table = np.array([1, 2, 4, 8, 0.5, 0.25, 3, 7], np.float32)
    more = np.array([17, 31, -5, 7, 99, 1001, -1, -1])
    np.testing.assert_allclose(out, table[SMALL] * np.array(hashes)[SMALL % 3] + more[SMALL] + 40)


@case
def walks(run: Run) -> None:
    data, out, expected = np.abs(INTS) % 97, ints(), []
    run("walks", data, out, N)
    for i in range(N):
        own, p = [int(data[(i + k) % N]) for k in range(32)], i & 31
        for k in range(40):
            q = own[p] & 31
            own[p] += k
            p = q
        expected.append(own[p] + own[p * 7 & 31])
    np.testing.assert_array_equal(out, expected)


@case
def anywhere(run: Run) -> None:
    data, out = np.abs(INTS[:256]), ints(256)
    run("anywhere", data, out, grid=1)
    stretch = data[3:8].sum()
    expected = np.where(data & 1, 5 * data + 25, np.where(data & 2, 2 * stretch, stretch))
    np.testing.assert_array_equal(out, expected)


@case
def reversed_(run: Run) -> None:
    out = np.zeros(N, np.float32)
    run("reversed", FLOATS, out, lds_bytes=1024)
    np.testing.assert_array_equal(out, FLOATS.reshape(4, 256)[:, ::-1].ravel())


@case
def exchanges(run: Run) -> None:
    out, sums = np.array([-9999, 0, 0], np.int32), np.zeros(1)
    run("exchanges", out, sums, INTS)
    assert out.tolist() == [INTS.max(), np.bitwise_xor.reduce(INTS), 2 * N]
    assert sums[0] == INTS.sum()


@case
def places(run: Run) -> None:
    out = ints(4, 8, 8)
    run("places", out, grid=1, threads=(8, 8, 4))
    z, y, x = np.mgrid[:4, :8, :8]
    np.testing.assert_array_equal(out, x + 100 * y + 10000 * z)


@case
def calls(run: Run) -> None:
    out = ints()
    run("calls", SMALL, out)
    chosen = np.select([SMALL % 3 == 0, SMALL % 3 == 1], [ITEMS + SMALL, ITEMS - SMALL], ITEMS * SMALL)
    np.testing.assert_array_equal(out, chosen + np.array([0, 1, 1, 2, 3, 5, 8, 13])[SMALL])


@case
def virtuals(run: Run) -> None:
    out = ints()
    run("virtuals", INTS, out)
    np.testing.assert_array_equal(out, np.where(INTS & 1, ITEMS * INTS + 7, ITEMS + INTS))


@case
def by_value(run: Run) -> None:
    out = ints()
    run("by_value", np.arange(40, dtype=np.int32).tobytes() + np.float32(2.5).tobytes(), out)
    np.testing.assert_array_equal(out, ITEMS % 40 + 2)


@case
def dynamic_stack(run: Run) -> None:
    out, expected = ints(), []
    run("dynamic_stack", INTS, out)
    for value in INTS.tolist():
        total = 0
        for k in range(value & 7, -1, -1):
            total = total * 3 + k * value
        expected.append(total)
    np.testing.assert_array_equal(out, expected)


@case
def gives_up(run: Run) -> None:
    out, data = ints(), INTS.copy()
    run("gives_up", data, out)
    np.testing.assert_array_equal(out, INTS + 1)
    data[300] = 12345
    with pytest.raises(Trapped, match="kernel gives_up stopped at 's_trap 2'") as caught:
        run("gives_up", data, out)
    assert caught.value.workgroup == (1, 0, 0)


def compiled(target: str, level: int, form: str, folder: Path) -> Run:
    path = folder / f"kernels.{form}"
    options = ["--offload-device-only", f"--offload-arch={target}", "-nogpulib", "-nogpuinc", f"-O{level}"]
    options += ["-S"] if form == "s" else ["--no-gpu-bundle-output"]
    subprocess.run([CLANG, "-x", "hip", "-std=c++17", *options, str(SOURCE), "-o", str(path)], check=True)
    return Run(load(path), arch.target(target).default_wave_size)


def failures(run: Run) -> dict[str, str]:
    """What went wrong, by kernel; one compilation is the test, not one kernel."""
    found: dict[str, str] = {}
    for name, check in CASES.items():
        try:
            check(run)
        except Exception as error:
            found[name] = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    return found


@pytest.mark.parametrize("level", [3, 0])
@pytest.mark.parametrize("target", TARGETS)
def test_text_computes_what_numpy_does(target: str, level: int, tmp_path: Path) -> None:
    assert failures(compiled(target, level, "s", tmp_path)) == {}


@pytest.mark.skipif(not find_objdump().usable, reason="code objects are read by llvm-objdump 22 or newer")
@pytest.mark.parametrize("stripped", [False, True])
@pytest.mark.parametrize("target", ["gfx942", "gfx1100", "gfx1201", "gfx1250"])
def test_a_linked_code_object_does_too(target: str, stripped: bool, tmp_path: Path) -> None:
    if not shutil.which("ld.lld-22"):
        pytest.skip("clang links code objects with ld.lld-22, which is not on PATH")
    run = compiled(target, 3, "co", tmp_path)
    if stripped:
        path = tmp_path / "kernels.co"
        subprocess.run(["llvm-strip-22", "--strip-all", str(path)], check=True)
        run = Run(load(path), run.wave)
    assert failures(run) == {}


@pytest.mark.parametrize("target", ["gfx942", "gfx1201"])
def test_recording_computes_the_same(target: str, tmp_path: Path) -> None:
    run = compiled(target, 3, "s", tmp_path)
    assert failures(Run(run.program, run.wave, record=True)) == {}

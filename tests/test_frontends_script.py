"""run_script: unmodified Triton scripts, with a machine that knows one kernel."""

import ctypes
import struct
import sys
import traceback
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from triton.runtime import driver

from antiphase.errors import UserError
from antiphase.frontends import _launch, run_script
from antiphase.frontends._launch import Launch
from antiphase.machine import Fault, Memory

STRAY = Fault(0, "write", (0, 0, 0), 0, 0, 4096, 4)

PRELUDE = """
import json, sys
import numpy as np
import triton
import triton.language as tl
from antiphase import frontends

@triton.jit
def add(x, y, out, n, bias, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n) + bias, mask=at < n)

x = frontends.tensor(np.arange(100, dtype=np.float32))
y = frontends.tensor(np.ones(100, np.float32))
out = frontends.zeros(100)
"""


@pytest.fixture
def launches(monkeypatch: pytest.MonkeyPatch) -> list[Launch]:
    """Launches made; the machine is replaced by one that runs `add` and faults in `bad`."""
    seen: list[Launch] = []

    def execute(launch: Launch, options: object) -> SimpleNamespace:
        seen.append(launch)
        if launch.kernel == "add":
            x, y, out, n, bias = struct.unpack_from("<QQQif", launch.kernarg)
            a, b, c = (np.ctypeslib.as_array((ctypes.c_float * n).from_address(at)) for at in (x, y, out))
            c[:] = a + b + bias
        faults = [STRAY] * 2 if launch.kernel == "bad" else []
        return SimpleNamespace(
            instructions=launch.grid[0] * launch.threads[0],
            program=launch.program,
            kernel=launch.program.kernel(launch.kernel),
            memory=Memory(),
            faults=faults,
            fault_count=len(faults),
        )

    monkeypatch.setattr(_launch, "execute", execute)
    return seen


@pytest.fixture
def script(tmp_path: Path):
    def write(body: str) -> Path:
        path = tmp_path / "script.py"
        path.write_text(PRELUDE + body)
        return path

    return write


def test_launch_reaches_the_machine_with_the_tensors_addresses(script, launches):
    path = script(
        "add[(4,)](x, y, out, 100, 0.5, BLOCK=32, num_warps=1)\n"
        "assert (out.numpy() == np.arange(100) + 1.5).all()\n"
        "assert triton.runtime.driver.active.get_current_target().arch == 'gfx950'\n"
    )
    assert run_script(path, target="gfx950") == 0
    assert (launches[0].grid, launches[0].threads) == ((4, 1, 1), (64, 1, 1))
    assert [(buffer.name, buffer.size) for buffer in launches[0].buffers] == [
        ("x", 400),
        ("y", 400),
        ("out", 400),
    ]


def test_the_script_sees_what_python_would_show_it(script, capsys):
    path = script("print(json.dumps([sys.argv, __name__, sys.path[0]]))\n")
    before = (sys.argv, sys.path[:])
    assert run_script(path, ["-n", "3"]) == 0
    assert capsys.readouterr().out.strip() == f'[["{path}", "-n", "3"], "__main__", "{path.parent}"]'
    assert (sys.argv, sys.path) == before


def test_autotuner_takes_the_configuration_with_fewest_instructions(script, launches, capsys):
    path = script(
        "configs = [triton.Config({'BLOCK': 32}, num_warps=4), triton.Config({'BLOCK': 64}, num_warps=1)]\n"
        "tuned = triton.autotune(configs, key=['n'], reset_to_zero=['out'], restore_value=['x'])(add)\n"
        "tuned[lambda meta: (triton.cdiv(100, meta['BLOCK']),)](x, y, out, 100, 0.0)\n"
        "print(tuned.best_config.kwargs['BLOCK'])\n"
    )
    assert run_script(path) == 0
    assert capsys.readouterr().out.strip() == "64"
    assert len(launches) == 3, "each configuration once, then the launch itself"


def test_do_bench_runs_twice(script, launches):
    path = script(
        "run = lambda: add[(1,)](x, y, out, 100, 0.0, BLOCK=128)\n"
        "assert triton.testing.do_bench(run) > 0\n"
        "assert len(triton.testing.do_bench(run, quantiles=[0.5, 0.2, 0.8])) == 3\n"
    )
    assert run_script(path) == 0
    assert len(launches) == 4


def test_host_code_that_asks_for_resources(script, launches, capsys):
    path = script(
        "kernel = add.warmup(x, y, out, 100, 0.5, BLOCK=128, grid=(1,))\n"
        "kernel._init_handles()\n"
        "device = triton.runtime.driver.active.get_current_device()\n"
        "properties = triton.runtime.driver.active.utils.get_device_properties(device)\n"
        "print(kernel.n_regs > 0, kernel.n_spills, properties['max_shared_mem'], properties['warpSize'])\n"
        "kernel[(1, 1, 1)](x, y, out, 100, 0.5, 128)\n"
    )
    assert run_script(path, target="gfx942") == 0
    assert capsys.readouterr().out.split() == ["True", "0", "65536", "64"]
    assert len(launches) == 1


def test_numpy_arrays_are_arguments(script, launches):
    path = script(
        "a, b, c = np.arange(100, dtype=np.float32), np.ones(100, np.float32), np.zeros(100, np.float32)\n"
        "add[(4,)](a, b, c, 100, 0.5, BLOCK=32)\n"
        "assert (c == np.arange(100) + 1.5).all()\n"
        "@triton.jit\n"
        "def both(pair, n, BLOCK: tl.constexpr):\n"
        "    tl.store(pair[1] + tl.arange(0, BLOCK), tl.load(pair[0] + tl.arange(0, BLOCK)))\n"
        "both[(1,)]((a.astype(np.float16), c), 1, BLOCK=32)\n"
    )
    assert run_script(path) == 0
    assert [buffer.name for buffer in launches[0].buffers] == ["x", "y", "out"]
    assert [buffer.size for buffer in launches[1].buffers] == [200, 400]
    with pytest.raises(UserError, match="no Triton type for NumPy dtype complex64"):
        run_script(script("add[(4,)](np.zeros(4, np.complex64), y, out, 4, 0.5, BLOCK=32)\n"))


def test_tuples_descriptors_and_null_pointers(script, launches):
    path = script(
        "from triton.tools.tensor_descriptor import TensorDescriptor\n"
        "@triton.jit\n"
        "def copy(source, extra, out, missing, B: tl.constexpr):\n"
        "    at = tl.arange(0, B)[:, None] * B + tl.arange(0, B)[None, :]\n"
        "    if missing is None:\n"
        "        tl.store(out + at, source.load([0, 0]) + extra[0] + extra[1])\n"
        "tile = frontends.zeros((16, 16))\n"
        "copy[(1,)](TensorDescriptor.from_tensor(tile, [16, 16]), (2, 0.5), out, None, B=16)\n"
    )
    assert run_script(path) == 0
    launch = launches[0]
    args = _launch.explicit_args(launch.program.kernel())
    values = [int.from_bytes(launch.kernarg[arg.offset :][: arg.size], "little") for arg in args]
    half = int.from_bytes(struct.pack("<f", 0.5), "little")
    assert values[1:12] == [16, 16, 16, 1, 0, 0, 16, 16, 16, 1, 2]
    assert values[12] == half
    assert values[0] == launch.buffers[0].address
    assert launch.buffers[0].size == 16 * 16 * 4


def test_faults_of_one_instruction_are_gathered_and_end_in_status_1(script, launches):
    path = script("@triton.jit\ndef bad(x):\n    tl.store(x + 100, 1.0)\nbad[(1,)](x)\nbad[(1,)](x)\nsys.exit(0)\n")
    tallies = []
    assert run_script(path, on_faults=tallies.append) == 1
    assert [(group.kernel, group.count) for tally in tallies for group in tally.groups] == [("bad", 4)]


def test_exceptions_and_exit_status_pass_through(script):
    with pytest.raises(ZeroDivisionError):
        run_script(script("1 / 0\n"))
    with pytest.raises(SystemExit) as caught:
        run_script(script("sys.exit(5)\n"))
    assert caught.value.code == 5


def test_an_exception_is_handed_over_with_the_scripts_frames(script):
    found = []
    assert run_script(script("def fail():\n    1 / 0\nfail()\n"), on_error=found.append) == 1
    (error,) = found
    assert isinstance(error, ZeroDivisionError)
    assert [frame.name for frame in traceback.extract_tb(error.__traceback__)] == ["<module>", "fail"]


def test_antiphases_own_errors_pass_through_all_the_same(script):
    with pytest.raises(UserError, match="from the script"):
        body = "from antiphase.errors import UserError\nraise UserError('from the script')\n"
        run_script(script(body), on_error=lambda error: pytest.fail())


def test_the_driver_is_put_back_whatever_happens(script):
    before = driver._active
    with pytest.raises(ZeroDivisionError):
        run_script(script("1 / 0\n"))
    assert driver._active is before


def test_an_empty_grid_launches_nothing(script, launches):
    assert run_script(script("add[(0,)](x, y, out, 100, 0.0, BLOCK=32)\n")) == 0
    assert not launches


def test_grids_that_hip_takes(script, launches):
    assert run_script(script("add[(np.int64(2), True)](x, y, out, 100, 0.0, BLOCK=32)\n")) == 0
    assert run_script(script("add[(-1, 0)](x, y, out, 100, 0.0, BLOCK=32)\n")) == 0
    assert [launch.grid for launch in launches] == [(2, 1, 1)]


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ("(1.5,)", r"grid \(1\.5, 1, 1\) of kernel add is not made of integers; give whole numbers"),
        ("(4, 2.0)", "not made of integers"),
        ("(None,)", "not made of integers"),
        ("(-1,)", r"grid \(-1, 1, 1\) of kernel add is negative; give numbers of programs"),
        ("(2**31,)", "work-items in x, and a dispatch holds"),
    ],
)
def test_grids_that_hip_refuses(script, launches, grid, message):
    with pytest.raises(UserError, match=message):
        run_script(script(f"add[{grid}](x, y, out, 100, 0.0, BLOCK=32)\n"))
    assert not launches


def test_a_scalar_beyond_its_type_is_infinite_as_hip_makes_it(script, launches):
    assert run_script(script("add[(1,)](x, y, out, 100, 1e39, BLOCK=128)\nprint(out.numpy())\n")) == 0
    assert struct.unpack_from("<f", launches[0].kernarg, 28) == (float("inf"),)


def test_missing_script(tmp_path):
    with pytest.raises(UserError, match=r"none\.py: no such script; give the path of a Python file"):
        run_script(tmp_path / "none.py")

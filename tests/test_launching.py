"""antiphase.launch: nobody overlooks a stray access, and nobody is told of it twice."""

from __future__ import annotations

import inspect
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import triton
import triton.language as tl

import antiphase
from antiphase.cli import main
from antiphase.errors import AccessWarning
from antiphase.frontends import Compiled, RunOptions, compile_kernel, launch_asm, triton_on_cpu
from antiphase.frontends._session import current_session

N = 128
SCRIPT = """
import numpy as np
import antiphase
x, out = np.ones({n}, np.float32), np.zeros({n}, np.float32)
execution = antiphase.launch({path!r}, grid=2, args=[x, out])
print(execution.fault_count, (out == 1).all())
"""


@triton.jit
def copy(x, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at))


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    return compile_kernel(copy, {"x": "*fp32", "out": "*fp32"}, {"BLOCK": 64}, num_warps=1)


@pytest.fixture
def file(compiled: Compiled, tmp_path: Path) -> Path:
    path = tmp_path / "copy.s"
    path.write_text(compiled.asm)
    return path


def script(file: Path, n: int) -> Path:
    path = file.parent / "script.py"
    path.write_text(SCRIPT.format(n=n, path=str(file)))
    return path


def arrays(n: int) -> list[np.ndarray]:
    return [np.ones(n, np.float32), np.zeros(n, np.float32)]


def test_a_launch_with_faults_warns_once_at_the_callers_line(compiled: Compiled) -> None:
    with pytest.warns(AccessWarning) as caught:
        execution = antiphase.launch(compiled, grid=2, args=arrays(100))
    assert execution.fault_count == 56
    (warning,) = caught
    assert warning.filename == __file__
    text = str(warning.message)
    assert text.startswith("kernel copy: 56 bad accesses, by 2 instructions; ")
    assert "test_launching.py:" in text and "copy: bad read of global memory, 28 times" in text
    assert "by 'buffer_load_dword" in text or "by 'global_load_dword" in text
    assert "just past the end of 'argument 0' (400 bytes) (workgroup 1,0,0, wave 0, lane 36)" in text
    assert "\n" not in text


def test_one_instruction_at_fault_is_its_own_line(compiled: Compiled) -> None:
    with pytest.warns(AccessWarning, match=r"^[^;]*: copy: bad write to global memory, 28 times, .*lane 36\)$"):
        antiphase.launch(compiled, grid=2, args=[np.ones(N, np.float32), np.zeros(100, np.float32)])


def test_faults_that_were_not_kept_are_in_the_count(compiled: Compiled) -> None:
    with pytest.warns(AccessWarning, match=r"12,800 bad accesses, by at least 2 instructions"):
        antiphase.launch(compiled, grid=100, args=arrays(0))


def test_no_faults_no_warning(compiled: Compiled) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        antiphase.launch(compiled, grid=2, args=arrays(N))


def test_callers_that_report_faults_are_not_warned(compiled: Compiled) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert launch_asm(compiled, grid=2, args=arrays(100)).fault_count == 56
        assert antiphase.check(compiled, grid=2, args=arrays(100)).verdict == "findings"


def test_python_makes_an_error_of_it(file: Path) -> None:
    def run(*options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, *options, str(script(file, 100))], capture_output=True, text=True)

    seen = run()
    assert seen.returncode == 0 and seen.stdout == "56 True\n"
    assert "script.py:5: AccessWarning: kernel copy: 56 bad accesses" in seen.stderr
    failed = run("-W", "error::UserWarning")
    assert failed.returncode == 1 and failed.stdout == ""
    assert "antiphase.errors.AccessWarning: kernel copy: 56 bad" in failed.stderr


def test_antiphase_run_reports_it_as_it_does_triton_launches(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", AccessWarning)
        assert main(["run", str(script(file, 100))]) == 1
    out, err = capsys.readouterr()
    assert out == "56 True\n"
    assert [line.count("28 times, without effect") for line in err.splitlines()] == [1, 1]


def test_antiphase_run_without_faults(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(script(file, N))]) == 0
    assert capsys.readouterr() == ("0 True\n", "")


def test_antiphase_check_judges_it(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--target", "gfx942", str(script(file, 100)), "--only", "mem"]) == 1
    assert "[mem/read_outside_memory]" in capsys.readouterr().out


def test_what_a_launch_asks_for_goes_before_what_the_run_asks_for(compiled: Compiled) -> None:
    seen = []
    with triton_on_cpu("gfx942", RunOptions(record=True, recorded_workgroups=1, max_instructions=10_000)) as session:
        session.on_launch = lambda name, execution: seen.append((name, execution))
        assert current_session() is session
        part = antiphase.launch(compiled, grid=2, args=arrays(N))
        whole = antiphase.launch(compiled, grid=2, args=arrays(N), record=True)
        with pytest.raises(antiphase.errors.Incomplete):
            antiphase.launch(compiled, grid=2, args=arrays(N), max_instructions=5)
    assert [len(one.recording.waves) for one in (part, whole) if one.recording] == [1, 2]
    assert seen == [("copy", part), ("copy", whole)] and session.launches == 2
    assert current_session() is None


def test_it_takes_what_launch_asm_takes() -> None:
    def parameters(function: Callable[..., object]) -> list[tuple[str, object, object]]:
        return [(one.name, one.kind, one.default) for one in inspect.signature(function).parameters.values()]

    assert parameters(antiphase.launch) == [one for one in parameters(launch_asm) if one[0] != "session"]

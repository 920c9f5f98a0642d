"""device_assert and the overflow sanitizer of Triton's debug mode: what is printed, what stops, what goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl

from antiphase.cli import main
from antiphase.errors import Trapped
from antiphase.frontends import Compiled, compile_kernel, launch_asm

TARGETS = ("gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250")
LARGEST = 2**31 - 1


@triton.jit
def picks(values, rows, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row = tl.load(rows + at)
    tl.device_assert((row >= 0) & (row < n), "index out of bounds")
    tl.store(out + at, tl.load(values + row))


@triton.jit
def adds(a, b, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(a + at) + tl.load(b + at))


def picking(target: str, **options: Any) -> Compiled:
    signature = {"values": "*i32", "rows": "*i32", "out": "*i32", "n": "i32"}
    return compile_kernel(picks, signature, {"BLOCK": 64}, target, num_warps=1, **options)


def arrays() -> list[np.ndarray]:
    return [np.arange(128, dtype=np.int32) * 10, np.arange(128, dtype=np.int32)[::-1].copy(), np.zeros(128, np.int32)]


@pytest.mark.parametrize("record", [False, True])
@pytest.mark.parametrize("target", TARGETS)
def test_a_failing_assertion_prints_and_stops(target: str, record: bool, capsys: pytest.CaptureFixture[str]) -> None:
    values, rows, out = arrays()
    rows[70] = 128
    with pytest.raises(Trapped) as caught:
        launch_asm(picking(target, debug=True), grid=2, args=[values, rows, out, 128], record=record)
    assert caught.value.workgroup == (1, 0, 0)
    assert (Path(caught.value.file).name, caught.value.kernel) == ("test_frontends_assertions.py", "picks")
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("device assertion failed: 'index out of bounds', in unknown at ")
    assert line.endswith(f"test_frontends_assertions.py:{caught.value.line}")


@pytest.mark.parametrize("target", TARGETS)
def test_an_assertion_that_holds_is_silent(target: str, capsys: pytest.CaptureFixture[str]) -> None:
    values, rows, out = arrays()
    done = launch_asm(picking(target, debug=True), grid=2, args=[values, rows, out, 128])
    assert (out == values[rows]).all() and not done.faults
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("target", ["gfx942", "gfx1201"])
def test_the_overflow_sanitizer_finds_an_overflow(target: str, capsys: pytest.CaptureFixture[str]) -> None:
    options: dict[str, Any] = {"debug": True, "sanitize_overflow": True}
    made = compile_kernel(adds, dict.fromkeys(("a", "b", "out"), "*i32"), {"BLOCK": 64}, target, num_warps=1, **options)
    a, b, out = np.arange(64, dtype=np.int32), np.ones(64, np.int32), np.zeros(64, np.int32)
    launch_asm(made, grid=1, args=[a, b, out])
    assert (out == a + 1).all()
    a[9] = LARGEST
    with pytest.raises(Trapped):
        launch_asm(made, grid=1, args=[a, b, out])
    assert "int32 overflow detected for operation add" in capsys.readouterr().err


SCRIPT = """
import numpy as np
import triton
import triton.language as tl
from antiphase import frontends

@triton.jit(debug=True)
def positive(x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.device_assert(tl.load(x + at) > 0, "not positive")

positive[(1,)](frontends.tensor(np.ones(64, np.float32)), BLOCK=64)
print("first launch done", flush=True)
positive[(1,)](frontends.tensor(np.zeros(64, np.float32)), BLOCK=64)
print("never printed")
"""


@pytest.mark.parametrize("command", ["run", "check"])
def test_a_script_stops_with_status_1(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    assert main([command, "--target", "gfx942", str(path)]) == 1
    said = capsys.readouterr()
    assert said.out.startswith("first launch done\n")
    assert "device assertion failed: 'not positive'" in said.err
    assert "never printed" not in said.out
    if command == "run":
        last = said.err.splitlines()[-1]
        assert last.startswith(f"antiphase: trap: {path}:10: kernel positive stopped at 's_trap 2'")
    else:
        assert "the kernel ends its own launch, in workgroup 0,0,0  [mem/trap]" in said.out

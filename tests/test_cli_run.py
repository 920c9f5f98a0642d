"""`antiphase run`: what a failing script shows, what is no script, limits, and Triton's cache."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from _checked import text

from antiphase.cli import main

FAILING = """
import sys
def fail():
    raise ValueError("from the script")
{}
"""
ENDLESS = """
import numpy as np
import triton
import triton.language as tl

@triton.jit
def k(x, n, add: tl.constexpr):
    if add:
        tl.store(x, n)
    else:
        while tl.load(x, volatile=True) == 0:
            n += 1
        tl.store(x, n)

x = np.zeros(1, np.int32)
k[(1,)](x, 3, True)
x[0] = 0
k[(1,)](x, 3, False)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _python(path: str, *arguments: str) -> str:
    """What Python says of a failing script on standard error."""
    return subprocess.run([sys.executable, path, *arguments], capture_output=True, text=True).stderr


@pytest.mark.parametrize(
    "end",
    [
        "fail()",
        "try:\n    fail()\nexcept ValueError as error:\n    raise KeyError('another') from error",
        "raise ExceptionGroup('two', [ValueError(1), TypeError(2)])",
        "import broken",
        "import runpy\nrunpy.run_path('broken.py')",
        "x = (",
        "open('/nowhere/at/all')",
    ],
)
def test_a_failing_script_shows_what_python_shows(end: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("broken.py").write_text("def (:\n")
    Path("s.py").write_text(FAILING.format(end))
    assert main(["run", "s.py"]) == 1
    # Python names the script by its whole path
    assert capsys.readouterr().err == _python("s.py").replace(f'"{Path("s.py").resolve()}"', '"s.py"')


def test_the_scripts_own_hook_is_called(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    Path("s.py").write_text(FAILING.format("sys.excepthook = lambda *found: print('hook', found[1])\nfail()"))
    assert main(["run", "s.py"]) == 1
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("hook from the script\n", "")


@pytest.mark.parametrize("code", ["0", "7", "'a message'", ""])
def test_exit_statuses_pass_through(code: str) -> None:
    Path("s.py").write_text(f"import sys\nsys.exit({code})\n")
    command = [sys.executable, "-m", "antiphase", "run", "s.py"]
    ours = subprocess.run(command, capture_output=True, text=True)
    theirs = subprocess.run([sys.executable, "s.py"], capture_output=True, text=True)
    assert (ours.returncode, ours.stderr) == (theirs.returncode, theirs.stderr)


@pytest.mark.parametrize(
    ("name", "content", "remedy"),
    [
        (
            "k.s",
            text("v_mov_b32 v1, v0").encode(),
            "launch it with antiphase.launch('k.s', ...) or antiphase check k.s",
        ),
        ("k.hsaco", b"\x7fELF\2\1\1" + bytes(64), "launch it with antiphase.launch('k.hsaco', ...)"),
        ("k.bundle", b"__CLANG_OFFLOAD_BUNDLE__\1\0", "launch it with antiphase.launch('k.bundle', ...)"),
        ("data.bin", b"\1\0\2", "give the path of a Python file"),
    ],
)
def test_what_is_no_script_is_one_line(
    name: str, content: bytes, remedy: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(name).write_bytes(content)
    assert main(["run", name]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"antiphase: error: {name}: not a Python script; {remedy}") and said.count("\n") == 1


def test_a_script_that_holds_assembly_is_a_script(capsys: pytest.CaptureFixture[str]) -> None:
    Path("s.py").write_text('TEXT = """\n\t.text\n\t.globl k\n"""\nprint("ran")\n')
    assert main(["run", "s.py"]) == 0
    assert capsys.readouterr().out == "ran\n"


@pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")
@pytest.mark.parametrize("command", ["run", "check"])
def test_a_launch_can_be_limited(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("s.py").write_text(ENDLESS)
    assert main([command, "--max-instructions", "40000", "s.py"]) == 2
    captured = capsys.readouterr()
    said = " ".join((captured.out + captured.err).split())
    assert "stopped at the limit of 40000 instructions, most of them in the loop of 's_cbranch" in said
    assert "allow more with --max-instructions" in said


def test_a_limit_is_a_number(capsys: pytest.CaptureFixture[str]) -> None:
    Path("s.py").touch()
    for wrong in ("0", "many"):
        assert main(["run", "--max-instructions", wrong, "s.py"]) == 2
        assert "Invalid value for '--max-instructions'" in capsys.readouterr().err


COMMANDS = [["demo"], ["run", "s.py"], ["check", "s.py"]]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_named_cache_of_triton_that_cannot_be_written(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("s.py").touch()
    monkeypatch.setenv("TRITON_CACHE_DIR", str(Path("s.py").resolve() / "cache"))
    assert main(command) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1
    assert captured.err.startswith("antiphase: error: TRITON_CACHE_DIR: Triton cannot write its cache in ")


@pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")
def test_a_home_that_cannot_be_written_is_one_note(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("s.py").write_text(ENDLESS.split("x[0] = 0")[0] + "print(x)\n")
    for name in ("TRITON_CACHE_DIR", "TRITON_HOME"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(Path("s.py").resolve()))
    assert main(["run", "s.py"]) == 0
    captured = capsys.readouterr()
    assert captured.out == "[3]\n"
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("antiphase: note: Triton cannot write its cache in ")

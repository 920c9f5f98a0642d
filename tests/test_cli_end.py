"""How the command ends where its output cannot be written, is closed, or has no letters for what it says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from _checked import text

from antiphase import _cli_end
from antiphase.cli import main
from antiphase.errors import Deadlock, Trapped

FULL = Path("/dev/full")
NO_SPACE = "No space left on device"

pytestmark = pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.s").write_text(text("v_mov_b32 v1, v0"))


def _shell(line: str, *, unbuffered: bool = False) -> tuple[int, str]:
    """Exit status and standard error of `antiphase`, as {} in a shell's command."""
    environment = {**os.environ, "PYTHONUNBUFFERED": "1" if unbuffered else ""}
    command = line.replace("{}", f"{sys.executable} -m antiphase")
    done = subprocess.run(["bash", "-c", command], env=environment, stderr=subprocess.PIPE, text=True)
    return done.returncode, done.stderr


@pytest.mark.parametrize("unbuffered", [False, True])
@pytest.mark.parametrize(
    "arguments",
    [
        "--help",
        "--version",
        "arch list",
        "arch schema",
        "doctor --json -",
        "check k.s",
        "check k.s --json -",
        "check k.s --github",
        "layout v_mfma_f32_32x32x8_f16 --csv",
        "layout v_mfma_f32_32x32x8_f16 --svg -",
    ],
)
def test_a_full_output_is_one_line_and_status_74(arguments: str, unbuffered: bool) -> None:
    status, said = _shell(f"{{}} {arguments} > /dev/full", unbuffered=unbuffered)
    expected = f"antiphase: error: cannot write the output: {NO_SPACE}; send it elsewhere\n"
    assert (status, said) == (74, expected)


@pytest.mark.parametrize(
    "arguments", ["check k.s --json", "check k.s --sarif", "doctor --json", "layout v_mfma_f32_32x32x8_f16 --svg"]
)
def test_a_full_file_is_named(arguments: str) -> None:
    assert _shell(f"{{}} {arguments} /dev/full > /dev/null") == (74, f"antiphase: error: /dev/full: {NO_SPACE}\n")


@pytest.mark.parametrize(
    ("file", "problem"), [("none/found.json", "No such file or directory"), (".", "Is a directory")]
)
def test_a_file_that_cannot_be_written_is_an_error_before_the_work(file: str, problem: str) -> None:
    Path("script.py").write_text("print('the work')")
    status, said = _shell(f"{{}} check --json {file} script.py")
    assert (status, said) == (2, f"antiphase: error: Could not open file '{file}': {problem}\n")


def test_a_file_from_before_survives_work_that_fails() -> None:
    Path("found.json").write_text("before")
    assert _shell("{} check none.s --json found.json")[0] == 2
    assert Path("found.json").read_text() == "before"


def test_a_closed_output_fails_only_what_writes() -> None:
    status, said = _shell("{} arch list >&-")
    assert (status, said) == (74, "antiphase: error: cannot write the output: Bad file descriptor; send it elsewhere\n")
    assert _shell("{} arch list --json found.json >&-") == (0, "")
    assert Path("found.json").stat().st_size


@pytest.mark.parametrize("where", ["2>/dev/full", "2>&-"])
def test_a_status_survives_a_standard_error_that_fails(where: str) -> None:
    assert _shell(f"{{}} fly {where}")[0] == 2
    assert _shell(f"{{}} arch list >/dev/null {where}")[0] == 0


def test_text_replaces_letters_that_the_locale_lacks_and_json_is_utf_8() -> None:
    environment = "PYTHONIOENCODING=ascii"
    assert _shell(f"{environment} {{}} arch compare gfx942 gfx950 matrix >/dev/null") == (0, "")
    assert _shell(f"{environment} {{}} arch show gfx1201 memory --json - >found.json") == (0, "")
    assert not Path("found.json").read_text("utf-8").isascii()


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        (Deadlock("k.s: no wave can go on"), 1, "deadlock: k.s: no wave can go on"),
        (Trapped("k", 3, "s_trap 2", workgroup=(0, 0, 0), wave=1, file="k.s", line=4), 1, "trap: k.s:4: kernel k"),
        (MemoryError(), 2, "incomplete: there is not enough memory"),
        (PermissionError(13, "Permission denied", "/x"), 74, "error: /x: Permission denied"),
        (OSError(98, "Address already in use"), 74, "error: Address already in use"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_lines_and_statuses(error: BaseException, status: int, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert _cli_end.ended_by(error) == status
    said = capsys.readouterr().err
    assert said.startswith(f"antiphase: {line}") and said.count("\n") == 1


SCRIPT = """
import sys
if sys.argv[1] == "much":
    for number in range(100_000):
        print("line", number)
elif sys.argv[1] == "few":
    print("hello")
elif sys.argv[1] == "socket":
    raise BrokenPipeError(32, "Broken pipe")
elif sys.argv[1] == "close":
    sys.stdout.close()
"""


@pytest.mark.parametrize("unbuffered", [False, True])
@pytest.mark.parametrize("command", ["run", "check"])
def test_a_script_whose_output_cannot_be_written(command: str, unbuffered: bool) -> None:
    Path("s.py").write_text(SCRIPT)
    full = f"antiphase: error: cannot write the output: {NO_SPACE}; send it elsewhere\n"
    assert _shell(f"{{}} {command} s.py much > /dev/full", unbuffered=unbuffered) == (74, full)
    gone = f"{{}} {command} s.py much | head -1 >/dev/null; exit ${{PIPESTATUS[0]}}"
    assert _shell(gone, unbuffered=unbuffered) == (141, "")


def test_a_script_may_fail_on_pipes_of_its_own_and_close_the_output() -> None:
    Path("s.py").write_text(SCRIPT)
    status, said = _shell("{} run s.py few > /dev/full")
    assert (status, said.count("\n")) == (74, 1)
    status, said = _shell("{} run s.py socket | cat; exit ${PIPESTATUS[0]}")
    assert status == 1 and said.startswith("Traceback") and said.endswith("BrokenPipeError: [Errno 32] Broken pipe\n")
    assert _shell("{} run s.py close") == (0, "")


def test_an_error_while_triton_writes_its_cache_names_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As on a disk that fills up after the command has begun."""
    from triton.runtime import cache

    def full(*path: object, exist_ok: bool) -> None:
        raise OSError(28, NO_SPACE)

    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    Path("s.py").write_text("from triton.runtime.cache import FileCacheManager\nFileCacheManager('key')\n")
    monkeypatch.setattr(cache.os, "makedirs", full)
    assert main(["run", "s.py"]) == 74
    line = f"error: Triton cannot write its cache: {NO_SPACE}; let TRITON_CACHE_DIR name a directory with room"
    assert capsys.readouterr().err == f"antiphase: {line}\n"

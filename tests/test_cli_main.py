"""The command: exit statuses, one-line errors, JSON output, and that it starts without heavy imports."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import antiphase
from antiphase.arch import targets
from antiphase.cli import main
from antiphase.errors import Unsupported, UserError

HEAVY = {"llvmlite", "numpy", "rich", "torch", "triton", "msgspec", "elftools"}


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in ("demo", "run", "arch", "doctor"))
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"antiphase {antiphase.__version__}\n"


def test_starting_up_imports_nothing_heavy() -> None:
    program = "import sys, antiphase, antiphase.cli; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert not HEAVY & {name.partition(".")[0] for name in loaded.split()}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["arch", "show", "gfx94"], "unknown target 'gfx94'; did you mean gfx942"),
        (["demo", "--target", "gfx1"], "unknown target 'gfx1'"),
        (["run", "nowhere.py"], "nowhere.py: no such script; give the path of a Python file"),
        (["run"], "Missing argument 'SCRIPT.py'; try antiphase run --help"),
        (["run", "--tarrget", "gfx942", "k.py"], "No such option '--tarrget'"),
        (["fly"], "No such command 'fly'; try antiphase --help"),
    ],
)
def test_bad_input_is_one_line_and_status_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"antiphase: error: {message}")
    assert captured.err.count("\n") == 1


def _raise_from_doctor(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> int:
    def diagnose() -> None:
        raise error

    monkeypatch.setattr("antiphase.doctor.diagnose", diagnose)
    return main(["doctor"])


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        (UserError("bad line", file="k.s", line=7, remedy="mend it"), 2, "error: k.s:7: bad line; mend it"),
        (Unsupported("v_odd_b32 is not modelled"), 2, "unsupported: v_odd_b32 is not modelled"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_errors_become_a_line_and_a_status(
    error: BaseException,
    status: int,
    line: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert _raise_from_doctor(monkeypatch, error) == status
    assert capsys.readouterr().err.strip() == f"antiphase: {line}"


def test_an_error_of_ours_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ZeroDivisionError):
        _raise_from_doctor(monkeypatch, ZeroDivisionError())


@pytest.mark.parametrize("arguments", [["arch", "show", "gfx950"], ["arch", "list", "--json", "-"]])
def test_a_reader_that_goes_away_is_met_quietly(arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "antiphase", *arguments]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


def test_run_hands_the_script_its_own_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "kernel.py"
    script.touch()
    calls: list[object] = []

    def run_script(*call: object, **options: object) -> int:
        calls.append(call)
        return 1

    monkeypatch.setattr("antiphase.frontends.run_script", run_script, raising=False)
    assert main(["run", "--target", "gfx950", str(script), "--target", "x", "-h", "--json"]) == 1
    assert calls == [(str(script), ["--target", "x", "-h", "--json"], "gfx950")]


def test_arch_json_is_the_record(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["arch", "show", "gfx942", "--json", "-"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["lds_bytes_per_cu"] == 65536
    assert record["facts"]["lds_bytes_per_cu"]["evidence"] == {"mechanism": "Documented"}
    assert main(["arch", "list", "--json", "-"]) == 0
    assert len(json.loads(capsys.readouterr().out)["targets"]) == 13


def test_arch_text_names_values_and_sources(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["arch", "show", "gfx1250"]) == 0
    shown = capsys.readouterr().out
    assert "tensorcnt 6 bits" in shown
    assert "[08b7dcac0b20], getTotalNumVGPRs" in shown


def test_arch_list_names_every_target(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["arch", "list"]) == 0
    assert re.findall(r"^gfx\d+", capsys.readouterr().out, re.MULTILINE) == [each.name for each in targets()]


def test_json_goes_to_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "doctor.json"
    assert main(["doctor", "--json", str(path)]) == 0
    assert capsys.readouterr().out == ""
    assert json.loads(path.read_text())["ok"] is True

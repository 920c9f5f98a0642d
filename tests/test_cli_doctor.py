"""`antiphase doctor`: pieces found, missing and unsuitable, and what it says about each."""

from __future__ import annotations

import io
import json
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from rich.console import Console

from antiphase import doctor
from antiphase.cli import main
from antiphase.report.doctor import as_json, print_doctor


def _piece(name: str) -> doctor.Piece:
    return next(piece for piece in doctor.diagnose().pieces if piece.name == name)


def _installed(monkeypatch: pytest.MonkeyPatch, **versions: str | None) -> None:
    """Make these distributions look installed in that version, or not at all."""
    real = metadata.version

    def version(name: str) -> str:
        chosen = versions.get(name.replace("-", "_"), "")
        if chosen is None:
            raise metadata.PackageNotFoundError(name)
        return chosen or real(name)

    monkeypatch.setattr(metadata, "version", version)


def _tool(directory: Path, name: str, output: str) -> None:
    path = directory / name
    path.write_text(f"#!/bin/sh\necho '{output}'\n")
    path.chmod(0o755)


def test_this_installation_is_sound() -> None:
    diagnosis = doctor.diagnose()
    assert diagnosis.ok
    assert diagnosis.machine.cores >= 1
    assert diagnosis.machine.memory_gib > 0


def test_a_missing_requirement_fails_the_diagnosis(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _installed(monkeypatch, llvmlite=None)
    assert main(["doctor"]) == 1
    shown = capsys.readouterr().out
    assert "llvmlite (required)" in shown
    assert "pip install --upgrade antiphase" in shown


def test_an_old_requirement_is_unsuitable(monkeypatch: pytest.MonkeyPatch) -> None:
    _installed(monkeypatch, llvmlite="0.46.0")
    assert _piece("llvmlite") == doctor.Piece("llvmlite", True, "unsuitable", "0.46.0", "older than 0.50")
    assert not doctor.diagnose().ok


@pytest.mark.parametrize(
    ("version", "state"), [(None, "missing"), ("3.8.0", "unsuitable"), ("3.9.0+git5", "ok"), ("3.9.0", "ok")]
)
def test_triton_is_optional_and_of_one_release(
    version: str | None, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _installed(monkeypatch, triton=version)
    assert _piece("triton").state == state
    assert doctor.diagnose().ok


def test_the_newest_objdump_on_the_path_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert _piece("llvm-objdump").state == "missing"
    _tool(tmp_path, "llvm-objdump", "LLVM version 14.0.6")
    assert _piece("llvm-objdump").problem == "older than LLVM 22"
    _tool(tmp_path, "llvm-objdump-22", "Debian LLVM version 22.1.8")
    assert _piece("llvm-objdump").state == "ok"


def test_a_tinygrad_checkout_needs_its_emulator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TINYGRAD", raising=False)
    assert _piece("tinygrad checkout").state == "missing"
    monkeypatch.setenv("TINYGRAD", str(tmp_path))
    assert _piece("tinygrad checkout").state == "unsuitable"
    emulator = tmp_path / "test" / "mockgpu" / "amd" / "emu.py"
    emulator.parent.mkdir(parents=True)
    emulator.touch()
    assert _piece("tinygrad checkout").state == "ok"


def test_a_cache_that_cannot_be_written_is_said_and_not_fatal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocker = tmp_path / "file"
    blocker.touch()
    monkeypatch.setenv("ANTIPHASE_CACHE", str(blocker / "cache"))
    assert _piece("cache directory").state == "unsuitable"
    assert doctor.diagnose().ok


def test_every_dependency_is_looked_for() -> None:
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
    wanted = dict(requirement.split(">=") for requirement in project["dependencies"])
    assert {name: ".".join(map(str, lowest)) for name, lowest in doctor._REQUIRED_PACKAGES.items()} == wanted
    assert project["optional-dependencies"]["triton"] == ["triton==" + ".".join(map(str, doctor._TRITON))]


def test_tritons_cache_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    assert _piece("Triton cache") == doctor.Piece("Triton cache", False, "ok", str(tmp_path))
    blocker = tmp_path / "file"
    blocker.touch()
    monkeypatch.setenv("TRITON_CACHE_DIR", str(blocker))
    assert main(["doctor"]) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert "named by TRITON_CACHE_DIR" in shown
    assert "export TRITON_CACHE_DIR=a directory you can write to" in shown
    monkeypatch.delenv("TRITON_CACHE_DIR")
    monkeypatch.delenv("TRITON_HOME", raising=False)
    monkeypatch.setenv("HOME", str(blocker))
    assert _piece("Triton cache").state == "unsuitable"
    assert doctor.diagnose().ok, "a temporary directory serves"


def _diagnosis(*pieces: doctor.Piece) -> doctor.Diagnosis:
    machine = doctor.Machine("Linux x86_64", "A [fast] CPU", 2, 16.0, ("avx2",))
    return doctor.Diagnosis(True, "1.0", machine, pieces)


def test_json_says_what_a_missing_piece_enables_and_how_to_get_it() -> None:
    plain = as_json(_diagnosis(doctor.Piece("torch", False, "missing"), doctor.Piece("rich", True, "ok", "15")))
    missing, present = json.loads(json.dumps(plain))["pieces"]
    assert "torch tensors" in missing["enables"]
    assert missing["install"] == "pip install torch"
    assert "install" not in present


def test_text_prints_names_with_brackets_as_they_are() -> None:
    stream = io.StringIO()
    print_doctor(_diagnosis(doctor.Piece("triton", False, "missing")), Console(file=stream, width=100))
    shown = stream.getvalue()
    assert "A [fast] CPU, 2 cores, 16 GiB" in shown
    assert "pip install 'antiphase[triton]'" in shown

"""Compiled objects on disk: kept by content, and made anew where they are damaged."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

from antiphase.machine.llvm import _native

TEXT = """
define i32 @seven() {
  ret i32 7
}
"""


@pytest.fixture
def objects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ANTIPHASE_CACHE", str(tmp_path))
    return tmp_path / "objects"


def _file(folder: Path) -> Path:
    (found,) = (path for path in folder.rglob("*") if path.is_file())
    return found


def test_an_object_is_compiled_once(objects: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = _native.compile_object(TEXT, 0)
    monkeypatch.setattr(_native.llvm, "parse_assembly", None)
    assert _native.compile_object(TEXT, 0) == code


@pytest.mark.parametrize("size", [0, 40, 400])
def test_a_damaged_object_is_compiled_again(objects: Path, size: int) -> None:
    """LLVM's loader ends the process when it is given such an object."""
    code = _native.compile_object(TEXT, 0)
    path = _file(objects)
    whole = path.read_bytes()
    for damaged in (whole[:size], bytes(size), whole[:size] + bytes([~whole[size] & 255]) + whole[size + 1 :]):
        path.write_bytes(damaged)
        assert _native.compile_object(TEXT, 0) == code
        assert path.read_bytes() == whole


def test_a_library_on_a_damaged_object_works(objects: Path) -> None:
    _native.compile_object(TEXT, 0)
    path = _file(objects)
    path.write_bytes(path.read_bytes()[:-100])
    library = _native.Library(TEXT, 0)
    assert ctypes.CFUNCTYPE(ctypes.c_int)(library.address("seven"))() == 7


def test_a_cache_that_is_a_file_costs_time_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("mine")
    monkeypatch.setenv("ANTIPHASE_CACHE", str(tmp_path / "file"))
    assert _native.compile_object(TEXT, 0) == _native.compile_object(TEXT, 0)
    assert (tmp_path / "file").read_text() == "mine"


def test_processes_may_fill_one_cache_at_once(objects: Path) -> None:
    program = f"from antiphase.machine.llvm._native import Library; print(Library({TEXT!r}, 2).address('seven') > 0)"
    command = [sys.executable, "-c", program]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ, text=True) for _ in range(3)]
    assert [one.communicate()[0] for one in running] == ["True\n"] * 3
    assert _file(objects).suffix == ".kept"

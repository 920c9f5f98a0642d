"""Files of our own: read back only as they were written; and a cache for Triton where its usual place is no use."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from antiphase import _paths
from antiphase._paths import cache_directory, keep, read_kept, settle_triton_cache, triton_cache, write_problem
from antiphase.errors import UserError

CONTENT = bytes(range(256)) * 8


def test_what_is_kept_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "one.kept"
    assert read_kept(path) is None
    keep(path, CONTENT)
    assert read_kept(path) == CONTENT
    keep(path, b"")
    assert read_kept(path) == b""
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: b"",
        lambda whole: whole[:20],
        lambda whole: whole[: len(whole) // 2],
        lambda whole: whole[:-1],
        lambda whole: whole + b"\0",
        lambda whole: bytes(len(whole)),
        lambda whole: whole[:700] + bytes([whole[700] ^ 4]) + whole[701:],
        lambda whole: bytes([whole[0] ^ 1]) + whole[1:],
        lambda whole: CONTENT,
    ],
)
def test_a_damaged_file_is_none(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "one.kept"
    keep(path, CONTENT)
    path.write_bytes(damage(path.read_bytes()))
    assert read_kept(path) is None


def test_a_file_under_anothers_name_is_damaged(tmp_path: Path) -> None:
    keep(tmp_path / "one.kept", CONTENT)
    (tmp_path / "one.kept").rename(tmp_path / "two.kept")
    assert read_kept(tmp_path / "two.kept") is None


def test_what_cannot_be_kept_is_not_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    keep(tmp_path / "file" / "one.kept", CONTENT)

    def refuse(*paths: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    keep(tmp_path / "new" / "one.kept", CONTENT)
    assert list((tmp_path / "new").iterdir()) == []


@pytest.fixture
def no_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No variable names a cache; the path is of a file, in which no directory can be made, whoever tries."""
    for name in ("TRITON_CACHE_DIR", "TRITON_HOME", "ANTIPHASE_CACHE", "XDG_CACHE_HOME"):
        # set first, so that what the code under test sets is undone
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    (tmp_path / "file").touch()
    return tmp_path / "file"


def test_triton_is_left_alone_where_it_can_write(
    tmp_path: Path, no_names: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert settle_triton_cache() is None
    assert "TRITON_CACHE_DIR" not in os.environ
    assert triton_cache() == (tmp_path / ".triton" / "cache", "", "")
    monkeypatch.setenv("TRITON_HOME", str(tmp_path / "t"))
    assert triton_cache() == (tmp_path / "t" / ".triton" / "cache", "TRITON_HOME", "")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "c"))
    assert triton_cache() == (tmp_path / "c", "TRITON_CACHE_DIR", "")


def test_places_are_those_of_triton(tmp_path: Path, no_names: Path) -> None:
    """In processes of their own: Triton reads the home directory when it is imported."""
    program = "import triton, antiphase._paths as p; print(triton.knobs.cache.dir, p.triton_cache().path, sep='\\n')"
    for names in ({}, {"TRITON_HOME": str(tmp_path / "t")}, {"TRITON_CACHE_DIR": str(tmp_path / "c")}):
        environment = {**os.environ, "HOME": str(tmp_path), **names}
        command = [sys.executable, "-c", program]
        shown = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        theirs, ours = shown.split()
        assert theirs == ours


def test_a_temporary_cache_stands_in_for_the_usual_one(no_names: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(no_names))
    place = settle_triton_cache()
    assert place == (no_names / ".triton" / "cache", "", "Not a directory")
    assert not write_problem(Path(os.environ["TRITON_CACHE_DIR"]))
    assert settle_triton_cache() is None, "the second call finds the first one's directory"


@pytest.mark.parametrize("name", ["TRITON_CACHE_DIR", "TRITON_HOME"])
def test_a_named_cache_that_cannot_be_written_is_an_error(
    name: str, no_names: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, str(no_names / "x"))
    with pytest.raises(UserError, match=rf"^{name}: .*{no_names}/x.*Not a directory\); let {name} name a directory"):
        settle_triton_cache()


def test_no_temporary_directory_either(no_names: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> Path:
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setenv("HOME", str(no_names))
    monkeypatch.setattr(_paths, "temporary_directory", refuse)
    with pytest.raises(UserError, match="nor in a temporary directory; let TRITON_CACHE_DIR name"):
        settle_triton_cache()


def test_a_user_without_a_home_directory(no_names: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert not write_problem(cache_directory())
    assert triton_cache().problem == "there is no home directory"


def test_the_temporary_directory_ends_with_its_process() -> None:
    program = """if True:
        import os, sys
        from antiphase._paths import temporary_directory
        path = temporary_directory()
        if os.fork() == 0:
            sys.exit()
        os.wait()
        print(path, path.is_dir())
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    path, was_there = done.stdout.split()
    assert was_there == "True", "a fork leaves it to its owner"
    assert not Path(path).exists()

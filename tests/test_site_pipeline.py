"""The recorded runs that the page of warp-pipelining draws, kept on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from antiphase.site import _pipeline


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Targets that were run, which is instead of running them."""
    targets: list[str] = []

    def reduced(target: str) -> _pipeline.Run:
        targets.append(target)
        return _pipeline.Run(target, "k", (1, 1, 1), (1, 1, 1), 8, 1, 0, 1, 2, 1, 1, 2, 1, 1, (), (), ())

    monkeypatch.setenv("ANTIPHASE_CACHE", str(tmp_path))
    monkeypatch.setattr(_pipeline, "demonstrate", lambda target: target)
    monkeypatch.setattr(_pipeline, "_reduced", reduced)
    return targets


def _runs() -> list[str]:
    runs, problem = _pipeline.pipeline_runs(lambda text: None)
    assert not problem
    return [run.target for run in runs]


def test_runs_are_made_once(made: list[str]) -> None:
    assert _runs() == _runs() == made == ["gfx942", "gfx950"]


@pytest.mark.parametrize("content", [b"", b"{", b"[]" * 100])
def test_a_damaged_run_is_made_again(content: bytes, made: list[str]) -> None:
    _runs()
    _pipeline._cached("gfx950").write_bytes(content)
    assert _runs() == ["gfx942", "gfx950"]
    assert made == ["gfx942", "gfx950", "gfx950"]


def test_a_cache_that_cannot_be_written(made: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("ANTIPHASE_CACHE", str(tmp_path / "file"))
    assert _runs() == ["gfx942", "gfx950"]

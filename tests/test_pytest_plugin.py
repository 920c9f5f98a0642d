"""The pytest plugin: fixture and marker pass clean kernels and fail the test on findings."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path

import pytest
from _checked import exchange, scale

import antiphase

pytest_plugins = ["pytester"]

TRITON = """
import numpy as np
import pytest
import triton
import triton.language as tl
from antiphase import frontends

@triton.jit
def shift(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)

@triton.jit
def clash(x, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, tl.program_id(0) + at, mask=at < n)

def launch(kernel):
    x = frontends.tensor(np.ones(512, np.float32))
    kernel[(2,)](x, 512, BLOCK=256)

@pytest.mark.antiphase_check(target="gfx942")
def test_clean():
    launch(shift)

@pytest.mark.antiphase_check("gfx942")
def test_race():
    launch(clash)

@pytest.mark.antiphase_check(target="gfx942", only=["wait"])
def test_only_waits():
    launch(clash)

@pytest.mark.antiphase_check(target="gfx1201")
def test_numpy_arrays():
    x = np.ones(512, np.float32)
    shift[(2,)](x, 512, BLOCK=256)
    assert (x == 2).all()

@pytest.mark.antiphase_check
def test_nothing_launched():
    pass
"""

MISUSED = """
import pytest

@pytest.mark.antiphase_check(target="gfx9999")
def test_target():
    pass

@pytest.mark.antiphase_check(targt="gfx942")
def test_setting():
    pass

def test_file(antiphase_check):
    antiphase_check("none.s")
"""


def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.RunResult:
    """Run the tests in a process of their own: Triton cannot be imported twice in one."""
    monkeypatch.setenv("PYTHONPATH", str(Path(antiphase.__file__).parents[1]))
    installed = any(entry.name == "antiphase" for entry in entry_points(group="pytest11"))
    plugin = () if installed else ("-p", "antiphase.pytest_plugin")
    return pytester.runpytest_subprocess("--strict-markers", *plugin)


def test_the_fixture(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytester.makefile(".s", good=scale(), bad=scale(wait=""), race=exchange(barrier=""))
    pytester.makepyfile(
        """
        import numpy as np

        def test_good(antiphase_check):
            result = antiphase_check("good.s")
            assert result.verdict == "clean" and result.kept[0].kernel.name == "k"

        def test_bad(antiphase_check):
            antiphase_check("bad.s", only=["wait"])

        def test_race(antiphase_check):
            antiphase_check("race.s", args=[np.zeros(128, np.uint32)], threads=128)
        """
    )
    result = run(pytester, monkeypatch)
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(["*[[]wait/read_before_wait[]]*", "*[[]race/missing_rendezvous[]]*"])


def test_the_marker(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytester.makepyfile(TRITON)
    result = run(pytester, monkeypatch)
    result.assert_outcomes(passed=3, failed=2)
    result.stdout.fnmatch_lines(["*race/between_workgroups*", "*the test launched no Triton kernel*"])


def test_misuse_is_one_line(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytester.makepyfile(MISUSED)
    result = run(pytester, monkeypatch)
    result.assert_outcomes(failed=3)
    assert "During handling" not in result.stdout.str()
    assert not [row for row in result.outlines if row.startswith(("E ", ">")) or ".py:" in row.split("::")[0]]
    result.stdout.fnmatch_lines(
        [
            "antiphase_check: *gfx9999*",
            "antiphase_check: the marker takes no 'targt'; choose from: target, only,*",
            "antiphase_check: none.s: cannot open*",
        ]
    )

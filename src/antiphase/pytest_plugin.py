"""pytest plugin: the `antiphase_check` fixture and marker hold kernels to the checks inside a test suite.

def test_kernel(antiphase_check):
    antiphase_check("kernel.s")                                        # every path
    antiphase_check("kernel.s", grid=4, args=[a, out, 1024])           # and one launch

@pytest.mark.antiphase_check(target="gfx942")
def test_triton_kernel():                                              # every launch in the test
    kernel[(4,)](a, out, 1024, BLOCK=256)
"""

from __future__ import annotations

import io
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from antiphase.checks import Suppressed

_MARKER = (
    "antiphase_check(target, only=None, to=None, waves_per_simd=None, suppress=None): run the test's Triton kernels "
    "on the CPU as that GPU target would, and fail it on findings of antiphase check."
)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARKER)


@pytest.fixture
def antiphase_check() -> Callable[..., Suppressed]:
    """A function that fails the test where a kernel has findings, or could not be judged.

    It takes what `antiphase.check` takes, and returns what that returns: notes, and what was suppressed.
    """

    def check(source: Any, **options: Any) -> Suppressed:
        from antiphase.checking import check

        return _judged(check(source, **options))

    return check


def _judged(result: Suppressed) -> Suppressed:
    from rich.console import Console

    from antiphase.report.findings import print_findings

    if result.verdict != "clean":
        text = io.StringIO()
        print_findings(result, Console(file=text, width=120))
        pytest.fail(text.getvalue(), pytrace=False)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """A marked test runs with antiphase as Triton's device; its launches are judged when it has ended."""
    marker = item.get_closest_marker("antiphase_check")
    if marker is None:
        return (yield)
    from antiphase.checking import RECORDED_WORKGROUPS, Options, Watch
    from antiphase.checks import load_suppressions, suppress, together
    from antiphase.frontends import RunOptions, triton_on_cpu

    names = ("target", "only", "to", "waves_per_simd", "suppress")
    settings: dict[str, Any] = {**dict(zip(names, marker.args, strict=False)), **marker.kwargs}
    file, target = settings.pop("suppress", None), settings.pop("target", "gfx942")
    watch = Watch(Options(settings.pop("only", None), **settings))
    with triton_on_cpu(target, RunOptions(record=True, recorded_workgroups=RECORDED_WORKGROUPS)) as session:
        session.on_launch, session.on_failure = watch.launched, watch.failed
        outcome = yield
    if not watch.parts:
        pytest.fail("antiphase_check: the test launched no Triton kernel", pytrace=False)
    _judged(suppress(together(watch.parts), load_suppressions(file) if file is not None else []))
    return outcome

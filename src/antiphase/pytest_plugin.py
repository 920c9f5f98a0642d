"""pytest plugin: the `antiphase_check` fixture and marker hold kernels to the checks inside a test suite.

def test_kernel(antiphase_check):
    antiphase_check("kernel.s")                                        # every path
    antiphase_check("kernel.s", grid=4, args=[a, out, 1024])           # and one launch

@pytest.mark.antiphase_check(target="gfx942")
def test_triton_kernel():                                              # every launch in the test
    kernel[(4,)](a, out, 1024, BLOCK=256)
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from antiphase.checks import CheckResult

_MARKER = (
    "antiphase_check(target, only=None, to=None, waves_per_simd=None, suppress=None, recording_limit=None, "
    "max_instructions=None): run the test's Triton kernels on the CPU as that GPU target would, and fail it on "
    "findings of antiphase check."
)

_SETTINGS = ("target", "only", "to", "waves_per_simd", "suppress", "recording_limit", "max_instructions")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARKER)


@pytest.fixture
def antiphase_check() -> Callable[..., CheckResult]:
    """A function that fails the test where a kernel has findings, or could not be judged.

    It takes what `antiphase.check` takes, and returns what that returns: notes, and what was suppressed.
    """

    def check(source: Any, **options: Any) -> CheckResult:
        from antiphase.checking import check

        with _in_one_line():
            result = check(source, **options)
        return _judged(result)

    return check


@contextlib.contextmanager
def _in_one_line() -> Iterator[None]:
    """What a user can mend fails the test without a traceback through antiphase."""
    from antiphase.errors import UserError

    try:
        yield
    except UserError as error:
        raise pytest.fail.Exception(f"antiphase_check: {error}", pytrace=False) from None


def _judged(result: CheckResult) -> CheckResult:
    if result.verdict != "clean":
        pytest.fail(str(result), pytrace=False)
    return result


def _settings(marker: pytest.Mark) -> dict[str, Any]:
    from antiphase.errors import UserError

    settings = {**dict(zip(_SETTINGS, marker.args, strict=False)), **marker.kwargs}
    if unknown := [name for name in settings if name not in _SETTINGS]:
        raise UserError(f"the marker takes no '{unknown[0]}'", remedy=f"choose from: {', '.join(_SETTINGS)}")
    return settings


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """A marked test runs with antiphase as Triton's device; its launches are judged when it has ended."""
    marker = item.get_closest_marker("antiphase_check")
    if marker is None:
        return (yield)
    from antiphase.checking import Options, Watch
    from antiphase.checks import load_suppressions, suppress, together
    from antiphase.frontends import triton_on_cpu

    with contextlib.ExitStack() as stack:
        with _in_one_line():
            settings = _settings(marker)
            file, target = settings.pop("suppress", None), settings.pop("target", "gfx942")
            allowed = load_suppressions(file) if file is not None else []
            watch = Watch(Options(settings.pop("only", None), **settings))
            session = stack.enter_context(triton_on_cpu(target, watch.options.run))
        session.on_launch, session.on_failure = watch.launched, watch.failed
        outcome = yield
    if not watch.parts:
        pytest.fail("antiphase_check: the test launched no Triton kernel", pytrace=False)
    _judged(suppress(together(watch.parts), allowed))
    return outcome

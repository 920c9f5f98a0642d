"""The demonstration, run once a target in each test process."""

from __future__ import annotations

from functools import cache

import pytest

pytest.importorskip("triton")

from antiphase.demo import Demo, demonstrate

TARGETS = pytest.mark.parametrize("target", ["gfx942", "gfx950"])


@cache
def demo_of(target: str) -> Demo:
    return demonstrate(target)

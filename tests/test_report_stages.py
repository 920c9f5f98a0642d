"""The stage strip, as a terminal without colour shows it."""

from __future__ import annotations

import io

import pytest
from demo_runs import TARGETS, demo_of
from rich.console import Console
from syrupy.assertion import SnapshotAssertion

from antiphase.report.stages import print_stage_strip


def strip(target: str, width: int, **console: object) -> str:
    demo, file = demo_of(target), io.StringIO()
    print_stage_strip(demo.timeline, demo.gemm.stages, Console(file=file, width=width, **console))  # type: ignore[arg-type]
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


@TARGETS
def test_strip_in_80_columns(target: str, snapshot: SnapshotAssertion) -> None:
    assert strip(target, 80, color_system=None) == snapshot


@TARGETS
@pytest.mark.parametrize("width", [30, 60, 80, 160])
def test_no_line_is_wider_than_the_terminal(target: str, width: int) -> None:
    assert max(map(len, strip(target, width, color_system=None).splitlines())) <= width


def test_a_terminal_wide_enough_shows_every_interval() -> None:
    shown = strip("gfx950", 160, color_system=None)
    assert "24 intervals from 15 to 39" in shown
    assert "⋯" not in strip("gfx950", 560, color_system=None)


def test_colours_tell_the_kinds_apart() -> None:
    shown = strip("gfx942", 80, color_system="standard", force_terminal=True)
    assert "\x1b[1;37;45m■mfma 0" in shown
    assert "\x1b[30;46m□read 0" in shown

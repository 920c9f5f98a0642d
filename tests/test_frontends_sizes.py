"""The numbers of a launch: integers of any library, in the range that a dispatch holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import triton

from antiphase.errors import UserError
from antiphase.frontends import Compiled, compile_kernel, launch_asm
from antiphase.frontends._sizes import check_grid, sides, whole

ONE = (1, 1, 1)


@triton.jit
def nothing():
    pass


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    return compile_kernel(nothing, {}, num_warps=4)


@pytest.mark.parametrize("given", [4, (4,), [4, 1], np.int64(4), np.array(4), np.array([4, 1, 1]), (np.uint8(4), 1)])
def test_sizes(given: Any) -> None:
    assert sides(given, "grid", "workgroups") == (4, 1, 1)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (4.0, r"grid 4\.0 is not made of integers; give one to three numbers of workgroups"),
        (None, "grid None is not made of integers"),
        ("4", "grid '4' is not made of integers"),
        ((True,), "not made of integers"),
        (np.array(4.0), "not made of integers"),
        ([4, [1]], "not made of integers"),
        (lambda meta: (4,), "not made of integers"),
        ((), "grid has 0 dimensions"),
        (range(4), "grid has 4 dimensions"),
        ((-1, -1), r"grid \(-1, -1\) has no workgroups; every dimension must be at least 1"),
    ],
)
def test_what_is_no_size(given: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        sides(given, "grid", "workgroups")


def test_a_packet_has_32_bits_for_work_items() -> None:
    check_grid(((1 << 24) - 1, 1, 1), (256, 1, 1), ONE, "gfx942", "k.s")
    for grid, axis in (((1 << 24, 1, 1), "x"), (((1 << 32) + 1, 1, 1), "x"), ((1, 1, 1 << 32), "z")):
        with pytest.raises(UserError, match=rf"k\.s: grid .* work-items in {axis}, and a dispatch holds 4,294,967,295"):
            check_grid(grid, (256, 1, 1), ONE, "gfx942", "k.s")


def test_gfx12_has_16_bits_for_the_numbers_of_workgroups_in_y_and_z() -> None:
    check_grid((1 << 20, 1 << 16, 1 << 16), ONE, ONE, "gfx1201", "k.s")
    check_grid((1, 1 << 20, 1), ONE, ONE, "gfx1100", "k.s")
    check_grid((1, 1 << 17, 1), ONE, (1, 2, 1), "gfx1250", "k.s")
    for grid in ((1, (1 << 16) + 1, 1), (1, 1, 1 << 20)):
        with pytest.raises(UserError, match="65,536 workgroups in y or z, whose numbers gfx1201 keeps in 16 bits; put"):
            check_grid(grid, ONE, ONE, "gfx1201", "k.s")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"grid": (1 << 32) + 1}, "work-items in x"),
        ({"grid": None}, "grid None"),
        ({"target": 942}, "target is 942; give its name, such as 'gfx942'"),
        ({"lds_bytes": "64"}, "lds_bytes is '64'; give the bytes of dynamic LDS, a whole number of at least 0"),
        ({"lds_bytes": 64.0}, r"lds_bytes is 64\.0"),
        ({"lds_bytes": 70_000}, "70000 bytes of LDS; a gfx942 workgroup has at most 65536"),
        ({"workers": 0}, "workers is 0; give host threads, a whole number of at least 1"),
        ({"workers": -3}, "workers is -3"),
        ({"max_instructions": -1}, "max_instructions is -1"),
        ({"max_instructions": 1e6}, r"max_instructions is 1000000\.0"),
        ({"recording_limit": -1}, "recording_limit is -1; give bytes"),
        ({"cluster": None}, "cluster None is not made of integers"),
        ({"cluster": (-1, -1, 1)}, r"cluster \(-1, -1, 1\) has no workgroups"),
        ({"cluster": (2, 1, 1)}, "only gfx1250 has clusters"),
        ({"progress": 5}, "progress is 5; give a function"),
        ({"threads": 64}, r"of \(64, 1, 1\) work-items; kernel nothing is compiled for 256, in 4 waves of 64; leave"),
        ({"threads": (16, 16)}, r"of \(16, 16, 1\) work-items; kernel nothing is compiled for 256"),
        ({"threads": 64.0}, r"threads 64\.0 is not made of integers"),
    ],
)
def test_options_that_are_refused(compiled: Compiled, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        launch_asm(compiled, **{"grid": 1, "args": [], **options})
    assert "\n" not in str(caught.value)


def test_the_threads_it_is_compiled_for(compiled: Compiled) -> None:
    assert not launch_asm(compiled, grid=1, args=[], threads=(256, 1), cluster=1, workers=2, lds_bytes=64).faults


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (None, "is of type NoneType; pass a path, a Program, or what antiphase.compile_kernel made"),
        (nothing, "is of type JITFunction"),
        (b"k.s", "is of type bytes"),
        ("\t.text\n", r"the source is text, not the path of a file; pass antiphase\.parse\(text\)"),
        ("k\0.s", "is text, not the path"),
    ],
)
def test_what_cannot_be_launched(source: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        launch_asm(source, grid=1, args=[])


def test_whole_numbers() -> None:
    assert whole(np.int16(3), "workers", 1, "threads") == 3
    with pytest.raises(UserError, match="workers is True"):
        whole(True, "workers", 1, "threads")

"""The numbers of a launch: whole ones, positive ones, and what a dispatch can hold of them."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from antiphase.errors import UserError
from antiphase.frontends._launch import Grid
from antiphase.isa import generation

_WORK_ITEMS = (1 << 32) - 1
_IDS = 1 << 16


def sides(given: Any, what: str, of: str) -> Grid:
    """One to three positive integers as three, of `what` ('grid') in numbers `of` something ('workgroups')."""
    several = isinstance(given, Sequence) or (isinstance(given, np.ndarray) and given.ndim > 0)
    counts: tuple[Any, ...] = tuple(given) if several and not isinstance(given, str | bytes) else (given,)
    if not 1 <= len(counts) <= 3:
        raise UserError(f"{what} has {len(counts)} dimensions", remedy=f"give one to three numbers of {of}")
    numbers = [number for count in counts if (number := integer(count)) is not None]
    if len(numbers) < len(counts):
        raise UserError(f"{what} {given!r} is not made of integers", remedy=f"give one to three numbers of {of}")
    if min(numbers) < 1:
        raise UserError(f"{what} {tuple(numbers)} has no {of}", remedy="every dimension must be at least 1")
    x, y, z = (*numbers, 1, 1)[:3]
    return x, y, z


def integer(value: Any) -> int | None:
    """The value of an integer of any library; None for everything else, bools too."""
    if isinstance(value, bool | np.bool_):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def whole(value: object, name: str, least: int, of: str) -> int:
    """An option that counts something; UserError unless it is an integer of at least `least`."""
    number = integer(value)
    if number is None or number < least:
        raise UserError(f"{name} is {value!r}", remedy=f"give {of}, a whole number of at least {least}")
    return number


def check_grid(grid: Grid, threads: Grid, cluster: Grid, target: str, where: str) -> None:
    """UserError for a grid that no dispatch can hold.

    A dispatch packet has 32 bits for the work-items of each dimension (HSA runtime specification 2.9.6, grid_size_x),
    and HIP refuses more (ROCm/rocm-systems, hip_launch_validation.hpp, kGridOverflow). GFX12 keeps y and z of the id of
    a workgroup or cluster in the halves of TTMP7 (llvm/test/CodeGen/AMDGPU/workgroup-id-in-arch-sgprs.ll).
    """
    for axis, groups, items in zip("xyz", grid, threads, strict=True):
        if groups * items > _WORK_ITEMS:
            raise UserError(
                f"grid {grid} has {groups * items:,} work-items in {axis}, and a dispatch holds {_WORK_ITEMS:,}",
                file=where,
                remedy="launch smaller grids one after the other",
            )
    if generation(target) in ("gfx12", "gfx1250") and max(grid[1] // cluster[1], grid[2] // cluster[2]) > _IDS:
        raise UserError(
            f"grid {grid} has more than {_IDS:,} workgroups in y or z, whose numbers {target} keeps in 16 bits",
            file=where,
            remedy="put the large dimension in x",
        )

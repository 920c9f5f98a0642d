"""`init`: whether any write of a group of waves can come before a read of the same unit of memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from antiphase.checks.order import Group

_NEVER = np.iinfo(np.int64).max
Cells = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Units of memory, numbered from 0, and the accesses that touch them, row by row."""


def too_early(group: Group, reads: Cells, writes: Cells) -> NDArray[np.bool_]:
    """For each row of reads, whether no write of its unit can have come by then, in any interleaving.

    Writes of the same wave come in the order of its program; those of another may come if they are issued, counted in
    rendezvous, before the read is complete.
    """
    (unit, access), (written, writer) = reads, writes
    waves = int(group.wave.max()) + 1
    count = 1 + max(int(unit.max(initial=0)), int(written.max(initial=0)))
    own, issued = (np.full(count * waves, _NEVER) for _ in range(2))
    place = written * waves + group.wave[writer]
    np.minimum.at(own, place, group.operation[writer])
    np.minimum.at(issued, place, group.issued[writer])
    wave = group.wave[access]
    by_itself = own[unit * waves + wave] < group.operation[access]
    return ~by_itself & (_of_others(issued.reshape(count, waves))[unit, wave] > group.complete[access])


def _of_others(issued: NDArray[np.int64]) -> NDArray[np.int64]:
    """By unit and wave, the least value of all other waves."""
    units = np.arange(len(issued))
    first = issued.argmin(axis=1)
    least = issued[units, first]
    rest = issued.copy()
    rest[units, first] = _NEVER
    others = np.repeat(least[:, None], issued.shape[1], axis=1)
    others[units, first] = rest.min(axis=1)
    return others

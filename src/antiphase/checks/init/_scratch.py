"""`init`: private memory read by lanes that have not written it.

A lane that was off at a spill may be on at the reload, and gets there what it does not use. So only reads are told of
which no lane has written any byte before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antiphase.asm import Kernel
from antiphase.checks._finding import Finding, Site
from antiphase.checks.order import PRIVATE_APERTURE
from antiphase.isa import Memory, find
from antiphase.machine import Recording, WaveTrace

_OFFSET = np.uint64(0xFFFFFFFF)


@dataclass(frozen=True, slots=True, eq=False)
class _Kinds:
    """By instruction: whether it may access private memory, is FLAT, reads it, and the bytes a lane."""

    private: NDArray[np.bool_]
    flat: NDArray[np.bool_]
    reads: NDArray[np.bool_]
    size: NDArray[np.int64]


def scratch_findings(recording: Recording) -> Iterator[Finding]:
    """Findings of a launch, by instruction; count is reads by waves."""
    kinds = _kinds(recording.program.kernel(recording.kernel), recording.program.target)
    found: dict[int, list[tuple[int, int, int, int]]] = {}
    for trace in recording.waves if kinds.private.any() else ():
        for instruction, byte in _unwritten(trace, kinds):
            seen = (trace.workgroup, trace.wave, byte, int(kinds.size[instruction]))
            found.setdefault(instruction, []).append(seen)
    for instruction, seen in sorted(found.items()):
        workgroup, wave, byte, size = seen[0]
        facts = {"first_byte": byte, "unwritten_bytes": size, "workgroup": workgroup, "wave": wave}
        waves = tuple(sorted({w for _, w, _, _ in seen}))
        site = Site(instruction, "read", waves)
        yield Finding("init", "scratch_never_written", "error", (site,), facts, None, len(seen))


def _kinds(kernel: Kernel, target: str) -> _Kinds:
    records = [find(i.mnemonic, target) for i in kernel.instructions]
    memory = [r if isinstance(r, Memory) and r.space in ("scratch", "flat") else None for r in records]
    has_private = kernel.metadata.private_segment_fixed_size > 0
    return _Kinds(
        np.array([r is not None and r.access != "cache" and has_private for r in memory], bool),
        np.array([r is not None and r.space == "flat" for r in memory], bool),
        np.array([r is not None and r.access != "store" for r in memory], bool),
        np.array([0 if r is None else r.bits // 8 for r in memory], np.int64),
    )


def _unwritten(trace: WaveTrace, kinds: _Kinds) -> Iterator[tuple[int, int]]:
    """(instruction, first byte) of reads of bytes that no lane has written."""
    events = trace.memory()
    events = events[kinds.private[events["number"]]]
    number = events["number"].astype(np.int64)
    if not kinds.reads[number].any():
        return
    addresses = trace.addresses(events)
    lane = np.arange(addresses.shape[1], dtype=np.uint64)
    active = (events["exec"][:, None] >> lane & np.uint64(1)).astype(bool)
    windows = addresses >> np.uint64(32) & np.uint64(0xFFFFF)
    active &= ~kinds.flat[number][:, None] | (windows == PRIVATE_APERTURE)
    event, of_lane = np.nonzero(active)
    start = (of_lane.astype(np.int64) << 32) + (addresses & _OFFSET)[active].astype(np.int64)
    first = _first_write(start, event, number, kinds)
    early = first > event
    # a read is told if all its lanes are too early
    lanes, too_early = (np.bincount(event[chosen], minlength=len(events)) for chosen in (slice(None), early))
    for index in np.flatnonzero(kinds.reads[number] & (lanes > 0) & (lanes == too_early)).tolist():
        yield int(number[index]), int(start[np.searchsorted(event, index)] & 0xFFFFFFFF)


def _first_write(
    start: NDArray[np.int64], event: NDArray[np.int64], number: NDArray[np.int64], kinds: _Kinds
) -> NDArray[np.int64]:
    """For every access of a lane, the first event that writes one of its bytes; beyond all events if none does."""
    size = kinds.size[number[event]]
    writes = ~kinds.reads[number[event]]
    repeated = np.repeat(np.arange(len(start)), size)
    byte = start[repeated] + np.arange(len(repeated)) - np.repeat(np.cumsum(size) - size, size)
    unique, place = np.unique(byte, return_inverse=True)
    earliest = np.full(len(unique), len(number), np.int64)
    np.minimum.at(earliest, place[writes[repeated]], event[repeated][writes[repeated]])
    first = np.full(len(start), len(number), np.int64)
    np.minimum.at(first, repeated, earliest[place])
    return first

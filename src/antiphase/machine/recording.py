"""What a launch did, wave by wave: executed blocks; addresses and EXEC of memory, wait and barrier instructions."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from antiphase import asm
from antiphase.errors import UserError
from antiphase.machine import _layout as at
from antiphase.machine.waves import _events

EVENT_TYPE = np.dtype([("kind", "u4"), ("number", "u4"), ("exec", "u8"), ("base", "u8"), ("row", "u8")])
"""kind: one of the constants below. number: block index for BLOCK, else instruction index. exec: EXEC, for memory the
lanes that access. base of a barrier: what `WaveTrace.barriers` reads;
of an ORDER event, which follows those of an atomic: its number in the order of all atomics of the launch.
of a SIZE event, which follows that of an access in a format: the bytes each lane accesses.
base, row: a memory event's addresses are base + rows[row] (for MEMORY_WIDE, rows[row + 1] holds bits 63:32); events
with the same pattern of addresses may share a row."""

BLOCK, MEMORY, MEMORY_WIDE, SYNC = _events.BLOCK, _events.MEMORY, _events.MEMORY_WIDE, _events.SYNC
ORDER, SIZE = _events.ORDER, _events.SIZE
_FORMAT = 2
_FIXED_BARRIERS = np.array([-1, -3])


class _Arrays:
    """Records of arrays and numbers: equal where all of them are."""

    __slots__ = ()
    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        names = [field.name for field in fields(self)]  # pyright: ignore[reportArgumentType]
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BarrierEvents(_Arrays):
    """Barriers that a wave met, in order; arrays over its events.

    instruction: index in the kernel. number: -1 the workgroup's, -3 the cluster's, 0 to 16 named ones. members, phase:
    of the barrier just then: arrivals that complete it, and how often it was completed before.
    """

    instruction: NDArray[np.int64]
    number: NDArray[np.int64]
    members: NDArray[np.int64]
    phase: NDArray[np.int64]

    def __repr__(self) -> str:
        return f"<BarrierEvents events={len(self.instruction)}>"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WaveTrace(_Arrays):
    """One wave's events in program order, and its rows of address offsets (rows x lanes, u32)."""

    workgroup: int
    wave: int
    events: NDArray
    rows: NDArray[np.uint32]

    def __repr__(self) -> str:
        return f"<WaveTrace workgroup={self.workgroup} wave={self.wave} events={len(self.events)}>"

    def blocks(self) -> NDArray[np.uint32]:
        """Indices of the executed blocks, in order."""
        return self.events["number"][self.events["kind"] == BLOCK]

    def memory(self) -> NDArray:
        """Events of memory instructions. One with two offsets has two, a load to LDS one each for memory and LDS."""
        kind = self.events["kind"]
        return self.events[(kind == MEMORY) | (kind == MEMORY_WIDE)]

    def barriers(self, instructions: Collection[int]) -> BarrierEvents:
        """The events of barrier instructions, which are those given."""
        chosen = (self.events["kind"] == SYNC) & np.isin(self.events["number"], list(instructions))
        events = self.events[chosen]
        index = (events["base"] >> np.uint64(56)).astype(np.int64)
        number = np.where(index < at.NULL_BARRIER, _FIXED_BARRIERS[np.minimum(index, 1)], index - at.NULL_BARRIER)
        members = (events["base"] >> np.uint64(32) & np.uint64(0xFFFFFF)).astype(np.int64)
        phase = (events["base"] & np.uint64(0xFFFFFFFF)).astype(np.int64)
        return BarrierEvents(events["number"].astype(np.int64), number, members, phase)

    def addresses(self, events: NDArray) -> NDArray[np.uint64]:
        """Byte addresses, events x lanes; meaningful where the event's exec bit is set."""
        low = self.rows[events["row"].astype(np.int64)].astype(np.uint64)
        wide = events["kind"] == MEMORY_WIDE
        next_ = np.minimum(events["row"].astype(np.int64) + 1, len(self.rows) - 1)
        high = self.rows[next_].astype(np.uint64)
        negative = (low >> np.uint64(31)) * np.uint64(0xFFFFFFFF)
        offset = low | (np.where(wide[:, None], high, negative) << np.uint64(32))
        return events["base"][:, None] + offset


@dataclass(frozen=True, slots=True, repr=False)
class Recording:
    """All waves of a launch. program: the code that ran. workgroups are numbered x fastest.

    cluster: workgroups in x, y, z that ran together, as for `run`. host_memory: (first byte, one past the last) of what
    the host read and wrote at the same time: in which order is its own affair.
    """

    program: asm.Program
    kernel: str
    grid: tuple[int, int, int]
    waves_per_workgroup: int
    lanes: int
    waves: tuple[WaveTrace, ...]
    cluster: tuple[int, int, int] = (1, 1, 1)
    host_memory: tuple[tuple[int, int], ...] = ()

    def __repr__(self) -> str:
        events = sum(len(wave.events) for wave in self.waves)
        return (
            f"<Recording kernel={self.kernel!r} target={self.program.target!r} grid={self.grid} "
            f"waves={len(self.waves)} lanes={self.lanes} events={events}>"
        )

    def place(self, workgroup: int) -> tuple[int, int]:
        """The number of a workgroup's cluster, and the workgroup's place in it, both x fastest."""
        rest, cluster, place = workgroup, 0, 0
        across, inside = 1, 1
        for whole, side in zip(self.grid, self.cluster, strict=True):
            rest, at_ = divmod(rest, whole)
            cluster, place = cluster + at_ // side * across, place + at_ % side * inside
            across, inside = across * (whole // side), inside * side
        return cluster, place

    def of(self, workgroup: int) -> tuple[WaveTrace, ...]:
        """The waves of one workgroup, in order."""
        return tuple(w for w in self.waves if w.workgroup == workgroup)

    def instructions(self, trace: WaveTrace) -> Iterator[tuple[int, int]]:
        """(first, end) instruction ranges a wave executed, in order."""
        blocks = self.program.kernel(self.kernel).blocks
        for number in trace.blocks():
            yield blocks[number].start, blocks[number].end

    def save(self, path: str | Path) -> None:
        """Write one file; `load` reads it back. UserError if it cannot be written."""
        header = {
            "format": _FORMAT, "name": self.program.name, "target": self.program.target, "kernel": self.kernel,
            "grid": self.grid, "waves_per_workgroup": self.waves_per_workgroup, "lanes": self.lanes,
            "cluster": self.cluster, "host_memory": self.host_memory,
        }  # fmt: skip
        lengths = [(w.workgroup, w.wave, len(w.events), len(w.rows)) for w in self.waves]
        try:
            with open(path, "wb") as file:
                np.savez_compressed(
                    file,
                    header=np.frombuffer(json.dumps(header).encode(), np.uint8),
                    text=np.frombuffer(self.program.text().encode(), np.uint8),
                    lengths=np.array(lengths, np.int64).reshape(-1, 4),
                    events=_joined([w.events for w in self.waves], EVENT_TYPE, (0,)),
                    rows=_joined([w.rows for w in self.waves], np.dtype(np.uint32), (0, self.lanes)),
                )
        except OSError as error:
            raise UserError(
                f"cannot write the recording: {error.strerror}", file=str(path), remedy="choose another place"
            ) from error

    @classmethod
    def load(cls, path: str | Path) -> Recording:
        """Read a saved recording. UserError if the file is missing or is not one."""
        try:
            if not zipfile.is_zipfile(path):
                with open(path, "rb"):  # an OSError says why it cannot be read
                    raise ValueError("it is cut short or something else")
            with np.load(path) as file:
                header = json.loads(file["header"].tobytes())
                text, lengths = file["text"].tobytes().decode(), file["lengths"]
                events, rows = file["events"], file["rows"]
        except OSError as error:
            remedy = "check the path"
            raise UserError(f"cannot read: {error.strerror or error}", file=str(path), remedy=remedy) from error
        except (ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            raise UserError(f"not a recording: {error}", file=str(path), remedy="record the launch again") from error
        if header.get("format") != _FORMAT:
            raise UserError(
                f"recording format {header.get('format')}", file=str(path), remedy="record the launch again"
            )
        waves, e, r = [], 0, 0
        for workgroup, wave, n_events, n_rows in lengths.tolist():
            waves.append(WaveTrace(workgroup, wave, events[e : e + n_events], rows[r : r + n_rows]))
            e, r = e + n_events, r + n_rows
        program = asm.parse(text, header["name"], header["target"])
        grid, cluster = (tuple(header[name]) for name in ("grid", "cluster"))
        per_group, lanes = header["waves_per_workgroup"], header["lanes"]
        host = tuple((first, end) for first, end in header.get("host_memory", ()))
        return cls(program, header["kernel"], grid, per_group, lanes, tuple(waves), cluster, host)


def _joined(parts: Sequence[NDArray], dtype: np.dtype, shape: tuple[int, ...]) -> NDArray:
    return np.concatenate(parts) if parts else np.empty(shape, dtype)

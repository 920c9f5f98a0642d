"""Which bytes of LDS and of global memory each executed memory instruction touched, from a recording's events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from antiphase.asm import Instruction, Kernel
from antiphase.checks.order._steps import Path
from antiphase.checks.order._tensor import tiles
from antiphase.isa import Memory, find, generation
from antiphase.machine import WaveTrace
from antiphase.machine.recording import BLOCK, MEMORY, MEMORY_WIDE, SIZE

READ, WRITE, ATOMIC = 1, 2, 4
"""Kinds of access, as bits."""
ENGINES = 6
DS, DMA, ASYNC_LOAD, ASYNC_STORE, TENSOR, VECTOR = range(ENGINES)
"""Engines: the accesses of one wave to LDS are in order within one of them, but for asynchronous loads."""
_NONE, _LDS, _GLOBAL, _FLAT, _TENSOR = range(5)
SHARED_APERTURE, PRIVATE_APERTURE = 0x0001_0000, 0x0002_0000
"""Bits 63:32 of FLAT addresses that mean LDS or private memory: where the machine puts them."""
LDS_BYTES = 1 << 24
"""More than any LDS has: the places of a cluster's workgroups lie that far apart."""


@dataclass(frozen=True, slots=True, eq=False)
class Touched:
    """Runs of bytes one after the other: start, size and the access each belongs to.

    An access is 2 * n + 1 for the LDS lanes of a FLAT operation n, else 2 * n; n counts a path's operations.
    """

    start: NDArray[np.int64]
    size: NDArray[np.int64]
    access: NDArray[np.int64]
    kind: NDArray[np.int64]
    engine: NDArray[np.int64]

    def in_member(self, member: int) -> Touched:
        """The bytes as those of the LDS of one of a cluster's workgroups."""
        return replace(self, start=self.start + member * LDS_BYTES) if member else self

    def moved(self, base: int) -> Touched:
        """The same with access numbers that begin at `base`."""
        return replace(self, access=self.access + base)

    def of(self, chosen: NDArray[np.bool_]) -> Touched:
        """Some of the runs."""
        return Touched(
            self.start[chosen], self.size[chosen], self.access[chosen], self.kind[chosen], self.engine[chosen]
        )

    @classmethod
    def joined(cls, parts: Iterable[Touched]) -> Touched:
        """All of them, in order."""
        rows = [(p.start, p.size, p.access, p.kind, p.engine) for p in parts]
        if not rows:
            return cls(*(np.empty(0, np.int64) for _ in range(5)))
        return cls(*map(np.concatenate, zip(*rows, strict=True)))


class Accesses:
    """Per instruction of a kernel: space, kind, bytes and engine of each of its recorded events."""

    def __init__(self, kernel: Kernel, target: str) -> None:
        count = len(kernel.instructions)
        self.space, self.kind, self.size, self.engine = (np.zeros((count, 2), np.int64) for _ in range(4))
        for index, instruction in enumerate(kernel.instructions):
            record = find(instruction.mnemonic, target)
            if isinstance(record, Memory):
                for nth, row in enumerate(_parts(instruction, record, generation(target))):
                    for array, value in zip((self.space, self.kind, self.size, self.engine), row, strict=True):
                        array[index, nth] = value

    def of(self, trace: WaveTrace, path: Path, rank: NDArray[np.int64], member: int = 0) -> tuple[Touched, Touched]:
        """What one wave touched in LDS and in global memory. member: its workgroup's place in the cluster; the LDS of
        each workgroup lies `LDS_BYTES` behind that of the one before."""
        kind = trace.events["kind"]
        blocks = np.cumsum(kind == BLOCK) - 1
        chosen = np.flatnonzero((kind == MEMORY) | (kind == MEMORY_WIDE))
        events = trace.events[chosen]
        number = events["number"].astype(np.int64)
        operation = path.starts[blocks[chosen]] + rank[number]
        nth = _number_in_run(operation)
        sizes = _stated(trace.events, chosen, self.size[number, nth])
        in_lds, in_memory = list[Touched](), list[Touched]()
        for space, size in _distinct(self.space[number, nth], sizes):
            mine = (self.space[number, nth] == space) & (sizes == size)
            part = _Part(trace, events[mine], operation[mine], self.kind[number, nth][mine], size)
            engine = self.engine[number, nth][mine]
            if space == _LDS:
                in_lds.append(part.touched(engine, lds=True))
            elif space == _GLOBAL:
                in_memory.append(part.touched(engine))
            elif space == _FLAT:
                in_memory.append(part.touched(engine, aperture=None))
                in_lds.append(part.touched(engine, lds=True, aperture=SHARED_APERTURE))
            elif space == _TENSOR:
                lds, memory = part.tensor()
                in_lds.append(lds)
                in_memory.append(memory)
        return Touched.joined(in_lds).in_member(member), Touched.joined(in_memory)


def _parts(instruction: Instruction, record: Memory, generation_: str) -> list[tuple[int, int, int, int]]:
    """(space, kind, bytes a lane, engine) of the events that one execution records."""
    if record.lanes is not None or record.access in ("cache", "clock") or record.space == "scratch":
        return []
    if record.space == "smem" and record.access == "load":
        return []
    kind = {"load": READ, "store": WRITE}.get(record.access, ATOMIC)
    size = record.bits // 8
    if record.space == "tensor":
        return [(_TENSOR, READ if record.access == "load" else WRITE, 0, TENSOR)]
    if record.space == "direct":
        return [(_LDS, READ, 4, DS)]
    if record.space == "ds":
        return [(_LDS, kind, size, ASYNC_LOAD if record.asynchronous else DS)] * record.count
    if record.asynchronous:
        if record.access == "load":
            return [(_GLOBAL, READ, size, ASYNC_LOAD), (_LDS, WRITE, size, ASYNC_LOAD)]
        return [(_LDS, READ, size, ASYNC_STORE), (_GLOBAL, WRITE, size, ASYNC_STORE)]
    if record.to_lds or instruction.modifier("lds"):
        # a narrow load is widened to a dword on its way to LDS
        return [(_GLOBAL, READ, size, DMA), (_LDS, WRITE, max(4, size), DMA)]
    # of more than two places all but the first are as the second; a buffer's may be the dwords of lanes partly in range
    places = 2 if record.space == "buffer" else min(2, record.count)
    return [(_FLAT if record.space == "flat" else _GLOBAL, kind, size, VECTOR)] * places


def _stated(events: NDArray, chosen: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The bytes a lane of the chosen events: what a SIZE event just behind says, else what is given."""
    behind = events[np.minimum(chosen + 1, len(events) - 1)]
    return np.where(behind["kind"] == SIZE, behind["base"].astype(np.int64), sizes)


def _number_in_run(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """0, 1, ... for the first, second, ... of equal neighbours."""
    if not len(values):
        return values
    first = np.r_[True, values[1:] != values[:-1]]
    at = np.arange(len(values))
    return np.minimum(at - np.maximum.accumulate(np.where(first, at, 0)), 1)


def _distinct(*columns: NDArray[np.int64]) -> Iterator[tuple[int, ...]]:
    yield from map(tuple, np.unique(np.stack(columns, 1), axis=0).tolist())


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """Events of one wave that share space and size."""

    trace: WaveTrace
    events: NDArray
    operation: NDArray[np.int64]
    kind: NDArray[np.int64]
    size: int

    def touched(self, engine: NDArray[np.int64], lds: bool = False, aperture: int | None = -1) -> Touched:
        """The bytes of the active lanes. aperture: of FLAT addresses, the one meant, None for global memory."""
        addresses = self.trace.addresses(self.events)
        lane = np.arange(addresses.shape[1], dtype=np.uint64)
        active = (self.events["exec"][:, None] >> lane & np.uint64(1)).astype(bool)
        if aperture != -1:
            window = addresses >> np.uint64(32)
            private = (window & np.uint64(0xFFFFF)) == PRIVATE_APERTURE
            active &= (window == aperture) if aperture else ~private & (window != SHARED_APERTURE)
        if lds:
            addresses = addresses & np.uint64(0xFFFFFFFF)
            active &= addresses < LDS_BYTES
        row = np.nonzero(active)[0]
        start = addresses[active].astype(np.int64)
        access = 2 * self.operation[row] + int(aperture == SHARED_APERTURE)
        return Touched(start, np.full(len(start), self.size, np.int64), access, self.kind[row], engine[row])

    def tensor(self) -> tuple[Touched, Touched]:
        """LDS and memory of transfers by descriptor."""
        words = self.trace.addresses(self.events)
        lds, memory = list[Touched](), list[Touched]()
        for row, operation, kind in zip(words.tolist(), self.operation.tolist(), self.kind.tolist(), strict=True):
            tile = tiles(row, load=kind == READ)
            lds.append(_runs(tile.lds, tile.lds_sizes, operation, WRITE if kind == READ else READ))
            memory.append(_runs(tile.memory, tile.memory_sizes, operation, kind))
        return Touched.joined(lds), Touched.joined(memory)


def _runs(start: NDArray[np.int64], size: NDArray[np.int64], operation: int, kind: int) -> Touched:
    n = len(start)
    return Touched(start, size, *(np.full(n, value, np.int64) for value in (2 * operation, kind, TENSOR)))

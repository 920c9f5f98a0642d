"""The waves of a recorded workgroup together: when each did what to which bytes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antiphase.checks._race_bytes import Accesses, Touched
from antiphase.checks._race_order import Path, Steps
from antiphase.machine import Recording, WaveTrace


@dataclass(frozen=True, slots=True)
class Group:
    """The waves of one workgroup: their paths by wave, and what they touched.

    Arrays are over access numbers, which count through the workgroup, two an operation, waves in order.
    """

    number: int
    paths: dict[int, Path]
    lds: Touched
    memory: Touched
    wave: NDArray[np.int64]
    operation: NDArray[np.int64]
    issued: NDArray[np.int64]
    arrived: NDArray[np.int64]
    complete: NDArray[np.int64]
    since: NDArray[np.int64]
    done: NDArray[np.int64]

    def instructions(self) -> NDArray[np.int64]:
        """The instruction of every access."""
        return np.concatenate([np.repeat(path.instruction, 2) for path in self.paths.values()])

    def instruction(self, access: int) -> int:
        """The instruction of an access."""
        return int(self.paths[int(self.wave[access])].instruction[self.operation[access]])


def groups(recording: Recording, steps: Steps) -> Iterator[Group]:
    """The workgroups of a recording. Waves that took the same blocks share a path."""
    kernel = recording.program.kernel(recording.kernel)
    accesses = Accesses(kernel, recording.program.target)
    known: dict[bytes, Path] = {}
    for number, traces in itertools.groupby(recording.waves, lambda trace: trace.workgroup):
        yield _group(number, list(traces), steps, accesses, known)


def _group(number: int, traces: list[WaveTrace], steps: Steps, accesses: Accesses, known: dict[bytes, Path]) -> Group:
    paths, lds, memory = dict[int, Path](), list[Touched](), list[Touched]()
    base = 0
    for trace in traces:
        blocks = trace.blocks()
        key = blocks.tobytes()
        if key not in known:
            known[key] = steps.path(blocks.tolist())
        path = known[key]
        for parts, touched in zip((lds, memory), accesses.of(trace, path, steps.rank), strict=True):
            parts.append(touched.moved(base))
        paths[trace.wave] = path
        base += 2 * len(path.instruction)
    all_ = list(paths.values())
    twos = [2 * len(path.instruction) for path in all_]
    return Group(
        number, paths, Touched.joined(lds), Touched.joined(memory),
        np.repeat(np.array(list(paths), np.int64), twos),
        np.concatenate([np.repeat(np.arange(len(p.instruction)), 2) for p in all_]),
        np.concatenate([np.repeat(p.issued, 2) for p in all_]),
        np.concatenate([np.repeat(p.arrived, 2) for p in all_]),
        np.concatenate([p.complete.ravel() for p in all_]),
        np.concatenate([np.repeat(p.since, 2) for p in all_]),
        np.concatenate([p.done.ravel() for p in all_]),
    )  # fmt: skip

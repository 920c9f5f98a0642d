"""What a benchmark is given."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Settings:
    """Choices of the command line, and what benchmarks share.

    runs: repetitions. target: of the Triton GEMM. full: M, N and K of the MI300X launch.
    tinygrad: a checkout of tinygrad, or None. folder: for kernels and caches of this run.
    show: progress, as text, done and total. notes: sentences for below the table.
    """

    runs: int
    target: str
    full: tuple[int, int, int]
    tinygrad: str | None
    folder: Path
    show: Callable[[str, int, int], None]
    notes: list[str] = field(default_factory=list)

    @property
    def core(self) -> int:
        """The core that what takes one core runs on."""
        return min(os.sched_getaffinity(0))

    def fresh(self, name: str) -> Path:
        """A folder inside `folder` that does not exist yet."""
        number = sum(1 for _ in self.folder.glob(f"{name}-*"))
        path = self.folder / f"{name}-{number}"
        path.mkdir()
        return path

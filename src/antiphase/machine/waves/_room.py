"""Room for what launches record: a loop without end would take all memory."""

from __future__ import annotations

import os
import resource
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

MOST = 2 << 30
"""Bytes a launch records unless told otherwise: what the checks make of them takes some times as much."""
_SHARE = 4
_CGROUP = Path("/sys/fs/cgroup")


def default_limit() -> int:
    """Bytes that a launch may record: a quarter of the memory that is free now, and at most MOST."""
    return min(MOST, free_memory() // _SHARE)


def free_memory() -> int:
    """Bytes that this process may still take."""
    return min(_free())


def _free() -> Iterator[int]:
    """The same, by each of those who have a say."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        yield next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        most, now = ((_CGROUP / name).read_text().strip() for name in ("memory.max", "memory.current"))
        if most != "max":
            yield max(0, int(most) - int(now))
    except (OSError, ValueError):
        pass  # not in a container
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if soft != resource.RLIM_INFINITY:
        yield soft


@dataclass(slots=True)
class Room:
    """What the host threads of a launch have recorded so far, and the most they may; both in bytes."""

    limit: int
    taken: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, size: int) -> None:
        """Count bytes that were recorded."""
        with self._lock:
            self.taken += size

    @property
    def full(self) -> bool:
        return self.taken > self.limit

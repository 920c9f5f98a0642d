"""`init` of a launch: bytes of LDS, of private memory and of global memory read that nothing has written by then."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from antiphase.checks._finding import Finding, Site
from antiphase.checks.init._global import GlobalReads
from antiphase.checks.init._order import too_early
from antiphase.checks.init._scratch import scratch_findings
from antiphase.checks.order import LDS_BYTES, READ, Group, Steps, clusters, distinct, grain, spread
from antiphase.machine import Execution


def check_init(execution: Execution) -> list[Finding]:
    """By instruction, with the number of reads. LDS and global memory: in all interleavings; private memory: by lane.

    Of global memory only what is known to hold nothing is looked at: arrays of `antiphase.empty` and the like.
    """
    recording = execution.recording
    assert recording is not None
    kernel = recording.program.kernel(recording.kernel)
    found: dict[int, list[tuple[int, int, int, int]]] = {}
    reads = GlobalReads(execution)
    for group in clusters(recording, Steps(recording.program, kernel)):
        for access, byte, size in _unwritten(group):
            wave = int(group.wave[access]) % group.per_member
            seen = (group.workgroup(access), wave, byte % LDS_BYTES, size)
            found.setdefault(group.instruction(access), []).append(seen)
        reads.add(group)
    in_lds = [_read_too_early(instruction, seen) for instruction, seen in sorted(found.items())]
    return [*in_lds, *scratch_findings(recording), *reads.findings()]


def _unwritten(group: Group) -> Iterator[tuple[int, int, int]]:
    """(access, first byte, bytes) of reads with bytes that no write can have reached before they are complete."""
    touched = group.lds
    if not len(touched.start):
        return
    size = grain(touched)
    unit, access, kind = spread(touched, size)
    reads = (kind & READ) != 0
    # the LDS of a cluster's workgroups lies far apart
    place = np.unique(unit, return_inverse=True)[1] if len(group.members) > 1 else unit
    told = too_early(group, (place[reads], access[reads]), (place[~reads], access[~reads]))
    early = np.flatnonzero(reads)[told]
    units = int(unit.max()) + 1
    key = distinct(access[early] * units + unit[early])
    starts = np.flatnonzero(np.r_[True, np.diff(key // units) != 0]) if len(key) else key
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(key)], strict=False):
        yield int(key[start] // units), int(key[start] % units) * size, (end - start) * size


def _read_too_early(instruction: int, seen: list[tuple[int, int, int, int]]) -> Finding:
    workgroup, wave, byte, size = seen[0]
    waves = tuple(sorted({w for _, w, _, _ in seen}))
    facts = {"space": "lds", "first_byte": byte, "unwritten_bytes": size, "workgroup": workgroup, "wave": wave}
    return Finding("init", "lds_never_written", "error", (Site(instruction, "read", waves),), facts, None, len(seen))

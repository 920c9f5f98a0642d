"""`init`: LDS read that nothing has written by then. `mem`: accesses that the machine refused."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from antiphase.checks._finding import Checked, Finding, Site
from antiphase.checks._race_bytes import READ
from antiphase.checks._race_group import Group, groups
from antiphase.checks._race_order import Steps
from antiphase.checks._race_overlap import distinct, grain, spread
from antiphase.machine import Execution, Recording
from antiphase.machine.fault_tally import FaultGroup, FaultTally

_RULES = {
    "read": "read_outside_memory", "write": "write_outside_memory", "lds": "outside_lds",
    "scratch": "outside_scratch", "exec": "lanes_inactive",
}  # fmt: skip


def check_init(recording: Recording) -> list[Finding]:
    """LDS bytes read that no wave wrote before, in any interleaving; by instruction, with the number of reads."""
    steps = Steps(recording.program, recording.program.kernel(recording.kernel))
    found: dict[int, list[tuple[int, int, int, int]]] = {}
    for group in groups(recording, steps):
        for access, byte, size in _unwritten(group):
            seen = (group.number, int(group.wave[access]), byte, size)
            found.setdefault(group.instruction(access), []).append(seen)
    return [_read_too_early(instruction, seen) for instruction, seen in sorted(found.items())]


def _unwritten(group: Group) -> Iterator[tuple[int, int, int]]:
    """(access, first byte, bytes) of reads with bytes that no write can have reached before they are complete."""
    touched = group.lds
    if not len(touched.start):
        return
    size = grain(touched)
    unit, access, kind = spread(touched, size)
    reads = (kind & READ) != 0
    written = np.full(int(unit.max()) + 1, np.iinfo(np.int64).max)
    np.minimum.at(written, unit[~reads], group.issued[access[~reads]])
    early = np.flatnonzero(reads & (written[unit] > group.complete[access]))
    key = distinct(access[early] * len(written) + unit[early])
    starts = np.flatnonzero(np.r_[True, np.diff(key // len(written)) != 0]) if len(key) else key
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(key)], strict=False):
        yield int(key[start] // len(written)), int(key[start] % len(written)) * size, (end - start) * size


def _read_too_early(instruction: int, seen: list[tuple[int, int, int, int]]) -> Finding:
    workgroup, wave, byte, size = seen[0]
    waves = tuple(sorted({w for _, w, _, _ in seen}))
    facts = {"space": "lds", "first_byte": byte, "unwritten_bytes": size, "workgroup": workgroup, "wave": wave}
    return Finding("init", "lds_never_written", "error", (Site(instruction, "read", waves),), facts, None, len(seen))


def check_memory(execution: Execution) -> Checked:
    """The machine's faults as findings, by instruction and kind; count is lanes."""
    tally = FaultTally.of([execution])
    notes = ()
    if tally.unkept:
        notes = (f"mem: {tally.unkept} more accesses went astray than were kept",)
    return Checked(tuple(_fault(group, execution) for group in tally.groups), notes)


def _fault(group: FaultGroup, execution: Execution) -> Finding:
    fault = group.first
    facts: dict[str, object] = {
        "address": fault.address, "bytes": fault.size, "workgroup": fault.workgroup, "wave": fault.wave,
        "lane": fault.lane,
    }  # fmt: skip
    if group.nearest is not None:
        nearest = group.nearest
        facts |= {"nearest": nearest.name, "nearest_at": nearest.address, "nearest_size": nearest.size}
    waves = {f.wave for f in execution.faults if (f.instruction, f.kind) == (fault.instruction, fault.kind)}
    site = Site(fault.instruction, "access", tuple(sorted(waves)))
    return Finding("mem", _RULES[fault.kind], "error", (site,), facts, None, group.count)

"""`mem`: accesses that the machine refused."""

from __future__ import annotations

from antiphase.checks._finding import Checked, Finding, Site
from antiphase.machine import Execution
from antiphase.machine.fault_tally import FaultGroup, FaultTally

_RULES = {
    "read": "read_outside_memory", "write": "write_outside_memory", "lds": "outside_lds",
    "scratch": "outside_scratch", "exec": "lanes_inactive",
}  # fmt: skip


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
    if fault.kind == "lds":
        facts["lds"] = execution.lds_bytes
    if group.nearest is not None:
        nearest = group.nearest
        facts |= {"nearest": nearest.name, "nearest_at": nearest.address, "nearest_size": nearest.size}
    waves = {f.wave for f in execution.faults if (f.instruction, f.kind) == (fault.instruction, fault.kind)}
    site = Site(fault.instruction, "access", tuple(sorted(waves)))
    return Finding("mem", _RULES[fault.kind], "error", (site,), facts, None, group.count)

"""Accesses that went astray, in words: a line for each instruction and kind of access."""

from __future__ import annotations

from antiphase.machine import Allocation, Execution, Fault
from antiphase.machine.fault_tally import FaultGroup, FaultTally
from antiphase.report._words import distance, times

_ACTIONS = {
    "read": "bad read of global memory",
    "write": "bad write to global memory",
    "lds": "bad access to LDS",
    "scratch": "bad access to private memory",
    "exec": "transposing load with some lanes inactive",
}


def fault_lines(tally: FaultTally) -> list[str]:
    """One line a group: source line, how often, instruction, first access, allocation nearest to it."""
    lines = [_line(group) for group in tally.groups]
    return [*lines, f"{tally.unkept:,} more accesses had no effect"] if tally.unkept else lines


def fault_warning(execution: Execution) -> str:
    """The faults of one launch in a line: how many, and the first instruction of those that made them."""
    tally = FaultTally.of([execution])
    first, *others = tally.groups
    if not others and not tally.unkept:
        return _line(first)
    count = times(execution.fault_count, "bad access")
    sites = times(len({one.first.instruction for one in tally.groups}), "instruction")
    return f"kernel {first.kernel}: {count}, by {'at least ' if tally.unkept else ''}{sites}; {_line(first)}"


def _line(group: FaultGroup) -> str:
    first, loc = group.first, group.instruction.loc
    where = f"{loc.file}:{loc.line}" if loc and loc.line else f"{group.program}:{group.instruction.line}"
    times = "once" if group.count == 1 else f"{group.count:,} times"
    x, y, z = first.workgroup
    if first.kind == "exec":
        what, place = f"{_ACTIONS['exec']}, {times}", f"EXEC {first.address:#x}"
    else:
        what = f"{_ACTIONS[first.kind]}, {times}, without effect"
        place = f"{first.size} bytes at {_place(group.nearest, first)}"
    return (
        f"{where}: {group.kernel}: {what}, by '{group.instruction.text()}'; first {place} "
        f"(workgroup {x},{y},{z}, wave {first.wave}, lane {first.lane})"
    )


def _place(nearest: Allocation | None, fault: Fault) -> str:
    if fault.kind in ("lds", "scratch"):
        return f"byte {fault.address:,}" + (", which is not aligned" if fault.address % fault.size else "")
    return f"{fault.address:#x}, " + ("no memory was given" if nearest is None else _distance(nearest, fault))


def _distance(allocation: Allocation, fault: Fault) -> str:
    name = f"'{allocation.name}' ({allocation.size:,} bytes)"
    place = distance(fault.address, allocation.address, allocation.size)
    if place != "in":
        return f"{place} {name}" if place else "near no allocation"
    if (over := fault.address + fault.size - (allocation.address + allocation.size)) > 0:
        return f"{over:,} of them past the end of {name}"
    return f"in {name}, " + ("which is not aligned" if allocation.writable else "which is read-only")

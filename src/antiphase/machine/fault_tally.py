"""The faults of one or more launches, gathered by instruction."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from antiphase.asm import Instruction
from antiphase.machine._launch import Execution
from antiphase.machine.memory import Allocation, Fault


@dataclass(frozen=True, slots=True)
class FaultGroup:
    """Faults of one instruction and one kind.

    program, kernel: names. first: the first of the faults, count: how many there were, a lane each.
    nearest: the allocation that lies nearest to the first one (its owner left out), None for LDS and scratch.
    """

    program: str
    kernel: str
    instruction: Instruction
    first: Fault
    count: int
    nearest: Allocation | None

    def __repr__(self) -> str:
        where = f"{self.program}:{self.instruction.line}"
        return f"<FaultGroup kernel={self.kernel!r} at={where!r} kind={self.first.kind!r} count={self.count}>"


@dataclass(slots=True)
class FaultTally:
    """Fault groups in the order of their first faults; unkept: faults that the launches only counted."""

    _groups: dict[tuple[str, str, int, str], FaultGroup] = field(default_factory=dict)
    unkept: int = 0

    def __repr__(self) -> str:
        faults = self.unkept + sum(group.count for group in self._groups.values())
        return f"<FaultTally groups={len(self._groups)} faults={faults}>"

    @classmethod
    def of(cls, executions: Iterable[Execution]) -> FaultTally:
        """The faults of these launches."""
        tally = cls()
        for execution in executions:
            tally.add(execution)
        return tally

    @property
    def groups(self) -> list[FaultGroup]:
        return list(self._groups.values())

    def __bool__(self) -> bool:
        return bool(self._groups or self.unkept)

    def add(self, execution: Execution) -> None:
        """Count the faults of one more launch; nothing of its memory is kept."""
        self.unkept += execution.fault_count - len(execution.faults)
        for fault in execution.faults:
            key = (execution.program.name, execution.kernel.name, fault.instruction, fault.kind)
            group = self._groups.get(key) or _group(execution, fault)
            self._groups[key] = replace(group, count=group.count + 1)


def _group(execution: Execution, fault: Fault) -> FaultGroup:
    nearest = execution.memory.nearest(fault.address) if fault.kind in ("read", "write") else None
    return FaultGroup(
        execution.program.name,
        execution.kernel.name,
        execution.kernel.instructions[fault.instruction],
        fault,
        0,
        nearest and replace(nearest, owner=None),
    )

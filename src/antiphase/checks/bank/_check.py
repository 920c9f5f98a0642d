"""`bank`: LDS instructions whose lanes meet in banks, so that their phases take more than one access each.

The lanes of an instruction are served in phases. A phase takes as many accesses as the bank with the most different
dwords needs. Only accesses whose phases were measured are judged.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antiphase.checks._finding import Finding, Site
from antiphase.checks.bank._phases import Phases, phases
from antiphase.isa import Memory, find
from antiphase.machine import Recording
from antiphase.machine.recording import MEMORY, MEMORY_WIDE


@dataclass(slots=True)
class _Cost:
    """Of one instruction: executions, accesses its phases took, and would take without conflicts; the worst phase and
    the distances from lane to lane in it."""

    executed: int = 0
    taken: int = 0
    least: int = 0
    ways: int = 0
    steps: tuple[int, ...] = ()


def check_banks(recording: Recording) -> list[Finding]:
    """LDS bank conflicts of a recorded launch by instruction, severity 'info'; count is the accesses they cost."""
    kernel = recording.program.kernel(recording.kernel)
    target = recording.program.target
    judged: dict[int, tuple[Phases, int]] = {}
    for index, instruction in enumerate(kernel.instructions):
        record = find(instruction.mnemonic, target)
        if isinstance(record, Memory) and record.space == "ds" and record.lanes is None:
            known = phases(target, record.access, record.bits, recording.lanes)
            if known is not None:
                judged[index] = known, record.bits
    costs: dict[int, _Cost] = {}
    for trace in recording.waves:
        kind, number = trace.events["kind"], trace.events["number"]
        memory = (kind == MEMORY) | (kind == MEMORY_WIDE)
        for index in np.intersect1d(number[memory], list(judged)).tolist():
            events = trace.events[memory & (number == index)]
            _add(costs.setdefault(index, _Cost()), trace.addresses(events), events["exec"], *judged[index])
    return [_finding(index, cost, *judged[index]) for index, cost in sorted(costs.items()) if cost.ways > 1]


def _add(cost: _Cost, addresses: NDArray[np.uint64], mask: NDArray[np.uint64], known: Phases, bits: int) -> None:
    lane = np.arange(addresses.shape[1], dtype=np.uint64)
    active = (mask[:, None] >> lane & np.uint64(1)).astype(bool)
    dword = (addresses & np.uint64(0xFFFFFFFF)).astype(np.int64) // 4
    cost.executed += len(addresses)
    for lanes in known.lanes:
        ways = _ways(dword[:, lanes], active[:, lanes], max(1, bits // 32), known.banks)
        cost.taken += int(ways.sum())
        cost.least += int((ways > 0).sum())
        worst = int(ways.argmax()) if len(ways) else 0
        if len(ways) and ways[worst] > cost.ways:
            cost.ways = int(ways[worst])
            cost.steps = _steps(addresses[worst, lanes][active[worst, lanes]])


def _ways(dword: NDArray[np.int64], active: NDArray[np.bool_], width: int, banks: int) -> NDArray[np.int64]:
    """Accesses that one phase takes in each execution: different dwords of the fullest bank. Executions x lanes in."""
    words = np.where(active[..., None], dword[..., None] + np.arange(width), -1).reshape(len(dword), -1)
    words = np.sort(words, 1)
    fresh = words >= 0
    fresh[:, 1:] &= words[:, 1:] != words[:, :-1]
    rows = np.nonzero(fresh)[0]
    counts = np.bincount(rows * banks + words[fresh] % banks, minlength=len(words) * banks)
    return counts.reshape(len(words), banks).max(1)


def _steps(addresses: NDArray[np.uint64]) -> tuple[int, ...]:
    """The distances between neighbouring lanes' addresses in bytes, the commonest first, at most three."""
    values, counts = np.unique(np.diff(addresses.astype(np.int64)), return_counts=True)
    return tuple(values[np.argsort(-counts, kind="stable")][:3].tolist())


def _finding(index: int, cost: _Cost, known: Phases, bits: int) -> Finding:
    facts = {
        "ways": cost.ways, "executed": cost.executed, "accesses": cost.taken, "without_conflicts": cost.least,
        "phases": len(known.lanes), "banks": known.banks, "bits": bits, "steps": cost.steps, "source": known.source,
    }  # fmt: skip
    return Finding("bank", "conflict", "info", (Site(index, "access"),), facts, None, cost.taken - cost.least)

"""`sync`: waves of a workgroup that do not take the same number of barriers, and barriers used out of turn.

A wave that has ended counts as arrived from then on, so that uneven waves do not hang; but the last rendezvous of the
others then pair with none of its (AMD CDNA4 ISA 4.3). Of a split barrier, a second signal before a wait is undefined,
and so is a wait without a signal (LLVM AMDGPUExecutionSynchronization). What named barriers and those of clusters ask
for besides is in `order._misuse`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from antiphase.checks._finding import Finding, Site
from antiphase.checks.order import WORKGROUP, Misuse, Path, Rendezvous, Steps, clock, marks, together
from antiphase.machine import Recording, WaveTrace


def check_sync(recording: Recording) -> list[Finding]:
    """Misuse of the workgroup's barrier in a recorded launch, equal ones as one finding with their number."""
    steps = Steps(recording.program, recording.program.kernel(recording.kernel))
    met: dict[bytes, tuple[Rendezvous, ...]] = {}
    uneven: dict[tuple[int, ...], list[Finding]] = {}
    out_of_turn: dict[tuple[str, int], list[tuple[int, int, int]]] = {}
    for number, traces in itertools.groupby(recording.waves, lambda trace: trace.workgroup):
        totals: dict[int, tuple[Rendezvous, ...]] = {}
        for trace in traces:
            blocks = trace.blocks()
            key = blocks.tobytes()
            if key not in met:
                met[key] = tuple(_own(steps, blocks.tolist()))
            totals[trace.wave] = met[key]
            for rule, first, second in _out_of_turn(met[key]):
                out_of_turn.setdefault((rule, second), []).append((number, trace.wave, first))
        if finding := _uneven(number, totals):
            uneven.setdefault(tuple(s.instruction for s in finding.sites), []).append(finding)
    found = [replace(same[0], count=len(same)) for same in uneven.values()]
    found += [_misuse(rule, second, seen) for (rule, second), seen in sorted(out_of_turn.items())]
    return [*found, *_of_other_barriers(recording)]


def _of_other_barriers(recording: Recording) -> Iterator[Finding]:
    """Misuse of barriers other than the workgroup's own."""
    steps = Steps(recording.program, recording.program.kernel(recording.kernel), every=True)
    if all(isinstance(step := steps.at(i), Rendezvous) and step.own for i in steps.barriers):
        return
    met: dict[tuple[str, int, int], list[tuple[int, int, Misuse]]] = {}
    each = recording.waves_per_workgroup
    paths: dict[bytes, Path] = {}
    for members, waves in together(recording):
        of_wave = {wave: _path(member.trace, steps, paths) for wave, member in waves.items()}
        for misuse in clock(marks(waves, steps, of_wave, {}), each).misuses:
            if misuse.number != WORKGROUP:
                place = members[misuse.wave // each], misuse.wave % each
                met.setdefault((misuse.rule, misuse.instruction, misuse.before), []).append((*place, misuse))
    for (rule, instruction, before), seen in sorted(met.items()):
        workgroup, _, first = seen[0]
        waves = tuple(sorted({wave for _, wave, _ in seen}))
        sites = (Site(instruction, "barrier", waves),)
        if before >= 0:
            sites = (Site(before, "barrier before"), *sites)
        facts = {"workgroup": workgroup, "number": first.number, "members": first.members}
        yield Finding("sync", rule, "error", sites, facts, None, len(seen))


def _path(trace: WaveTrace, steps: Steps, known: dict[bytes, Path]) -> Path:
    blocks = trace.blocks()
    key = blocks.tobytes()
    if key not in known:
        known[key] = steps.path(blocks.tolist())
    return known[key]


def _own(steps: Steps, blocks: Sequence[int]) -> Iterator[Rendezvous]:
    for block in blocks:
        yield from (s for s in steps.blocks[block] if isinstance(s, Rendezvous) and s.own)


def _uneven(workgroup: int, met: dict[int, tuple[Rendezvous, ...]]) -> Finding | None:
    """Waves with the fewest arrivals against those with the most: sites are the last barriers of both."""
    arrivals = {wave: [s.instruction for s in steps if s.arrives] for wave, steps in met.items()}
    totals = {wave: len(instructions) for wave, instructions in arrivals.items()}
    low, high = min(totals.values()), max(totals.values())
    if low == high:
        return None
    few, many = (tuple(wave for wave, n in totals.items() if n == total) for total in (low, high))
    sites = [Site(arrivals[many[0]][-1], "last barrier", many)]
    if low:
        sites.append(Site(arrivals[few[0]][-1], "last barrier", few))
    facts = {"workgroup": workgroup, "fewest": low, "most": high, "waves_with_fewest": few, "waves_with_most": many}
    return Finding("sync", "uneven_arrivals", "warning", tuple(sites), facts)


def _out_of_turn(met: Sequence[Rendezvous]) -> Iterator[tuple[str, int, int]]:
    """(rule, the instruction before, the instruction out of turn)."""
    signalled = False
    previous = -1
    for step in met:
        if step.arrives and signalled:
            yield "signal_without_wait", previous, step.instruction
        if step.passes and not (signalled or step.arrives):
            yield "wait_without_signal", previous, step.instruction
        signalled = step.arrives and not step.passes
        previous = step.instruction


def _misuse(rule: str, instruction: int, seen: Sequence[tuple[int, int, int]]) -> Finding:
    workgroup, _, before = seen[0]
    waves = tuple(sorted({wave for _, wave, _ in seen}))
    sites = (Site(instruction, "barrier", waves),)
    if before >= 0:
        sites = (Site(before, "barrier before", waves), *sites)
    return Finding("sync", rule, "error", sites, {"workgroup": workgroup}, None, len(seen))

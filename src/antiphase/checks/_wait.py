"""`wait`: a register used while a memory operation that writes it is outstanding, on some path.

Every outstanding operation is followed with the number of younger ones on its counter that are sure to be counted. A
wait for n proves it complete if at least n are younger, since in-order counters retire the oldest first; operations
that complete in any order (scalar loads, FLAT on CDNA) need n = 0. A full counter retires its oldest. Where paths meet,
an operation is outstanding if it is on either, with the smaller number.

It follows registers only: what LDS and memory need is seen in a recording (`race`). What has to wait for sources, and
for vector instructions, is in `_wait_sources`.
Order rules and finite counters: facts of AMD CDNA3 ISA 4.4 and LLVM SIInsertWaitcnts.
"""

from __future__ import annotations

from collections.abc import Mapping

from antiphase import arch
from antiphase.asm import Block, Kernel, Program
from antiphase.checks._finding import Finding, Fix, Site
from antiphase.checks._flow import forward
from antiphase.checks._registers import Uses, name, uses_of
from antiphase.checks._wait_sources import source_findings
from antiphase.errors import Unsupported
from antiphase.isa import COUNTERS, Control, Memory, Record, counters, find, generation
from antiphase.machine import returns_old, waits, with_full_numbers

Pending = Mapping[tuple[int, str], int]
"""Outstanding operations: (instruction, counter) -> younger operations on that counter."""


def check_waits(program: Program, kernel: Kernel) -> list[Finding]:
    """Findings of one kernel, in the order of the instructions that use too early.

    Raises Unsupported where paths disagree about the upper bits of VGPR numbers (gfx1250).
    """
    kernel = with_full_numbers(program, kernel)
    analysis = _Analysis(program, kernel)
    entry = forward(kernel, {}, analysis.through, _join)
    for block in kernel.blocks:
        if block.index in entry:
            analysis.through(entry[block.index], block, report=True)
    findings = source_findings(kernel, program.target) | analysis.findings
    return [findings[key] for key in sorted(findings)]


def _join(a: Pending, b: Pending) -> Pending:
    both = dict(a)
    for key, younger in b.items():
        both[key] = min(younger, both.get(key, younger))
    return both


class _Analysis:
    def __init__(self, program: Program, kernel: Kernel) -> None:
        self.kernel, self.target = kernel, program.target
        self.uses = uses_of(kernel, self.target)
        self.records = [find(i.mnemonic, self.target) for i in kernel.instructions]
        self.generation = generation(self.target)
        largest = {c.name: c.largest for c in arch.target(self.target).counters}
        self.capacity = {c: largest.get(c) or 63 for c in COUNTERS[self.generation]}
        self.findings: dict[tuple[int, int], Finding] = {}

    def through(self, state: Pending, block: Block, report: bool = False) -> Pending:
        pending = dict(state)
        for index in range(block.start, block.end):
            record = self.records[index]
            if isinstance(record, Control) and record.action == "wait":
                self._wait(pending, index)
                continue
            issued = self._counters(index, record)
            for counter in issued:
                self._make_room(pending, counter)
            if report:
                self._judge(pending, index)
            self._forget(pending, self.uses[index])
            for counter in issued:
                self._issue(pending, index, counter)
        return pending

    def _counters(self, index: int, record: Record | None) -> tuple[str, ...]:
        if not isinstance(record, Memory):
            return ()
        returns = returns_old(self.kernel.instructions[index], record)
        return tuple(c for c in counters(record, self.target, returns) if c in self.capacity)

    def _ordered(self, index: int) -> bool:
        record = self.records[index]
        assert isinstance(record, Memory)
        return record.space != "smem" and not (record.space == "flat" and self.generation == "gfx9")

    def _make_room(self, pending: dict[tuple[int, str], int], counter: str) -> None:
        full = self.capacity[counter] - 1
        for key in [k for k, younger in pending.items() if k[1] == counter and younger >= full]:
            del pending[key]

    def _issue(self, pending: dict[tuple[int, str], int], index: int, counter: str) -> None:
        if self._ordered(index):
            for key in pending:
                if key[1] == counter and self._ordered(key[0]):
                    pending[key] += 1
        pending[index, counter] = 0

    def _wait(self, pending: dict[tuple[int, str], int], index: int) -> None:
        try:
            conditions = waits(self.kernel.instructions[index], self.target)
        except Unsupported:
            return
        for counter, n in conditions:
            for key in [k for k in pending if k[1] == counter]:
                if n == 0 or (self._ordered(key[0]) and pending[key] >= n):
                    del pending[key]

    def _forget(self, pending: dict[tuple[int, str], int], uses: Uses) -> None:
        """An operation whose use was judged is not reported again for the same registers: they are another's now."""
        for key in [k for k in pending if self.uses[k[0]].results and self.uses[k[0]].results <= uses.writes]:
            del pending[key]

    def _judge(self, pending: Pending, index: int) -> None:
        uses = self.uses[index]
        for (load, counter), younger in pending.items():
            results = self.uses[load].results
            read, written = results & uses.reads, results & uses.writes
            if read or (written and not self._in_order_write(load, index)):
                self._found(load, counter, younger, index, read or written, "read" if read else "overwritten")

    def _in_order_write(self, load: int, index: int) -> bool:
        """Vector memory of one kind writes its registers in issue order up to GFX11, so that overwriting is ordered."""
        first, second = self.records[load], self.records[index]
        if not (isinstance(first, Memory) and isinstance(second, Memory)) or self.generation in ("gfx12", "gfx1250"):
            return False
        spaces = ("global", "buffer", "scratch")
        both_vector = first.space in spaces and second.space in spaces
        return (both_vector or first.space == second.space == "ds") and bool(self.uses[index].results)

    def _found(self, load: int, counter: str, younger: int, use: int, units: frozenset[int], how: str) -> None:
        n = younger if self._ordered(load) else 0
        key = (use, load)
        if key in self.findings:
            return
        registers = sorted({name(u) for u in units}, key=lambda r: (r[0], len(r), r))
        self.findings[key] = Finding(
            "wait", f"{how}_before_wait", "error", (Site(load, "load"), Site(use, "use")),
            {"counter": counter, "count": n, "registers": tuple(registers), "ordered": self._ordered(load)},
            Fix("insert", use, (wait_text(counter, n, self.generation),)),
        )  # fmt: skip


def wait_text(counter: str, n: int, generation_: str) -> str:
    """The instruction that waits until a counter is at most n."""
    if generation_ in ("gfx12", "gfx1250"):
        return f"s_wait_{counter} {n}"
    if counter == "vscnt":
        return f"s_waitcnt_vscnt null, {n}"
    return f"s_waitcnt {counter}({n})"

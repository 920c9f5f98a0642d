"""`wait`: a register used or given back while a memory operation that writes it is outstanding, on some path.

Every outstanding operation is followed with the number of younger ones on its counter that are sure to be counted. A
wait for n proves it complete if at least n are younger, since in-order counters retire the oldest first; operations
that complete in any order (scalar loads, FLAT on CDNA) need n = 0. A full counter retires its oldest. Where paths meet,
an operation is outstanding if it is on either, with the smaller number.

It follows registers only: what LDS and memory need is seen in a recording (`race`). What has to wait for sources, and
for vector instructions, is in `_sources`; what gives registers back in `_freed`. Where M0 adds to a register number at
run time, the register in the text is followed, which is where an array begins; in a recording the one that is meant has
no value yet.
Order rules and finite counters: facts of AMD CDNA3 ISA 4.4 and LLVM SIInsertWaitcnts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from antiphase.asm import Block, Kernel, Program
from antiphase.checks._finding import Finding, Fix, Site
from antiphase.checks._flow import forward
from antiphase.checks._registers import Uses, name, uses_of
from antiphase.checks.wait._counters import capacities, counts_on, in_order, waited
from antiphase.checks.wait._freed import Release, release
from antiphase.checks.wait._sources import source_findings
from antiphase.isa import Control, Memory, find, generation
from antiphase.machine import with_full_numbers

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
        pairs = zip(kernel.instructions, self.records, strict=True)
        self.counters = [counts_on(instruction, record, self.target) for instruction, record in pairs]
        self.ordered = [in_order(record, self.target) for record in self.records]
        self.capacity = capacities(self.target)
        self.private = kernel.metadata.private_segment_fixed_size > 0
        self.releases = {i: freed for i, one in enumerate(kernel.instructions) if (freed := release(one)) is not None}
        self.findings: dict[tuple[int, int], Finding] = {}

    def through(self, state: Pending, block: Block, report: bool = False) -> Pending:
        pending = dict(state)
        for index in range(block.start, block.end):
            record = self.records[index]
            if isinstance(record, Control) and record.action == "wait":
                self._wait(pending, index)
                continue
            if isinstance(record, Control) and record.action == "barrier_wait":
                self._meet(pending, index)
            issued = self.counters[index]
            for counter in issued:
                self._make_room(pending, counter)
            if report:
                self._judge(pending, index)
            self._forget(pending, self.uses[index])
            for counter in issued:
                self._issue(pending, index, counter)
            if isinstance(record, Control) and record.action in ("swappc", "call") and not block.calls:
                pending.clear()  # a function that LLVM compiles waits for everything where it begins
        return pending

    def _make_room(self, pending: dict[tuple[int, str], int], counter: str) -> None:
        full = self.capacity[counter] - 1
        for key in [k for k, younger in pending.items() if k[1] == counter and younger >= full]:
            del pending[key]

    def _issue(self, pending: dict[tuple[int, str], int], index: int, counter: str) -> None:
        if self.ordered[index]:
            for key in pending:
                if key[1] == counter and self.ordered[key[0]]:
                    pending[key] += 1
        pending[index, counter] = 0

    def _wait(self, pending: dict[tuple[int, str], int], index: int) -> None:
        for counter, n in waited(self.kernel.instructions[index], self.target):
            for key in [k for k in pending if k[1] == counter]:
                if n == 0 or (self.ordered[key[0]] and pending[key] >= n):
                    del pending[key]

    def _meet(self, pending: dict[tuple[int, str], int], index: int) -> None:
        """Behind the wait at a barrier its signal has told whether it was the first (LLVM, tryClearSCCWriteEvent)."""
        barrier = self.kernel.instructions[index].operands
        for key in [
            k for k in pending if self._asks_first(k[0]) and self.kernel.instructions[k[0]].operands == barrier
        ]:
            del pending[key]

    def _asks_first(self, index: int) -> bool:
        record = self.records[index]
        return isinstance(record, Control) and record.action == "barrier_signal_isfirst"

    def _forget(self, pending: dict[tuple[int, str], int], uses: Uses) -> None:
        """An operation whose use was judged is not reported again for the same registers: they are another's now."""
        for key in [k for k in pending if self.uses[k[0]].results and self.uses[k[0]].results <= uses.writes]:
            del pending[key]

    def _judge(self, pending: Pending, index: int) -> None:
        uses = self.uses[index]
        if freed := self.releases.get(index):
            self._judge_release(pending, index, freed)
        for (load, counter), younger in pending.items():
            results = self.uses[load].results
            read, written = results & uses.reads, results & uses.writes
            if read or (written and not self._in_order_write(load, counter, index)):
                self._found(load, counter, younger, index, read or written, "read" if read else "overwritten")

    def _judge_release(self, pending: Pending, index: int, freed: Release) -> None:
        for (before, counter), younger in pending.items():
            if units := freed.disturbs(self.uses[before], self.records[before], self.private):
                self._found(before, counter, younger, index, units, "freed")

    def _in_order_write(self, load: int, counter: str, index: int) -> bool:
        """Vector memory of one kind writes its registers in issue order up to GFX11, so that overwriting is ordered.

        So does the part of a FLAT operation that goes to memory: what may come from LDS is another counter's.
        """
        first, second = self.records[load], self.records[index]
        if not (isinstance(first, Memory) and isinstance(second, Memory)) or self.generation in ("gfx12", "gfx1250"):
            return False
        spaces = ("global", "buffer", "scratch")
        of_memory = first.space in spaces or (first.space == "flat" and counter == "vmcnt")
        both_vector = of_memory and second.space in spaces
        return (both_vector or first.space == second.space == "ds") and bool(self.uses[index].results)

    def _found(self, load: int, counter: str, younger: int, use: int, units: frozenset[int], how: str) -> None:
        n = younger if self.ordered[load] else 0
        key = (use, load)
        text = wait_text(counter, n, self.generation)
        if known := self.findings.get(key):
            # what may go to LDS or to memory must be complete on both counters
            if known.fix and known.facts["counter"] != counter:
                self.findings[key] = replace(known, fix=replace(known.fix, text=(*known.fix.text, text)))
            return
        registers = sorted({name(u) for u in units}, key=lambda r: (r[0], len(r), r))
        self.findings[key] = Finding(
            "wait", f"{how}_before_wait", "error", (Site(load, self._role(load)), Site(use, "use")),
            {"counter": counter, "count": n, "registers": tuple(registers), "ordered": self.ordered[load]},
            Fix("insert", self._place(use), (text,)),
        )  # fmt: skip

    def _role(self, index: int) -> str:
        record = self.records[index]
        if not isinstance(record, Memory):
            return "request"
        return "store" if record.access == "store" else "load"

    def _place(self, use: int) -> int:
        """The release of VGPRs keeps the s_nop that it needs directly before it (`spacing`)."""
        before = self.kernel.instructions[use - 1].mnemonic if use else ""
        return use - 1 if use in self.releases and before == "s_nop" else use


def wait_text(counter: str, n: int, generation_: str) -> str:
    """The instruction that waits until a counter is at most n."""
    if generation_ in ("gfx12", "gfx1250"):
        return f"s_wait_{counter} {n}"
    if counter == "vscnt":
        return f"s_waitcnt_vscnt null, {n}"
    return f"s_waitcnt {counter}({n})"

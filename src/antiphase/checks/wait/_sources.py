"""`wait`: registers that another unit still has to read or write, where software has to wait for that.

On gfx1250 a memory operation may be replayed until its addresses are translated, which XCNT counts, so that what it
reads must stay until then. In expert mode (SCHED_MODE 2, gfx12 on) the hardware no longer keeps vector instructions and
memory operations apart: results of the VALU must be there (va_vdst) before a memory operation uses or replaces them,
and sources read (va_vdst for those of the VALU, vm_vsrc for those of memory) before a later one overwrites them.

Sources: LLVM SIInsertWaitcnts and AMDGPUUsage (facts: counters 6 and 9).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from antiphase.asm import Block, Imm, Instruction, Kernel, goes_elsewhere
from antiphase.checks._finding import Finding, Fix, Site
from antiphase.checks._flow import forward
from antiphase.checks._registers import SGPR, Uses, name, uses_of
from antiphase.checks.spacing import depctr_waits, hardware_register
from antiphase.errors import Unsupported
from antiphase.isa import Alu, Control, Matrix, Memory, Record, counters, find, generation
from antiphase.machine import returns_old, waits

_VECTOR_MEMORY = ("global", "buffer", "flat", "scratch")
_IMPLIED: dict[str, tuple[str, ...]] = {"xcnt": ("vm_vsrc",), "va_vdst": (), "vm_vsrc": ("xcnt",)}
"""What else a wait shows, of the same operations. That sources read are translated: LLVM in Triton 3.9."""
_TRANSLATES = ("s_barrier", "s_sendmsg", "s_setreg")
"""What waits for translation by itself. Of s_setreg that is read off code by the LLVM of Triton 3.9."""
_LARGEST = {"va_vdst": 14, "vm_vsrc": 6}
"""The largest count of a field that waits for something; xcnt has room for all."""

Held = dict[str, dict[int, int]]
"""By what registers are held for (xcnt, va_vdst, vm_vsrc, or a counter that shows that an operation is done), the
instructions and how many younger ones of their order are sure to be counted."""


@dataclass(frozen=True, slots=True)
class _State:
    """expert: the mode may be on."""

    held: Held
    expert: bool


def source_findings(kernel: Kernel, target: str) -> dict[tuple[int, int], Finding]:
    """Findings of one kernel with full register numbers, by (the instruction too early, the one it disturbs)."""
    sets_mode = any(_sets_expert(instruction) is not None for instruction in kernel.instructions)
    if generation(target) not in ("gfx12", "gfx1250") or (generation(target) == "gfx12" and not sets_mode):
        return {}
    analysis = _Sources(kernel, target)
    entry = forward(kernel, _State({}, False), analysis.through, _join, analysis.along)
    for block in kernel.blocks:
        if block.index in entry:
            analysis.through(entry[block.index], block, report=True)
    return analysis.findings


def _join(a: _State, b: _State) -> _State:
    held = {counter: dict(out) for counter, out in a.held.items()}
    for counter, out in b.held.items():
        known = held.setdefault(counter, {})
        for index, younger in out.items():
            known[index] = min(younger, known.get(index, younger))
    return _State(held, a.expert or b.expert)


def _sets_expert(instruction: Instruction) -> bool | None:
    """Whether this turns expert mode on or off; a value that is not in the text may turn it on."""
    if not instruction.mnemonic.startswith("s_setreg_"):
        return None
    _, name, bits = hardware_register(instruction)
    if name != "SCHED_MODE" or 1 not in bits:
        return None
    value = instruction.operands[-1]
    return not isinstance(value, Imm) or bool(value.value >> 1 - bits.start & 1)


class _Out:
    """What is held while a block is gone through: counts are kept by order, so that an issue changes one of them."""

    def __init__(self, held: Held, order: list[str]) -> None:
        self.order = order
        self.counts: Counter[tuple[str, str]] = Counter()
        self.bases = {counter: dict(out) for counter, out in held.items()}

    def of(self, counter: str) -> list[int]:
        return list(self.bases.get(counter, ()))

    def younger(self, index: int, counter: str) -> int:
        return self.bases[counter][index] + self.counts[counter, self.order[index]]

    def issue(self, index: int, counter: str) -> None:
        key = counter, self.order[index]
        self.counts[key] += 1
        self.bases.setdefault(counter, {})[index] = -self.counts[key]

    def drop(self, index: int, counter: str) -> None:
        self.bases.get(counter, {}).pop(index, None)

    def wait(self, counter: str, n: int) -> None:
        """Those of one order are done oldest first; what has none is done only at 0."""
        for index in self.of(counter):
            if n == 0 or (self.order[index] and self.younger(index, counter) >= n):
                self.drop(index, counter)
                # what memory has translated or done, it has read
                for other in _IMPLIED.get(counter, ("xcnt", "vm_vsrc")):
                    self.drop(index, other)

    def held(self) -> Held:
        return {c: {i: self.younger(i, c) for i in out} for c, out in self.bases.items() if out}


class _Sources:
    def __init__(self, kernel: Kernel, target: str) -> None:
        self.kernel, self.target = kernel, target
        self.uses = uses_of(kernel, target)
        self.records = [find(i.mnemonic, target) for i in kernel.instructions]
        self.units = [_unit(r) for r in self.records]
        self.order = [_order(r) for r in self.records]
        self.has_xcnt = generation(target) == "gfx1250"
        self.findings: dict[tuple[int, int], Finding] = {}

    def through(self, state: _State, block: Block, report: bool = False) -> _State:
        out, expert = _Out(state.held, self.order), state.expert
        for index in range(block.start, block.end):
            instruction, record = self.kernel.instructions[index], self.records[index]
            if (on := _sets_expert(instruction)) is not None:
                expert = on
            for counter, n in self._conditions(instruction, record):
                out.wait(counter, n)
            if instruction.mnemonic.startswith(_TRANSLATES):
                out.bases.pop("xcnt", None)
            self._judge(out, index, report)
            self._issue(out, index, expert)
        return _State(out.held(), expert)

    def along(self, state: _State, block: Block, successor: int) -> _State:
        """A jump waits for translation; a branch that is not taken does not (llvm/llvm-project#213394)."""
        last = self.kernel.instructions[block.end - 1].mnemonic
        if successor == block.index + 1 and not goes_elsewhere(last):
            return state
        return _State({counter: out for counter, out in state.held.items() if counter != "xcnt"}, state.expert)

    def _conditions(self, instruction: Instruction, record: Record | None) -> list[tuple[str, int]]:
        if instruction.mnemonic == "s_wait_xcnt":
            operand = instruction.operands[0]
            return [("xcnt", operand.value)] if isinstance(operand, Imm) else []
        if instruction.mnemonic == "s_wait_alu":
            return [(c, n) for c, n in depctr_waits(instruction).items() if c in _LARGEST and n <= _LARGEST[c]]
        if not (isinstance(record, Control) and record.action == "wait"):
            return []
        hidden = [("xcnt", 0), ("va_vdst", 0), ("vm_vsrc", 0)] if instruction.mnemonic == "s_wait_idle" else []
        try:
            return [*waits(instruction, self.target), *hidden]
        except Unsupported:
            return hidden

    def _judge(self, out: _Out, index: int, report: bool) -> None:
        unit, now = self.units[index], self.uses[index]
        for before in out.of("xcnt") if now.writes else ():
            units = self.uses[before].reads & now.writes
            if units and unit == self.units[before] == "vmem":
                # addresses are translated in order: it may load over what an older one has read (LLVM takes all up to
                # that one as translated from here on)
                out.wait("xcnt", out.younger(before, "xcnt"))
            elif before in out.bases["xcnt"]:
                self._found(out, report, "source_not_translated", (before, index), "xcnt", units)
        for before in out.of("vm_vsrc") if unit in ("valu", "vmem", "ds") and now.writes else ():
            units = _vectors(self.uses[before].reads & now.writes)
            self._found(out, report, "source_not_read", (before, index), "vm_vsrc", units)
        for before in out.of("va_vdst") if unit in ("vmem", "ds") else ():
            self._found(out, report, *_disturbed(self.uses[before], now, (before, index)))

    def _issue(self, out: _Out, index: int, expert: bool) -> None:
        unit, record = self.units[index], self.records[index]
        if unit == "valu" and expert:
            out.issue(index, "va_vdst")
        if unit not in ("vmem", "smem", "ds") or not isinstance(record, Memory):
            return
        if self.has_xcnt and unit != "ds":
            # the hardware waits between scalar and vector memory operations
            for other in out.of("xcnt"):
                if self.units[other] != unit:
                    out.drop(other, "xcnt")
            # copies to and from LDS are left out as LLVM leaves them out, whatever they are replayed with
            if not record.asynchronous:
                out.issue(index, "xcnt")
        if expert and unit != "smem":
            out.issue(index, "vm_vsrc")
        for counter in counters(record, self.target, returns_old(self.kernel.instructions[index], record)):
            out.issue(index, counter)

    def _found(
        self, out: _Out, report: bool, rule: str, pair: tuple[int, int], counter: str, units: frozenset[int]
    ) -> None:
        if not units:
            return
        before, use = pair
        n = out.younger(before, counter) if self.order[before] else 0
        out.drop(before, counter)
        if not report or (use, before) in self.findings:
            return
        n = min(n, _LARGEST.get(counter, n))
        text = f"s_wait_xcnt {n}" if counter == "xcnt" else f"s_wait_alu depctr_{counter}({n})"
        registers = sorted({name(u) for u in units}, key=lambda r: (r[0], len(r), r))
        self.findings[use, before] = Finding(
            "wait", rule, "error", (Site(before, "access"), Site(use, "use")),
            {"counter": counter, "count": n, "registers": tuple(registers)}, Fix("insert", use, (text,)),
        )  # fmt: skip


def _unit(record: Record | None) -> str:
    if isinstance(record, Memory):
        return "vmem" if record.space in _VECTOR_MEMORY and record.access != "cache" else record.space
    return "valu" if isinstance(record, Matrix) or (isinstance(record, Alu) and record.unit == "valu") else ""


def _order(record: Record | None) -> str:
    """Instructions of one name are done in the order of their issue, those of none in any order.

    Vector instructions of all kinds are one order, as the waits show that LLVM inserts.
    """
    if isinstance(record, Memory):
        kind = record.access if record.asynchronous else ""
        return "" if record.space == "smem" else _unit(record) + kind
    return _unit(record)


def _disturbed(before: Uses, now: Uses, pair: tuple[int, int]) -> tuple[str, tuple[int, int], str, frozenset[int]]:
    """What a memory operation does to a vector instruction before it: rule, pair, counter and registers."""
    if units := _vectors(before.writes & (now.reads | now.writes)):
        return "result_not_written", pair, "va_vdst", units
    return "source_not_read", pair, "va_vdst", _vectors(before.reads & now.writes)


def _vectors(units: frozenset[int]) -> frozenset[int]:
    return frozenset(u for u in units if u < SGPR)

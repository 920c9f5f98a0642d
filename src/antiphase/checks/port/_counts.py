"""`port`: how far down another target's counters must come for a wait to hold back what it holds back here.

Every outstanding operation is followed with the numbers of younger ones that are counted with it, here and there. A
wait for n here completes those with n younger ones or more on some path; there the youngest of them says how far its
counter must come down. A counter without any need not be waited for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from antiphase.asm import Block, Kernel, Program
from antiphase.checks._flow import forward
from antiphase.checks.port._waits import Conditions, conditions
from antiphase.checks.wait import counts_on, in_order
from antiphase.isa import COUNTERS, Control, Memory, Record, find, generation

_MOST = 64
_CACHES = {"buffer_wbl2": "store", "buffer_inv": "load", "global_wb": "store", "global_wbinv": "store"}


@dataclass(frozen=True, slots=True)
class _Younger:
    """Operations younger than one, of all paths: the fewest and the most counted with it here, the fewest there, and by
    how many there may be fewer than here."""

    fewest: int = 0
    most: int = 0
    there: int = 0
    gap: int = 0

    def one_more(self, here: bool, there: bool) -> _Younger:
        fewest, most = min(_MOST, self.fewest + here), min(_MOST, self.most + here)
        return _Younger(fewest, most, min(_MOST, self.there + there), min(_MOST, self.gap + here - there))

    def joined(self, other: _Younger) -> _Younger:
        fewest, most = min(self.fewest, other.fewest), max(self.most, other.most)
        return _Younger(fewest, most, min(self.there, other.there), max(self.gap, other.gap))


State = Mapping[tuple[int, str, str], _Younger]
"""(instruction, its counter here, its counter there) of what is outstanding."""


def port_counts(program: Program, kernel: Kernel, to: str) -> dict[int, Conditions]:
    """(counter, largest value left) on the target `to` for every wait instruction of a kernel that can be reached.

    {} where an instruction is not known: it may count as well.
    """
    records = [find(i.mnemonic, program.target) for i in kernel.instructions]
    if None in records:
        return {}
    counts = _Counts(program.target, to, kernel, records)
    entry = forward(kernel, {}, counts.through, _join)
    for block in kernel.blocks:
        if block.index in entry:
            counts.through(entry[block.index], block)
    return counts.found


def _join(a: State, b: State) -> State:
    both = dict(a)
    for key, younger in b.items():
        both[key] = younger.joined(both.get(key, younger))
    return both


class _Counts:
    def __init__(self, here: str, there: str, kernel: Kernel, records: list[Record | None]) -> None:
        self.here, self.there, self.kernel, self.records = here, there, kernel, records
        self.found: dict[int, Conditions] = {}

    def through(self, state: State, block: Block) -> State:
        out = dict(state)
        for index in range(block.start, block.end):
            record = self.records[index]
            if isinstance(record, Control) and record.action == "wait":
                self._wait(out, index)
                continue
            for here, there in self._counters(index):
                self._issue(out, index, here, there)
        return out

    def _counters(self, index: int) -> list[tuple[str, str]]:
        instruction, record = self.kernel.instructions[index], self.records[index]
        cache = _CACHES.get(instruction.mnemonic)
        if cache is not None:
            return [(_named(cache, self.here), _named(cache, self.there))]
        here, there = (counts_on(instruction, record, target) for target in (self.here, self.there))
        if isinstance(record, Memory) and record.to_lds and "asynccnt" in COUNTERS[generation(self.there)]:
            there = ("asynccnt",)
        return list(zip(here, there, strict=True)) if len(here) == len(there) else []

    def _issue(self, out: dict[tuple[int, str, str], _Younger], index: int, here: str, there: str) -> None:
        counted_here, counted_there = (in_order(self.records[index], target) for target in (self.here, self.there))
        for (before, before_here, before_there), younger in out.items():
            older = before_here == here and counted_here and in_order(self.records[before], self.here)
            out[before, before_here, before_there] = younger.one_more(older, before_there == there and counted_there)
        out[index, here, there] = _Younger()

    def _wait(self, out: dict[tuple[int, str, str], _Younger], index: int) -> None:
        needed: dict[str, int] = {}
        for counter, n in conditions(self.kernel.instructions[index], self.here):
            for key in [k for k in out if k[1] == counter]:
                younger, ordered = out[key], in_order(self.records[key[0]], self.here)
                if n and not (ordered and younger.most >= n):
                    continue
                left = max(younger.there, n - younger.gap) if in_order(self.records[key[0]], self.there) else 0
                needed[key[2]] = min(left, needed.get(key[2], left))
                if n == 0 or younger.fewest >= n:
                    del out[key]
        order = COUNTERS[generation(self.there)]
        self.found[index] = tuple((c, needed[c]) for c in order if c in needed)


def _named(kind: str, target: str) -> str:
    """The counter of loads or of stores."""
    names = ("vmcnt", "loadcnt") if kind == "load" else ("vscnt", "storecnt", "vmcnt")
    return next(name for name in names if name in COUNTERS[generation(target)])

"""What the waves of a launch executed, counted in places: where operations are issued, and where their registers are
first used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antiphase.asm import Kernel
from antiphase.checks._registers import uses_of
from antiphase.checks.order import Operation, Rendezvous, Steps, Wait
from antiphase.isa import Memory, Record, find

NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True, eq=False)
class Stream:
    """A path with places: a wave's executed instructions, counted.

    issued: place of each operation. used: where its registers are first used, NEVER if they are not.
    arrivals: place of each arrival. waits: (place, instruction, counter, count) of each condition of each wait.
    counted: by wait condition, in-order operations issued before on its counter. in_order: by counter, their places.
    """

    issued: NDArray[np.int64]
    used: NDArray[np.int64]
    arrivals: NDArray[np.int64]
    waits: list[tuple[int, int, int, int]]
    counted: list[int]
    in_order: list[list[int]]


class Streams:
    """Streams of a kernel's paths. after_cache: waits that come next behind a cache instruction, seen so far.
    atomic, cache: instructions that may publish what came before. reads: those that give what is in memory.
    passive: atomics that do not, if all of those do the same, so that their order is nothing to anyone."""

    def __init__(self, kernel: Kernel, steps: Steps) -> None:
        self.kernel, self.steps = kernel, steps
        self.uses = uses_of(kernel, steps.target)
        results = frozenset().union(*(use.results for use in self.uses))
        # what M0 may mean counts as used: a wait in front of it is for all of the array
        touches = (use.reads | use.writes | use.may_read | use.may_write for use in self.uses)
        self.touched = [touched & results for touched in touches]
        records = [find(instruction.mnemonic, steps.target) for instruction in kernel.instructions]
        self.atomic = {i for i, record in enumerate(records) if _access(record) in ("atomic", "append")}
        self.cache = {i for i, record in enumerate(records) if _access(record) == "cache"}
        self.reads = {i for i, use in enumerate(self.uses) if use.results} | {
            i for i, record in enumerate(records) if _access(record) == "load"
        }
        passive = self.atomic - self.reads
        alike = len({kernel.instructions[i].mnemonic for i in passive}) == 1
        self.passive = frozenset(passive if alike else ())
        self.after_cache: set[int] = set()
        # places where nothing happens need no look
        self.interesting = [[i for i in range(b.start, b.end) if steps.at(i) or self.touched[i]] for b in kernel.blocks]

    def without_caches(self, loads: bool, stores: bool) -> None:
        """Forget cache instructions that no one needs: those that invalidate are for loads, those that write back for
        stores."""
        self.cache = {i for i in self.cache if ("inv" in self.name(i) and loads) or ("wb" in self.name(i) and stores)}

    def name(self, instruction: int) -> str:
        return self.kernel.instructions[instruction].mnemonic

    def of(self, blocks: Sequence[int]) -> Stream:
        """The stream of a wave that executed these blocks."""
        issued, used = list[int](), list[int]()
        arrivals, waits, counted = list[int](), list[tuple[int, int, int, int]](), list[int]()
        in_order: list[list[int]] = [[] for _ in self.steps.names]
        owner: dict[int, int] = {}
        place = 0
        cache = False
        for block in blocks:
            for index in self.interesting[block]:
                place += 1
                for unit in self.touched[index]:
                    operation = owner.pop(unit, -1)
                    if operation >= 0:
                        used[operation] = min(used[operation], place)
                cache |= index in self.cache
                step = self.steps.at(index)
                if isinstance(step, Operation):
                    owner |= dict.fromkeys(self.uses[index].results, len(issued))
                    issued.append(place)
                    used.append(NEVER)
                    for counter in step.counters if step.ordered else ():
                        in_order[counter].append(place)
                elif isinstance(step, Wait):
                    waits += [(place, index, counter, n) for counter, n in step.conditions]
                    counted += [len(in_order[counter]) for counter, _ in step.conditions]
                    # some cache instructions count on hardware, although LLVM follows none of them
                    self.after_cache |= {index} if cache else set()
                    cache = False
                elif isinstance(step, Rendezvous) and step.own and step.arrives:
                    arrivals.append(place)
        return Stream(
            np.array(issued, np.int64), np.array(used, np.int64), np.array(arrivals, np.int64), waits, counted, in_order
        )


def _access(record: Record | None) -> str:
    return record.access if isinstance(record, Memory) and record.space != "smem" else ""

"""When the completion of each memory operation of a wave is needed, as places in what the wave executed.

By its registers: where they are used. By other waves: at the last rendezvous before another wave touches its bytes in
conflict. By the wave itself: where another engine touches its bytes. And, to be on the safe side, at atomics and cache
instructions, which may publish what came before to other workgroups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antiphase.asm import Kernel
from antiphase.checks._race_bytes import READ, Touched
from antiphase.checks._race_group import Group
from antiphase.checks._race_order import Operation, Rendezvous, Steps, Wait
from antiphase.checks._race_overlap import distinct, grain, spread
from antiphase.checks._registers import uses_of
from antiphase.isa import Memory, find

NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Stream:
    """A path with places: a wave's executed instructions, counted.

    issued: place of each operation. used: where its registers are first used, NEVER if they are not.
    published: the next atomic or cache instruction.
    arrivals: place of each arrival. waits: (place, instruction, counter, count) of each condition of each wait.
    counted: by wait condition, in-order operations issued before on its counter.
    """

    issued: NDArray[np.int64]
    used: NDArray[np.int64]
    published: NDArray[np.int64]
    arrivals: NDArray[np.int64]
    waits: list[tuple[int, int, int, int]]
    counted: list[int]


class Streams:
    """Streams of a kernel's paths. after_cache: waits that come next behind a cache instruction, seen so far.
    atomic: atomics on memory."""

    def __init__(self, kernel: Kernel, steps: Steps) -> None:
        self.kernel, self.steps = kernel, steps
        self.uses = uses_of(kernel, steps.target)
        results = frozenset().union(*(use.results for use in self.uses))
        self.touched = [(use.reads | use.writes) & results for use in self.uses]
        access = [self._access(i) for i in range(len(kernel.instructions))]
        self.publishes = [a in ("cache", "atomic") for a in access]
        self.atomic = {i for i, a in enumerate(access) if a == "atomic"}
        self.cache = {i for i, a in enumerate(access) if a == "cache"}
        self.after_cache: set[int] = set()
        # places where nothing happens need no look
        self.interesting = [
            [i for i in range(b.start, b.end) if steps.at(i) or self.touched[i] or self.publishes[i]]
            for b in kernel.blocks
        ]

    def _access(self, index: int) -> str:
        """'atomic', but not of LDS, 'cache', or something else."""
        record = find(self.kernel.instructions[index].mnemonic, self.steps.target)
        if not isinstance(record, Memory) or record.space == "ds":
            return ""
        return record.access

    def of(self, blocks: Sequence[int]) -> Stream:
        """The stream of a wave that executed these blocks."""
        issued, used, published = list[int](), list[int](), list[int]()
        arrivals, waits, counted = list[int](), list[tuple[int, int, int, int]](), list[int]()
        owner: dict[int, int] = {}
        on = [0] * len(self.steps.names)
        place = first_unpublished = 0
        cache = False
        for block in blocks:
            for index in self.interesting[block]:
                place += 1
                for unit in self.touched[index]:
                    operation = owner.pop(unit, -1)
                    if operation >= 0:
                        used[operation] = min(used[operation], place)
                if self.publishes[index]:
                    published[first_unpublished:] = [place] * (len(published) - first_unpublished)
                    first_unpublished = len(published)
                cache |= index in self.cache
                step = self.steps.at(index)
                if isinstance(step, Operation):
                    owner |= dict.fromkeys(self.uses[index].results, len(issued))
                    issued.append(place)
                    used.append(NEVER)
                    published.append(NEVER)
                    for counter in step.counters:
                        on[counter] += step.ordered
                elif isinstance(step, Wait):
                    waits += [(place, index, counter, n) for counter, n in step.conditions]
                    counted += [on[counter] for counter, _ in step.conditions]
                    # some cache instructions count on hardware, although LLVM follows none of them
                    self.after_cache |= {index} if cache else set()
                    cache = False
                elif isinstance(step, Rendezvous) and step.own and step.arrives:
                    arrivals.append(place)
        places = np.array(issued, np.int64), np.array(used, np.int64), np.array(published, np.int64)
        return Stream(*places, np.array(arrivals, np.int64), waits, counted)


def next_conflicts(
    touched: Touched, agent: NDArray[np.int64], moment: NDArray[np.int64], after: NDArray[np.int64]
) -> NDArray[np.int64]:
    """By access: the first moment above `after` at which another agent touches a byte of it in conflict, or NEVER."""
    found = np.full(len(agent), NEVER, np.int64)
    if not len(touched.start):
        return found
    unit, access, kind = spread(touched, grain(touched))
    changed = distinct(unit[kind != READ])
    if not len(changed):
        return found
    at = np.minimum(np.searchsorted(changed, unit), len(changed) - 1)
    kept = changed[at] == unit
    at, access, kind = at[kept], access[kept], kind[kept]
    moments = int(max(moment.max(), after.max())) + 2
    for one in distinct(agent[access]).tolist():
        mine = agent[access] == one
        for reading in (True, False):
            asking = np.flatnonzero(mine & ((kind == READ) == reading))
            others = ~mine & ((kind != READ) if reading else True)
            keys = distinct(at[others] * moments + moment[access[others]])
            if not len(asking) or not len(keys):
                continue
            wanted = at[asking] * moments + after[access[asking]] + 1
            position = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            good = (keys[position] >= wanted) & (keys[position] // moments == at[asking])
            np.minimum.at(found, access[asking[good]], keys[position[good]] % moments)
    return found


def rendezvous_needs(group: Group) -> NDArray[np.int64]:
    """By access: the arrival by which it has to be complete, NEVER if no other wave follows."""
    moment = np.full(len(group.wave), NEVER, np.int64)
    for touched in (group.lds, group.memory):
        after = np.maximum(group.complete, group.issued)
        moment = np.minimum(moment, next_conflicts(touched, group.wave, group.issued, after))
    return np.where(moment == NEVER, NEVER, moment - 1)

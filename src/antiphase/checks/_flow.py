"""Forward dataflow over a kernel's blocks: one state per block entry, joined over all paths until nothing changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from antiphase.asm import Block, Kernel

S = TypeVar("S")


def forward(
    kernel: Kernel,
    start: S,
    through: Callable[[S, Block], S],
    join: Callable[[S, S], S],
    along: Callable[[S, Block, int], S] = lambda state, _block, _successor: state,
) -> dict[int, S]:
    """The state on entry of every reachable block.

    through: the state after a block; join: the state where two paths meet; along: what is left of the state
    after a block on the way to one successor. All must be monotone on a lattice of finite height, and states comparable
    with ==.
    """
    entry: dict[int, S] = {0: start}
    work = [0]
    while work:
        block = kernel.blocks[work.pop()]
        state = through(entry[block.index], block)
        for successor in block.successors:
            after = along(state, block, successor)
            known = entry.get(successor)
            joined = after if known is None else join(known, after)
            if known is None or joined != known:
                entry[successor] = joined
                if successor not in work:
                    work.append(successor)
    return entry

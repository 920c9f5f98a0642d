"""Loops of a kernel: sets of blocks that can reach each other."""

from __future__ import annotations

from dataclasses import dataclass

from antiphase.asm import Kernel


@dataclass(frozen=True, slots=True)
class Loop:
    """An outermost loop. instructions: indices of all its instructions, in text order. branch: the last of them."""

    instructions: tuple[int, ...]

    @property
    def branch(self) -> int:
        return self.instructions[-1]


def loops(kernel: Kernel) -> list[Loop]:
    """The outermost loops in text order; an inner loop is part of the one around it, a function that it calls not."""
    found = []
    for blocks in _cycles([block.inside for block in kernel.blocks]):
        inside = [kernel.blocks[number] for number in blocks]
        found.append(Loop(tuple(i for block in inside for i in range(block.start, block.end))))
    return sorted(found, key=lambda loop: loop.instructions[0])


def _cycles(successors: list[tuple[int, ...]]) -> list[list[int]]:
    """Strongly connected components that hold a cycle, each in order of its blocks: Tarjan's algorithm, iterative."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    components: list[list[int]] = []
    for root in range(len(successors)):
        work = [] if root in order else [(root, iter(successors[root]))]
        if work:
            order[root] = low[root] = len(order)
            stack.append(root)
            on_stack.add(root)
        while work:
            node, rest = work[-1]
            following = next(rest, None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == order[node]:
                    component = [stack.pop()]
                    while component[-1] != node:
                        component.append(stack.pop())
                    on_stack.difference_update(component)
                    components.append(sorted(component))
            elif following not in order:
                order[following] = low[following] = len(order)
                stack.append(following)
                on_stack.add(following)
                work.append((following, iter(successors[following])))
            elif following in on_stack:
                low[node] = min(low[node], order[following])
    return [c for c in components if len(c) > 1 or c[0] in successors[c[0]]]

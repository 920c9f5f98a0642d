"""`port`: waits of one generation as those of another that hold at least as much back."""

from __future__ import annotations

from collections.abc import Iterator

from antiphase import arch
from antiphase.asm import Imm, Instruction
from antiphase.checks.wait import wait_text
from antiphase.errors import Unsupported
from antiphase.isa import COUNTERS, generation
from antiphase.machine import waits

Conditions = tuple[tuple[str, int], ...]
"""(counter, largest value left) of a wait."""


def conditions(instruction: Instruction, target: str) -> Conditions:
    """What a wait asks for: without the all-ones counts, which ask for nothing, and those of unknown size."""
    try:
        known = waits(instruction, target)
    except Unsupported:
        return ()
    largest = {c.name: c.largest for c in arch.target(target).counters}
    return tuple((counter, n) for counter, n in known if n != largest.get(counter))


def is_packed(instruction: Instruction) -> bool:
    """Whether the counts are fields of a number, which have other places elsewhere."""
    return instruction.mnemonic == "s_waitcnt" and isinstance(instruction.operands[-1], Imm)


def unpacked(asked: Conditions) -> str:
    """The same s_waitcnt with its counters named."""
    return f"s_waitcnt {' '.join(f'{counter}({n})' for counter, n in asked)}"


def survives(asked: Conditions, new: str) -> bool:
    """Whether the target has all of the counters."""
    return all(counter in COUNTERS[generation(new)] for counter, _ in asked)


def translated(asked: Conditions, old: str, new: str) -> tuple[str, ...]:
    """The instructions that wait for the same on another target, whatever is outstanding.

    Where several counters become one, the number stays: it then bounds them all. Where one becomes several it is no
    longer known to be small enough for any; all must reach 0.
    """
    there = COUNTERS[generation(new)]
    smallest: dict[str, int] = {}
    for counter, n in asked:
        names = _successors(counter, generation(old), there)
        for name in names:
            smallest[name] = min(n if len(names) == 1 else 0, smallest.get(name, n))
    return texts(tuple(smallest.items()), new)


def texts(counts: Conditions, target: str) -> tuple[str, ...]:
    """The wait instructions of a target for these counts."""
    return tuple(_texts(dict(counts), generation(target)))


def _texts(counts: dict[str, int], generation_: str) -> Iterator[str]:
    if generation_ not in ("gfx9", "gfx11"):
        yield from (wait_text(counter, n, generation_) for counter, n in counts.items())
        return
    named = {counter: n for counter, n in counts.items() if counter != "vscnt"}
    if named:
        yield unpacked(tuple(named.items()))
    if "vscnt" in counts:
        yield wait_text("vscnt", counts["vscnt"], generation_)


def _successors(counter: str, before: str, there: tuple[str, ...]) -> tuple[str, ...]:
    """The counters that operations of one are on in another generation."""
    if counter in ("storecnt", "vscnt"):
        names = ("storecnt", "vscnt") if {"storecnt", "vscnt"} & set(there) else ("vmcnt",)
    elif counter == "vmcnt" and before == "gfx9":
        names = ("vmcnt", "loadcnt", "vscnt", "storecnt")  # stores are counted with loads on CDNA 3 and 4 only
    elif counter in ("vmcnt", "loadcnt"):
        names = ("vmcnt", "loadcnt")
    elif counter in ("lgkmcnt", "dscnt", "kmcnt"):
        names = ("lgkmcnt", "dscnt", "kmcnt") if counter == "lgkmcnt" else ("lgkmcnt", counter)
    else:
        names = (counter,)
    return tuple(name for name in names if name in there)

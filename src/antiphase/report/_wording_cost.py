"""The words of the rules about what a recorded launch spends for nothing: `useless`, `bank`."""

from __future__ import annotations

import math
from collections.abc import Iterable

from antiphase.report._words import Facts, Wording, times

_PROOF = "the recording, and `wait` on every path"


def _counts(counts: Facts) -> str:
    return " ".join(f"{counter}({n})" for counter, n in counts.items() if n is not None)


def _spare(f: Facts) -> Iterable[str]:
    yield f"in {times(f['executed'], 'execution')}, and on no path is a register used too early without it"
    yield from _published(f)


def _looser(f: Facts) -> Iterable[str]:
    yield f"in {times(f['executed'], 'execution')}, and on every path for registers"
    yield from _published(f)


def _published(f: Facts) -> Iterable[str]:
    if f["publishes"]:
        yield "atomics or cache instructions run too, but nothing it completes later is shared in this launch"


def _deciding(f: Facts) -> str:
    """The sites behind the first: operations that allow no larger count."""
    operations = {f["decisive"][counter] for counter, n in f["loosest"].items() if n is not None}
    return " and ".join(f"({number})" for number, _ in enumerate(operations, 2))


def _phases(f: Facts) -> Iterable[str]:
    yield f"worst phase: {_pattern(f['steps'], f['banks'])}"
    yield (
        f"{times(f['phases'], 'phase')} of lanes serve {f['bits']} bits a lane, "
        f"{f['banks']} banks of 4 bytes, as measured: {f['source']}"
    )


def _pattern(steps: tuple[int, ...], banks: int) -> str:
    """How the addresses of neighbouring lanes lie to each other, and in how many banks that puts them."""
    apart = f"lanes are {', '.join(f'{step:,}' for step in steps)} bytes apart"
    if any(step % 4 for step in steps) or len(steps) != 1:
        return apart
    used = banks // math.gcd(sum(steps) // 4, banks)
    return f"{apart} and begin in {'the same bank' if used == 1 else f'{used} of {banks} banks'}"


RULES: dict[str, Wording] = {
    "useless/wait_completes_nothing_needed": Wording(
        lambda f: f"nothing needs what this wait completes: {_counts(f['given'])}",
        "A later wait, or none, is soon enough for all that it holds back.",
        _PROOF,
        _spare,
    ),
    "useless/wait_stricter_than_needed": Wording(
        lambda f: (
            f"{_counts(f['given'])} is stricter than needed: {_counts(f['loosest'])} is enough for {_deciding(f)}"
        ),
        "What it waits for beyond that is needed only after a later wait.",
        _PROOF,
        _looser,
    ),
    "useless/barrier_orders_nothing": Wording(
        lambda f: f"the barrier puts no bytes in order in {times(f['executed'], 'execution')}",
        "No two accesses that conflict have this rendezvous alone between them.",
        "the recording",
    ),
    "useless/barrier_keeps_offset": Wording(
        lambda f: (
            f"the barrier puts no bytes in order in {times(f['executed'], 'execution')}, but keeps two groups of waves "
            "in different stages"
        ),
        "Both groups take it, at different times: without it every later rendezvous would pair other stages.",
        "the recording, put in order anew without this barrier",
    ),
    "bank/conflict": Wording(
        lambda f: (
            f"{f['ways']}-way bank conflict: {times(f['accesses'], 'LDS access')} in "
            f"{times(f['executed'], 'execution')}, {f['without_conflicts']:,} without conflicts"
        ),
        "A phase takes one access for each different dword in its fullest bank: pad rows, or swizzle columns by row.",
        "amd-shark-ai docs/empirical-lds; HipKittens paper_experiments/phases; ROCm blog on MI450 LDS",
        _phases,
    ),
}
"""By 'check/rule'."""

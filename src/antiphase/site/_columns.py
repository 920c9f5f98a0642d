"""Facts as the cells of a table whose columns are generations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from antiphase import arch
from antiphase.arch import Citation, Fact, Subject


@dataclass(frozen=True)
class Answer:
    """One statement in a cell. targets: whom it is for, empty where it is for all of the cell."""

    fact: Fact
    targets: tuple[str, ...]
    citations: tuple[Citation, ...]


@dataclass(frozen=True)
class Cell:
    """Neighbouring columns that one statement holds for, or one column. No answers: no fact is recorded."""

    generations: tuple[str, ...]
    answers: tuple[Answer, ...]


@cache
def generations() -> dict[str, tuple[str, ...]]:
    """The columns in reading order, with their targets: RDNA as seed 000 has it, then CDNA."""
    found: dict[str, tuple[str, ...]] = {}
    for target in sorted(arch.targets(), key=lambda each: (not each.generation.startswith("RDNA"), each.generation)):
        found[target.generation] = (*found.get(target.generation, ()), target.name)
    return found


def spelled(targets: Sequence[str]) -> str:
    """Targets with numbers in a row by the first and the last: "gfx1100-1103"."""
    numbers = [int(name.removeprefix("gfx")) for name in targets]
    in_a_row = len(numbers) > 1 and numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    return f"{targets[0]}-{numbers[-1]}" if in_a_row else " ".join(targets)


def columns(subjects: Iterable[Subject]) -> list[str]:
    """The generations that any of the rows has a fact for."""
    facts = [row.facts for row in subjects]
    return [name for name, targets in generations().items() if any(t in held for held in facts for t in targets)]


def cells(row: Subject, shown: Sequence[str]) -> list[Cell]:
    """The row's cells over these columns."""
    return list(_merged(row, shown))


def _merged(row: Subject, shown: Sequence[str]) -> Iterator[Cell]:
    open_: list[str] = []
    for name in shown:
        if open_ and not _share(row, open_[-1], name):
            yield _cell(row, open_)
            open_ = []
        open_.append(name)
    if open_:
        yield _cell(row, open_)


def _share(row: Subject, one: str, other: str) -> bool:
    """Whether one cell of the fact file states both columns whole."""
    groups = list(row.groups((*generations()[one], *generations()[other])))
    return len(groups) == 1


def _cell(row: Subject, names: Sequence[str]) -> Cell:
    targets = [target for name in names for target in generations()[name]]
    groups = [(held, fact) for held, fact in row.groups(targets) if fact is not None]
    whole = len(groups) == 1 and len(groups[0][0]) == len(targets)
    return Cell(
        tuple(names),
        tuple(Answer(fact, () if whole else held, _citations(row, held)) for held, fact in groups),
    )


def _citations(row: Subject, targets: Iterable[str]) -> tuple[Citation, ...]:
    """Those of all the targets, each once."""
    return tuple(dict.fromkeys(each for target in targets for each in row.facts[target].citations))

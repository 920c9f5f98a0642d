"""What a reader asks of the reference: some targets, and words that name rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from antiphase.arch._reference import Subject, reference
from antiphase.arch._registry import target, targets


class Answer(msgspec.Struct, frozen=True):
    """The rows found and the targets they are asked for, in the order of the list of targets."""

    targets: tuple[str, ...]
    subjects: tuple[Subject, ...]

    def differing(self) -> Answer:
        """Only the rows in which the targets do not all share one value."""
        rows = tuple(row for row in self.subjects if len({repr(_value(row, name)) for name in self.targets}) > 1)
        return Answer(self.targets, rows)


def ask(words: Sequence[str]) -> Answer:
    """Answer to words such as ("gfx1100", "rdna4", "wait"): target and generation names choose the columns, the
    rest the rows; all targets, or all rows, where none are named.

    Raises UserError for an unknown target and for words that nothing is about.
    """
    asked, rest = _split(words)
    book = reference()
    found = book.find(" ".join(rest), asked) if rest else list(book.subjects.values())
    names = asked or tuple(each.name for each in targets())
    return Answer(names, tuple(row for row in found if any(name in row.facts for name in names)))


def target_names(words: Iterable[str]) -> tuple[str, ...]:
    """The targets among the words, generations opened."""
    return _split(list(words))[0]


def named_together(names: Iterable[str]) -> list[str]:
    """Target names with complete generations by the generation's name: ["RDNA 3", "gfx1150"]."""
    left, found = list(names), []
    members: dict[str, list[str]] = {}
    for each in targets():
        members.setdefault(each.generation, []).append(each.name)
    for generation, of_it in members.items():
        if len(of_it) > 1 and set(of_it) <= set(left):
            found.append(generation)
        else:
            found += [name for name in of_it if name in left]
    return found


def _split(words: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    generations: dict[str, list[str]] = {}
    for each in targets():
        generations.setdefault(_plain(each.generation), []).append(each.name)
    asked: set[str] = set()
    rest: list[str] = []
    for word in words:
        if _plain(word) in generations:
            asked.update(generations[_plain(word)])
        elif word.lower().startswith("gfx"):
            asked.add(target(word).name)
        else:
            rest.append(word)
    return tuple(each.name for each in targets() if each.name in asked), rest


def _plain(name: str) -> str:
    return name.lower().replace(" ", "").replace("-", "")


def _value(row: Subject, name: str) -> object:
    fact = row.facts.get(name)
    return None if fact is None else (fact.value, fact.says)

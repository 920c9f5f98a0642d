"""The index that the search box looks through: pages, facts with their statements, instructions, layouts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from antiphase import arch
from antiphase.arch import Fact, Subject, reference
from antiphase.coverage import instructions
from antiphase.report import reference as words
from antiphase.site._columns import generations
from antiphase.site._layout_data import layout_data
from antiphase.site._pages import pages
from antiphase.site._search_words import FAMILIES, LAYOUT, SKIPPED, SYNONYMS, filters


def search_index() -> dict[str, Any]:
    """Entries by kind, and what the words of a search mean; sets of targets are numbers with a bit a target."""
    return {
        "targets": [each.name for each in arch.targets()],
        "filters": filters(),
        "synonyms": SYNONYMS,
        "skipped": SKIPPED,
        "layout": LAYOUT,
        "families": FAMILIES,
        "pages": list(_pages()),
        "facts": list(_facts()),
        "instructions": [(row.name, row.group, _bits(row.targets)) for row in instructions()],
        "layouts": list(_layouts()),
    }


def _bits(targets: Iterable[str]) -> int:
    names = [each.name for each in arch.targets()]
    return sum(1 << names.index(target) for target in targets)


def _pages() -> Iterator[tuple[str, str, str, int]]:
    """Title, summary, address, and the target that the page is about; 0 where it is about all."""
    names = {each.name for each in arch.targets()}
    for page in pages():
        yield page.title, page.summary, f"{page.name}.html", _bits({page.name} & names)


def _facts() -> Iterator[tuple[str, str, str, str, list[tuple[int, str]]]]:
    """Title, subject, chapter, words that are searched as well, and each statement with its targets."""
    book = reference()
    for row in book.subjects.values():
        groups = [(names, fact) for names, fact in row.groups(list(row.facts)) if fact is not None]
        statements = [(_bits(names), words.statement(fact)) for names, fact in groups]
        yield words.heading(row), row.name, book.topics[row.topic].chapter, _values(row), statements


def _values(row: Subject) -> str:
    """The unit, and values that their statements do not spell."""
    found = dict.fromkeys(value for fact in row.facts.values() for value in _unsaid(fact))
    return " ".join([row.unit, *found]).strip()


def _unsaid(fact: Fact) -> Iterator[str]:
    value = words.value_text(fact.value)
    if value.lower() not in words.statement(fact).lower():
        yield value


def _layouts() -> Iterator[tuple[str, str, int]]:
    """Matrix instructions with other names and targets: those of most targets first, short names before long ones."""
    held: dict[str, list[str]] = {}
    aliases: dict[str, str] = {}
    for generation, targets in generations().items():
        for form in layout_data(generation)["forms"]:
            of = held.setdefault(form["name"], [])
            of += [target for target in targets if target not in of]
            aliases[form["name"]] = " ".join(form["aliases"])
    for name in sorted(held, key=lambda each: (-len(held[each]), not each.endswith("_f16"), len(each))):
        yield name, aliases[name], _bits(held[name])

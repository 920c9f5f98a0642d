"""The index that the search box looks through: one entry a page, row, instruction and target."""

from __future__ import annotations

from collections.abc import Iterator

from antiphase.arch import reference
from antiphase.coverage import instructions
from antiphase.report import reference as words
from antiphase.site._pages import pages

Entry = tuple[str, str, str, str]
"""Kind, title, text that is searched as well, address."""


def search_index() -> list[Entry]:
    """Every entry, kinds in the order in which equal matches are listed."""
    return [*_pages(), *_subjects(), *_instructions()]


def _pages() -> Iterator[Entry]:
    return (("page", page.title, page.summary, f"{page.name}.html") for page in pages())


def _subjects() -> Iterator[Entry]:
    book = reference()
    for row in book.subjects.values():
        statements = dict.fromkeys(words.statement(fact) for fact in row.facts.values())
        address = f"{book.topics[row.topic].chapter}.html#{row.name}"
        yield "fact", words.heading(row), f"{row.name} {' · '.join(statements)}", address


def _instructions() -> Iterator[Entry]:
    for row in instructions():
        yield "instruction", row.name, row.group, f"instructions.html#{row.name}"

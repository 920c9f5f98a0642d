"""The architecture reference: chapters of tables, each row one subject with a fact a target."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from functools import cache

import msgspec

from antiphase.arch._assembler import assembler_inventory
from antiphase.arch._fact_files import (
    Chapter,
    Topic,
    fact_files,
    read_chapters,
    read_sources,
    read_stamps,
    read_targets,
)
from antiphase.arch._facts import Fact, facts_of
from antiphase.errors import UserError

_MEANT = {"size": "bytes", "width": "bits", "spacing": "between", "separates": "between", "latency": "pass"}
"""What readers ask for by another word than the facts have."""
_MATRIX = re.compile(r"v_(mfma|smfmac|wmma|swmmac)_")


class Subject(msgspec.Struct, frozen=True):
    """One row: what it is about, and its facts by target, in the order of the targets."""

    name: str
    title: str
    topic: str
    unit: str
    config: dict[str, str | int]
    seed: tuple[str, ...]
    facts: dict[str, Fact]

    def groups(self, targets: Sequence[str]) -> Iterator[tuple[tuple[str, ...], Fact | None]]:
        """The named targets, those that one cell states together, each with the fact of the first of them.

        None stands for targets that no fact is recorded for.
        """
        left = list(targets)
        while left:
            fact = self.facts.get(left[0])
            one = [name for name in left if self._same(fact, self.facts.get(name))]
            left = [name for name in left if name not in one]
            yield tuple(one), fact

    @staticmethod
    def _same(one: Fact | None, other: Fact | None) -> bool:
        if one is None or other is None:
            return one is other
        return one is other or other.target in one.shares


class Reference(msgspec.Struct, frozen=True):
    """All of it. chapters, topics, subjects: by key, id or name, in reading order."""

    chapters: dict[str, Chapter]
    topics: dict[str, Topic]
    subjects: dict[str, Subject]

    @property
    def facts(self) -> list[Fact]:
        """Every fact."""
        return [fact for subject in self.subjects.values() for fact in subject.facts.values()]

    def topics_of(self, chapter: str) -> list[Topic]:
        """The tables of a chapter, in their order."""
        return [topic for topic in self.topics.values() if topic.chapter == chapter]

    def subjects_of(self, topic: str) -> list[Subject]:
        """The rows of a table."""
        return [subject for subject in self.subjects.values() if subject.topic == topic]

    def find(self, query: str, targets: Sequence[str] = ()) -> list[Subject]:
        """The rows that a query names: a chapter, a topic or a subject as `arch list` prints them; else, or besides
        where it is a plain word, the rows that have all its words in their titles and statements.

        targets: only facts of these count, all where none are given. Raises UserError, with near names or where else
        to ask, if there is none.
        """
        known = [row for row in self.subjects.values() if not targets or any(name in row.facts for name in targets)]
        exact = [row for row in self._named(query) if row in known]
        if exact and not query.isalnum():
            return exact
        words = query.lower().split()
        found = exact + [row for row in known if row not in exact and _matches(row, words, targets)]
        if found:
            return found
        elsewhere = f" for {', '.join(targets)}" if targets and self._anywhere(query) else ""
        raise UserError(f"no fact about {query!r} is recorded{elsewhere}", remedy=self._remedy(query, words))

    def _anywhere(self, query: str) -> bool:
        return bool(self._named(query)) or any(
            _matches(row, query.lower().split(), ()) for row in self.subjects.values()
        )

    def _remedy(self, query: str, words: Sequence[str]) -> str:
        for word in words:
            if _MATRIX.match(word):
                return f"antiphase layout {word} says where its elements lie, antiphase isa show {word} what it does"
            if word in assembler_inventory().mnemonics:
                return f"antiphase isa show {word} says what it does and where it exists"
        near = difflib.get_close_matches(query.lower(), [*self.chapters, *self.topics, *self.subjects], n=3)
        return f"did you mean {' or '.join(near)}?" if near else "antiphase arch list prints the topics"

    def _named(self, query: str) -> list[Subject]:
        if query in self.subjects:
            return [self.subjects[query]]
        topics = {query} if query in self.topics else {topic.id for topic in self.topics_of(query)}
        return [subject for subject in self.subjects.values() if subject.topic in topics]


@cache
def reference() -> Reference:
    """The reference as its data files hold it. Raises UserError naming the file with a bad record."""
    files = list(fact_files())
    facts: dict[str, dict[str, Fact]] = {}
    targets = read_targets()
    for fact in facts_of(files, targets, read_sources(), read_stamps()):
        facts.setdefault(fact.subject, {})[fact.target] = fact
    chapters = read_chapters()
    topics: dict[str, Topic] = {}
    subjects: dict[str, Subject] = {}
    for name, content in files:
        topic = content.topic
        if topic.chapter not in chapters:
            raise UserError(f"{name}: chapter {topic.chapter!r} is not in chapters.toml")
        if topic.id in topics:
            raise UserError(f"{name}: two files are about topic {topic.id}")
        topics[topic.id] = topic
        for row in content.row:
            held = facts[row.subject]
            ordered = {target: held[target] for target in targets if target in held}
            subjects[row.subject] = Subject(row.subject, row.title, topic.id, row.unit, row.config, row.seed, ordered)
    return _ordered(chapters, topics, subjects)


def _ordered(chapters: dict[str, Chapter], topics: dict[str, Topic], subjects: dict[str, Subject]) -> Reference:
    """In the order of the chapters and of their topics, rows as their files have them."""
    numbers = {key: number for number, key in enumerate(chapters)}
    ids = sorted(topics, key=lambda name: (numbers[topics[name].chapter], topics[name].order))
    rows = sorted(subjects.values(), key=lambda row: ids.index(row.topic))
    return Reference(chapters, {name: topics[name] for name in ids}, {row.name: row for row in rows})


def _matches(row: Subject, words: Sequence[str], targets: Sequence[str]) -> bool:
    facts = [fact for name, fact in row.facts.items() if not targets or name in targets]
    statements = " ".join(f"{fact.says} {fact.value}" for fact in facts)
    text = f"{row.name} {row.topic} {row.title} {row.unit} {statements}".lower()
    return all(word in text or _MEANT.get(word, word) in text for word in words)

"""The architecture reference: chapters of tables, each row one subject with a fact a target."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from functools import cache

import msgspec

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

    def find(self, query: str) -> list[Subject]:
        """The rows that a chapter, topic, subject or a word of their titles and statements names.

        Raises UserError, with the nearest names, if nothing does.
        """
        words = query.lower().split()
        for found in (self._named(query), [s for s in self.subjects.values() if _matches(s, words)]):
            if found:
                return found
        names = [*self.chapters, *self.topics, *self.subjects]
        near = difflib.get_close_matches(query.lower(), names, n=3)
        guess = f"did you mean {' or '.join(near)}?" if near else "antiphase arch list prints the topics"
        raise UserError(f"no fact is about {query!r}", remedy=guess)

    def _named(self, query: str) -> list[Subject]:
        if query in self.subjects:
            return [self.subjects[query]]
        topics = {query} if query in self.topics else {topic.id for topic in self.topics_of(query)}
        return [subject for subject in self.subjects.values() if subject.topic in topics]


@cache
def reference() -> Reference:
    """The reference as its data files hold it. Raises ValueError naming the file with a bad record."""
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
            raise ValueError(f"{name}: chapter {topic.chapter!r} is not in chapters.toml")
        if topic.id in topics:
            raise ValueError(f"{name}: two files are about topic {topic.id}")
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


def _matches(subject: Subject, words: list[str]) -> bool:
    statements = " ".join({fact.says for fact in subject.facts.values()})
    text = f"{subject.name} {subject.topic} {subject.title} {statements}".lower()
    return all(word in text for word in words)

"""`antiphase arch list`, `show` and `compare` in words: the facts of the reference and where they come from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from antiphase.arch import Answer, Citation, Fact, Reference, Subject, named_together

NO_FACT = "no fact recorded"


_NUMBERS = ("nothing", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NAME = re.compile(r"(?:v|s|ds|global|flat|buffer|scratch|tensor|cluster|lds|__builtin)_\w+")
_LONGEST = 6
"""Items of a list that are worth repeating behind a sentence that sums them up."""


def statement(fact: Fact) -> str:
    """What a fact says, in words; behind them its value, where they leave its numbers or instructions out."""
    value = f"{value_text(fact.value)}{f' {fact.unit}' if fact.unit else ''}"
    if not fact.says:
        return value
    items = fact.value if isinstance(fact.value, list | tuple) else [fact.value]
    words = set(re.findall(r"[\w.+-]*\w", fact.says.lower().replace(",", "")))
    untold = [item for item in items if _tells(item) and not _said(item, words)]
    return f"{fact.says} ({value})" if untold and len(items) <= _LONGEST else fact.says


def _tells(value: object) -> bool:
    """Whether it is a number or the name of an instruction; other values are words for programs."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number or (isinstance(value, str) and _NAME.fullmatch(value) is not None)


def _said(value: object, words: set[str]) -> bool:
    spelled = isinstance(value, int) and 0 <= value < len(_NUMBERS) and _NUMBERS[value] in words
    return spelled or str(value).lower() in words


def value_text(value: object) -> str:
    """A fact's value on one line."""
    if isinstance(value, Mapping) and "name" in value:
        return f"{value['name']} ({value_text({k: item for k, item in value.items() if k != 'name'})})"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {value_text(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(value_text, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def evidence_text(fact: Fact) -> str:
    """Its statuses and labels; who checked it."""
    tools = f" by {', '.join(tool.title for tool in fact.checked)}" if fact.checked else ""
    return ", ".join([str(fact.evidence) + tools, *fact.labels])


def citation_text(citation: Citation) -> str:
    """Source, revision and place."""
    return f"{citation.source.title} [{short_revision(citation.source.revision)}], {citation.place}"


def short_revision(revision: str) -> str:
    """A full commit hash by its start, which says as much to a reader; anything else as it is."""
    return revision[:12] if re.fullmatch(r"[0-9a-f]{40}", revision) else revision


def topics_as_json(book: Reference) -> list[dict[str, Any]]:
    """The topics in the order of the chapters."""
    return [
        {"chapter": chapter, "topic": topic.id, "title": topic.title, "subjects": len(book.subjects_of(topic.id))}
        for chapter in book.chapters
        for topic in book.topics_of(chapter)
    ]


def subjects_as_json(answer: Answer) -> list[dict[str, Any]]:
    """Name, title and topic of each row."""
    return [{"subject": row.name, "title": row.title, "topic": row.topic} for row in answer.subjects]


def answer_as_json(answer: Answer) -> dict[str, Any]:
    """`targets`, and `subjects` with the facts of these targets in full."""
    return {
        "targets": answer.targets,
        "subjects": [
            {
                "subject": row.name,
                "title": row.title,
                "topic": row.topic,
                "unit": row.unit,
                "config": row.config,
                "facts": {
                    name: {"id": row.facts[name].id, **_plain(row.facts[name])}
                    for name in answer.targets
                    if name in row.facts
                },
            }
            for row in answer.subjects
        ],
    }


def print_topics(book: Reference, console: Console) -> None:
    """Print the chapters with their topics and the number of rows of each."""
    for key, chapter in book.chapters.items():
        console.print(f"\n[bold]{key}[/]  {escape(chapter.title)}", highlight=False)
        for topic in book.topics_of(key):
            count = len(book.subjects_of(topic.id))
            console.print(f"  {topic.id}  [dim]{escape(topic.title)}, {count} rows[/]", highlight=False)


def print_subjects(answer: Answer, console: Console) -> None:
    """Print one line a row."""
    for row in answer.subjects:
        console.print(f"{row.name}  [dim]{escape(row.title)}[/]", highlight=False, soft_wrap=True)


def print_answer(answer: Answer, console: Console) -> None:
    """Print each row in full: statement, evidence, conditions and sources of each group of targets."""
    for row in answer.subjects:
        console.print(f"[bold]{row.name}[/]  {escape(heading(row))}", highlight=False, soft_wrap=True)
        for names, fact in row.groups(answer.targets):
            console.print(f"  [cyan]{', '.join(named_together(names))}[/]", highlight=False)
            for line in _lines(row, names, fact):
                console.print(f"    {line}", highlight=False, soft_wrap=True)


def print_comparison(answer: Answer, console: Console) -> None:
    """Print a column a group of targets that agree in every row, the sources of each cell under it."""
    columns = _columns(answer)
    table = Table(show_lines=True, header_style="bold")
    table.add_column("", ratio=2, overflow="fold")
    for names in columns:
        table.add_column(", ".join(named_together(names)), ratio=3)
    for row in answer.subjects:
        cells = [_cell(row, names) for names in columns]
        table.add_row(f"{escape(heading(row))}\n[dim]{row.name}[/]", *cells)
    console.print(table, highlight=False)


def own_config(row: Subject, fact: Fact) -> str:
    """What a fact is stated for where that is not what its row is: "wave 64, shape 16x16x16"."""
    return _config({key: value for key, value in fact.config.items() if row.config.get(key) != value})


def _config(config: Mapping[str, str | int]) -> str:
    return ", ".join(f"{key} {value}" for key, value in config.items())


def heading(row: Subject) -> str:
    """A row's title and the configuration it is stated for."""
    config = _config(row.config)
    return f"{row.title} ({config})" if config else row.title


def _columns(answer: Answer) -> list[tuple[str, ...]]:
    """The targets, those together that every row states together."""
    alike: dict[tuple[int, ...], list[str]] = {}
    groups = [[names for names, _ in row.groups(answer.targets)] for row in answer.subjects]
    for target in answer.targets:
        key = tuple(next(i for i, names in enumerate(of_row) if target in names) for of_row in groups)
        alike.setdefault(key, []).append(target)
    return [tuple(names) for names in alike.values()]


def _cell(row: Subject, names: tuple[str, ...]) -> str:
    fact = row.facts.get(names[0])
    if fact is None:
        return f"[dim]{NO_FACT}[/]"
    sources = "\n".join(escape(citation_text(each)) for each in _citations(row, names))
    stated = f"{own_config(row, fact)}: {statement(fact)}" if own_config(row, fact) else statement(fact)
    return f"{escape(stated)}\n[dim]{escape(evidence_text(fact))}\n{sources}[/]"


def _lines(row: Subject, names: tuple[str, ...], fact: Fact | None) -> Iterable[str]:
    if fact is None:
        return [f"[dim]{NO_FACT}[/]"]
    return [
        *([f"[dim]for {escape(own_config(row, fact))}[/]"] if own_config(row, fact) else []),
        f"{escape(statement(fact))}  [dim]{escape(evidence_text(fact))}[/]",
        *([f"[dim]limits:[/] {escape(fact.limits)}"] if fact.limits else []),
        *(f"[dim]{escape(citation_text(each))}[/]" for each in _citations(row, names)),
    ]


def _citations(row: Subject, names: tuple[str, ...]) -> list[Citation]:
    """Those of all the targets, each once."""
    return list(dict.fromkeys(each for name in names if name in row.facts for each in row.facts[name].citations))


def _plain(fact: Fact) -> dict[str, Any]:
    built = msgspec.to_builtins(fact)
    return {key: value for key, value in built.items() if key not in {"subject", "title", "topic", "unit", "config"}}

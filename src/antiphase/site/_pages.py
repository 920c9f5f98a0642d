"""The pages of the site: what each is called, which template draws it and from which data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from antiphase import arch
from antiphase.arch import Reference, Subject, reference
from antiphase.site._diagram_facts import facts_of
from antiphase.site._diagrams import DIAGRAMS, diagrams_of
from antiphase.site._hazards import hazards
from antiphase.site._pipeline import pipeline_runs


@dataclass(frozen=True)
class Page:
    """One page. name: of the file, without .html. summary: one sentence for search results and the page's head.

    scripts: modules of static/ that the page runs.
    """

    name: str
    title: str
    template: str
    summary: str
    context: dict[str, Any] = field(default_factory=dict)
    scripts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Link:
    """An entry of the navigation."""

    name: str
    title: str


def pages(step: Callable[[str], object] = lambda text: None) -> Iterator[Page]:
    """Every page; `step` is told of long work."""
    yield _home()
    yield from map(_chapter, reference().chapters)
    yield from (
        Page(
            name,
            diagram.title,
            "diagram",
            diagram.summary,
            {"diagram": diagram, "facts": facts_of(diagram)},
            ("draw", diagram.script),
        )
        for name, diagram in DIAGRAMS.items()
    )
    runs, why = pipeline_runs(step)
    yield Page("pipeline", "Warp-pipelining", "pipeline", PIPELINE, {"runs": runs, "why": why})
    yield Page("instructions", "Instructions", "instructions", INSTRUCTIONS, scripts=("instructions",))
    yield from map(_target, arch.targets())
    yield Page("sources", "Sources", "sources", "Every document, file and tool that a fact cites.", _sources())


@cache
def navigation() -> dict[str, list[Link]]:
    """Heading to the links below it."""
    book = reference()
    return {
        "Reference": [Link("index", "Quick comparison"), *(Link(key, c.title) for key, c in book.chapters.items())],
        "Explore": [
            *(Link(name, d.short) for name, d in DIAGRAMS.items()),
            Link("pipeline", "Warp-pipelining"),
            Link("instructions", "Instructions"),
        ],
        "Targets": [Link(each.name, f"{each.name} · {each.generation}") for each in arch.targets()],
        "About": [Link("sources", "Sources")],
    }


PIPELINE = "Two wave groups one stage apart, drawn from recordings of our own kernels."
INSTRUCTIONS = "Which instructions each target's assembler accepts, and which of them antiphase executes."
QUICK = "0.quick_comparison / "
"""Rows that answer to seed 000's quick comparison begin the first page."""
ALSO_QUICK = (
    "matrix.cd_16bit",
    "matrix.sparse_available",
    "matrix.d_to_ab",
    "execution.counter.lds_indexed",
    "execution.workgroup_barrier",
    "memory.global_to_lds.instructions",
    "lds_bytes_per_cu",
    "max_vgprs",
)
"""And what else a kernel author porting between generations trips over first."""


def _quick_rows(book: Reference) -> list[Subject]:
    """What a kernel trips over first, what the comparison covers last."""
    quick = [row for row in book.subjects.values() if any(entry.startswith(QUICK) for entry in row.seed)]
    about = [row for row in quick if book.topics[row.topic].chapter == "scope"]
    return [*(row for row in quick if row not in about), *(book.subjects[name] for name in ALSO_QUICK), *about]


def _home() -> Page:
    book = reference()
    context = {
        "rows": _quick_rows(book),
        "chapters": book.chapters,
        "counts": {
            "facts": len(book.facts),
            "checked": sum(bool(fact.checked) for fact in book.facts),
            "subjects": len(book.subjects),
            "targets": len(arch.targets()),
        },
        "diagrams": DIAGRAMS,
    }
    return Page("index", "Quick comparison", "home", "RDNA 3 to 4 and CDNA 3 to 5, side by side.", context)


def _chapter(key: str) -> Page:
    book = reference()
    chapter = book.chapters[key]
    context = {
        "chapter": chapter,
        "tables": [(topic, book.subjects_of(topic.id)) for topic in book.topics_of(key)],
        "diagrams": diagrams_of(key),
        "hazards": hazards() if key == "hazards" else [],
    }
    return Page(key, chapter.title, "chapter", chapter.summary, context)


def _target(target: arch.Target) -> Page:
    book = reference()
    rows = {
        key: [row for topic in book.topics_of(key) for row in book.subjects_of(topic.id) if target.name in row.facts]
        for key in sorted(book.chapters, key=_on_target_page)
    }
    summary = f"{target.name}, {target.generation}: every fact that is recorded for it."
    return Page(target.name, target.name, "target", summary, {"target": target, "rows": rows, "book": book})


def _on_target_page(chapter: str) -> int:
    """Where a chapter stands: the target's numbers before all others, what the statuses mean behind them."""
    return {"limits": 0, "scope": 2}.get(chapter, 1)


def _sources() -> dict[str, Any]:
    cited: dict[str, dict[str, Any]] = {}
    for fact in reference().facts:
        for citation in fact.citations:
            entry = cited.setdefault(citation.key, {"source": citation.source, "subjects": {}})
            entry["subjects"][fact.subject] = reference().topics[fact.topic].chapter
    return {"cited": dict(sorted(cited.items(), key=lambda item: item[1]["source"].title.lower()))}

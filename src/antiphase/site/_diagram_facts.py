"""The facts that a diagram shows, as its script reads them."""

from __future__ import annotations

from typing import Any

from antiphase.arch import reference
from antiphase.report import reference as words
from antiphase.site._columns import cells, generations
from antiphase.site._diagrams import Diagram


def facts_of(diagram: Diagram) -> list[dict[str, Any]]:
    """A record a row: subject, title, address, and its answer for each generation that has one."""
    book = reference()
    return [
        {
            "subject": row.name,
            "title": row.title,
            "href": f"{book.topics[row.topic].chapter}.html#{row.name}",
            "answers": [
                {
                    "generations": cell.generations,
                    "targets": answer.targets,
                    "says": words.statement(answer.fact),
                    "value": answer.fact.value,
                    "evidence": str(answer.fact.evidence),
                }
                for cell in cells(row, list(generations()))
                for answer in cell.answers
            ],
        }
        for row in book.subjects.values()
        if row.name.startswith(diagram.facts)
    ]

"""The live diagrams: what each shows, which chapter it belongs to, and the script that draws it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Diagram:
    """One diagram, a page of its own. short: its name in the navigation. script: module of static/ that draws it.

    data: files of data/ that it needs from the start. notes: what the picture does and does not claim.
    subjects: rows of the reference that it draws.
    """

    title: str
    short: str
    summary: str
    chapter: str
    script: str
    data: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()


DIAGRAMS: dict[str, Diagram] = {}


def diagrams_of(chapter: str) -> dict[str, Diagram]:
    """The diagrams of a chapter, by page name."""
    return {name: diagram for name, diagram in DIAGRAMS.items() if diagram.chapter == chapter}

"""All wording and drawing: terminal, JSON and pages. Nothing here decides anything."""

from antiphase.report._terminal import counting, terminal, working

__all__ = ["counting", "terminal", "working"]

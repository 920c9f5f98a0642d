"""All wording and drawing: terminal, JSON and pages. Nothing here decides anything."""

from antiphase.report._terminal import terminal, working

__all__ = ["terminal", "working"]

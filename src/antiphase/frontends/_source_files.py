"""Which files the source lines of a compiled kernel are in, where Triton's cache knows another copy of them.

Triton finds a compilation by the text of its functions (runtime/jit.py, `DependenciesFinder`), not by where they
are: of two checkouts of one kernel the second gets the text of the first, with the paths of the first.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_FILE = re.compile(r'^(?P<head>\s*\.file\s+\d+\s+)"(?P<folder>[^"]*)"\s+"(?P<name>[^"]*)"', re.MULTILINE)


def source_file(source: Any) -> Path | None:
    """The file of a `triton.compiler.ASTSource`'s function, None for sources that are no Python function."""
    function = getattr(getattr(source, "fn", None), "fn", None)
    return None if function is None else Path(function.__code__.co_filename)


def at_home(text: str, source: Path | None) -> str:
    """Assembly text with the paths of its `.file` lines as they are in the checkout of `source`.

    Changed only if the text knows `source` by another folder; then each file is moved by the same difference,
    where it exists there.
    """
    paths = [Path(one["folder"], one["name"]) for one in _FILE.finditer(text)]
    if source is None or source in paths:
        return text
    for path in paths:
        if path.name == source.name:
            return _moved(text, *_roots(path, source))
    return text


def _roots(there: Path, here: Path) -> tuple[Path, Path]:
    """Both paths without the parts that they end in together."""
    while there.name and there.name == here.name:
        there, here = there.parent, here.parent
    return there, here


def _moved(text: str, there: Path, here: Path) -> str:
    def line(one: re.Match[str]) -> str:
        path = Path(one["folder"], one["name"])
        if path.is_relative_to(there) and (moved := here / path.relative_to(there)).exists():
            return f'{one["head"]}"{moved.parent}" "{moved.name}"'
        return one[0]

    return _FILE.sub(line, text)

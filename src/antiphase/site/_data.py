"""The data that pages load when they need it, one script a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from antiphase.site._columns import generations
from antiphase.site._instructions import instruction_rows
from antiphase.site._layout_data import layout_data, layout_file
from antiphase.site._search import search_index


def data_files(step: Callable[[str], object]) -> Iterator[tuple[str, Any]]:
    """(name, content) of every data file; `step` is told what is next."""
    step("search index")
    yield "search", search_index()
    step("instructions")
    yield "instructions", instruction_rows()
    for generation in generations():
        step(f"layouts of {generation}")
        yield layout_file(generation), layout_data(generation)

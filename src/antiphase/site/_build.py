"""Write the site: every page from its template, static files, and the data that pages load."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from importlib.resources import as_file, files
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from antiphase import __version__
from antiphase.errors import UserError
from antiphase.report import reference as words
from antiphase.site import _columns
from antiphase.site._data import data_files
from antiphase.site._layout_data import layout_file
from antiphase.site._pages import Page, navigation, pages

_STATIC = files("antiphase.site") / "static"


def build(folder: Path, step: Callable[[str], object] = lambda text: None) -> list[Path]:
    """Write the whole site into `folder`, replacing what an earlier build left there; `step` is told what is next.

    Returns the pages written. Raises UserError where the folder cannot be written.
    """
    try:
        return _write(folder, step)
    except OSError as error:
        # shutil's error about several files is a list of source, destination and reason
        why = error.strerror or error.args[0][0][-1]
        raise UserError(f"the site cannot be written to {folder}: {why}", remedy="choose a folder") from error


def _write(folder: Path, step: Callable[[str], object]) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    step("static files")
    with as_file(_STATIC) as static:
        shutil.copytree(static, folder / "static", dirs_exist_ok=True)
    for name, content in data_files(step):
        path = folder / "data" / f"{name}.js"
        path.parent.mkdir(exist_ok=True)
        # A script and not JSON: a page opened from a file may not fetch.
        text = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
        path.write_text(f"antiphase.loaded({json.dumps(name)},{text})\n", encoding="utf-8")
    environment = _environment()
    written = []
    for page in pages(step):
        step(page.title)
        written.append(folder / f"{page.name}.html")
        written[-1].write_text(_render(environment, page), encoding="utf-8")
    return written


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("antiphase.site"),
        autoescape=select_autoescape(),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {
        "navigation": navigation(),
        "version": __version__,
        "generations": _columns.generations(),
        "layout_files": {
            name: {"targets": held, "data": layout_file(name)} for name, held in _columns.generations().items()
        },
        "cells": _columns.cells,
        "columns": _columns.columns,
        "spelled": _columns.spelled,
    }
    environment.filters |= {
        "statement": words.statement,
        "value": words.value_text,
        "cite": words.citation_text,
        "revision": words.short_revision,
        "slug": slug,
        "breakable": breakable,
        "own_config": lambda fact, row: words.own_config(row, fact),
    }
    return environment


def slug(name: str) -> str:
    """A name as class names and anchors spell it: "RDNA 3.5" is "rdna35"."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


def breakable(text: str) -> Markup:
    """Text whose long names may break behind an underscore or a full stop inside them."""
    return Markup(
        re.sub(r"[\w.]{12,}", lambda name: re.sub(r"(?<=\w)([_.]+)(?=\w)", r"\1<wbr>", name[0]), str(escape(text)))
    )


def _render(environment: Environment, page: Page) -> str:
    return environment.get_template(f"{page.template}.html").render(page=page, **page.context)

"""The pages as files: links lead somewhere, every fact is on its page, nothing is fetched from a network."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from antiphase.arch import reference, targets
from antiphase.cli import main
from antiphase.site import build

LARGEST_PAGE = 700_000


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build(folder)
    return folder


class _Page(HTMLParser):
    """Anchors and references of a page, and tags that are open at its end."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.repeated: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        held = dict(attrs)
        if held.get("id"):
            name = str(held["id"])
            self.repeated += [name] if name in self.ids else []
            self.ids.add(name)
        if tag == "a" and held.get("href"):
            self.links.append(str(held["href"]))
        if tag in {"script", "link", "img"}:
            self.loads += [str(held[key]) for key in ("src", "href") if held.get(key)]


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, _Page]:
    return {path.name: _Page(path) for path in site.glob("*.html")}


def test_links_lead_to_pages_and_anchors(pages: dict[str, _Page]) -> None:
    dead = []
    for name, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            there = pages.get(parts.path or name)
            anchor = unquote(parts.fragment)
            if there is None or (anchor and anchor not in there.ids and parts.path != "instructions.html"):
                dead.append(f"{name}: {link}")
    assert not dead


def test_no_page_loads_from_a_network(pages: dict[str, _Page], site: Path) -> None:
    for page in pages.values():
        for load in page.loads:
            assert not urlsplit(load).scheme and (site / load).exists()
    for path in site.rglob("*.css"):
        assert "url(" not in path.read_text() and "@import" not in path.read_text()


def test_ids_are_unique(pages: dict[str, _Page]) -> None:
    assert {name: page.repeated for name, page in pages.items() if page.repeated} == {}


def test_every_row_stands_on_its_chapter_and_every_target_has_a_page(pages: dict[str, _Page]) -> None:
    book = reference()
    for row in book.subjects.values():
        assert row.name in pages[f"{book.topics[row.topic].chapter}.html"].ids
    assert {f"{each.name}.html" for each in targets()} <= set(pages)


def test_every_source_that_a_fact_cites_is_listed(pages: dict[str, _Page]) -> None:
    keys = {citation.key for fact in reference().facts for citation in fact.citations}
    assert keys <= pages["sources.html"].ids


def test_pages_stay_small(site: Path) -> None:
    assert {path.name: path.stat().st_size for path in site.glob("*.html") if path.stat().st_size > LARGEST_PAGE} == {}


def test_a_target_begins_with_its_numbers_and_ends_with_what_statuses_mean(site: Path) -> None:
    chapters = re.findall(r'<h2 id="(\w+)">', (site / "gfx1151.html").read_text())
    assert (chapters[0], chapters[-1]) == ("limits", "scope")


def test_names_break_at_underscores_only_where_they_are_long(site: Path) -> None:
    text = (site / "memory.html").read_text()
    assert "memory.<wbr>offset.<wbr>flat" in text and "S_<wbr>NOP" not in text


def test_one_is_no_plural(site: Path) -> None:
    assert "<summary>1 subjects" not in (site / "sources.html").read_text()


def test_data_files_announce_themselves(site: Path) -> None:
    for path in (site / "data").glob("*.js"):
        found = re.fullmatch(r'antiphase\.loaded\("([^"]+)",(.*)\)\n', path.read_text(), re.DOTALL)
        assert found and found[1] == path.stem
        json.loads(found[2])


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    assert main(["arch", "site", str(tmp_path / "file" / "site")]) == 2
    error = capsys.readouterr().err
    assert "cannot be written" in error and error.count("\n") == 1

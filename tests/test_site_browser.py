"""The pages in a real browser: search, columns, explorers, small screens, themes, and no error on the console."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from antiphase.site import build

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on PATH: make browser installs Debian's")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PHONE: ViewportSize = {"width": 360, "height": 740}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build(folder)
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme="light")
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type in {"error", "warning"} else None)
    yield page
    page.close()
    assert errors == []


def test_every_page_opens_without_errors_and_fits_a_phone(page: Page, site: Path) -> None:
    page.set_viewport_size(PHONE)
    wide = []
    for path in sorted(site.glob("*.html")):
        page.goto(path.as_uri())
        page.wait_for_load_state("load")
        if page.evaluate("document.documentElement.scrollWidth") > PHONE["width"]:
            wide.append(path.name)
    assert wide == []


def test_search_by_keyboard_leads_to_the_fact(page: Page, site: Path) -> None:
    page.goto((site / "index.html").as_uri())
    page.keyboard.press("/")
    page.keyboard.type("a/b fragment per lane")
    page.wait_for_selector("#found li[aria-selected=true]")
    page.keyboard.press("Enter")
    page.wait_for_url("**/matrix.html#matrix.ab_fragment")
    assert page.locator("tr:target").get_attribute("id") == "matrix.ab_fragment"


def test_search_says_that_nothing_was_found(page: Page, site: Path) -> None:
    page.goto((site / "index.html").as_uri())
    page.fill("#search", "qwertzuiop")
    page.wait_for_selector("#found:not([hidden])")
    assert page.locator("#found").inner_text() == "Nothing found."


def test_a_hidden_column_narrows_shared_cells(page: Page, site: Path) -> None:
    page.goto((site / "matrix.html").as_uri())
    cell = page.locator("[id='matrix.ab_fragment'] td").first
    assert cell.get_attribute("colspan") == "2"
    page.uncheck("input[value=rdna35]")
    assert cell.get_attribute("colspan") == "1"
    page.reload()
    assert not page.is_checked("input[value=rdna35]")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_themes_follow_the_system_and_the_button(browser: Browser, site: Path, scheme: str) -> None:
    context = browser.new_context(color_scheme=scheme)  # pyright: ignore[reportArgumentType]
    page = context.new_page()
    page.goto((site / "index.html").as_uri())
    ground = "getComputedStyle(document.body).backgroundColor"
    before = page.evaluate(ground)
    assert (sum(map(int, before[4:-1].split(","))) > 380) == (scheme == "light")
    page.click(".theme")
    assert page.evaluate(ground) != before
    page.reload()
    assert page.evaluate(ground) != before
    context.close()


def test_instructions_are_filtered(page: Page, site: Path) -> None:
    page.goto((site / "instructions.html").as_uri() + "#v_wmma_f32_16x16x16_f16")
    page.wait_for_selector(".instructions tbody tr")
    assert page.locator(".instructions tbody th").first.inner_text() == "v_wmma_f32_16x16x16_f16"
    page.fill("[name=name]", "s_wait_")
    page.select_option("[name=target]", label="gfx1250")
    names = page.locator(".instructions tbody th").all_inner_texts()
    assert "s_wait_asynccnt" in names and "s_wait_samplecnt" not in names


def test_the_menu_opens_on_a_phone(page: Page, site: Path) -> None:
    page.set_viewport_size(PHONE)
    page.goto((site / "index.html").as_uri())
    assert not page.is_visible("#nav")
    page.click(".menu")
    assert page.is_visible("#nav") and page.get_attribute(".menu", "aria-expanded") == "true"

"""The site, built once a test file, in a browser whose console must stay silent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from _chromium import CHROMIUM, FLAGS
from playwright.sync_api import Browser, Page, sync_playwright

from antiphase.site import build


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

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


def answer(page: Page) -> str:
    page.wait_for_selector("#answer")
    return page.inner_text("#answer")


def test_the_explorer_gives_the_worked_example_of_both_generations(page: Page, site: Path) -> None:
    page.goto((site / "explorer.html").as_uri())
    assert answer(page) == "D[3, 0]"
    assert "lane 0 has D[2, 0]" in page.inner_text(".readout")
    assert "D[9, 0]" in page.inner_text("#compared")
    page.select_option("[name=target]", "gfx1200")
    page.wait_for_function("document.getElementById('answer').textContent === 'D[9, 0]'")
    page.fill("[name=row]", "0")
    assert (page.input_value("[name=lane]"), page.input_value("[name=vgpr]")) == ("0", "0")


@pytest.mark.parametrize(
    ("target", "form", "rest", "expected"),
    [
        ("gfx1100", "v_wmma_f32_16x16x16_f16", "wave=32&operand=A&lane=16&vgpr=7&slot=1", "A[0, 15]"),
        ("gfx1200", "v_wmma_f32_16x16x16_f16", "wave=32&operand=B&lane=16&vgpr=0&slot=1", "B[5, 0]"),
        ("gfx942", "v_mfma_f32_32x32x8_f16", "wave=64&operand=D&lane=32&vgpr=5", "D[13, 0]"),
        ("gfx950", "v_smfmac_f32_16x16x64_f16", "wave=64&operand=B&lane=0&vgpr=4&slot=0", "B[32, 0]"),
        ("gfx1250", "v_wmma_f32_16x16x32_f16", "wave=32&operand=A&lane=0&vgpr=4&slot=0", "A[0, 16]"),
    ],
)
def test_the_explorer_follows_its_address(
    page: Page, site: Path, target: str, form: str, rest: str, expected: str
) -> None:
    page.goto((site / "explorer.html").as_uri() + f"#target={target}&form={form}&{rest}")
    assert answer(page) == expected


def test_the_explorer_is_worked_by_keyboard_and_pointer(page: Page, site: Path) -> None:
    page.goto((site / "explorer.html").as_uri())
    answer(page)
    page.locator(".panel").nth(1).focus()
    page.keyboard.press("ArrowDown")
    assert answer(page) == "D[3, 1]"
    page.keyboard.press("ArrowRight")
    assert answer(page) == "D[5, 1]"
    page.locator("rect[data-lane='2'][data-position='0']").first.click()
    assert answer(page) == "D[0, 2]"


def test_packing_moves_with_generation_and_opsel(page: Page, site: Path) -> None:
    page.goto((site / "packing.html").as_uri() + "#generation=RDNA+3&opsel=1&lane=16&result=7")
    assert "D[15, 0] in V[7], high half; element 15" in page.inner_text(".readout")
    page.select_option("[name=generation]", "RDNA 4")
    assert "D[15, 0] in V[3], high half; element 7" in page.inner_text(".readout")


def test_overlap_names_the_rule_of_the_generation(page: Page, site: Path) -> None:
    page.goto((site / "overlap.html").as_uri() + "#d=0&a=12&b=16&c=24&index=3&generation=RDNA+4")
    assert answer(page) == "D overlaps the sparse index."
    page.select_option("[name=generation]", "RDNA 3")
    assert answer(page) == "No overlap: neither rule applies."
    page.locator("[name=c]").fill("4")
    assert answer(page) == "D overlaps C."
    assert "No fact" not in page.inner_text(".statements")


@pytest.mark.parametrize(
    ("generation", "operation", "rest", "expected"),
    [
        ("RDNA+3", "v_permlane16_b32", "selector=3&first=5&second=21", "L5 receives x3. L21 receives x19."),
        ("RDNA+3", "v_permlanex16_b32", "selector=3&first=5&second=21", "L5 receives x19. L21 receives x3."),
        ("RDNA+4", "v_permlane16_var_b32", "selector=3&own=7&first=5&second=21", "L5 receives x3. L21 receives x23."),
        ("RDNA+3", "ds_bpermute_b32", "wave=64&selector=7&first=40&second=8", "L40 receives x39. L8 receives x7."),
        ("RDNA+4", "ds_bpermute_b32", "wave=64&selector=7&first=40&second=8", "L40 receives x7. L8 receives x7."),
    ],
)
def test_routing_gives_the_lanes_of_the_manuals(
    page: Page, site: Path, generation: str, operation: str, rest: str, expected: str
) -> None:
    page.goto((site / "cross-lane.html").as_uri() + f"#generation={generation}&operation={operation}&own=7&{rest}")
    assert answer(page) == expected


def test_counters_name_the_wait(page: Page, site: Path) -> None:
    page.goto((site / "counters.html").as_uri() + "#generation=RDNA+3&producer=execution.counter.vector_load")
    assert answer(page) == "s_waitcnt vmcnt(n)"
    page.select_option("[name=generation]", "RDNA 4")
    assert answer(page) == "s_wait_loadcnt n"
    page.locator("[data-producer='execution.counter.lds_indexed']").focus()
    page.keyboard.press("Enter")
    assert answer(page) == "s_wait_dscnt n"


def test_paths_and_map_show_facts_of_the_generation(page: Page, site: Path) -> None:
    page.goto((site / "data-paths.html").as_uri() + "#generation=CDNA+4&path=to_lds")
    assert "global to LDS, CDNA 4" in page.inner_text(".diagram")
    page.goto((site / "dependency-map.html").as_uri())
    page.locator("[data-branch=memory]").focus()
    page.keyboard.press("Enter")
    assert "RDNA 4" in page.inner_text(".diagram h2") and page.locator(".statements li").count() > 1

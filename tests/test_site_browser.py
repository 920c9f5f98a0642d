"""The pages in a real browser: columns, explorers, small screens, themes, paper, and no error on the console."""

from __future__ import annotations

from pathlib import Path

import pytest
from _chromium import PHONE, needs_chromium
from playwright.sync_api import Browser, Page

pytest_plugins = ["_site_pages"]
pytestmark = needs_chromium


def test_every_page_opens_without_errors_and_fits_a_phone(page: Page, site: Path) -> None:
    page.set_viewport_size(PHONE)
    wide = []
    for path in sorted(site.glob("*.html")):
        page.goto(path.as_uri())
        page.wait_for_load_state("load")
        if page.evaluate("document.documentElement.scrollWidth") > PHONE["width"]:
            wide.append(path.name)
    assert wide == []


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
    page.keyboard.press("Escape")
    assert not page.is_visible("#nav") and page.get_attribute(".menu", "aria-expanded") == "false"
    assert page.evaluate("document.activeElement.className") == "menu"


def test_all_columns_are_in_sight_and_their_heads_stay(page: Page, site: Path) -> None:
    page.goto((site / "index.html").as_uri())
    heads = page.locator("table.facts").first.locator("thead th")
    assert heads.count() == 7
    last = heads.last.bounding_box()
    assert last and last["x"] + last["width"] <= 1280
    page.goto((site / "memory.html").as_uri() + "#memory.offset.flat")
    row, head = page.locator("tr:target"), page.locator("table:has(tr:target) thead th").last
    page.wait_for_function("scrollY > 0")
    top, bar = head.bounding_box(), page.locator(".top").bounding_box()
    there = row.bounding_box()
    assert top and bar and there
    assert abs(top["y"] - bar["height"]) < 3
    assert there["y"] >= top["y"] + top["height"]


def test_tables_and_pictures_have_names_and_marks_within_reach(page: Page, site: Path) -> None:
    nameless = """() => [
      ...[...document.querySelectorAll('table')].filter((t) => !t.caption && !t.hasAttribute('aria-labelledby')),
      ...document.querySelectorAll('svg[role=img] [tabindex], svg:not([aria-label])'),
    ].map((each) => each.outerHTML.slice(0, 80))"""
    found = []
    for path in sorted(site.glob("*.html")):
        page.goto(path.as_uri())
        page.wait_for_load_state("load")
        found += [(path.name, each) for each in page.evaluate(nameless)]
    assert found == []


@pytest.mark.parametrize("name", ["memory", "pipeline", "counters", "explorer"])
def test_paper_is_light_and_whole(page: Page, site: Path, name: str) -> None:
    page.goto((site / f"{name}.html").as_uri())
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    page.set_viewport_size({"width": 1000, "height": 700})
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    cut = "[...document.querySelectorAll('table, svg')].filter((e) => e.getBoundingClientRect().right > 1000).length"
    assert page.evaluate(cut) == 0
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[open]").count() == 0


def test_what_scrolls_sideways_says_so(page: Page, site: Path) -> None:
    page.set_viewport_size(PHONE)
    page.goto((site / "data-paths.html").as_uri())
    panel = page.locator(".panel").first
    page.wait_for_selector(".panel.more-right")
    panel.evaluate("each => each.scrollLeft = each.scrollWidth")
    page.wait_for_selector(".panel.more-left:not(.more-right)")


@pytest.mark.parametrize("name", ["counters", "instructions"])
def test_wide_tables_are_lists_on_a_phone(page: Page, site: Path, name: str) -> None:
    page.set_viewport_size(PHONE)
    page.goto((site / f"{name}.html").as_uri())
    row = page.locator("main tbody tr").first
    row.wait_for()
    assert not page.is_visible("main thead")
    label = """() => {
      const cells = [...document.querySelectorAll('main tbody tr td[data-label]')];
      return getComputedStyle(cells.find((each) => each.offsetParent), '::after').content;
    }"""
    assert page.evaluate(label).strip('"') in {"LOADCNT", "gfx942"}


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


@pytest.mark.parametrize(
    ("address", "messages"),
    [
        ("explorer.html#target=gfx9&form=foo", ["no target", "has no foo"]),
        ("explorer.html#lane=abc&vgpr=99&wave=7", ["no whole number", "VGPR 99 is not one of 0 to 7", "no wave"]),
        ("explorer.html#operand=Q&other=zz&__proto__=1", ["no operand Q", "no other", "says nothing"]),
        ("overlap.html#d=99&a=-3&generation=X", ["d 99", "a -3", "no generation"]),
        ("packing.html#lane=77&result=q", ["lane 77", "no whole number"]),
        ("cross-lane.html#first=99&operation=foo&off=abc", ["first 99", "no operation", "no lane and no range"]),
        ("counters.html#generation=X&producer=toString", ["no generation", "no producer"]),
        ("data-paths.html#path=none", ["no path"]),
        ("dependency-map.html#branch=none", ["no branch"]),
    ],
)
def test_a_bad_address_is_said_and_something_is_shown(
    page: Page, site: Path, address: str, messages: list[str]
) -> None:
    page.goto(f"{site.as_uri()}/{address}")
    page.wait_for_selector(".message p")
    page.wait_for_selector("#diagram :is(svg, table)")
    said = page.inner_text(".message")
    assert [each for each in messages if each not in said] == []


@pytest.mark.parametrize("place", ["%zz", "coverage", "content"])
def test_an_address_of_instructions_that_is_no_name_shows_all(page: Page, site: Path, place: str) -> None:
    page.goto((site / "instructions.html").as_uri() + f"#{place}")
    page.wait_for_selector(".instructions tbody tr")
    assert page.input_value("[name=name]") == ""


def test_the_explorer_keeps_numbers_inside_the_operand(page: Page, site: Path) -> None:
    page.goto((site / "explorer.html").as_uri() + "#target=gfx942&form=v_mfma_f32_32x32x8f16&operand=A&row=3&column=7")
    assert answer(page) == "A[3, 7]"
    assert page.inner_text(".message") == ""
    page.fill("[name=row]", "77")
    assert answer(page) == "A[31, 7]"
    assert "Row 77 is not one of 0 to 31" in page.inner_text(".message")
    page.fill("[name=lane]", "99")
    assert page.input_value("[name=lane]") == "63"
    page.fill("[name=lane]", "2")
    assert page.inner_text(".message") == ""


def test_the_register_picture_of_64_lanes_names_elements(page: Page, site: Path) -> None:
    page.goto((site / "explorer.html").as_uri() + "#target=gfx942&form=v_mfma_f32_32x32x8_f16&operand=A")
    answer(page)
    assert page.locator(".panel").nth(1).locator("text", has_text="31,7").count() == 1


def test_packing_moves_with_generation_and_opsel(page: Page, site: Path) -> None:
    page.goto((site / "packing.html").as_uri() + "#generation=RDNA+3&opsel=1&lane=16&result=7")
    assert "D[15, 0] in V[7], high half; element 15" in page.inner_text(".readout")
    page.select_option("[name=generation]", "RDNA 4")
    assert "D[15, 0] in V[3], high half; element 7" in page.inner_text(".readout")


def test_overlap_names_the_rule_of_the_generation(page: Page, site: Path) -> None:
    page.goto((site / "overlap.html").as_uri() + "#d=0&a=12&b=16&c=24&index=3&generation=RDNA+4")
    assert answer(page) == "D overlaps the sparse index."
    assert page.inner_text("[name=index-range]") == "v3" and page.inner_text("[name=d-range]") == "v[0:7]"
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

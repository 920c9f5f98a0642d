"""The search box in a real browser: words, targets, mnemonics, elements, and what is offered first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from _chromium import needs_chromium
from playwright.sync_api import Page

pytest_plugins = ["_site_pages"]
pytestmark = needs_chromium


def found(page: Page, site: Path, query: str) -> dict[str, Any]:
    """What the page's own search answers: results in their order, and whether words were left out."""
    page.goto((site / "index.html").as_uri())
    return page.evaluate("async (query) => antiphase.find(await antiphase.need('search'), query)", query)


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


@pytest.mark.parametrize(
    ("query", "subject"),
    [
        ("flat offset gfx1151", "memory.offset.flat"),
        ("barrier gfx1201", "barrier"),
        ("lds size gfx950", "lds_bytes_per_cu"),
        ("fp8 gfx1151", "fp8"),
        ("rdna 3.5 lds size", "lds_bytes_per_cu"),
        ("mi300x vgprs", "vgprs_per_simd"),
        ("wmma spacing", "compiler.wmma_separator_ab"),
        ("vmcnt width", "counters"),
        ("ds_read_tr", "memory.transpose.lds"),
        ("store counter vscnt", "execution.counter.vector_store"),
        ("ds_bpermute range", "arithmetic.lds_permute.range.wave64"),
        ("swmmac index", "matrix.sparse_index"),
        ("the width of vmcnt", "counters"),
    ],
)
def test_a_question_leads_to_its_fact(page: Page, site: Path, query: str, subject: str) -> None:
    facts = [one["href"].split("#")[1] for one in found(page, site, query)["results"] if one["kind"] == "fact"]
    assert subject in facts[:5]


def test_a_target_filters_and_its_statement_is_shown(page: Page, site: Path) -> None:
    texts = {one["title"]: one["text"] for one in found(page, site, "flat offset gfx1201")["results"]}
    assert texts["FLAT offset"].startswith("gfx1201: ") and "8388607" in texts["FLAT offset"]
    results = found(page, site, "s_wait_loadcnt gfx942")["results"]
    assert not [one for one in results if one["kind"] == "instruction"]
    assert found(page, site, "gfx1151")["results"][0]["href"] == "gfx1151.html"


@pytest.mark.parametrize(
    ("query", "address"),
    [
        ("mfma layout", "target=gfx942&form=v_mfma_"),
        ("A[3,7] mfma", "operand=A&row=3&column=7"),
        ("v_wmma_f32_16x16x16_f16", "target=gfx1100&form=v_wmma_f32_16x16x16_f16"),
        ("v_wmma_f32_16x16x16_f16 lane gfx1201", "target=gfx1201&form=v_wmma_f32_16x16x16_f16"),
        ("v_mfma_f32_32x32x8f16 element", "form=v_mfma_f32_32x32x8_f16"),
    ],
)
def test_a_matrix_mnemonic_offers_its_layout_first(page: Page, site: Path, query: str, address: str) -> None:
    first = found(page, site, query)["results"][0]
    assert first["kind"] == "layout" and address in first["href"]


def test_other_mnemonics_offer_their_row_and_then_facts(page: Page, site: Path) -> None:
    results = found(page, site, "ds_bpermute_b32")["results"]
    assert results[0]["href"] == "instructions.html#ds_bpermute_b32"
    assert "arithmetic.html#arithmetic.lds_permute.index" in [one["href"] for one in results]
    last = found(page, site, "buffer_atomic")["results"][-1]
    assert last["kind"] == "instructions" and last["href"] == "instructions.html#buffer_atomic"


def test_where_no_entry_has_every_word_it_says_so(page: Page, site: Path) -> None:
    page.goto((site / "index.html").as_uri())
    page.fill("#search", "flat offset gfx1201 qwertzuiop")
    page.wait_for_selector("#found li[role=option]")
    assert page.locator("#found .note").inner_text().startswith("Nothing has every word")
    assert "FLAT offset" in page.inner_text("#found")


def test_the_list_of_instructions_takes_shortened_names(page: Page, site: Path) -> None:
    page.goto((site / "instructions.html").as_uri() + "#ds_read_tr")
    page.wait_for_selector(".instructions tbody tr")
    assert page.locator(".instructions tbody th", has_text="ds_read_b64_tr_b16").count() == 1


def test_a_result_on_the_explorer_itself_opens(page: Page, site: Path) -> None:
    page.goto((site / "explorer.html").as_uri())
    page.wait_for_selector("#answer")
    page.fill("#search", "A[3,7] v_mfma_f32_16x16x16_f16 gfx950")
    page.wait_for_selector("#found li[aria-selected=true]")
    page.keyboard.press("Enter")
    page.wait_for_function("document.getElementById('answer')?.textContent === 'A[3, 7]'")
    assert page.input_value("[name=target]") == "gfx950"

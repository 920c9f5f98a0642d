"""The checklist of seed 000: nothing of the seed is without a fact, and no fact names a row that is not there."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parent.parent
_spec = importlib.util.spec_from_file_location("seed_checklist", ROOT / "tools" / "seed_checklist.py")
assert _spec is not None and _spec.loader is not None
seed_checklist = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(seed_checklist)


def test_every_row_of_the_seed_is_held_by_a_fact() -> None:
    assert sorted(set(seed_checklist.rows()) - set(seed_checklist.held())) == []


def test_facts_name_rows_that_the_seed_has() -> None:
    assert sorted(set(seed_checklist.held()) - set(seed_checklist.rows())) == []


def test_the_document_is_the_one_that_the_facts_make() -> None:
    remake = "python tools/seed_checklist.py"
    assert (ROOT / "docs" / "seed-000-facts.md").read_text() == seed_checklist.checklist(), remake

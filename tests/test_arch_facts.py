"""Fact files: what makes a record malformed, and that each is refused with the file and the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from antiphase.arch import _fact_files, _facts, _reference, _registry
from antiphase.errors import UserError

FILES = {
    "targets.toml": """
[gfx1]
generation = "G 1"
[gfx2]
generation = "G 1"
""",
    "sources.toml": """
[manual]
title = "Manual"
where = "somewhere"
revision = "2"
[tool]
title = "Tool"
where = "here"
revision = "7"
""",
    "chapters.toml": """
[memory]
title = "Memory"
summary = "All of it."
""",
    "checked.toml": "",
}
TOPIC = """
[topic]
id = "lds"
chapter = "memory"
title = "LDS"
"""
ROW = """
[[row]]
subject = "lds_banks"
title = "LDS banks"

[[row.cell]]
scope = ["gfx1", "gfx2"]
value = 32
evidence = { mechanism = "Documented" }
cite = ["manual: section 3"]
"""


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "facts").mkdir()
    monkeypatch.setattr(_fact_files, "DATA", tmp_path)
    return tmp_path


def _read(data: Path, rows: str) -> list[_facts.Fact]:
    (data / "facts" / "lds.toml").write_text(TOPIC + rows)
    return list(_reference.reference.__wrapped__().facts)


def test_a_fact_is_a_record_a_target_with_its_evidence(data: Path) -> None:
    first, second = _read(data, ROW.replace('"gfx1", "gfx2"', '"G 1"'))
    assert (first.id, first.value, first.evidence.mechanism) == ("lds_banks@gfx1", 32, "Documented")
    assert str(first.citations[0]) == "Manual (2): section 3"
    assert (first.shares, second.shares) == (("gfx2",), ("gfx1",))


def test_a_citation_may_be_for_one_target_of_a_shared_value(data: Path) -> None:
    rows = ROW.replace('cite = ["manual: section 3"]', 'cite_for = { gfx1 = ["manual: a"], gfx2 = ["manual: b"] }')
    assert [[c.place for c in fact.citations] for fact in _read(data, rows)] == [["a"], ["b"]]


def test_a_stamp_shows_on_the_validation_axis_of_its_target_alone(data: Path) -> None:
    (data / "checked.toml").write_text('[tool]\nlds_banks = ["gfx2"]\n')
    first, second = _read(data, ROW)
    assert (first.evidence.validation, first.checked) == (None, ())
    assert (second.evidence.validation, [tool.title for tool in second.checked]) == ("CPU checked", ["Tool"])


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('"gfx1"', '"gfx3"', "scope names no target or generation: gfx3"),
        ('"Documented"', '"Certain"', "Invalid enum value 'Certain'"),
        ('{ mechanism = "Documented" }', "{}", "evidence names no status"),
        ('"manual: section 3"', '"hearsay: a forum"', "known source: 'hearsay: a forum'"),
        ('"manual: section 3"', '"manual"', "known source: 'manual'"),
        ('["manual: section 3"]', "[]", "length >= 1"),
        ("value", "valeu", "unknown field `valeu`"),
        ("[[row.cell]]", "[[row.cellar]]", "unknown field `cellar`"),
        ('"lds_banks"', '"LDS banks"', "regex"),
    ],
)
def test_a_malformed_fact_names_file_and_reason(data: Path, old: str, new: str, reason: str) -> None:
    with pytest.raises(UserError, match=r"^lds\.toml: ") as caught:
        _read(data, ROW.replace(old, new))
    assert reason in str(caught.value)


def test_two_facts_about_one_subject_are_refused(data: Path) -> None:
    cell = ROW[ROW.index("[[row.cell]]") :]
    with pytest.raises(UserError, match=r"lds\.toml: lds_banks: two facts hold for gfx1"):
        _read(data, ROW + cell)


def test_a_field_without_a_fact_is_refused(data: Path) -> None:
    facts = _read(data, ROW)
    with pytest.raises(UserError, match=r"facts about gfx1: .*missing required field"):
        _registry._build("gfx1", _fact_files.read_targets()["gfx1"], {facts[0].subject: facts[0]})

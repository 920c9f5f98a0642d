"""Fact files: what makes a record malformed, and that each is refused with the file and the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from antiphase.arch import _facts, _registry

TARGETS = """
[gfx1]
generation = "G 1"
"""
SOURCES = """
[manual]
title = "Manual"
where = "somewhere"
revision = "2"
"""
FACT = """
[[fact]]
about = "lds_banks"
scope = ["gfx1"]
value = 32
status = "Documented"
cite = ["manual: section 3"]
"""


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "targets.toml").write_text(TARGETS)
    (tmp_path / "sources.toml").write_text(SOURCES)
    (tmp_path / "facts").mkdir()
    monkeypatch.setattr(_facts, "_DATA", tmp_path)
    return tmp_path


def _read(data: Path, fact: str) -> tuple[_facts.Fact, ...]:
    (data / "facts" / "lds.toml").write_text(fact)
    return _facts.read_facts(_facts.read_targets())


def test_a_fact_carries_its_evidence(data: Path) -> None:
    (fact,) = _read(data, FACT.replace('"gfx1"', '"G 1"'))
    assert (fact.scope, fact.value, fact.status) == (("gfx1",), 32, "Documented")
    assert str(fact.citations[0]) == "Manual (2): section 3"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('"gfx1"', '"gfx2"', "scope names no target or generation: gfx2"),
        ('"Documented"', '"Certain"', "Invalid enum value 'Certain'"),
        ('"manual: section 3"', '"hearsay: a forum"', "known source: 'hearsay: a forum'"),
        ('"manual: section 3"', '"manual"', "known source: 'manual'"),
        ('["manual: section 3"]', "[]", "no citation"),
        ("value", "valeu", "unknown field `valeu`"),
    ],
)
def test_a_malformed_fact_names_file_and_reason(data: Path, old: str, new: str, reason: str) -> None:
    with pytest.raises(ValueError, match=r"^lds\.toml: ") as caught:
        _read(data, FACT.replace(old, new))
    assert reason in str(caught.value)


def test_two_facts_about_one_field_are_refused(data: Path) -> None:
    facts = _read(data, FACT + FACT)
    with pytest.raises(ValueError, match="two facts about lds_banks hold for gfx1"):
        _registry._build("gfx1", _facts.read_targets()["gfx1"], facts)


def test_a_field_without_a_fact_is_refused(data: Path) -> None:
    facts = _read(data, FACT)
    with pytest.raises(ValueError, match=r"facts about gfx1: .*missing required field"):
        _registry._build("gfx1", _facts.read_targets()["gfx1"], facts)

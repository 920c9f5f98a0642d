"""Suppressions of `antiphase check`: by a file, by a comment on a line, and those that match nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from _checked import SOURCE, scale

from antiphase.checks import load_suppressions
from antiphase.cli import main
from antiphase.errors import UserError

ENTRY = '[[suppress]]\ncheck = "wait"\nreason = "measured: the load is always there"\n'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.s").write_text(scale(wait=""))
    Path("scale.py").write_text(SOURCE)


def checked(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    status = main(["check", "k.s", "--only", "wait", *arguments, "--json", "-"])
    return status, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("keys", "matches"),
    [
        ("", True),
        ('rule = "read_*"', True),
        ('rule = "overwritten_*"', False),
        ('kernel = "k*"', True),
        ('kernel = "other"', False),
        ('instruction = "v_add_f32 v3,*"', True),
        ('instruction = "global_load_dword *"', True),
        ('instruction = "ds_*"', False),
        ('line = "scale.py:4"', True),
        ('line = "k.s:*"', True),
        ('line = "scale.py:5"', False),
    ],
)
def test_a_file_leaves_out_what_all_its_patterns_match(
    keys: str, matches: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("allow.toml").write_text(ENTRY + keys)
    status, found = checked(capsys, "--suppress", "allow.toml")
    assert status == (0 if matches else 1)
    assert [s["reason"] for s in found["suppressed"]] == ["measured: the load is always there"] * matches
    unused = [f for f in found["findings"] if f["check"] == "suppress"]
    assert len(unused) == (not matches)
    assert all(f["severity"] == "info" and "matches no finding" in f["message"] for f in unused)


def test_a_comment_on_the_source_line_allows(capsys: pytest.CaptureFixture[str]) -> None:
    Path("scale.py").write_text(SOURCE.replace("b = a * 2", "b = a * 2  # antiphase: allow wait -- by design"))
    status, found = checked(capsys)
    assert status == 0 and found["suppressed"][0]["reason"] == "by design"
    assert found["suppressed"][0]["by"] == "scale.py:4"


def test_a_comment_on_the_assembly_line_allows(capsys: pytest.CaptureFixture[str]) -> None:
    written = scale(wait="").replace(
        "v_add_f32 v3, v2, v2", "v_add_f32 v3, v2, v2 ; antiphase: allow wait -- by design"
    )
    Path("k.s").write_text(written)
    status, found = checked(capsys)
    assert status == 0 and found["suppressed"][0]["reason"] == "by design"


@pytest.mark.parametrize("between", ["", "\n", "    # more about it\n"])
def test_a_comment_on_a_line_of_its_own_is_about_the_next(between: str, capsys: pytest.CaptureFixture[str]) -> None:
    above = "    # antiphase: allow wait -- by design\n" + between
    # the line number of the instruction's source is that of the statement still
    Path("scale.py").write_text("\n" * 10 + SOURCE.replace("    b = a * 2", above + "    b = a * 2"))
    moved = scale(wait="").replace(".loc 1 4", f".loc 1 {15 + between.count(chr(10))}")
    Path("k.s").write_text(moved)
    status, found = checked(capsys)
    assert status == 0 and found["suppressed"][0]["by"] == "scale.py:14"


def test_a_comment_above_the_instruction_allows(capsys: pytest.CaptureFixture[str]) -> None:
    line = "; antiphase: allow wait/read_* -- by design\n.loc 1 4 3\n.Lhere:\n"
    Path("k.s").write_text(scale(wait=line))
    status, found = checked(capsys)
    assert status == 0 and len(found["suppressed"]) == 1


def test_a_comment_that_matches_nothing_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    Path("k.s").write_text(scale() + "; antiphase: allow wait -- by design\n")
    status, found = checked(capsys)
    (note,) = found["findings"]
    lines = Path("k.s").read_text().count("\n")
    assert status == 0 and note["message"].startswith(f"k.s:{lines}: the suppression of 'wait' (by design) matches no")


def test_a_comment_without_a_reason_allows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    Path("scale.py").write_text(SOURCE.replace("b = a * 2", "b = a * 2  # antiphase: allow wait"))
    status, found = checked(capsys)
    assert status == 1 and not found["suppressed"]
    assert any("without a reason" in f["message"] for f in found["findings"])


def test_a_suppression_of_a_check_that_did_not_run_is_not_unused(capsys: pytest.CaptureFixture[str]) -> None:
    Path("allow.toml").write_text(ENTRY.replace("wait", "race"))
    _, found = checked(capsys, "--suppress", "allow.toml")
    assert not [f for f in found["findings"] if f["check"] == "suppress"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[[suppress]]\ncheck = "wait"\n', "suppression 1 has no reason"),
        ('[[suppress]]\nreason = "x"\n', "suppression 1 has no check"),
        ('[[suppress]]\ncheck = "wiat"\nreason = "x"\n', "no check is called 'wiat'"),
        (ENTRY + 'wave = "3"\n', "suppression 1 has 'wave'; keys are check"),
        (ENTRY + "line = 3\n", "suppression 1 is not a table of strings"),
        ("[[allow]]\n", "only [[suppress]] tables belong here"),
        ("[[suppress\n", "not TOML"),
    ],
)
def test_a_malformed_file_is_an_error_that_names_it(content: str, message: str) -> None:
    Path("allow.toml").write_text(content)
    with pytest.raises(UserError) as caught:
        load_suppressions("allow.toml")
    assert str(caught.value).startswith("allow.toml: ") and message in str(caught.value)

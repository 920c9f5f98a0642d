"""`antiphase arch list, show, compare`: what words choose, and that every answer comes with its source."""

from __future__ import annotations

import json

import pytest

from antiphase.arch import ask, named_together, reference
from antiphase.cli import main
from antiphase.errors import UserError

RDNA3 = ("gfx1100", "gfx1101", "gfx1102", "gfx1103")


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["arch", *words]) == 0
    return capsys.readouterr().out


def test_words_choose_targets_and_rows() -> None:
    answer = ask(["rdna3", "gfx1201", "matrix.ab_fragment"])
    assert answer.targets == (*RDNA3, "gfx1201")
    assert [row.name for row in answer.subjects] == ["matrix.ab_fragment"]
    assert {row.topic for row in ask(["limits"]).subjects} >= {"limits-lds", "limits-counters"}
    assert "matrix.ab_fragment" in {row.name for row in ask(["fragment", "lanes t and t+16"]).subjects}


def test_targets_of_one_cell_stand_together() -> None:
    answer = ask(["rdna3", "rdna3.5", "rdna4", "matrix.ab_fragment"])
    groups = [named_together(names) for names, _ in answer.subjects[0].groups(answer.targets)]
    assert groups == [["RDNA 3", "RDNA 3.5"], ["RDNA 4"]]


def test_show_gives_statement_status_and_source_of_each_generation(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, "show", "gfx1100", "gfx1201", "matrix.ab_fragment")
    assert "16 elements in 8 VGPRs" in text and "RDNA 3 Instruction Set Architecture [15 August 2023], p.84" in text
    assert "8 elements in 4 VGPRs" in text and "RDNA 4 Instruction Set Architecture [7 April 2025], pp.101-102" in text


def test_compare_can_leave_out_what_is_shared(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(shown(capsys, "compare", "gfx1100", "gfx1201", "limits", "--differences", "--json", "-"))
    names = {row["subject"] for row in found["subjects"]}
    assert "counters" in names and "wave_sizes" not in names
    counters = next(row for row in found["subjects"] if row["subject"] == "counters")
    assert {each["name"] for each in counters["facts"]["gfx1201"]["value"]} >= {"loadcnt", "storecnt"}
    assert counters["facts"]["gfx1100"]["citations"][0]["source"]["title"].startswith("LLVM")


def test_compare_prints_a_column_a_group(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, "compare", "rdna3", "gfx1201", "counters")
    header = next(line for line in text.splitlines() if "gfx1201" in line)
    assert "RDNA 3" in header


def test_list_names_topics_and_their_rows(capsys: pytest.CaptureFixture[str]) -> None:
    assert "matrix-operands" in shown(capsys, "list")
    assert "matrix.ab_fragment" in shown(capsys, "list", "matrix-operands")
    assert json.loads(shown(capsys, "list", "--json", "-"))["topics"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["show", "gfx1100", "matrix.ab_fragmnt"], "did you mean matrix.ab_fragment"),
        (["show", "zyx wvu"], "no fact about 'zyx wvu' is recorded"),
        (["show", "gfx942", "dscnt"], "is recorded for gfx942"),
        (["show", "A[3,7]", "of", "v_mfma_f32_16x16x16_f16"], "antiphase layout v_mfma_f32_16x16x16_f16"),
        (["show", "gfx1201", "s_wait_event"], "antiphase isa show s_wait_event"),
        (["compare", "gfx1100", "limits"], "compare needs two targets"),
        (["compare", "gfx1100", "gfx12", "limits"], "unknown target 'gfx12'"),
    ],
)
def test_a_question_without_answer_is_one_line(words: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["arch", *words]) == 2
    error = capsys.readouterr().err
    assert line in error and error.count("\n") == 1


def test_every_subject_is_found_by_its_own_name() -> None:
    book = reference()
    for name in book.subjects:
        assert book.find(name)[0].name == name
    with pytest.raises(UserError):
        book.find("qwertz")


def test_a_plain_word_names_a_subject_and_all_that_is_about_it() -> None:
    names = [row.name for row in ask(["gfx1201", "barrier"]).subjects]
    assert names[0] == "barrier" and "execution.workgroup_barrier" in names


def test_statements_of_other_targets_do_not_count() -> None:
    assert all("gfx942" in row.facts for row in ask(["gfx942", "scales"]).subjects)

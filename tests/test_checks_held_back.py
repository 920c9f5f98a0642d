"""`useless` is silent about a kernel with errors of order: what it would delete may be what they need."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from _checked import LAUNCH, exchange

from antiphase.cli import main

RACE = exchange(barrier="s_nop 0", wait="s_waitcnt vmcnt(0) lgkmcnt(0)")
ALLOW = '[[suppress]]\ncheck = "race"\nreason = "the waves run one after the other"\n'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.s").write_text(RACE)


def checked(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    main(["check", "k.s", *LAUNCH, "--only", "race,useless", *arguments, "--json", "-"])
    return json.loads(capsys.readouterr().out)


def by_check(found: dict[str, Any]) -> set[str]:
    return {finding["check"] for finding in found["findings"]}


def test_a_race_holds_back_what_useless_would_delete(capsys: pytest.CaptureFixture[str]) -> None:
    found = checked(capsys)
    assert by_check(found) == {"race"} and found["verdict"] == "findings"
    (kernel,) = found["kernels"]
    assert kernel["held_back"] == {"check": "useless", "findings": 2, "because_of": ["race"]}


def test_every_report_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    said = "2 findings of useless held back: the errors of race may need what orders nothing now"
    for arguments in ((), ("--github",)):
        assert main(["check", "k.s", *LAUNCH, "--only", "race,useless", *arguments]) == 1
        assert said in capsys.readouterr().out
    checked(capsys, "--sarif", "k.sarif")
    (invocation,) = json.loads(Path("k.sarif").read_text())["runs"][0]["invocations"]
    assert [said in note["message"]["text"] for note in invocation["toolExecutionNotifications"]] == [True]


def test_without_an_error_useless_speaks(capsys: pytest.CaptureFixture[str]) -> None:
    Path("k.s").write_text(exchange(wait="s_waitcnt vmcnt(0) lgkmcnt(0)"))
    found = checked(capsys)
    assert by_check(found) == {"useless"} and found["kernels"][0]["held_back"] is None


def test_a_race_that_is_allowed_holds_nothing_back(capsys: pytest.CaptureFixture[str]) -> None:
    Path("allow.toml").write_text(ALLOW)
    found = checked(capsys, "--suppress", "allow.toml")
    assert by_check(found) == {"useless"} and found["kernels"][0]["held_back"] is None

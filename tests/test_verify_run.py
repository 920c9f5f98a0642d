"""`antiphase arch verify`: verdicts of facts, what it says with tools missing, exit status, JSON, stamps."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from rich.console import Console

from antiphase import arch, verify
from antiphase.arch import CheckSpec, Fact, Reference
from antiphase.arch._check_specs import Assembles, Counts, Registers, Runs, Spacing
from antiphase.arch._fact_files import read_stamps
from antiphase.cli import main
from antiphase.errors import UserError
from antiphase.report.verify import as_json, print_verified
from antiphase.verify import Tools, ToolState, Verified, _tasks, _verify, find_tools, stamps, write_stamps
from antiphase.verify._llvm import Crash, Object

NO_TOOLS = Tools((), (), tuple(ToolState(name, "", "missing") for name in ("llvm-mc", "llc", "triton")))
ACCEPTED, REFUSED = Assembles("s_nop 0"), Assembles("s_nop 0", accepted=False)
ADDS = Runs(("s_add_u32 s2, s2, 3",), {"s2": 5}, {"s2": 2}, wave=64)


def book(**checks: Iterable[CheckSpec]) -> Reference:
    """A reference of one topic with a fact for gfx942 a name, each with these checks."""
    every = arch.reference()
    subject = next(iter(every.subjects.values()))
    fact = next(iter(subject.facts.values()))
    subjects = {
        name: replace(subject, name=name, title=name, topic="t", facts={"gfx942": _fact(fact, name, checks[name])})
        for name in checks
    }
    return replace(every, subjects=subjects)


def _fact(fact: Fact, name: str, checks: Iterable[CheckSpec]) -> Fact:
    return replace(fact, subject=name, title=name, topic="t", target="gfx942", checks=tuple(checks))


def verdicts(verified: Verified) -> dict[str, tuple[str, str]]:
    return {fact.subject: (fact.verdict, fact.reason) for fact in verified.facts}


def printed(verified: Verified) -> str:
    stream = io.StringIO()
    print_verified(verified, Console(file=stream, width=100))
    return stream.getvalue()


needs_assembler = pytest.mark.skipif(
    not find_tools().assemblers, reason="puts facts to an assembler: needs the Triton wheel or llvm-mc 22"
)


@needs_assembler
def test_a_fact_agrees_where_every_check_does() -> None:
    unknown = Counts("v_no_such_b32 v0", ())
    facts = {"both": [ACCEPTED, ADDS], "one": [ACCEPTED, REFUSED], "none": [], "half": [ACCEPTED, unknown]}
    found = verify.verify(book(**facts, wrong=[unknown, REFUSED]))
    assert verdicts(found) == {
        "both": ("agree", ""), "one": ("disagree", ""), "none": ("unchecked", "no check"),
        "half": ("unchecked", "not run"), "wrong": ("disagree", ""),
    }  # fmt: skip
    assert (found.count("agree"), found.count("disagree"), found.count("unchecked")) == (1, 2, 2)


def test_without_llvm_the_rest_is_checked_and_the_tools_are_named() -> None:
    registers = Registers("v_mfma_f32_16x16x16_f16", "A", 2, wave=64)
    wheel_only = Assembles("s_nop 0", by=("llvm_triton",))
    builtin = Spacing("llvm.amdgcn.mfma.f32.16x16x16f16", "A", "s_nop", 7)
    facts = {"asm": [ACCEPTED], "mixed": [ACCEPTED, ADDS], "own": [ADDS], "both": [registers], "by": [wheel_only]}
    found = verify.verify(book(**facts, ir=[builtin]), NO_TOOLS)
    assert verdicts(found) == {
        "asm": ("unchecked", "no tool"), "mixed": ("unchecked", "no tool"), "own": ("agree", ""),
        "both": ("agree", ""), "by": ("unchecked", "no tool"), "ir": ("unchecked", "no tool"),
    }  # fmt: skip
    assert [fact.tools for fact in found.facts] == [
        ("llvm-mc", "triton"), ("llvm-mc", "triton"), (), ("llvm-mc", "triton"), ("triton",), ("llc", "triton"),
    ]  # fmt: skip
    text = printed(found)
    assert "llvm-mc: missing; 3 facts would be put to it; apt-get install llvm-22" in text
    assert "triton: missing; 5 facts would be put to it; pip install 'antiphase[triton]'" in text
    assert "unchecked  asm  gfx942: would need llvm-mc or triton" in text
    assert "6 facts: 2 agree, 0 disagree, 4 unchecked" in text


@needs_assembler
@pytest.mark.parametrize("which", ["llvm_22", "llvm_triton"])
def test_one_llvm_is_enough(which: str) -> None:
    tools = find_tools()
    kept = tuple(llvm for llvm in tools.assemblers if llvm.source == which)
    if not kept:
        pytest.skip(f"facts checked by {which} alone, which is not installed")
    found = verify.verify(book(asm=[ACCEPTED]), Tools(kept, (), tools.states))
    assert verdicts(found) == {"asm": ("agree", "")}
    assert found.facts[0].ran == (which,)


class Dead:
    """An LLVM that is there and does not run."""

    source = "llvm_22"

    def object(self, target: str, features: str, text: str) -> Object:
        raise Crash

    def compiled(self, target: str, features: str, ir: str) -> str:
        raise Crash

    def close(self) -> None: ...


def test_a_tool_that_does_not_run_contradicts_nothing() -> None:
    builtin = Spacing("llvm.amdgcn.mfma.f32.16x16x16f16", "A", "s_nop", 7)
    found = verify.verify(book(asm=[ACCEPTED, REFUSED], ir=[builtin]), Tools((Dead(),), (Dead(),), ()))
    assert verdicts(found) == {"asm": ("unchecked", "not run"), "ir": ("unchecked", "not run")}
    assert "the assembler does not run" in printed(found)


@needs_assembler
def test_a_disagreement_shows_line_tool_expected_and_got() -> None:
    wrong = replace(ADDS, expect={"s2": 6})
    text = printed(verify.verify(book(asm=[Assembles("s_nop v0")], run=[wrong])))
    assert "disagree  asm  gfx942" in text
    assert ": s_nop v0\n          expected accepted, got refused (" in text
    assert "runs, antiphase: s_add_u32 s2, s2, 3\n          expected s2 = 0x6, got s2 = 0x5 (wave64)" in text


def test_json_has_counts_and_every_fact_with_its_reason() -> None:
    infinite = Runs(("v_rcp_f32 v1, v0",), {"v1": float("inf")}, {"v0": 0.0, "v1": 0}, wave=64)
    plain = as_json(verify.verify(book(asm=[ACCEPTED], run=[infinite], none=[]), NO_TOOLS))
    again = json.loads(json.dumps(plain, allow_nan=False))
    assert (again["agree"], again["disagree"], again["unchecked"]) == (1, 0, 2)
    assert [(fact["id"], fact["verdict"], fact["reason"]) for fact in again["facts"]] == [
        ("asm@gfx942", "unchecked", "would need llvm-mc or triton"),
        ("run@gfx942", "agree", ""),
        ("none@gfx942", "unchecked", "nothing a machine can re-run"),
    ]
    assert again["facts"][1]["answers"][0]["tool"] == "antiphase"


def test_a_query_and_a_target_narrow_the_run() -> None:
    found = verify.verify(arch.reference(), NO_TOOLS, query="matrix.ab_fragment", target="GFX1201")
    assert [fact.id for fact in found.facts] == ["matrix.ab_fragment@gfx1201"]
    with pytest.raises(UserError, match="no fact about"):
        verify.verify(arch.reference(), NO_TOOLS, query="no such thing anywhere")
    with pytest.raises(UserError, match="unknown target"):
        verify.verify(arch.reference(), NO_TOOLS, target="gfx9999")


def test_equal_checks_of_a_target_are_put_to_a_tool_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    real = _tasks.runs

    def counted(specs: Any, target: str) -> Any:
        asked.append(len(specs))
        return real(specs, target)

    monkeypatch.setattr(_tasks, "runs", counted)
    found = verify.verify(book(one=[ADDS], two=[ADDS], three=[ADDS, replace(ADDS, expect={"s2": 4})]), NO_TOOLS)
    assert asked == [2]
    assert [fact.verdict for fact in found.facts] == ["agree", "agree", "disagree"]


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The command, over a reference of our own and with antiphase alone."""

    def run(reference: Reference, *options: str) -> int:
        monkeypatch.setattr(arch, "reference", lambda: reference)
        monkeypatch.setattr(_verify, "find_tools", lambda: NO_TOOLS)
        return main(["arch", "verify", *options])

    return run


def test_the_exit_status_tells_disagreement(shown: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(book(run=[ADDS], asm=[ACCEPTED])) == 0
    capsys.readouterr()
    assert shown(book(run=[replace(ADDS, expect={"s2": 9})]), "--json", "-") == 1
    assert json.loads(capsys.readouterr().out)["disagree"] == 1
    assert shown(book(run=[ADDS]), "nothing like it") == 2
    assert shown(book(run=[ADDS]), "run", "--stamp") == 2


def test_stamps_name_what_ran_and_agreed_and_nothing_else(tmp_path: Path) -> None:
    wrong = replace(ADDS, expect={"s2": 9})
    found = verify.verify(book(own=[ADDS], mixed=[ADDS, ACCEPTED], bad=[wrong], none=[]), NO_TOOLS)
    assert stamps(found) == {"antiphase": {"own": ["gfx942"]}}
    path = write_stamps({"antiphase": {"a.b": ["gfx942", "gfx950"]}, "llvm_22": {}}, tmp_path / "checked.toml")
    text = path.read_text()
    assert text.startswith("# ") and '[antiphase]\n"a.b" = ["gfx942", "gfx950"]\n' in text
    with pytest.raises(UserError, match="cannot write"):
        write_stamps({}, tmp_path / "no" / "checked.toml")


@needs_assembler
def test_a_tool_that_is_no_source_stamps_nothing() -> None:
    tools = find_tools()
    llvm = tools.assemblers[0]
    llvm.source = "llvm_99"
    found = verify.verify(book(asm=[ACCEPTED]), Tools((llvm,), (), tools.states))
    assert verdicts(found) == {"asm": ("agree", "")}
    assert stamps(found) == {}


# -- the reference itself ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["gfx942", "gfx950", "gfx1103", "gfx1151", "gfx1201", "gfx1250"])
def test_the_reference_agrees_with_this_machine(target: str) -> None:
    """One target of each generation: the others share their lines and records."""
    found = verify.verify(arch.reference(), target=target)
    wrong = [(fact.id, answer) for fact in found.facts for answer in fact.answers if answer.outcome == "disagree"]
    assert not wrong
    silent = [(fact.id, a.note) for fact in found.facts if fact.reason == "not run" for a in fact.answers]
    assert not silent, "checks that no tool can make sense of"


def test_stamps_in_the_repository_are_of_facts_that_agree() -> None:
    """A sample: every eleventh subject of each tool that is here."""
    every = arch.reference()
    tools = find_tools()
    here = {llvm.source for llvm in (*tools.assemblers, *tools.compilers)} | {"antiphase"}
    stamped = {tool: held for tool, held in read_stamps().items() if tool in here}
    sample = {subject for held in stamped.values() for subject in sorted(held)[::11]}
    found = stamps(verify.verify(replace(every, subjects={name: every.subjects[name] for name in sample}), tools))
    for tool, held in stamped.items():
        for subject in sample & set(held):
            assert set(held[subject]) <= set(found.get(tool, {}).get(subject, ())), (tool, subject)

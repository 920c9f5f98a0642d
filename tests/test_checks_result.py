"""What `antiphase.check` returns, as Python users meet it."""

from __future__ import annotations

from pathlib import Path

import pytest
from _checked import SOURCE, scale
from _tags import Tags

import antiphase
from antiphase import asm
from antiphase.checks import Checked, CheckedKernel, CheckResult
from antiphase.cli import main
from antiphase.errors import UserError


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("scale.py").write_text(SOURCE)
    Path("bad.s").write_text(scale(wait=""))
    Path("good.s").write_text(scale())


def test_findings_are_there_to_take() -> None:
    result = antiphase.check("bad.s")
    assert result.verdict == "findings"
    (found,) = result.findings
    assert (found.check, found.severity, found.kernel) == ("wait", "error", result.kept[0].kernel.name)
    load, use = found.lines
    lines = Path("bad.s").read_text().splitlines()
    assert "load" in lines[load - 1] and use > load
    assert list(result) == [found]


def test_a_finding_says_what_is_wrong_in_one_line() -> None:
    (found,) = antiphase.check("bad.s")
    assert str(found).startswith("scale.py:") and str(found).endswith(f": error: {found.message} [wait/{found.rule}]")
    assert "\n" not in str(found) and repr(found) == (
        f"<Found wait/{found.rule} severity='error' kernel='{found.kernel}' lines={found.lines}>"
    )


def test_notes_are_no_findings() -> None:
    result = antiphase.check("good.s")
    assert result.verdict == "clean" and result.findings == () and list(result) == []
    assert result.notes and {note.severity for note in result.notes} == {"info"}


def test_three_verdicts_are_not_folded_into_two() -> None:
    for file in ("good.s", "bad.s"):
        with pytest.raises(TypeError, match=r"result\.verdict == 'clean'"):
            bool(antiphase.check(file))


def test_what_could_not_be_judged_is_told() -> None:
    program = asm.parse(scale(), "good.s")
    part = CheckedKernel(program, program.kernel(), Checked((), ("wait: too long",)), ("wait",))
    result = CheckResult([part, part])
    assert (result.verdict, result.incomplete) == ("incomplete", ("wait: too long",))


def test_print_shows_what_the_command_prints(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    main(["check", "bad.s"])
    printed = capsys.readouterr().out
    print(antiphase.check("bad.s"))
    assert capsys.readouterr().out == printed


def test_a_notebook_shows_the_same() -> None:
    result = antiphase.check("bad.s")
    tags = Tags(result._repr_html_())
    assert tags.words.replace("\n", "") == str(result).replace("\n", "")
    assert "pre" in tags.seen


def test_a_result_is_one_line() -> None:
    result = antiphase.check("bad.s")
    assert repr(result) == (
        f"<CheckResult 'findings' kernels='{result.kept[0].kernel.name}' findings=1 notes={len(result.notes)} "
        "incomplete=0 suppressed=0>"
    )
    assert repr(result.kept[0]).startswith("<CheckedKernel 'k' target='gfx942' 'findings' findings=")
    assert repr(result.kept[0].checked).startswith("<Checked 'findings' findings=")


def test_a_check_may_be_named_alone() -> None:
    assert antiphase.check("bad.s", only="wait").kept[0].ran == ("wait",)


def test_misuse_is_told_in_one_line() -> None:
    kernel = asm.parse(scale(), "good.s")
    for call, message in (
        (lambda: antiphase.check(5), "what is to be checked is of type int; pass a path"),  # pyright: ignore[reportArgumentType]
        (lambda: antiphase.check(scale()), r"the source is text, not the path of a file; pass antiphase\.parse"),
        (lambda: antiphase.check("good.s", grid=4), "grid or threads without args; give the launch its args"),
        (lambda: antiphase.check("good.s", threads=64), "grid or threads without args"),
        (lambda: antiphase.check("good.s", only="race"), r"'race' looks at a launch; describe one .*args= in Python"),
        (lambda: antiphase.check("good.s", waves_per_simd=0), "0 waves a SIMD"),
        (lambda: antiphase.check(kernel, target="gfx950"), "good.s: the text is for gfx942, not for gfx950"),
    ):
        with pytest.raises(UserError, match=message):
            call()


def test_a_path_object_and_a_launch_of_one_workgroup() -> None:
    result = antiphase.check(Path("good.s"), args=[])
    assert result.kept[0].workgroups == (1, 1) and result.kept[0].launches == 1

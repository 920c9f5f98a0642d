"""Reports of findings: golden terminal text, SARIF with what its schema requires, GitHub annotations."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from _checked import LAUNCH, SOURCE, exchange, program, scale
from rich.console import Console
from syrupy.assertion import SnapshotAssertion

from antiphase import arch, asm
from antiphase.checks import Checked, CheckedKernel, Finding, Fix, Site, check_program, suppress
from antiphase.cli import main
from antiphase.report._wording import RULES, citation
from antiphase.report._words import cited, distance, registers
from antiphase.report.findings import message, print_findings, waves_text
from antiphase.report.spacing import source_text


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("scale.py").write_text(SOURCE)


def printed(*parts: CheckedKernel, limit: int = 20) -> str:
    out = io.StringIO()
    print_findings(suppress(parts), Console(file=out, width=100), limit)
    return out.getvalue()


def missing_wait() -> CheckedKernel:
    return check_program(asm.parse(scale(wait=""), "k.s"), ["wait"])


def test_a_missing_wait(snapshot: SnapshotAssertion) -> None:
    assert printed(missing_wait()) == snapshot


def test_a_race(snapshot: SnapshotAssertion, capsys: pytest.CaptureFixture[str]) -> None:
    Path("k.s").write_text(exchange(barrier=""))
    assert main(["check", "k.s", *LAUNCH, "--only", "race"]) == 1
    assert capsys.readouterr().out == snapshot


def test_short_spacing(snapshot: SnapshotAssertion) -> None:
    body = "v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]\ns_nop 5\nv_add_f32 v8, v0, v0"
    assert printed(check_program(program(body), ["spacing"])) == snapshot


def test_resources_and_port(snapshot: SnapshotAssertion) -> None:
    body = "s_waitcnt vmcnt(3) lgkmcnt(0)\n.L:\nscratch_load_dword v1, off, off\ns_cbranch_scc0 .L"
    assert printed(check_program(program(body), ["resources", "port"], to="gfx1250")) == snapshot


def test_clean_and_incomplete(snapshot: SnapshotAssertion) -> None:
    clean = check_program(asm.parse(scale(), "k.s"), ["wait"])
    odd = check_program(program("v_fly_b32 v0, v1"), ["wait"])
    assert printed(clean) + printed(odd) == snapshot


def test_the_limit_is_on_printing_only() -> None:
    finding = missing_wait().checked.findings[0]
    part = missing_wait()
    many = replace(
        part,
        checked=Checked(tuple(replace(finding, sites=(Site(k, "load"), finding.sites[1]), fix=None) for k in range(4))),
    )
    text = printed(many, limit=1)
    assert text.count("error: ") == 1 and "3 more, counted and not shown" in text and "4 errors" in text


def test_alike_findings_are_one_with_their_lines() -> None:
    part = check_program(asm.parse(scale(), "k.s"), ["wait"])
    found = [Finding("race", "missing_wait", "error", (Site(k, "write"), Site(k, "read")), RACE) for k in (0, 1, 0)]
    text = printed(replace(part, checked=Checked(tuple(found))))
    assert text.count("error: ") == 2 and " x2" in text


RACE: Mapping[str, object] = {"space": "lds", "conflict": "write_read", "bytes": (0, 4), "workgroup": 0}


def test_every_rule_has_words_for_its_facts() -> None:
    """Rules are worded from the facts that their checks give; here those of the checks that need no launch."""
    body = "\n".join(
        ["s_waitcnt vmcnt(3) lgkmcnt(0)", "s_waitcnt 0", "buffer_load_dword v1, v2, s[0:3], 0 offen offset:4095"]
    )
    part = check_program(program(body, lds=400_000), to="gfx1250")
    assert {f.check for f in part.checked.findings} == {"port", "resources", "init"}
    assert all(message(f) and f"{f.check}/{f.rule}" in RULES for f in part.checked.findings)


@pytest.mark.parametrize(
    ("target", "manual"),
    [("gfx942", "AMD CDNA 3 ISA 4.4"), ("gfx1151", "AMD RDNA 3.5 ISA 5.6"), ("gfx1201", "AMD RDNA 4 ISA 5.7")],
)
def test_citations_are_those_of_the_target(target: str, manual: str) -> None:
    load = "global_load_dword v2, v0, s[0:1]" if target == "gfx942" else "global_load_b32 v2, v0, s[0:1]"
    (finding,) = check_program(program(f"{load}\nv_mov_b32 v3, v2", target), ["wait"]).checked.findings
    assert citation(finding, target).split("; ")[0] == manual and citation(finding, target).count(" ISA ") == 1


@pytest.mark.parametrize("target", [each.name for each in arch.targets()])
def test_every_generation_has_its_manual_of_waits_and_barriers(target: str) -> None:
    generation = arch.target(target).generation
    for rule in ("wait/read_before_wait", "sync/deadlock"):
        assert f"AMD {generation} ISA" in cited(RULES[rule].cite, {generation})


def test_places_of_manuals() -> None:
    assert source_text("HR checkRFEHazards; C3; C4") == (
        "LLVM 21.1 GCNHazardRecognizer.cpp checkRFEHazards; AMD CDNA 3 ISA 4.5 and 7.5; AMD CDNA 4 ISA 4.5 and 7.6"
    )
    assert source_text("C4 7.3") == "AMD CDNA 4 ISA 7.3"
    assert cited("AMD CDNA 4 ISA 7.3", {"RDNA 4"}) == "AMD CDNA 4 ISA 7.3"


def test_distances() -> None:
    assert distance(0x1000, 0xF00, 0x100) == "just past the end of"
    assert distance(0x1004, 0xF00, 0x100) == "4 bytes past the end of"
    assert distance(0xEFF, 0xF00, 0x100) == "1 bytes before the start of"
    assert distance(0xF10, 0xF00, 0x100) == "in"
    assert distance(0, 0x55CA_5AF4_21F0, 64) == ""


def test_names_in_short() -> None:
    assert registers(["s4", "v8", "v9", "v10", "vcc"]) == "s4, v[8:10], vcc"
    assert waves_text([3]) == "wave 3" and waves_text([4, 0, 1, 2]) == "waves 0-2, 4"


# What the SARIF 2.1.0 schema requires of each object, by the property that holds it.
REQUIRED = {
    "": {"version", "runs"}, "runs": {"tool"}, "tool": {"driver"}, "driver": {"name"}, "rules": {"id"},
    "results": {"message"}, "message": {"text"}, "codeFlows": {"threadFlows"}, "threadFlows": {"locations"},
    "invocations": {"executionSuccessful"}, "toolExecutionNotifications": {"message"}, "fixes": {"artifactChanges"},
    "artifactChanges": {"artifactLocation", "replacements"}, "replacements": {"deletedRegion"},
    "suppressions": {"kind"}, "shortDescription": {"text"}, "fullDescription": {"text"}, "help": {"text"},
    "description": {"text"},
}  # fmt: skip


def lacking(value: Any, name: str = "") -> list[str]:
    """Properties that the schema requires and an object, or one below it, lacks."""
    if isinstance(value, list):
        return [lack for one in value for lack in lacking(one, name)]
    if not isinstance(value, dict):
        return []
    missing = [f"{name}.{key}" for key in REQUIRED.get(name, set()) - set(value)]
    return missing + [lack for key, inner in value.items() for lack in lacking(inner, key)]


def sarif(*arguments: str) -> dict[str, Any]:
    main(["check", *arguments, "--sarif", "out.sarif", "--print-limit", "0"])
    return json.loads(Path("out.sarif").read_text())


def test_sarif_has_a_flow_for_each_wave() -> None:
    Path("k.s").write_text(exchange(barrier=""))
    log = sarif("k.s", *LAUNCH, "--only", "race")
    assert log["version"] == "2.1.0" and not lacking(log)
    (run,) = log["runs"]
    result = run["results"][0]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "race/missing_rendezvous"
    (flow,) = result["codeFlows"]
    assert [thread["id"] for thread in flow["threadFlows"]] == ["wave 0", "wave 1"]
    assert result["occurrenceCount"] == result["properties"].get("count", result["occurrenceCount"]) >= 1


def test_sarif_fix_is_the_change_to_the_text() -> None:
    Path("k.s").write_text(scale(wait=""))
    (result,) = sarif("k.s", "--only", "wait")["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "scale.py"
    (change,) = result["fixes"][0]["artifactChanges"]
    (replacement,) = change["replacements"]
    lines = Path("k.s").read_text().splitlines(keepends=True)
    lines.insert(replacement["deletedRegion"]["startLine"] - 1, replacement["insertedContent"]["text"])
    Path("fixed.s").write_text("".join(lines))
    assert main(["check", "fixed.s", "--only", "wait"]) == 0


def test_sarif_says_what_is_suppressed_and_what_is_open() -> None:
    Path("k.s").write_text(scale(wait="").replace("v_add_f32", "v_fly_b32 v9, v9\nv_add_f32"))
    Path("allow.toml").write_text('[[suppress]]\ncheck = "wait"\nreason = "known"\n')
    log = sarif("k.s", "--only", "wait", "--suppress", "allow.toml")
    assert not lacking(log)
    (run,) = log["runs"]
    assert run["results"][0]["suppressions"] == [{"kind": "external", "justification": "known"}]
    assert run["invocations"][0]["executionSuccessful"] is False
    assert "v_fly_b32" in run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]


def test_github_annotations(capsys: pytest.CaptureFixture[str]) -> None:
    Path("k.s").write_text(scale(wait=""))
    assert main(["check", "k.s", "--only", "wait", "--github"]) == 1
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("::error file=scale.py,line=4,title=antiphase wait/read_before_wait::v2 read at (2)")
    assert "%0A(1) load: global_load_dword v2, v1, s[2:3] at scale.py:3" in line
    assert line.endswith("%0Afix, at k.s:15%0A+ s_waitcnt vmcnt(0)%0A  v_add_f32 v3, v2, v2")


def test_a_replacement_and_a_deletion_read_as_a_diff() -> None:
    part = missing_wait()
    fixes = (Fix("replace", 1, ("s_waitcnt lgkmcnt(1)",)), Fix("delete", 1))
    found = [Finding("useless", "wait_stricter_than_needed", "info", (Site(1, "wait"),), LOOSE, fix) for fix in fixes]
    first, second = (printed(replace(part, checked=Checked((f,)))) for f in found)
    assert "- s_waitcnt lgkmcnt(0)\n    + s_waitcnt lgkmcnt(1)" in first
    assert "- s_waitcnt lgkmcnt(0)" in second and "+" not in second.split("fix, at")[1]


ACROSS = {"space": "memory", "conflict": "write_write", "bytes": (64, 128), "workgroups": (0, 3)}
UNEVEN = {"workgroup": 0, "fewest": 1, "most": 2, "waves_with_fewest": (0,), "waves_with_most": (1, 2)}
STRAY = {"address": 4100, "bytes": 4, "workgroup": (1, 0, 0), "wave": 2, "lane": 3}
NEAREST = {"nearest": "x", "nearest_at": 4000, "nearest_size": 96}
LOOSE = {
    "given": {"vmcnt": 0}, "loosest": {"vmcnt": 4}, "decisive": {"vmcnt": 1}, "publishes": True, "executed": 8,
}  # fmt: skip
STAGE = {"conflict": "write_read", "crossed": 1, "gap": 1, "byte": 512, "workgroup": 0}


@pytest.mark.parametrize(
    ("rule", "facts", "words"),
    [
        (
            "race/between_workgroups",
            ACROSS,
            "(2) may write before (1) does: 64 bytes at 0x40, by workgroups 0 and 3",
        ),
        (
            "race/missing_completion",
            {**RACE, "counter": "dscnt", "count": 0},
            "(2) may read before (1) has written: bytes 0-3 of LDS, workgroup 0; "
            "at the barrier between them (1) may be outstanding on dscnt: dscnt(0) completes it",
        ),
        (
            "race/missing_completion",
            {**RACE, "counter": "storecnt", "count": 0, "workgroups": (0, 3), "atomic": True},
            "(2) may read before (1) has written: bytes 0-3 of LDS, workgroups 0 and 3; "
            "at the atomic that hands over (1) may be outstanding on storecnt: storecnt(0) completes it",
        ),
        (
            "race/missing_rendezvous",
            {**RACE, "polled": True},
            "(2) may read before (1) has written: bytes 0-3 of LDS, workgroup 0; "
            "no barrier lies between them that both waves take part in; "
            "turning around a plain load orders nothing: let the one set the flag, and the other look, by atomics",
        ),
        (
            "stage/unused_borders",
            {"labels": ("load", "compute")},
            "stages 'load', 'compute' marked, and the compiler has made nothing of it: no barrier, no priority",
        ),
        (
            "stage/stages_not_separate",
            {"labels": ("load", "x")},
            "stages 'load', 'x' marked in a loop without a barrier",
        ),
        ("sync/uneven_arrivals", UNEVEN, "unequal numbers of barriers in workgroup 0: 2 for 2 waves, 1 for 1 wave"),
        (
            "mem/read_outside_memory",
            {**STRAY, **NEAREST},
            "bad read of global memory, 4 bytes at 0x1004, without effect here; "
            "first by workgroup 1,0,0, wave 2, lane 3; 4 bytes past the end of 'x' (96 bytes)",
        ),
        (
            "useless/wait_stricter_than_needed",
            LOOSE,
            "vmcnt(0) is stricter than needed: vmcnt(4) is enough for (2); in 8 executions, and on every path for "
            "registers; atomics or cache instructions run too, but nothing it completes later is shared in this launch",
        ),
        (
            "stage/too_few_rendezvous",
            STAGE,
            "the leading group at (2) may read before (1) has written in the trailing one: LDS byte 512; "
            "the code has 1 rendezvous between them, a gap of 1 needs 2",
        ),
    ],
)
def test_the_words_of_launch_rules(rule: str, facts: Mapping[str, object], words: str) -> None:
    check, _, name = rule.partition("/")
    assert message(Finding(check, name, "error", (), facts)) == words

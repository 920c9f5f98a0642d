"""`antiphase check`: verdicts and exit statuses, JSON, launches, scripts, and bad input in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from _checked import LAUNCH, SOURCE, exchange, scale, text

from antiphase.cli import main

SCRIPT = """
import sys
import numpy as np
import triton
import triton.language as tl
from antiphase import frontends

@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)

x = frontends.tensor(np.arange(1000, dtype=np.float32))
y = frontends.zeros(1000)
double[(8,)](x, y, 1000, BLOCK=128)
double[(8,)](x, y, 1000, BLOCK=128)
assert (y.numpy() == 2 * x.numpy()).all()
print("arguments", sys.argv[1:])
{end}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scale.py").write_text(SOURCE)
    return tmp_path


def checked(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    """Exit status and JSON of `antiphase check`."""
    status = main(["check", *arguments, "--json", "-"])
    return status, json.loads(capsys.readouterr().out)


def test_clean_text_is_status_0(capsys: pytest.CaptureFixture[str]) -> None:
    Path("k.s").write_text(scale())
    status, found = checked(capsys, "k.s")
    assert (status, found["verdict"], found["incomplete"]) == (0, "clean", [])
    assert {f["severity"] for f in found["findings"]} <= {"info"}
    (kernel,) = found["kernels"]
    assert kernel["kernel"] == "k" and kernel["target"] == "gfx942" and "wait" in kernel["checks"]


def test_text_without_metadata(capsys: pytest.CaptureFixture[str]) -> None:
    by_hand = text("v_mov_b32 v1, v0").split(".amdgpu_metadata")[0].replace(".Lfunc_end0", ".Lend")
    by_hand = by_hand.replace(".end_amdhsa_kernel", ".amdhsa_next_free_vgpr 8\n.end_amdhsa_kernel")
    Path("k.s").write_text(by_hand)
    status, found = checked(capsys, "k.s")
    (note,) = found["findings"]
    assert (status, note["rule"]) == (0, "waves_per_simd") and note["message"].endswith("one wave is assumed")
    assert main(["check", "k.s", "--args", "", "--threads", "64"]) == 0
    for arguments, message in (("", "has no .amdgpu_metadata, which says how large"), ("n=1", "which says what arg")):
        extra = ["--threads", "64"] if arguments else []
        assert main(["check", "k.s", "--args", arguments, *extra]) == 2
        assert message in capsys.readouterr().err


def test_a_missing_wait_is_one_finding_with_sites_rule_and_fix(capsys: pytest.CaptureFixture[str]) -> None:
    Path("k.s").write_text(scale(wait=""))
    status, found = checked(capsys, "k.s", "--only", "wait")
    assert (status, found["verdict"]) == (1, "findings")
    (finding,) = found["findings"]
    load, use = finding["sites"]
    assert load["instruction"].startswith("global_load_dword") and use["instruction"].startswith("v_add_f32")
    assert use["source"] == {"file": "scale.py", "line": 4, "text": "    b = a * 2"}
    assert finding["fix"]["text"] == ["s_waitcnt vmcnt(0)"] and finding["fix"]["line"] == use["line"]
    assert (finding["check"], finding["rule"], finding["severity"]) == ("wait", "read_before_wait", "error")
    assert finding["citation"] and finding["meaning"] and finding["message"] and finding["count"] == 1


def test_later_uses_of_the_same_load_are_counted_not_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    uses = "v_add_f32 v3, v2, v2\ns_cbranch_scc0 .L\nv_add_f32 v4, v2, v2\n.L:\nv_add_f32 v5, v2, v2"
    Path("k.s").write_text(text(f"global_load_dword v2, v1, s[2:3]\n{uses}"))
    _, found = checked(capsys, "k.s", "--only", "wait")
    assert [f["count"] for f in found["findings"]] == [3]


def test_first_uses_on_two_paths_are_two_findings(capsys: pytest.CaptureFixture[str]) -> None:
    uses = "s_cbranch_scc0 .L\nv_add_f32 v4, v2, v2\ns_endpgm\n.L:\nv_add_f32 v5, v2, v2"
    Path("k.s").write_text(text(f"global_load_dword v2, v1, s[2:3]\n{uses}"))
    _, found = checked(capsys, "k.s", "--only", "wait")
    assert [f["count"] for f in found["findings"]] == [1, 1]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("v_fly_b32 v1, v2", "'v_fly_b32' is not known for gfx942"),
        ("s_swappc_b64 s[4:5], s[6:7]", "leaves the kernel"),
    ],
)
def test_what_cannot_be_followed_is_incomplete(body: str, reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("k.s").write_text(text(body))
    status, found = checked(capsys, "k.s")
    assert (status, found["verdict"]) == (2, "incomplete")
    assert reason in found["incomplete"][0] and found["incomplete"][0].startswith("k.s:")


def test_a_launch_finds_the_race(capsys: pytest.CaptureFixture[str]) -> None:
    Path("k.s").write_text(exchange())
    status, found = checked(capsys, "k.s", *LAUNCH)
    assert status == 0 and found["kernels"][0]["launches"] == 1
    assert found["kernels"][0]["workgroups"] == {"checked": 1, "launched": 1}
    Path("k.s").write_text(exchange(barrier=""))
    status, found = checked(capsys, "k.s", *LAUNCH)
    races = [f for f in found["findings"] if f["check"] == "race"]
    assert status == 1 and races
    assert "s_barrier" in races[0]["fix"]["text"] and races[0]["sites"][0]["waves"] == [0, 1]


def test_a_launch_from_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    Path("k.s").write_text(exchange())
    Path("launch.json").write_text(json.dumps({"grid": [3], "threads": 128, "args": {"out": "zeros:u32:3x128"}}))
    status, found = checked(capsys, "k.s", "--args", "launch.json")
    assert status == 0 and found["kernels"][0]["workgroups"] == {"checked": 3, "launched": 3}


def test_a_deadlock_is_a_finding(capsys: pytest.CaptureFixture[str]) -> None:
    # wave 1 waits for a barrier that it has not signalled, and so does wave 0
    first = "v_readfirstlane_b32 s30, v0\ns_cmp_eq_u32 s30, 0\ns_cbranch_scc0 .L\n"
    body = first + "s_barrier_signal -1\n.L:\ns_barrier_wait -1"
    Path("k.s").write_text(text(body, "gfx1201", wavefront_size=32))
    status, found = checked(capsys, "k.s", "--args", "", "--threads", "64", "--only", "sync")
    (finding,) = found["findings"]
    assert (status, finding["check"], finding["rule"]) == (1, "sync", "deadlock")
    assert "no wave of the workgroup can go on" in finding["message"]


@pytest.mark.parametrize("target", ["gfx942", "gfx1201"])
def test_every_launch_of_a_script(target: str, capfd: pytest.CaptureFixture[str]) -> None:
    Path("run.py").write_text(SCRIPT.format(end=""))
    assert main(["check", "--target", target, "--json", "out.json", "run.py", "--flag", "x"]) == 0
    found = json.loads(Path("out.json").read_text())
    (kernel,) = found["kernels"]
    assert (kernel["kernel"], kernel["target"], kernel["launches"]) == ("double", target, 2)
    assert kernel["workgroups"] == {"checked": 8, "launched": 16}
    assert "arguments ['--flag', 'x']" in capfd.readouterr().out


def test_the_text_of_a_scripts_kernels(capsys: pytest.CaptureFixture[str]) -> None:
    Path("run.py").write_text(SCRIPT.replace("tl.program_id(0) * BLOCK", "0").format(end="").replace("assert", "#"))
    assert main(["check", "run.py"]) == 1
    out = capsys.readouterr().out
    number = int(out.split("  double:")[1].split(":")[0])
    assert out.endswith(f"double:{number} is a line of the text that was compiled: --save-asm FOLDER writes it\n")
    assert main(["check", "--save-asm", "texts/new", "run.py"]) == 1
    out = capsys.readouterr().out
    assert f"texts/new/double.s:{number}: buffer_store" in out and "--save-asm" not in out
    assert Path("texts/new/double.s").read_text().splitlines()[number - 1].startswith("\tbuffer_store")
    assert main(["check", "texts/new/double.s"]) == 0


def test_json_of_a_script_is_alone_on_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    Path("run.py").write_text(SCRIPT.format(end=""))
    assert main(["check", "--json", "-", "run.py"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["verdict"] == "clean" and "arguments []" in captured.err


@pytest.mark.parametrize("end", ["sys.exit(3)", "raise ValueError('late')"])
def test_a_script_that_ends_badly_is_incomplete(end: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("run.py").write_text(SCRIPT.format(end=end))
    assert main(["check", "--json", "-", "run.py"]) == 2
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] == "incomplete"
    assert "status 3" in found["incomplete"][0] or "ValueError: late" in found["incomplete"][0]


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("import no_such_module", "run.py failed: ModuleNotFoundError: No module named 'no_such_module'"),
        ("raise SystemExit(3)", "run.py ended with status 3"),
        ("", "run.py launched no Triton kernel"),
    ],
)
def test_a_script_without_a_launch_is_misused(script: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("run.py").write_text(script)
    assert main(["check", "run.py"]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == f"antiphase: error: {message}; there was nothing to check"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["k.s", "--only", "wiat"], "no check is called 'wiat'; choose from: wait"),
        (["k.s", "--to", "gfx1"], "unknown target 'gfx1'"),
        (["k.s", "--only", "port"], "'port' needs a target to move to; name one with --to"),
        (["k.s", "--only", "race,mem"], "'race' looks at a launch; describe one with --args"),
        (["k.s", "--target", "gfx950"], "k.s: the file is for gfx942, not for gfx950"),
        (["k.s", "--grid", "2"], "--grid without --args"),
        (["k.s", "--args", "x=random:f16"], "argument 'x' is 'random:f16'; write fill:type:shape"),
        (["k.s", "--args", "", "--grid", "two"], "--grid two; give one to three numbers"),
        (["k.s", "--args", "n=1"], "k.s: kernel k takes 0 arguments, 1 given"),
        (["k.s", "--args", "no.json"], "no.json: cannot read"),
        (["k.s", "--suppress", "no.toml"], "no.toml: cannot read"),
        (["k.s", "more"], "'more' follows k.s"),
        (["none.s"], "none.s: cannot open"),
        (["none.py"], "none.py: no such script"),
    ],
)
def test_bad_input_is_one_line_and_status_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("k.s").write_text(scale())
    assert main(["check", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.startswith(f"antiphase: error: {message}")
    assert captured.err.count("\n") == 1

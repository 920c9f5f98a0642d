"""`antiphase layout`: one-line answers, whole tables in every form, differences, errors."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from antiphase.cli import main
from antiphase.layouts import layout

WMMA = "v_wmma_f32_16x16x16_f16"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]):
    def run(line: str, status: int = 0) -> str:
        assert main(["layout", *line.split()]) == status
        captured = capsys.readouterr()
        return captured.out if status == 0 else captured.err

    return run


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        (f"{WMMA} --target gfx1100 --operand D --lane 16 --vgpr 1", "D[3,0]"),
        (f"{WMMA} --target gfx1200 --operand D --lane 16 --vgpr 1", "D[9,0]"),
        (f"{WMMA} --target gfx1151 --operand D --at 3,0", "lane 16, VGPR 1  (element 1 of 8 x f32)"),
        (
            f"{WMMA} --target gfx1100 --operand A --at 3,5",
            "lane 3, VGPR 2, bits 31:16  (element 5 of 16 x f16)\nlane 19, VGPR 2, bits 31:16  (element 5 of 16 x f16)",
        ),
        (f"{WMMA} --target gfx1200 --operand B --lane 16 --vgpr 0", "B[4,0]  bits 15:0\nB[5,0]  bits 31:16"),
        (
            "v_wmma_f16_16x16x16_f16 --target gfx1100 --opsel 0,0,1 --operand C --at 15,0",
            "lane 16, VGPR 7, bits 31:16  (element 15 of 16 x f16)",
        ),
        ("v_mfma_f32_16x16x4_4b_f16 --operand D --at 1,2 --block 3", "lane 2, VGPR 13  (element 13 of 16 x f32)"),
        ("v_mfma_f32_16x16x4_4b_f16 --cbsz 2 --abid 3 --operand A --lane 0 --vgpr 0", "nothing"),
        ("v_mfma_f64_16x16x4_f64 --operand D --at 4,0", "lane 0, VGPRs 2-3  (element 1 of 4 x f64)"),
        (
            "v_mfma_f32_16x16x128_f8f6f4 --target gfx950 --format fp6 --operand A --at 3,5",
            "lane 3, VGPR 0, bits 31:30 (low), VGPR 1, bits 3:0 (high)",
        ),
        (
            "v_swmmac_f32_16x16x32_f16 --target gfx1200 --index-set 1 --operand index --at 2,4",
            "lane 18, VGPR 0, bits 17:16",
        ),
        (
            "v_mfma_scale_f32_16x16x128_f8f6f4 --target gfx950 --scale-select 2,0 --operand scale_a --at 3,1",
            "lane 19, VGPR 0, bits 23:16",
        ),
        (f"{WMMA} --target gfx1201 --wave 64 --operand D --at 5,2", "lane 34, VGPR 1  (element 1 of 4 x f32)"),
        (
            "__builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12 --target gfx1201 --operand D --lane 31 --vgpr 7",
            "D[15,15]",
        ),
    ],
)
def test_answers_of_one_line(run, line: str, answer: str) -> None:
    assert run(line) == f"{answer}\n"


def test_without_an_operand_the_answer_is_for_all_that_have_the_register(run) -> None:
    assert run(f"{WMMA} --target gfx1200 --lane 16 --vgpr 1").splitlines() == [
        "D[9,0]", "A[0,6]  bits 15:0", "A[0,7]  bits 31:16", "B[6,0]  bits 15:0", "B[7,0]  bits 31:16", "C[9,0]",
    ]  # fmt: skip
    assert run(f"{WMMA} --target gfx1200 --lane 16 --vgpr 7").splitlines() == ["D[15,0]", "C[15,0]"]


def test_one_lane_or_one_register_is_a_table(run) -> None:
    lane = run(f"{WMMA} --target gfx1200 --operand A --lane 16")
    assert [re.split(r"  +", line.strip()) for line in lane.splitlines()] == [
        ["lane", "v0", "v1", "v2", "v3"],
        ["16", "0,4-5", "0,6-7", "0,12-13", "0,14-15"],
    ]
    register = run(f"{WMMA} --target gfx1100 --operand D --vgpr 7").splitlines()
    assert len(register) == 33 and register[-1].split() == ["31", "15,15"]


@pytest.mark.parametrize(
    "line",
    [
        f"{WMMA} --target gfx1200",
        f"{WMMA} --target gfx1200 --operand D --matrix",
        "v_wmma_f16_16x16x16_f16 --target gfx1100 --opsel 0,0,1 --operand D",
        "v_mfma_f32_4x4x4_16b_f16 --operand A --cbsz 1 --abid 1",
        "v_swmmac_i32_16x16x32_iu4 --target gfx1200 --operand index",
        "v_mfma_scale_f32_16x16x128_f8f6f4 --target gfx950 --format fp6,fp4 --operand A",
        "v_wmma_scale16_f32_16x16x128_f8f6f4 --target gfx1250 --operand scale_b",
        f"{WMMA} --target gfx1100 --diff gfx1200",
        "v_mfma_f32_16x16x16_f16 --diff gfx1250:v_wmma_f32_16x16x32_f16",
        f"{WMMA} --target gfx1100 --diff gfx1151",
        "--target gfx1100",
    ],
)
def test_text_reads_well(run, line: str, snapshot: SnapshotAssertion) -> None:
    assert run(line) == snapshot


def test_csv_and_json_have_every_place(run) -> None:
    line = "v_mfma_f32_16x16x128_f8f6f4 --target gfx950 --format fp6 --operand A"
    rows = list(csv.DictReader(io.StringIO(run(f"{line} --csv"))))
    (operand,) = json.loads(run(f"{line} --json -"))["operands"]
    expected = [
        (h.lane, h.register, h.low, h.high, *h.element)
        for h in layout("v_mfma_f32_16x16x128_f8f6f4", "gfx950", formats="fp6").operand("A").held()
    ]
    names = "lane", "register", "low_bit", "high_bit", "row", "column", "block"
    assert [tuple(int(row[name]) for name in names) for row in rows] == expected
    assert [tuple(held[n.removesuffix("_bit")] for n in names) for held in operand["held"]] == expected
    assert (operand["type"], operand["registers"], operand["elements_per_lane"]) == ("fp6", 6, 32)


def test_json_answers(run) -> None:
    at = json.loads(run(f"{WMMA} --target gfx1100 --operand A --at 3,5 --json -"))
    assert [(one["lane"], one["register"], one["bit"]) for one in at] == [(3, 2, 16), (19, 2, 16)]
    there = json.loads(run(f"{WMMA} --target gfx1100 --operand D --lane 16 --vgpr 1 --json -"))
    assert [(one["operand"], one["row"], one["column"]) for one in there] == [("D", 3, 0)]
    assert WMMA in json.loads(run("--target gfx1100 --json -"))["forms"]
    whole = json.loads(run(f"{WMMA} --target gfx1100 --json -"))
    assert [b["name"] for b in whole["builtins"]] == ["__builtin_amdgcn_wmma_f32_16x16x16_f16_w32"]
    assert whole["shape"] == {"m": 16, "n": 16, "k": 16, "blocks": 1} and whole["sources"]


def test_the_difference_as_data(run) -> None:
    found = json.loads(run(f"{WMMA} --target gfx1100 --diff gfx1200 --json -"))
    a = next(operand for operand in found["operands"] if operand["name"] == "A")
    assert (a["registers"], a["elements_per_lane"], a["copies"]) == ([8, 4], [16, 8], [2, 1])
    assert not found["same"] and a["moved"] == 256
    assert json.loads(run(f"{WMMA} --target gfx1100 --diff gfx1103 --json -"))["same"]


def test_markdown_is_a_table(run) -> None:
    lines = run(f"{WMMA} --target gfx1200 --operand D --markdown").splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 34 and {line.count("|") for line in table} == {10}
    assert table[18].startswith("| 16 | 8,0 | 9,0 |")


@pytest.mark.parametrize(
    "line",
    [
        f"{WMMA} --target gfx1100",
        "v_mfma_f32_4x4x4_16b_f16",
        "v_wmma_scale_f32_16x16x128_f8f6f4 --target gfx1250 --format fp6,fp4",
        "v_mfma_f32_16x16x4_4b_f16 --cbsz 1 --blgp 4",
        "v_wmma_i32_16x16x16_iu4 --target gfx1200 --wave 64 --operand A",
    ],
)
def test_svg_shows_every_element_once(run, line: str, tmp_path: Path) -> None:
    file = tmp_path / "layout.svg"
    assert run(f"{line} --svg {file}") == ""
    root = ElementTree.fromstring(file.read_text())
    space = {"svg": "http://www.w3.org/2000/svg"}
    boxes = root.findall("svg:rect", space)
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    area = 0.0
    for box in boxes:
        x, y, w, h = (float(box.attrib[name]) for name in ("x", "y", "width", "height"))
        assert x >= 0 and y >= 0 and x + w <= width and y + h <= height
        area += w * h
    corners = {(box.attrib["x"], box.attrib["y"]) for box in boxes}
    assert len(corners) == len(boxes) and area > 0
    assert "prefers-color-scheme: dark" in file.read_text()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("v_wmma_f32_16x16x16_f17 --target gfx1100", "unknown matrix instruction"),
        (f"{WMMA} --target gfx1250", "gfx1250 has no"),
        (f"{WMMA} --target gfx1100 --operand D --lane 32 --vgpr 0", "operand D has no lane 32; it has 0 to 31"),
        (f"{WMMA} --target gfx1100 --operand D --lane 0 --vgpr 8", "operand D has no VGPR 8; it has 0 to 7"),
        (f"{WMMA} --target gfx1100 --lane 0 --vgpr 99", "has no VGPR 99"),
        (f"{WMMA} --target gfx1100 --operand D --at 16,0", "has no row 16; it has 0 to 15"),
        (f"{WMMA} --target gfx1100 --at 1,0", "--at needs an operand"),
        (f"{WMMA} --target gfx1100 --operand D --at 1", "not 2 numbers"),
        (f"{WMMA} --target gfx1100 --operand X", "its operands are D, A, B, C"),
        (f"{WMMA} --target gfx1100 --diff gfx942", "gfx942 has no"),
        (f"{WMMA} --target gfx1100 --format fp4,fp4", "fixed formats"),
        ("--target gfx9", "unknown target"),
        (f"{WMMA} --target gfx1100 --operand D --at 1,0 --lane 3", "three questions"),
        (f"{WMMA} --target gfx1100 --lane 3 --csv", "for whole tables"),
        (f"{WMMA} --target gfx1100 --block 1", "--block is for --at"),
    ],
)
def test_errors_are_one_line_with_status_2(run, line: str, said: str) -> None:
    message = run(line, 2)
    assert said in message and message.count("\n") == 1

"""Every kind of check: a right statement agrees, a wrong one disagrees and says what was found instead."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from antiphase.arch import CheckSpec
from antiphase.arch._check_specs import (
    Assembles,
    Counts,
    Emits,
    Layout,
    OffsetRange,
    Registers,
    Runs,
    Spaced,
    Spacing,
)
from antiphase.verify import Answer, Tools, find_tools
from antiphase.verify._assembler_checks import offset
from antiphase.verify._llvm import Code
from antiphase.verify._tasks import tasks

RDNA_WMMA, CDNA_MFMA = "v_wmma_f32_16x16x16_f16", "v_mfma_f32_16x16x16_f16"
LOAD = "global_load_b32 v0, v[2:3], off offset:{}"
MFMA_LINES = ("v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]", "v_mov_b32 v8, v0")
IR = """
define amdgpu_kernel void @k(ptr addrspace(1) %p) {
  %v = load volatile i32, ptr addrspace(1) %p
  %w = add i32 %v, 1
  store volatile i32 %w, ptr addrspace(1) %p
  ret void
}
"""


@pytest.fixture(scope="module")
def tools() -> Iterator[Tools]:
    found = find_tools()
    yield found
    found.close()


def answers(tools: Tools, spec: CheckSpec, target: str) -> list[Answer]:
    return [reply for task in tasks(tools) for _, reply in task.run(target, [spec])]


def outcomes(found: list[Answer]) -> set[str]:
    return {answer.outcome for answer in found}


RIGHT: list[tuple[str, CheckSpec]] = [
    ("gfx1100", Assembles("v_permlanex16_b32 v0, v1, s0, s1")),
    ("gfx942", Assembles("v_permlanex16_b32 v0, v1, s0, s1", accepted=False)),
    ("gfx1100", Assembles(f"{RDNA_WMMA} v[0:3], v[8:15], v[16:23], v[24:27]", wave=64)),
    ("gfx1100", Assembles(f"{RDNA_WMMA} v[0:3], v[8:15], v[16:23], v[24:27]", accepted=False)),
    ("gfx1100", Assembles("s_cbranch_scc0 end")),
    ("gfx1100", Registers(RDNA_WMMA, "A", 8)),
    ("gfx1100", Registers(RDNA_WMMA, "D", 4, wave=64)),
    ("gfx1201", Registers("v_swmmac_f32_16x16x32_f16", "B", 8)),
    ("gfx1201", Registers("v_swmmac_f32_16x16x32_f16", "index", 1)),
    ("gfx942", Registers(CDNA_MFMA, "C", 4, wave=64)),
    ("gfx950", Registers("v_mfma_f32_16x16x128_f8f6f4", "A", 4, wave=64, modifiers="cbsz:4")),
    ("gfx950", Registers("v_mfma_scale_f32_16x16x128_f8f6f4", "scale_b", 1, wave=64)),
    ("gfx1100", OffsetRange(LOAD, -4096, 4095)),
    ("gfx1201", OffsetRange(LOAD, -(1 << 23), (1 << 23) - 1)),
    ("gfx942", OffsetRange("s_waitcnt lgkmcnt({})", 0, 15)),
    ("gfx1100", OffsetRange("ds_load_b32 v0, v1 offset:{}", 0, 65535)),
    ("gfx1100", Layout(RDNA_WMMA, "D", 16, 1, (3, 0))),
    ("gfx1201", Layout(RDNA_WMMA, "A", 16, 0, (0, 5), half=1)),
    ("gfx1201", Layout(RDNA_WMMA, "B", 17, 0, (4, 1), half=0)),
    ("gfx1100", Layout("v_wmma_f16_16x16x16_f16", "D", 0, 1, (2, 0), half=1, opsel=1)),
    ("gfx942", Layout(CDNA_MFMA, "D", 17, 1, (5, 1), wave=64)),
    ("gfx1100", Spacing("llvm.amdgcn.wmma.f32.16x16x16.f16", "A", "v_nop", 1)),
    ("gfx1100", Spacing("llvm.amdgcn.wmma.f32.16x16x16.f16.v8f32.v16f16", "C", "v_nop", 0)),
    ("gfx1201", Spacing("llvm.amdgcn.swmmac.f32.16x16x32.f16", "index", "v_nop", 1, wave=64)),
    ("gfx942", Spacing("llvm.amdgcn.mfma.f32.16x16x16f16", "A", "s_nop", 7)),
    ("gfx942", Emits(IR, ("global_load_dword", "s_waitcnt vmcnt(0)", "v_add_u32", "global_store"), ("s_barrier",))),
    ("gfx1100", Counts("global_store_b32 v[0:1], v2, off", ("vscnt",))),
    ("gfx1100", Counts("flat_load_b32 v0, v[2:3]", ("lgkmcnt", "vmcnt"))),
    ("gfx942", Counts("global_atomic_add v0, v1, v2, s[0:1] sc0", ("vmcnt",))),
    ("gfx1100", Counts("v_mov_b32 v0, v1", ())),
    ("gfx942", Spaced(MFMA_LINES, "s_nop 0", 7, wave=64)),
    ("gfx942", Spaced(("v_mov_b32 v0, v1", "v_mov_b32 v2, v0"), "s_nop 0", 0, wave=64)),
    ("gfx942", Runs(("v_add_f32 v2, v0, v1",), {"v2": 3.5}, {"v0": 1.5, "v1": 2.0}, wave=0)),
    ("gfx1100", Runs(("s_not_b64 vcc, vcc",), {"vcc": 0xFFFFFFFFFFFFFFF0, "scc": 1}, {"vcc": 15}, wave=64)),
    ("gfx1250", Runs(("v_cmp_gt_u32 vcc_lo, 3, v0",), {"vcc": 7}, {"v0": tuple(range(32))})),
    ("gfx1201", Runs(("v_mov_b32 v1, 9",), {"v1": (9, 1, 9, *[1] * 29)}, {"v1": 1, "exec": 5})),
    ("gfx942", Runs(("v_accvgpr_read_b32 v1, a3",), {"v1": 4, "a3": 4}, {"a3": 4}, wave=64)),
    ("gfx1100", Runs(("ds_store_b32 v0, v1", "ds_load_b32 v2, v0"), {"v2": 7}, {"v0": 8, "v1": 7})),
    ("gfx1100", Runs(("s_cbranch_scc1 over", "s_mov_b32 s2, 1", "over:"), {"s2": 5}, {"s2": 5, "scc": 1})),
    ("gfx1100", Runs(("v_max_f32 v0, v1, v2",), {"v0": float("nan")}, {"v1": 0x7FC00001, "v2": 0x7FC00001})),
]  # fmt: skip


@pytest.mark.parametrize(("target", "spec"), RIGHT, ids=lambda value: value if isinstance(value, str) else None)
def test_a_right_statement_agrees_with_every_tool(tools: Tools, target: str, spec: CheckSpec) -> None:
    found = answers(tools, spec, target)
    assert outcomes(found) <= {"agree"}, found


WRONG: list[tuple[str, CheckSpec, object]] = [
    ("gfx1100", Assembles("v_permlanex16_b32 v0, v1, s0, s1", accepted=False), True),
    ("gfx942", Assembles("v_permlanex16_b32 v0, v1, s0, s1"), False),
    ("gfx1100", OffsetRange(LOAD, -4096, 4096), [-4096]),
    ("gfx1100", OffsetRange(LOAD, -4095, 4095), [-4095, 4095, -4096]),
    ("gfx1100", Layout(RDNA_WMMA, "D", 16, 1, (2, 0)), [3, 0]),
    ("gfx1100", Layout(RDNA_WMMA, "D", 16, 8, (2, 0)), None),
    ("gfx1100", Spacing("llvm.amdgcn.wmma.f32.16x16x16.f16", "A", "v_nop", 2), 1),
    ("gfx1100", Spacing("llvm.amdgcn.wmma.f32.16x16x16.f16", "A", "v_nop", 0), 1),
    ("gfx942", Spacing("llvm.amdgcn.mfma.f32.16x16x16f16", "A", "s_nop", 6), 7),
    ("gfx942", Emits(IR, ("v_add_u32", "global_load_dword")), ["v_add_u32"]),
    ("gfx942", Emits(IR, (), ("s_endpgm",)), ["s_endpgm"]),
    ("gfx1100", Counts("global_store_b32 v[0:1], v2, off", ("vmcnt",)), ["vscnt"]),
    ("gfx1100", Counts("flat_load_b32 v0, v[2:3]", ("vmcnt",)), ["lgkmcnt", "vmcnt"]),
    ("gfx942", Spaced(MFMA_LINES, "s_nop 0", 6, wave=64), 7),
    ("gfx942", Spaced(MFMA_LINES, "s_nop 0", 8, wave=64), 7),
    ("gfx942", Spaced(MFMA_LINES, "s_nop 1", 7, wave=64), 7),  # six of them are enough
    ("gfx1201", Runs(("v_add_f32 v2, v0, v1",), {"v2": 3.0}, {"v0": 1.5, "v1": 2.0}), {"v2 of lane 0": 3.5}),
    ("gfx1201", Runs(("v_mov_b32 v1, 9",), {"v1": 9}, {"v1": 1, "exec": 5}), {"v1 of lane 1": 1}),
    ("gfx1201", Runs(("s_mov_b32 s2, 7",), {"s2": 6, "m0": 3}, {"m0": 3}), {"s2": 7}),
    ("gfx1201", Runs(("v_no_such_b32 v1, 9",), {"v1": 9}), None),
    ("gfx1201", Runs(("v_mov_b32 v1, 9",), {"v1": (9, 9)}), None),
    ("gfx1201", Runs(("global_load_b32 v1, v[2:3], off",), {"v1": 9}, {"v2": 16, "v3": 0}), None),
]


@pytest.mark.parametrize(("target", "spec", "got"), WRONG, ids=lambda value: value if isinstance(value, str) else None)
def test_a_wrong_statement_disagrees_and_shows_what_is_so(
    tools: Tools, target: str, spec: CheckSpec, got: object
) -> None:
    for answer in answers(tools, spec, target):
        assert answer.outcome == "disagree"
        assert answer.got == got


def test_an_assembler_that_cuts_a_value_does_not_hold_it() -> None:
    """It accepts everything and keeps twelve bits."""

    def cutting(line: tuple[int, str]) -> Code:
        return Code(code=(int(line[1].rpartition(":")[2]) & 0xFFF).to_bytes(2, "little"))

    found = offset(OffsetRange("x offset:{}", 0, 0x1FFF), "gfx942", cutting)
    assert (found.agrees, found.got) == (False, [0, -1, 0x2000])


@pytest.mark.parametrize("count", [7, 9])
def test_a_wrong_operand_width_disagrees_with_assembler_and_layout(tools: Tools, count: int) -> None:
    found = {answer.tool: answer for answer in answers(tools, Registers(RDNA_WMMA, "A", count), "gfx1100")}
    assert outcomes(list(found.values())) == {"disagree"}
    assert found["antiphase"].got == 8
    assert all(found[tool].got == [8] for tool in found if tool != "antiphase")


def test_a_check_is_put_only_to_the_tools_it_names(tools: Tools) -> None:
    spec = Assembles("s_nop 0", by=("llvm_triton",))
    assert {answer.tool for answer in answers(tools, spec, "gfx942")} <= {"llvm_triton"}


def test_what_no_tool_can_say_is_unchecked_with_the_reason(tools: Tools) -> None:
    specs: list[tuple[CheckSpec, str]] = [
        (Runs(("s_nop 0",), {"s2": 0}, wave=32), "gfx942 has no wave32"),
        (Registers("v_no_such_instruction", "A", 1), "no operand A of v_no_such_instruction"),
        (Layout("v_no_such_instruction", "A", 0, 0, (0, 0), wave=64), "v_no_such_instruction"),
        (Counts("v_no_such_b32 v0", ()), "no record"),
        (Spacing("llvm.amdgcn.wmma.f32.16x16x16.f16", "A", "v_nop", 1), "no such builtin"),
    ]
    for spec, reason in specs:
        for answer in answers(tools, spec, "gfx942"):
            assert answer.outcome == "unchecked" and reason in answer.note


def test_checks_in_one_kernel_do_not_see_each_other(tools: Tools) -> None:
    """Those that set MODE or may leave run on their own, and one that cannot run spoils no other."""
    good = Runs(("v_add_f32 v2, v0, v1",), {"v2": 3.0, "exec": 0xFFFFFFFF}, {"v0": 1.0, "v1": 2.0})
    denormal = Runs(("v_mul_f32 v2, v0, v1",), {"v2": 0x00400000}, {"v0": 0x00800000, "v1": 0.5})
    flushed = Runs(("v_mul_f32 v2, v0, v1",), {"v2": 0}, {"v0": 0x00800000, "v1": 0.5, "mode": 0x0C0})
    leaves = Runs(("s_endpgm",), {"v2": 3.0})
    narrow = Runs(("s_mov_b32 exec_lo, 1",), {"exec": 1})
    broken = Runs(("v_no_such_b32 v0, v1",), {"v0": 0})
    own = Tools((), (), ())
    for specs, wrong in (([flushed, narrow, good, denormal], []), ([leaves, good, broken, denormal], [leaves, broken])):
        found = [reply.outcome for task in tasks(own) for _, reply in task.run("gfx1100", specs)]
        assert found == ["disagree" if spec in wrong else "agree" for spec in specs]

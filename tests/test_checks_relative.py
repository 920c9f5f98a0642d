"""Registers addressed at run time, as the checks see them: what the text names, or all that M0 may reach."""

from __future__ import annotations

import numpy as np
import pytest
from _asm import Snippet
from _checked import program

from antiphase.checks import Finding, check_program, check_waits
from antiphase.checks.order._values import Values
from antiphase.checks.spacing import check_spacing
from antiphase.checks.useless import check_useless

LOADS = "global_load_dwordx4 v[4:7], v[0:1], off\nglobal_load_dwordx4 v[8:11], v[0:1], off\n"
LOADS_RDNA = LOADS.replace("dwordx4", "b128")
ON = "s_set_gpr_idx_on s2, gpr_idx({})\n"
OFF = "\ns_set_gpr_idx_off\n"


def waits(body: str, target: str) -> list[tuple[str, object]]:
    made = program(body, target)
    return [(f.rule, f.facts["registers"]) for f in check_waits(made, made.kernel())]


@pytest.mark.parametrize(
    ("move", "rule"),
    [
        ("v_movrels_b32 v12, v4", "read_before_wait"),
        ("v_movreld_b32 v4, v12", "overwritten_before_wait"),
        ("v_swaprel_b32 v4, v12", "read_before_wait"),
    ],
)
def test_a_missing_wait_is_told_by_the_register_in_the_text(move: str, rule: str) -> None:
    found = waits(LOADS_RDNA + move, "gfx1100")
    assert found == [(rule, ("v4",))]
    assert not waits(LOADS_RDNA + "s_waitcnt vmcnt(1)\n" + move, "gfx1100")


def test_registers_behind_the_one_in_the_text_may_be_another_array() -> None:
    """How far an index reaches is not in the text: v[8:11] may be a load ahead for the next round."""
    assert not waits(LOADS_RDNA + "s_waitcnt vmcnt(1)\nv_movrels_b32 v12, v4", "gfx1100")
    assert not waits(LOADS + "s_waitcnt vmcnt(1)\n" + ON.format("SRC0") + "v_mov_b32 v12, v4" + OFF, "gfx942")
    assert waits(LOADS + ON.format("SRC0") + "v_mov_b32 v12, v4" + OFF, "gfx942") == [("read_before_wait", ("v4",))]


def initial(body: str, target: str = "gfx942") -> list[object]:
    part = check_program(program(body, target), ["init"])
    return [f.facts["registers"] for f in part.checked.findings]


@pytest.mark.parametrize(
    ("body", "target", "registers"),
    [
        ("s_mov_b32 m0, 3\nv_movrels_b32 v12, v4", "gfx1100", []),
        ("s_mov_b32 m0, 3\nv_movreld_b32 v4, v12", "gfx1100", [("v12",)]),
        ("v_movreld_b32 v4, v0", "gfx1100", [("m0",)]),
        ("s_mov_b32 m0, 3\nv_movreld_b32 v4, v0\nv_mov_b32 v12, v7\nv_mov_b32 v12, v3", "gfx1100", [("v3",)]),
        ("s_mov_b32 m0, 3\ns_movreld_b32 s20, s0\ns_mov_b32 s30, s21", "gfx942", []),
        # what M0 held does not matter to the mode, and the index does not matter to what it is not for
        (ON.format("SRC0") + "v_mov_b32 v12, v4" + OFF, "gfx942", []),
        (ON.format("DST") + "v_mov_b32 v12, v4" + OFF, "gfx942", [("v4",)]),
        (ON.format("DST") + "v_mov_b32 v12, v0" + OFF + "v_mov_b32 v2, v20", "gfx942", []),
        (ON.format("SRC0") + "v_mov_b32 v12, v4" + OFF + "v_mov_b32 v2, v4", "gfx942", [("v4",)]),
        (ON.format("SRC1") + "s_set_gpr_idx_mode gpr_idx(SRC0)\nv_mov_b32 v12, v4" + OFF, "gfx942", []),
        (ON.format("SRC1") + "s_mov_b32 m0, s0\nv_mov_b32 v12, v4" + OFF, "gfx942", []),
        ("s_cbranch_scc1 .L\n" + ON.format("SRC0") + ".L:\nv_mov_b32 v12, v4" + OFF, "gfx942", [("scc",)]),
    ],
)  # fmt: skip
def test_reads_of_what_nothing_wrote(body: str, target: str, registers: list[object]) -> None:
    assert initial(body, target) == registers


def useless(move: str, count: int) -> list[Finding]:
    """Of the wait between two loads and a use of the register in the text."""
    k = Snippet(inputs=1)
    k("s_add_u32 s22, s8, s10\nglobal_load_dwordx4 v[4:7], v1, s[10:11]\nglobal_load_dwordx4 v[8:11], v1, s[10:11]")
    k(f"s_waitcnt vmcnt({count})\n{move}")
    return [f for f in check_useless(k.run(np.zeros(512, np.uint32), record=True).execution) if "wait" in f.rule]


def test_a_wait_for_the_end_of_an_array_is_needed() -> None:
    plain, relative = "v_mov_b32 v12, v4", ON.format("SRC0") + "v_mov_b32 v12, v4" + OFF
    assert [f.rule for f in useless(plain, 0)] == ["wait_stricter_than_needed"]
    assert not useless(plain, 1) and not useless(relative, 0)


@pytest.mark.parametrize(
    ("moves", "register"),
    [
        ("v_mov_b32 v23, v4", 23),
        ("s_set_gpr_idx_on 3, gpr_idx(DST)\nv_mov_b32 v20, v4\ns_set_gpr_idx_off", 23),
        ("v_mov_b32 v20, v4\ns_set_gpr_idx_on 3, gpr_idx(DST)\nv_mov_b32 v20, v1\ns_set_gpr_idx_off", 20),
        ("v_mov_b32 v23, v4\ns_set_gpr_idx_on 3, gpr_idx(SRC0)\nv_mov_b32 v30, v20\ns_set_gpr_idx_off", 30),
    ],
)
def test_values_are_followed_through_arrays(moves: str, register: int) -> None:
    """An atomic puts things in order if its result decides what its wave does (`order/_values`)."""
    k = Snippet(inputs=1)
    k(f"v_mov_b32 v2, 1\nglobal_atomic_add v4, v1, v2, s[10:11] sc0\ns_waitcnt vmcnt(0)\n{moves}")
    k(f"v_readfirstlane_b32 s20, v{register}\ns_cmp_eq_u32 s20, 0\ns_cbranch_scc1 .Lend\n.Lend:")
    execution = k.run(np.zeros(64, np.uint32), record=True).execution
    assert execution.recording is not None
    kernel = execution.kernel
    atomic = next(i for i, one in enumerate(kernel.instructions) if one.mnemonic == "global_atomic_add")
    assert Values(kernel, "gfx942").decides(execution.recording.waves[0], 0, atomic)


@pytest.mark.parametrize("record", [False, True], ids=["fast", "recording"])
def test_a_missing_wait_shows_in_the_register_that_is_read(record: bool) -> None:
    """In recording mode: where the index leads decides whether the value is there."""
    k = Snippet(inputs=1)
    k("global_load_dword v4, v1, s[10:11]\ns_waitcnt vmcnt(0)\nglobal_load_dword v5, v1, s[10:11]")
    for register, index in ((20, 0), (21, 1)):
        k(f"s_set_gpr_idx_on {index}, gpr_idx(SRC0)\nv_mov_b32 v{register}, v4\ns_set_gpr_idx_off")
    k("s_waitcnt vmcnt(0)")
    k.keep("v20", "v21")
    data = np.arange(64, dtype=np.uint32)
    rows = k.run(data, record=record)
    assert np.array_equal(rows[0], data)
    assert np.array_equal(rows[1], data) is not record


@pytest.mark.parametrize(
    "writer", ["s_mov_b32 m0, s0", "s_set_gpr_idx_idx s0", "s_set_gpr_idx_on s0, 1", "s_set_gpr_idx_mode 0"]
)
@pytest.mark.parametrize("reader", ["s_movrels_b32 s4, s8", "s_movreld_b64 s[4:5], s[8:9]"])
def test_scalar_moves_come_a_wait_state_after_m0_on_cdna(writer: str, reader: str) -> None:
    """AMD CDNA3 ISA 4.5, table 11; LLVM GCNHazardRecognizer checkReadM0Hazards."""

    def rules(body: str, target: str) -> list[str]:
        made = program(body, target)
        return [f.rule for f in check_spacing(made, made.kernel())]

    assert rules(f"{writer}\n{reader}", "gfx942") == ["salu_m0_to_reader"]
    assert not rules(f"{writer}\ns_nop 0\n{reader}", "gfx942")
    assert not rules(f"{writer}\nv_mov_b32 v1, v2", "gfx950")
    assert not rules(f"s_mov_b32 m0, s0\n{reader}", "gfx1100")


@pytest.mark.parametrize(
    ("line", "target", "to"),
    [
        ("s_set_gpr_idx_on s2, gpr_idx(SRC0)", "gfx942", "gfx1201"),
        ("v_movrels_b32 v12, v4", "gfx1201", "gfx942"),
        ("v_swaprel_b32 v12, v4", "gfx1250", "gfx950"),
        ("s_movrelsd_2_b32 s2, s4", "gfx1100", "gfx942"),
    ],
)
def test_what_another_target_lacks_is_told_with_what_it_has(line: str, target: str, to: str) -> None:
    part = check_program(program(line, target), ["port"], to=to)
    (finding,) = [f for f in part.checked.findings if f.rule == "missing_instruction"]
    assert finding.severity == "error" and finding.facts["advice"]

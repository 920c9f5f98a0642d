"""The layout oracle on every form of every target: both directions, arrays, operand widths, builtins."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphase import arch
from antiphase.errors import UserError
from antiphase.isa import REGISTRY
from antiphase.layouts import Layout, Operand, forms, layout

CASES = [
    (name, target.name, wave) for target in arch.targets() for name in forms(target.name) for wave in target.wave_sizes
]
DISTINCT = list({(layout(*case[:2], wave=case[2]).record, case[2]): case for case in CASES}.values())


def test_every_matrix_instruction_that_the_assembler_accepts_has_a_layout() -> None:
    inventory = arch.assembler_inventory()
    without = {
        (target.name, name)
        for target in arch.targets()
        for name, line in inventory.accepted(target.name).items()
        if re.match(r"v_(mfma|smfmac|wmma|swmmac)_", name) and "ld_scale" not in name and line
        if REGISTRY.find(name, target.name) is None
    }
    # LLVM's assembler takes RDNA 4's SWMMAC for gfx1250 too, where clang compiles no builtin to them
    assert all(target == "gfx1250" and name.startswith("v_swmmac") for target, name in without)
    rdna4 = set(forms("gfx1200"))
    assert {name for _, name in without} == {name for name in rdna4 if name.startswith("v_swmmac")}
    names = {b.mnemonic for b in arch.matrix_builtins()[1] if "gfx1250" in b.targets}
    assert not names & {name for _, name in without}


def test_the_targets_have_as_many_forms_as_their_sources_list() -> None:
    """46 of gfx942, 6 of RDNA 3 and 3.5, 22 of RDNA 4: AMD's calculator lists as many."""
    counts = {target.name: len(forms(target.name)) for target in arch.targets()}
    assert counts["gfx942"] == 46
    assert {counts[name] for name in counts if name.startswith("gfx11")} == {6}
    assert counts["gfx1200"] == counts["gfx1201"] == 22


@pytest.mark.parametrize(("name", "target", "wave"), DISTINCT)
def test_every_place_and_every_element_know_each_other(name: str, target: str, wave: int) -> None:
    found = layout(name, target, wave=wave)
    for operand in found.operands:
        elements = set()
        for held in operand.held():
            assert held.element in operand.elements(held.lane, held.register, held.low)
            assert held.element in operand.elements(held.lane, held.register, held.high)
            elements.add(held.element)
        assert elements == set(itertools.product(*map(range, operand.shape)))
        for element in elements:
            places = operand.places(*element)
            assert places and list(places) == sorted(set(places))
            for place in places:
                assert element in operand.elements(place.lane, place.register, place.bit)


@pytest.mark.parametrize(("name", "target", "wave"), DISTINCT)
def test_index_arrays_say_what_the_registers_hold(name: str, target: str, wave: int) -> None:
    for operand in layout(name, target, wave=wave).operands:
        shape = wave, operand.registers, operand.slots
        assert operand.rows.shape == operand.columns.shape == operand.blocks.shape == shape
        told = {
            (int(lane), int(register), tuple(int(a[lane, register, slot]) for a in operand.arrays[0]))
            for lane, register, slot in np.argwhere(operand.rows >= 0)
        }
        assert told == {(held.lane, held.register, tuple(held.element)) for held in operand.held()}
        assert ((operand.rows < 0) == (operand.columns < 0)).all()


@given(st.data())
def test_one_element_of_any_form_with_any_modifiers(data: st.DataObject) -> None:
    operand = data.draw(st.sampled_from(data.draw(varied_layouts()).operands))
    element = tuple(data.draw(st.integers(0, count - 1)) for count in operand.shape)
    for place in operand.places(*element):
        assert element in operand.elements(place.lane, place.register, place.bit)


@st.composite
def varied_layouts(draw: st.DrawFn) -> Layout:
    """Any form of any target, with modifiers of which those that do not fit are left out one by one."""
    name, target, wave = draw(st.sampled_from(CASES))
    choices = {
        "formats": st.tuples(*[st.sampled_from(("fp8", "bf8", "fp6", "bf6", "fp4"))] * 2),
        "opsel": st.just((0, 0, 1)),
        "cbsz": st.integers(0, 4),
        "blgp": st.integers(0, 7),
        "index_set": st.integers(0, 3),
        "scale_select": st.tuples(st.integers(0, 3), st.integers(0, 3)),
    }
    wanted: dict[str, object] = {"wave": wave}
    for modifier, values in choices.items():
        chosen = wanted | {modifier: draw(values)}
        if "cbsz" in wanted and modifier == "cbsz":
            chosen["abid"] = draw(st.integers(0, 15))
        try:
            layout(name, target, **chosen)  # type: ignore[arg-type]
        except UserError:
            continue
        wanted = chosen
    return layout(name, target, **wanted)  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "target", "wave"), [case for case in CASES if case[2] != 64 or "gfx9" in case[1]])
def test_operands_are_as_wide_as_the_assembler_has_them(name: str, target: str, wave: int) -> None:
    line = arch.assembler_inventory().accepted(target)[name]
    found = layout(name, target, wave=wave)
    widths = [
        int(high) - int(low) + 1 if high else 1 for low, high in re.findall(r"v\[?(\d+)(?::(\d+))?\]?(?=,|$)", line)
    ]
    names = ["D", "A", "B", "index"] if found.record.sparse else ["D", "A", "B", "C"]
    names += ["scale_a", "scale_b"] if found.record.scaled else []
    # where D is the accumulator too, the assembler gives it the wider of both
    ours = [max(found.operand(n).registers for n in ("DC" if n == "D" and found.record.sparse else [n])) for n in names]
    assert widths == ours


@pytest.mark.parametrize(("name", "target", "wave"), CASES)
def test_builtins_have_as_many_bits_a_lane_as_the_operands(name: str, target: str, wave: int) -> None:
    found = layout(name, target, wave=wave)
    assert found.builtins and {b.wave for b in found.builtins} == {wave}
    for operand in found.operands:
        told = found.builtin_type(operand.name)
        assert told is not None
        count, element = told
        bits = count * int(re.sub(r"\D", "", element))
        assert bits == widest(found, operand)


def widest(found: Layout, operand: Operand) -> int:
    """Bits a lane that a builtin passes for an operand."""
    if operand.type in ("fp8", "bf8", "fp6", "bf6", "fp4") and found.record.a == "f8f6f4":
        return 32 * (8 if found.target == "gfx950" else 16)  # room for the widest format
    if found.record.sparse and operand.name == "D":
        return 32 * found.operand("C").registers
    if operand.name == "index":
        return (
            32  # clang 22 passes 32 bits even where the instruction reads two registers, and leaves the rest undefined
        )
    return 32 * operand.registers


def test_a_builtin_or_an_intrinsic_stands_for_its_instruction() -> None:
    for name in (
        "__builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12",
        "llvm.amdgcn.wmma.f32.16x16x16.f16",
        "V_WMMA_F32_16X16X16_F16",
    ):
        assert layout(name, "gfx1200").mnemonic == "v_wmma_f32_16x16x16_f16"
    assert layout("llvm.amdgcn.mfma.f32.16x16x16f16").mnemonic == "v_mfma_f32_16x16x16_f16"
    assert "v_mfma_f32_16x16x16f16" in layout("v_mfma_f32_16x16x16_f16").aliases


@pytest.mark.parametrize(("ending", "wave"), [("w32", 32), ("w64", 64)])
def test_a_builtin_for_one_wave_size_has_the_layout_of_that_wave(ending: str, wave: int) -> None:
    found = layout(f"__builtin_amdgcn_wmma_f32_16x16x16_f16_{ending}", "gfx1100")
    assert found.wave == wave
    assert found.operand("D").registers == 256 // wave
    assert layout("llvm.amdgcn.wmma.f32.16x16x16.f16.v4f32.v16f16", "gfx1100").wave == 64


def test_the_public_function() -> None:
    import antiphase

    assert antiphase.layout is layout
    html = layout("v_wmma_f32_16x16x16_f16", "gfx1100")._repr_html_()
    assert "<svg" in html and "lanes 16-31: column = lane - 16, row 1-15 by 2" in html


@pytest.mark.parametrize(
    ("name", "target", "modifiers", "said"),
    [
        ("v_wmma_f32_16x16x16_f17", "gfx1100", {}, "unknown matrix instruction.*v_wmma_f32_16x16x16_f16"),
        (
            "v_wmma_f32_16x16x16_f16",
            "gfx1250",
            {},
            "gfx1250 has no.*gfx1201 have it; near.*: v_wmma_f32_16x16x32",
        ),
        ("v_add_f32", "gfx942", {}, "no matrix instruction; antiphase layout --target gfx942"),
        ("__builtin_amdgcn_wmma_f32_16x16x16_f16_w33", "gfx1100", {}, "unknown builtin.*_w32"),
        ("__builtin_amdgcn_wmma_f32_16x16x16_f16_w64", "gfx1100", {"wave": 32}, "for waves of 64 lanes"),
        ("__builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12", "gfx1100", {}, "gfx1100 has no.*gfx1201 have it"),
        ("v_mfma_f32_16x16x16_f16", "gfx9", {}, "unknown target"),
        ("v_mfma_f32_16x16x16_f16", "gfx942", {"wave": 32}, "no waves of 32 lanes"),
        ("v_mfma_f32_16x16x16_f16", "gfx942", {"cbsz": 1}, "it has no CBSZ"),
        ("v_mfma_f64_4x4x4_4b_f64", "gfx942", {"cbsz": 1}, "it has no CBSZ"),
        ("v_mfma_f32_16x16x4_4b_f16", "gfx942", {"cbsz": 3}, "from 0 to 2"),
        ("v_mfma_f32_16x16x4_4b_f16", "gfx942", {"cbsz": 1, "abid": 2}, "ABID goes from 0 to 1"),
        ("v_mfma_f32_16x16x16_f16", "gfx942", {"blgp": 1}, "moves no lanes"),
        ("v_mfma_f32_16x16x4_f32", "gfx942", {"blgp": 8}, "0 to 7"),
        ("v_mfma_f32_16x16x16_f16", "gfx942", {"formats": "fp8"}, "A is f16, B is f16"),
        ("v_mfma_f32_16x16x128_f8f6f4", "gfx950", {"formats": "fp5"}, "fp8, bf8, fp6, bf6, fp4"),
        ("v_mfma_f32_16x16x128_f8f6f4", "gfx950", {"cbsz": 5}, "no format 5"),
        ("v_wmma_f16_16x16x16_f16", "gfx1200", {"opsel": (0, 0, 1)}, "only 16-bit results on RDNA 3"),
        ("v_wmma_f16_16x16x16_f16", "gfx1100", {"opsel": (1, 0, 1)}, "use 0,0,0 or 0,0,1"),
        ("v_swmmac_f32_16x16x32_f16", "gfx1200", {"index_set": 2}, "sets 0 to 1"),
        ("v_mfma_f32_16x16x16_f16", "gfx942", {"index_set": 0}, "no sparse index"),
        ("v_mfma_f32_16x16x16_f16", "gfx942", {"scale_select": (1, 0)}, "no scale operands"),
        ("v_wmma_scale_f32_32x16x128_f4", "gfx1250", {"scale_select": (1, 0)}, "A has 0 to 0"),
    ],
)
def test_what_does_not_exist_is_an_error_of_one_line(name: str, target: str, modifiers: dict, said: str) -> None:
    with pytest.raises(UserError, match=said) as caught:
        layout(name, target, **modifiers)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda o: o.elements(32, 0), "no lane 32; it has 0 to 31"),
        (lambda o: o.elements(-1, 0), "no lane -1"),
        (lambda o: o.elements(0, 8), "no VGPR 8; it has 0 to 7"),
        (lambda o: o.elements(0, 0, 32), "no bit 32"),
        (lambda o: o.places(16, 0), "no row 16; it has 0 to 15"),
        (lambda o: o.places(0, 16), "no column 16"),
        (lambda o: o.places(0, 0, 1), "no block 1; it has 0 to 0"),
    ],
)
def test_places_and_elements_outside_are_errors(ask, said: str) -> None:
    with pytest.raises(UserError, match=said):
        ask(layout("v_wmma_f32_16x16x16_f16", "gfx1100").operand("D"))
    with pytest.raises(UserError, match="its operands are D, A, B, C"):
        layout("v_wmma_f32_16x16x16_f16", "gfx1100").operand("E")

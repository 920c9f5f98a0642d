"""Every layout against the CPU machine: one-hot probes of every form of every target, wave size and modifier."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest

from antiphase import arch
from antiphase.arch import Fragment
from antiphase.isa import Matrix
from antiphase.layouts import Operand, forms, layout
from antiphase.layouts.probe import probe

FORMATS = ("fp8", "bf8", "fp6", "bf6", "fp4")


def distinct() -> dict[tuple[Matrix, int], tuple[str, str]]:
    """One (name, target) of every record and wave size. Targets that share a record share its layouts and its code."""
    return {
        (layout(name, target.name, wave=wave).record, wave): (name, target.name)
        for target in arch.targets()
        for name in forms(target.name)
        for wave in target.wave_sizes
    }


CASES = [(*named, wave) for (_, wave), named in distinct().items()]
SPARSE = [case for case in CASES if layout(case[0], case[1], wave=case[2]).record.sparse]
CHOSEN = [case for case in CASES if layout(case[0], case[1], wave=case[2]).record.a == "f8f6f4"]
SCALED = [case for case in CASES if layout(case[0], case[1], wave=case[2]).record.scaled]
BLOCKS = [case for case in CASES if layout(case[0], case[1], wave=case[2]).record.blocks > 1]


def agrees(name: str, target: str, **modifiers: Any) -> None:
    found = probe(name, target, **modifiers)
    assert found.ok, found.wrong[:5]
    assert found.probes >= 16


@pytest.mark.parametrize(("name", "target", "wave"), CASES)
def test_every_element_acts_from_where_the_layout_has_it(name: str, target: str, wave: int) -> None:
    agrees(name, target, wave=wave)


def test_targets_that_share_a_name_share_the_record_that_was_probed() -> None:
    probed = {(replace(layout(n, t, wave=w).record, name=""), w) for n, t, w in CASES}
    for target in arch.targets():
        for name, wave in itertools.product(forms(target.name), target.wave_sizes):
            assert (replace(layout(name, target.name, wave=wave).record, name=""), wave) in probed


@pytest.mark.parametrize(("name", "target", "wave"), CHOSEN)
@pytest.mark.parametrize("number", range(1, 5))
def test_formats_that_the_instruction_chooses(name: str, target: str, wave: int, number: int) -> None:
    agrees(name, target, formats=(FORMATS[number], FORMATS[(2 * number) % 5]), only="AB")


@pytest.mark.parametrize(("name", "target", "wave"), SPARSE)
def test_other_sets_of_a_sparse_index(name: str, target: str, wave: int) -> None:
    index = layout(name, target, wave=wave).operand("index")
    for number in range(1, 32 // (2 * index.per_lane) if index.per_lane < 16 else 1):
        agrees(name, target, wave=wave, index_set=number, only=("index",))


@pytest.mark.parametrize(("name", "target", "wave"), SCALED)
@pytest.mark.parametrize("select", [(1, 2), (2, 0), (3, 1), (1, 1), (0, 1)])
def test_other_places_of_scales(name: str, target: str, wave: int, select: tuple[int, int]) -> None:
    if target == "gfx1250":
        select = (0 if "32x16" in name else select[0] % 2, select[1] % 2)
    agrees(name, target, formats="fp4", scale_select=select, only=("scale_a", "scale_b"))


@pytest.mark.parametrize("name", sorted({name for name, target, _ in BLOCKS if "f64" not in name}))
def test_broadcasts_and_moved_lanes(name: str) -> None:
    for cbsz in range(layout(name).record.blocks.bit_length()):
        agrees(name, "gfx942", cbsz=cbsz, abid=(1 << cbsz) - 1, blgp=2 * cbsz % 8, only="AB")
    for blgp in range(1, 8):
        agrees(name, "gfx942", blgp=blgp, only="B")


@pytest.mark.parametrize("blgp", range(1, 8))
@pytest.mark.parametrize("name", ["v_mfma_f32_16x16x4_f32", "v_mfma_f32_32x32x2_f32"])
def test_moved_lanes_of_one_block(name: str, blgp: int) -> None:
    agrees(name, "gfx950", blgp=blgp, only="AB")


@pytest.mark.parametrize("wave", [32, 64])
@pytest.mark.parametrize("name", ["v_wmma_f16_16x16x16_f16", "v_wmma_bf16_16x16x16_bf16"])
def test_the_upper_halves_of_16_bit_results(name: str, wave: int) -> None:
    agrees(name, "gfx1151", wave=wave, opsel=(0, 0, 1))


@pytest.mark.parametrize("operand", ["A", "B", "C", "D", "index", "scale_a"])
def test_a_layout_with_two_elements_exchanged_is_found_out(operand: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, target, _ = (SCALED if operand == "scale_a" else SPARSE)[0]

    def exchanged(*args: Any, **modifiers: Any):
        found = layout(*args, **modifiers)
        return replace(found, operands=tuple(spoiled(o) if o.name == operand else o for o in found.operands))

    monkeypatch.setattr("antiphase.layouts.probe.layout", exchanged)
    found = probe(name, target)
    assert found.wrong


def spoiled(operand: Operand) -> Operand:
    """The operand with the first two rows of lane 1 and lane 2 exchanged in what the layout says."""
    view = operand.views[0]
    layout_ = replace(view.layout, outer=view.layout.outer.copy(), inner=view.layout.inner.copy())
    for array in (layout_.outer, layout_.inner):
        array[[1, 18], 0] = array[[18, 1], 0]
    return replace(operand, views=(Fragment(layout_, view.bits, view.stride, view.offset),))

"""The layout facts against the layouts that the machine multiplies with, for every lane and register."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from antiphase import arch, isa
from antiphase.isa.fragments import Operands, fragments

INSTRUCTIONS = {
    "CDNA 3": "v_mfma_f32_16x16x16_f16",
    "CDNA 4": "v_mfma_f32_16x16x16_f16",
    "CDNA 5": "v_wmma_f32_16x16x32_f16",
}
TARGETS = ["gfx1100", "gfx1151", "gfx1201", "gfx942", "gfx950", "gfx1250"]


class Where(NamedTuple):
    """A target's answers to the layout rows, and its operands."""

    target: str
    operands: Operands

    def value(self, subject: str) -> Any:
        return arch.reference().subjects[f"layouts.{subject}"].facts[self.target].value

    def at(self, formula: str, **names: int) -> int:
        group = self.value("lane_group")
        names |= {key: eval(group[key], {}, names) for key in ("q", "t")}
        return eval(formula, {}, names)


def _operands(target: str, instruction: str, half: int = 0) -> Operands:
    record = isa.find(instruction, target)
    assert isinstance(record, isa.Matrix)
    return fragments(record, 64 if target in ("gfx942", "gfx950") else 32, half=half)


@pytest.fixture(params=TARGETS)
def where(request: pytest.FixtureRequest) -> Where:
    generation = arch.target(request.param).generation
    name = INSTRUCTIONS.get(generation, "v_wmma_f32_16x16x16_f16")
    return Where(request.param, _operands(request.param, name))


def test_input_formulas(where: Where) -> None:
    a, b, storage = where.operands.a, where.operands.b, where.value("input_storage")
    assert a.layout.positions == where.value("input_elements")
    for lane in range(where.value("lane_group")["lanes"]):
        for e in range(where.value("input_elements")):
            k, t = where.at(where.value("input_k"), L=lane, e=e), where.at("t", L=lane)
            register, bit = eval(storage["vgpr"], {}, {"e": e}), 16 * eval(storage["half"], {}, {"e": e})
            assert a.element(lane, register, bit) == (t, k, 0)
            assert b.element(lane, register, bit) == (t, k, 0)


def test_output_formulas(where: Where) -> None:
    for lane in range(where.value("lane_group")["lanes"]):
        for g in range(where.value("cd_registers")):
            formula = where.value("cd_fp32")
            row, column = (where.at(formula[key], L=lane, g=g) for key in ("row", "column"))
            assert where.operands.d.element(lane, g) == where.operands.c.element(lane, g) == (row, column, 0)


def test_lists_at_a_glance(where: Where) -> None:
    a, d = where.operands.a.layout, where.operands.d.layout
    groups = range(len(where.value("glance_k")))
    assert where.value("glance_k") == [[int(k) for k in a.inner[16 * q]] for q in groups]
    assert where.value("glance_rows") == [sorted(int(row) for row in d.outer[16 * q]) for q in groups]


@pytest.mark.parametrize("opsel", [0, 1])
@pytest.mark.parametrize("target", ["gfx1100", "gfx1151", "gfx1201", "gfx1250"])
def test_packing_formulas(target: str, opsel: int) -> None:
    name = "v_wmma_f16_16x16x32_f16" if target == "gfx1250" else "v_wmma_f16_16x16x16_f16"
    where = Where(target, _operands(target, name, opsel if target < "gfx12" else 0))
    packed = where.value("packed_coordinate")
    assert where.operands.d.registers == packed["vgprs"]
    for lane, u in _results(packed["results"]):
        names = {"L": lane, "u": u, "s": opsel}
        row, column, register, half = (where.at(packed[key], **names) for key in ("row", "column", "vgpr", "half"))
        assert where.operands.d.element(lane, register, 16 * half) == (row, column, 0)
        drawn = where.value("packing_high" if opsel and target < "gfx12" else "packing_low")
        assert drawn[u] == [register, half]


def _results(count: int) -> Iterator[tuple[int, int]]:
    return ((lane, u) for lane in range(32) for u in range(count))

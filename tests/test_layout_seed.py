"""Seed 000, section 3: every formula and worked example, asked of the layout oracle."""

from __future__ import annotations

import itertools

import pytest

from antiphase.layouts import Element, layout

OLD = [f"gfx110{n}" for n in range(4)] + [f"gfx115{n}" for n in range(4)]
NEW = ["gfx1200", "gfx1201"]
TO_F32 = ["v_wmma_f32_16x16x16_f16", "v_wmma_f32_16x16x16_bf16"]
TO_16 = ["v_wmma_f16_16x16x16_f16", "v_wmma_bf16_16x16x16_bf16"]


def held(found, operand: str, lane: int) -> list[Element]:
    """Elements of a lane in the order of its registers."""
    one = found.operand(operand)
    return [element for register in range(one.registers) for element in one.elements(lane, register)]


@pytest.mark.parametrize(("name", "target"), list(itertools.product(TO_F32, OLD)))
def test_formulas_of_rdna3(name: str, target: str) -> None:
    """ISA p. 84, AMD's layouts: k = e, C and D at 2g + q."""
    found = layout(name, target)
    a, b, c, d = map(found.operand, "ABCD")
    assert (a.registers, a.per_lane, d.registers) == (8, 16, 8)
    for lane, e in itertools.product(range(32), range(16)):
        assert a.rows[lane, e // 2, e % 2] == b.columns[lane, e // 2, e % 2] == lane % 16
        assert a.columns[lane, e // 2, e % 2] == b.rows[lane, e // 2, e % 2] == e
    for lane, g in itertools.product(range(32), range(8)):
        assert c.elements(lane, g) == d.elements(lane, g) == (Element(2 * g + lane // 16, lane % 16),)
    assert (a.rows[:16] == a.rows[16:]).all() and (b.rows[:16] == b.rows[16:]).all()


@pytest.mark.parametrize(("name", "target"), list(itertools.product(TO_F32, NEW)))
def test_formulas_of_rdna4(name: str, target: str) -> None:
    """ISA pp. 101-102: k = 4q + 8 (e // 4) + e % 4, C and D at 8q + g."""
    found = layout(name, target)
    a, b, c, d = map(found.operand, "ABCD")
    assert (a.registers, a.per_lane, d.registers) == (4, 8, 8)
    for lane, e in itertools.product(range(32), range(8)):
        k = 4 * (lane // 16) + 8 * (e // 4) + e % 4
        assert a.elements(lane, e // 2)[e % 2] == (lane % 16, k, 0)
        assert b.elements(lane, e // 2)[e % 2] == (k, lane % 16, 0)
    for lane, g in itertools.product(range(32), range(8)):
        assert c.elements(lane, g) == d.elements(lane, g) == (Element(8 * (lane // 16) + g, lane % 16),)
    for t in range(16):
        assert sorted(e.column for lane in (t, t + 16) for e in held(found, "A", lane)) == list(range(16))


@pytest.mark.parametrize(("target", "row"), [*((t, 3) for t in OLD), *((t, 9) for t in NEW)])
def test_worked_example_of_lane_16_and_register_1(target: str, row: int) -> None:
    for name in TO_F32:
        d = layout(name, target).operand("D")
        assert d.elements(16, 1) == (Element(row, 0),)
        assert [(place.lane, place.register) for place in d.places(row, 0)] == [(16, 1)]


@pytest.mark.parametrize("target", OLD + NEW)
def test_example_of_lanes_0_and_16(target: str) -> None:
    found = layout("v_wmma_f32_16x16x16_f16", target)
    low, high = (
        ([*range(16)], [*range(16)]) if target in OLD else ([*range(4), *range(8, 12)], [*range(4, 8), *range(12, 16)])
    )
    assert held(found, "A", 0) == [(0, k, 0) for k in low]
    assert held(found, "A", 16) == [(0, k, 0) for k in high]
    assert held(found, "B", 0) == [(k, 0, 0) for k in low]
    assert held(found, "B", 16) == [(k, 0, 0) for k in high]
    rows = ([*range(0, 16, 2)], [*range(1, 16, 2)]) if target in OLD else ([*range(8)], [*range(8, 16)])
    for lane, expected in zip((0, 16), rows, strict=True):
        assert held(found, "D", lane) == [(row, 0, 0) for row in expected]


@pytest.mark.parametrize(("name", "target", "s"), list(itertools.product(TO_16, OLD, (0, 1))))
def test_packing_of_rdna3(name: str, target: str, s: int) -> None:
    """ISA p. 75 and 77: D[2u + q, t] in V[u][s]; builtin vector index 2u + s."""
    found = layout(name, target, opsel=(0, 0, s))
    assert found.builtin_type("D") == found.builtin_type("C") == (16, "f16" if "_f16_" in name else "i16")
    for operand in map(found.operand, "CD"):
        assert (operand.registers, operand.per_lane) == (8, 8)
        for lane, u in itertools.product(range(32), range(8)):
            assert operand.rows[lane, u, s] == 2 * u + lane // 16
            assert operand.rows[lane, u, 1 - s] == -1
            (place,) = operand.places(2 * u + lane // 16, lane % 16)
            assert (place.lane, place.register, place.bit) == (lane, u, 16 * s)
            assert found.builtin_index("D", place) == 2 * u + s
        assert operand.elements(0, 1) == ((2, 0, 0),) and operand.elements(16, 0) == ((1, 0, 0),)
        assert operand.elements(0, 7, 16 * s) == ((14, 0, 0),) and operand.elements(16, 7) == ((15, 0, 0),)


@pytest.mark.parametrize(("name", "target"), list(itertools.product(TO_16, NEW)))
def test_packing_of_rdna4(name: str, target: str) -> None:
    """ISA pp. 102, 104: D[8q + u, t] in V[u // 2][u % 2]; builtin vector index u."""
    found = layout(name, target)
    assert found.builtin_type("D") == found.builtin_type("C") == (8, "f16" if "_f16_" in name else "i16")
    for operand in map(found.operand, "CD"):
        assert (operand.registers, operand.per_lane) == (4, 8)
        for lane, u in itertools.product(range(32), range(8)):
            (place,) = operand.places(8 * (lane // 16) + u, lane % 16)
            assert (place.lane, place.register, place.bit) == (lane, u // 2, 16 * (u % 2))
            assert found.builtin_index("D", place) == u
        assert operand.elements(0, 0) == ((0, 0, 0), (1, 0, 0)) and operand.elements(16, 0) == ((8, 0, 0), (9, 0, 0))
        assert operand.elements(0, 3, 16) == ((7, 0, 0),) and operand.elements(16, 3, 16) == ((15, 0, 0),)


@pytest.mark.parametrize("target", OLD + NEW)
def test_builtin_names_of_wave32(target: str) -> None:
    """Names end in _w32 on RDNA 3 and 3.5, in _w32_gfx12 on RDNA 4; OPSEL is a parameter of the former alone."""
    found = layout("v_wmma_f16_16x16x16_f16", target)
    plain = [b for b in found.builtins if "_tied" not in b.name]
    ending = "_w32" if target in OLD else "_w32_gfx12"
    assert [b.name for b in plain] == [f"__builtin_amdgcn_wmma_f16_16x16x16_f16{ending}"]
    assert ("!i1" in plain[0].parameters) == (target in OLD)


def test_sparse_semantics_of_rdna4() -> None:
    """ISA pp. 100, 106: SWMMAC 16x16x32 has a logical K of 32 and stores 16 of A."""
    found = layout("v_swmmac_f32_16x16x32_f16", "gfx1200")
    assert found.operand("A").shape == (16, 16, 1) and found.operand("B").shape == (32, 16, 1)
    assert found.operand("index").registers == 1

"""WMMA operand layouts: the places that the manuals name, every element held, both directions alike."""

import numpy as np
import pytest

from antiphase.arch import Fragment, OperandLayout, Place
from antiphase.isa import REGISTRY, Matrix
from antiphase.isa.fragments import fragments

WAVES = {"rdna3": (32, 64), "rdna4": (32, 64), "cdna5": (32,)}
RECORDS = {r.name + r.family: r for r in REGISTRY.all() if isinstance(r, Matrix) and r.family in WAVES}
CASES = [(r, lanes) for r in RECORDS.values() for lanes in WAVES[r.family]]


def of(name: str, family: str) -> Matrix:
    return RECORDS[name + family]


def elements(fragment: Fragment) -> set[tuple[int, int, int]]:
    """What the fragment holds, each place of it found again from its element."""
    layout = fragment.layout
    found = set()
    for lane, position in np.ndindex(layout.outer.shape):
        element = layout.element(lane, position)
        if element is not None:
            register, bit = fragment.start(position)
            assert Place(lane, register, bit) in fragment.places(*element)
            assert fragment.element(lane, register, bit) == element
            found.add(element)
    return found


def grid(outer: int, inner: int) -> set[tuple[int, int, int]]:
    return {(i, j, 0) for i in range(outer) for j in range(inner)}


@pytest.mark.parametrize(("record", "lanes"), CASES, ids=lambda v: v.name if isinstance(v, Matrix) else str(v))
def test_every_element_has_a_place_and_every_place_its_element(record: Matrix, lanes: int) -> None:
    chosen = ("fp6", "bf8") if record.a == "f8f6f4" else None
    operands = fragments(record, lanes, chosen)
    assert elements(operands.a) == grid(record.m, record.depth)
    assert elements(operands.b) == grid(record.n, record.k)
    assert elements(operands.c) == elements(operands.d) == grid(record.m, record.n)
    if operands.index is not None:
        assert elements(operands.index) == grid(record.m, record.depth)


def test_rdna3_inputs_are_replicated_and_output_rows_alternate() -> None:
    """Seed 000, section 3, WMMA coordinate formulas, RDNA 3 and 3.5: ISA p.84, 16 elements a lane."""
    operands = fragments(of("v_wmma_f32_16x16x16_f16", "rdna3"), 32)
    assert operands.a.registers == operands.b.registers == 8
    for t, e in np.ndindex(16, 16):
        copies = tuple(Place(t + 16 * q, e // 2, 16 * (e % 2)) for q in (0, 1))
        assert operands.a.places(t, e) == operands.b.places(t, e) == copies
    for q, g, t in np.ndindex(2, 8, 16):
        assert operands.d.places(2 * g + q, t) == (Place(t + 16 * q, g, 0),)


def test_rdna4_inputs_are_partitioned_and_output_rows_are_halves() -> None:
    """Seed 000, section 3, WMMA coordinate formulas, RDNA 4: ISA pp.101-102, 8 elements in 4 VGPRs a lane."""
    operands = fragments(of("v_wmma_f32_16x16x16_f16", "rdna4"), 32)
    assert operands.a.registers == operands.b.registers == 4
    for q, t, e in np.ndindex(2, 16, 8):
        k = 4 * q + 8 * (e // 4) + e % 4
        place = (Place(t + 16 * q, e // 2, 16 * (e % 2)),)
        assert operands.a.places(t, k) == operands.b.places(t, k) == place
    for q, g, t in np.ndindex(2, 8, 16):
        assert operands.d.places(8 * q + g, t) == (Place(t + 16 * q, g, 0),)


def test_the_worked_example_of_lane_16_and_register_1() -> None:
    """Seed 000, section 3, worked example: D[3, 0] on RDNA 3, D[9, 0] on RDNA 4."""
    for family, row in (("rdna3", 3), ("rdna4", 9)):
        fragment = fragments(of("v_wmma_f32_16x16x16_bf16", family), 32).d
        assert fragment.element(16, 1) == (row, 0, 0)


@pytest.mark.parametrize("half", [0, 1])
def test_rdna3_16_bit_results_fill_the_half_that_opsel_picks(half: int) -> None:
    """Seed 000, section 3, FP16/BF16 packing: u in V[u][s], ISA p.75 and p.77."""
    fragment = fragments(of("v_wmma_f16_16x16x16_f16", "rdna3"), 32, half=half).d
    assert fragment.registers == 8
    assert fragment.element(16, 7, 16 * half) == (15, 0, 0)
    assert fragment.element(16, 7, 16 * (1 - half)) is None


def test_rdna4_16_bit_results_are_packed_pairs() -> None:
    """Seed 000, section 3, FP16/BF16 packing: u in V[u // 2][u % 2], ISA p.104."""
    fragment = fragments(of("v_wmma_f16_16x16x16_f16", "rdna4"), 32).d
    assert fragment.registers == 4
    assert fragment.places(1, 0) == (Place(0, 0, 16),)
    assert fragment.places(15, 0) == (Place(16, 3, 16),)


def test_wave64_spreads_rdna4_registers_over_the_upper_lanes() -> None:
    operands = fragments(of("v_wmma_f32_16x16x16_f16", "rdna4"), 64)
    assert operands.a.places(3, 8) == (Place(3 + 32, 0, 0),)
    assert operands.d.places(5, 2) == (Place(2 + 32, 1, 0),)
    narrow = fragments(of("v_wmma_i32_16x16x16_iu4", "rdna4"), 64)
    assert narrow.a.element(40, 0) is None


def test_sparse_operands_of_rdna4_hold_half_of_a_and_an_index_for_each_element() -> None:
    """Seed 000, section 2, RDNA 4 sparse matrix semantics: K = 32, stored K = 16, ISA p.106."""
    operands = fragments(of("v_swmmac_f32_16x16x32_f16", "rdna4"), 32, index_set=1)
    assert operands.index is not None
    assert (operands.a.registers, operands.b.registers) == (4, 8)
    assert operands.b.places(2, 8) == (Place(18, 0, 0),)
    assert operands.a.places(2, 4) == (Place(18, 0, 0),)
    assert operands.index.places(2, 4) == (Place(18, 0, 16),)


def test_block_scaled_operands_of_cdna5_come_in_runs_of_16_bytes() -> None:
    record = of("v_wmma_scale_f32_16x16x128_f8f6f4", "cdna5")
    operands = fragments(record, 32, ("fp8", "fp4"))
    assert operands.a.layout.inner[0, :32].tolist() == [*range(16), *range(32, 48)]
    assert operands.b.layout.inner[16].tolist() == [*range(32, 64), *range(96, 128)]
    tall = fragments(of("v_wmma_f32_32x16x128_f4", "cdna5"), 32)
    assert (tall.a.registers, tall.d.registers) == (16, 16)
    assert tall.a.places(16, 0) == (Place(0, 8, 0),)
    assert tall.d.places(24, 1) == (Place(17, 8, 0),)


def test_a_place_beyond_the_operand_holds_nothing() -> None:
    layout = OperandLayout(*(np.zeros((32, 1), np.int64) for _ in range(3)))
    fragment = Fragment(layout, 16, 32)
    assert fragment.element(0, 0, 16) is None
    assert fragment.element(32, 0) is None
    assert fragment.element(0, 1) is None

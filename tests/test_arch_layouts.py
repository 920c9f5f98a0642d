"""Operand layouts: every element in exactly one place, and the places the manuals name."""

import numpy as np
import pytest

from antiphase.arch import input_layout, output_layout

INPUTS = [
    (16, 4, 1, 0), (16, 16, 1, 0), (32, 8, 1, 0), (32, 1, 2, 0), (16, 4, 4, 0), (4, 4, 16, 0), (4, 4, 4, 0),
    (16, 32, 1, 0), (32, 16, 1, 0), (16, 128, 1, 0), (32, 64, 1, 0), (16, 128, 1, 16), (32, 64, 1, 16),
]  # fmt: skip
OUTPUTS = [
    (16, 16, 1, 32), (32, 32, 1, 32), (32, 32, 2, 32), (16, 16, 4, 32), (4, 4, 16, 32),
    (16, 16, 1, 64), (4, 4, 4, 64),
]  # fmt: skip


@pytest.mark.parametrize(("outer", "k", "blocks", "run"), INPUTS)
def test_inputs_hold_every_element_once_and_are_found_again(outer: int, k: int, blocks: int, run: int) -> None:
    layout = input_layout(outer, k, blocks, run)
    assert layout.positions * 64 == outer * k * blocks
    for place in np.ndindex(layout.outer.shape):
        element = layout.outer[place], layout.inner[place], layout.block[place]
        assert layout.locate(*map(int, element)) == place


@pytest.mark.parametrize(("m", "n", "blocks", "bits"), OUTPUTS)
def test_outputs_hold_every_element_once_and_are_found_again(m: int, n: int, blocks: int, bits: int) -> None:
    layout = output_layout(m, n, blocks, bits)
    assert layout.positions * 64 == m * n * blocks
    for place in np.ndindex(layout.outer.shape):
        element = layout.outer[place], layout.inner[place], layout.block[place]
        assert layout.locate(*map(int, element)) == place


def test_places_that_the_matrix_calculator_states() -> None:
    assert input_layout(16, 16).locate(3, 7) == (3 + 16, 3)
    assert input_layout(32, 8).locate(31, 6) == (63, 2)
    assert input_layout(32, 4, 2).locate(5, 2, 1) == (37, 2)
    assert output_layout(32, 32).locate(13, 9) == (32 + 9, 5)
    assert output_layout(16, 16, 4).locate(6, 2, 3) == (16 + 2, 14)
    assert output_layout(4, 4, 16).locate(2, 1, 7) == (29, 2)
    assert output_layout(16, 16, bits=64).locate(6, 2) == (34, 1)


def test_eight_bit_operands_of_f8f6f4_come_in_halves() -> None:
    layout = input_layout(16, 128, run=16)
    assert layout.inner[0].tolist() == [*range(16), *range(64, 80)]
    assert input_layout(16, 128).inner[16].tolist() == list(range(32, 64))


def test_an_element_outside_the_operand_is_not_found() -> None:
    with pytest.raises(KeyError):
        input_layout(16, 16).locate(16, 0)

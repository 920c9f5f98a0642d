"""Moves between lanes and registers."""

from __future__ import annotations

import numpy as np
from isa_harness import Machine, record, run

LANES = np.arange(64, dtype=np.uint32)
MASK = (LANES % 3 == 0).astype(np.uint8)


def test_select_by_mask() -> None:
    np.testing.assert_array_equal(run("v_cndmask_b32", LANES, LANES + 100, MASK)[0], np.where(MASK, LANES + 100, LANES))


def test_swap() -> None:
    a, b = run("v_swap_b32", LANES, LANES + 100)
    np.testing.assert_array_equal(a, LANES + 100)
    np.testing.assert_array_equal(b, LANES)


def test_row_swaps() -> None:
    old, other = LANES, LANES + 100
    a, b = run("v_permlane32_swap_b32", old, other)
    np.testing.assert_array_equal(a, np.concatenate([old[:32], other[:32]]))
    np.testing.assert_array_equal(b, np.concatenate([old[32:], other[32:]]))
    a, b = run("v_permlane16_swap_b32", old, other)
    np.testing.assert_array_equal(a, np.concatenate([old[:16], other[:16], old[32:48], other[32:48]]))
    np.testing.assert_array_equal(b, np.concatenate([old[16:32], other[16:32], old[48:], other[48:]]))


def test_single_lanes() -> None:
    value = LANES * 3
    assert (run("v_readlane_b32", value, 0, constants={1: 69})[0] == 15).all()
    machine = Machine()
    key = machine.add_record(record("v_readfirstlane_b32"))
    assert machine(key, value, exec_=0xF00)[0][0] == 24
    assert machine(key, value, exec_=0)[0][0] == 0
    (written,) = run("v_writelane_b32", 7, 0, value, constants={0: 7, 1: 66})
    np.testing.assert_array_equal(written, np.where(LANES == 2, 7, value))


def test_packed_move_takes_a_word_of_each_source() -> None:
    low, high = run("v_pk_mov_b32", LANES, LANES + 1, LANES + 2, LANES + 3)
    np.testing.assert_array_equal(low, LANES)
    np.testing.assert_array_equal(high, LANES + 1)

"""Operand values for tests of arithmetic: what hypothesis draws, with the special values of a type always among it."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from isa_harness import DTYPES

FRACTION = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}


def special_codes(t: str) -> list[int]:
    """Bit patterns: zeros, denormals, infinities, both NaNs and extremes of floats; extremes and shifts of integers."""
    bits = 1 if t == "b1" else 8 * DTYPES[t].itemsize
    if bits == 1:
        return [0, 1]
    sign = 1 << (bits - 1)
    if t not in FRACTION:
        return [0, 1, 2, 3, 15, 16, 31, 32, 33, 63, 64, sign - 1, sign, sign + 1, 2 * sign - 1, 0x80004 % (2 * sign)]
    fraction = FRACTION[t]
    top = (sign - 1) >> fraction << fraction
    quiet = 1 << (fraction - 1)
    codes = [0, 1, (1 << fraction) - 1, 1 << fraction, top - 1, top, top | 1, top | quiet, top // 2, top // 2 + quiet]
    return [code | with_sign for code in codes for with_sign in (0, sign)]


draws = st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=12)
"""Random words; `cases` cuts them to the types of a signature."""


def cases(types: tuple[str, ...], drawn: list[int]) -> list[np.ndarray]:
    """An array a type, as long as each other: every pair of values of the first two, the third walking along."""
    arrays = []
    for i, t in enumerate(types):
        bits = 1 if t == "b1" else 8 * DTYPES[t].itemsize
        rotated = [word >> (7 * i) | word << 5 * i for word in drawn]
        codes = np.array([code % (1 << bits) for code in special_codes(t) + rotated], np.uint64)
        arrays.append(codes.astype(f"u{DTYPES[t].itemsize}").view(DTYPES[t]))
    if len(arrays) == 1:
        return arrays
    first, second = (x.ravel() for x in np.meshgrid(arrays[0], arrays[1]))
    rest = [np.resize(np.roll(array, k), len(first)) for k, array in enumerate(arrays[2:], 1)]
    return [first, second, *rest]


def same_bits(result: np.ndarray, expected: np.ndarray, what: str = "") -> None:
    """Equal bit for bit, any NaN equal to any other."""
    expected = np.asarray(expected).astype(result.dtype)
    nan = np.isnan(expected) if expected.dtype.kind in "fV" or expected.dtype.name == "bfloat16" else False
    if np.any(nan):
        np.testing.assert_array_equal(np.isnan(result), nan, err_msg=what)
    word = f"u{result.itemsize}"
    np.testing.assert_array_equal(result[~nan].view(word), expected[~nan].view(word), err_msg=what)

"""Triton kernels that the tests compile, run and compare with NumPy: `CASES`, each a `Case`."""

from . import _atomics, _attention, _calls, _elementwise, _integer, _matmul, _rows
from ._case import Case, Expected

CASES: list[Case] = [
    *_elementwise.CASES,
    *_integer.CASES,
    *_rows.CASES,
    *_atomics.CASES,
    *_matmul.CASES,
    *_attention.CASES,
    *_calls.CASES,
]

__all__ = ["CASES", "Case", "Expected"]

"""Operands of a matrix instruction in registers: which of arch's layouts a record has."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from antiphase.arch import (
    Fragment,
    OperandLayout,
    alternating_output_layout,
    halves_output_layout,
    index_layout,
    input_layout,
    output_layout,
    partitioned_input_layout,
    replicated_input_layout,
)
from antiphase.isa._formats import BITS
from antiphase.isa._record import Matrix

INDEX_BITS = 2


@dataclass(frozen=True, eq=False)
class Operands:
    """Fragments of A, B, C and D, and of the sparse index, whose elements are (row, k as A stores it)."""

    a: Fragment
    b: Fragment
    c: Fragment
    d: Fragment
    index: Fragment | None = None


def fragments(
    record: Matrix,
    lanes: int = 64,
    formats: tuple[str, str] | None = None,
    half: int = 0,
    index_set: int = 0,
) -> Operands:
    """Where a matrix instruction of that wave size keeps its operands.

    formats: of A and B where the instruction chooses them. half: 16 bits of C and D that RDNA 3 uses, 1 for
    the upper (OPSEL[2]). index_set: which of the sets that an index register holds.
    """
    return _fragments(record, lanes, formats or (record.a, record.b), half, index_set)


@functools.cache
def _fragments(record: Matrix, lanes: int, formats: tuple[str, str], half: int, index_set: int) -> Operands:
    a = _input(record, lanes, 0, formats[0])
    return Operands(
        a=a,
        b=_input(record, lanes, 1, formats[1]),
        c=_output(record, lanes, BITS[record.start], half),
        d=_output(record, lanes, BITS[record.acc], half),
        index=_index(record, lanes, a.layout, index_set) if record.sparse else None,
    )


def _input(record: Matrix, lanes: int, side: int, name: str) -> Fragment:
    """A (side 0) or B (side 1)."""
    bits = BITS[name]
    outer = (record.m, record.n)[side]
    depth = record.depth if side == 0 else record.k
    if record.family == "rdna3":
        layout = replicated_input_layout(lanes, depth)
    elif record.family == "mfma":
        # 128 bits a lane, then the other lanes, then on: AMD CDNA4 ISA 7.5.1.3 for B of sparse products
        split = (record.a == "f8f6f4" and bits == 8) or (record.sparse and side == 1)
        layout = input_layout(outer, depth, record.blocks, 128 // bits if split else 0)
    else:
        run = _run(record.family, bits) * (2 if record.sparse and side else 1)
        layout = partitioned_input_layout(lanes, outer, depth, min(run, depth // 2), bits)
    return Fragment(layout, bits, bits)


def _run(family: str, bits: int) -> int:
    """Consecutive k of a lane before the other lane group takes over: half a tile if it is more than that."""
    if family == "rdna4":
        return {16: 4}.get(bits, 64)
    return {32: 2, 16: 8, 8: 16}.get(bits, 32)


def _output(record: Matrix, lanes: int, bits: int, half: int) -> Fragment:
    """C or D with elements of that width."""
    if record.family == "mfma":
        return Fragment(output_layout(record.m, record.n, record.blocks, bits), bits, bits)
    if record.family == "rdna3":
        return Fragment(alternating_output_layout(lanes), bits, 32, 16 * half if bits == 16 else 0)
    return Fragment(halves_output_layout(lanes, record.m, bits), bits, bits)


def _index(record: Matrix, lanes: int, a: OperandLayout, index_set: int) -> Fragment:
    layout = index_layout(lanes, record.k) if record.family == "cdna5" else a
    return Fragment(layout, INDEX_BITS, INDEX_BITS, index_set * layout.positions * INDEX_BITS)


def index_sets(record: Matrix, lanes: int = 64) -> int:
    """Sets of indices that the index registers of a sparse instruction hold."""
    index = fragments(record, lanes).index
    assert index is not None
    return max(1, 32 // (index.layout.positions * INDEX_BITS))


__all__ = ["Operands", "fragments", "index_sets"]

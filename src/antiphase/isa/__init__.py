"""Instruction records: names, operands, meaning, counters and citation of every instruction antiphase knows."""

from antiphase.isa._counters import COUNTERS, counters, generation
from antiphase.isa._describe import describe
from antiphase.isa._expr import (
    B1, BF16, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, U128, Expr, Type, size, source,
)  # fmt: skip
from antiphase.isa._record import IMPLICIT, MODIFIERS, REGISTRY, Alu, Control, Matrix, Memory, Record, Signature, Slot
from antiphase.isa._transpose import CDNA4_TRANSPOSES, WMMA_TRANSPOSES, Transpose
from antiphase.isa._words import Description, Part

__all__ = [
    "B1", "BF16", "CDNA4_TRANSPOSES", "COUNTERS", "F16", "F32", "F64", "I8", "I16", "I32", "I64", "IMPLICIT", "MODIFIERS", "REGISTRY", "U8", "U16", "U32", "U64",
    "U128", "WMMA_TRANSPOSES", "Alu", "Control", "Description", "Expr", "Matrix", "Memory", "Part", "Record", "Signature", "Slot", "Transpose", "Type", "counters", "describe", "find", "generation", "size", "source",
]  # fmt: skip

from antiphase.isa import (  # noqa: F401  (instruction families register themselves)
    bfloat, compare, control, data_share, division, dot_mixed, halves, lanes, matrix, memory, minimum_maximum,
    packed, permute_lanes, scalar, scalar_float, scalar_masks, scalar_memory, scaled_convert, small_float,
    trigonometry, vector_bytes, vector_convert, vector_float, vector_gfx11, vector_integer, wide_convert,
    wide_integer, wmma,
)  # fmt: skip

find = REGISTRY.find

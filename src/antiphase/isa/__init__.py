"""Instruction records: names, operands, meaning, counters and citation of every instruction antiphase knows."""

from antiphase.isa._expr import (
    B1, BF16, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, U128, Expr, Type, size, source,
)  # fmt: skip
from antiphase.isa._record import IMPLICIT, REGISTRY, Alu, Control, Matrix, Memory, Record, Signature, Slot

__all__ = [
    "B1", "BF16", "F16", "F32", "F64", "I8", "I16", "I32", "I64", "IMPLICIT", "REGISTRY", "U8", "U16", "U32", "U64",
    "U128", "Alu", "Control", "Expr", "Matrix", "Memory", "Record", "Signature", "Slot", "Type", "find", "size", "source",
]  # fmt: skip

from antiphase.isa import (
    compare, control, data_share, division, lanes, matrix, memory, packed, scalar, small_float, vector_bytes,
    vector_convert, vector_float, vector_integer,
)  # noqa: F401  (instruction families register themselves)

find = REGISTRY.find

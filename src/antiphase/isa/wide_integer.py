"""Integer arithmetic that gfx1250 adds: 64 bits in the vector unit, additions before a minimum or maximum."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable

from antiphase.isa._expr import (
    I16,
    I32,
    I64,
    U16,
    U32,
    U64,
    Expr,
    Type,
    const,
    maximum,
    minimum,
    select,
    truth_table,
)  # fmt: skip
from antiphase.isa._families import GFX1250
from antiphase.isa._floats import limited
from antiphase.isa._record import valu
from antiphase.isa.vector_integer import saturating

CITE = "AMD CDNA5 ISA, sections 15.3, 15.10, 15.14; LLVM VOP2Instructions.td, VOP3Instructions.td (gfx1250)"
op = functools.partial(valu, targets=GFX1250, cite=CITE)


def add_limited(a: Expr, b: Expr) -> Expr:
    """The sum, at the type's largest value where it does not fit."""
    total = a + b
    return select(total < a, const(U64, (1 << 64) - 1), total)


def subtract_limited(a: Expr, b: Expr) -> Expr:
    return select(a < b, const(U64, 0), a - b)


op("v_add_nc_u64", "u64 u64 -> u64", operator.add, saturated=add_limited)
op("v_sub_nc_u64", "u64 u64 -> u64", operator.sub, saturated=subtract_limited)
op("v_mul_u64", "u64 u64 -> u64", operator.mul)
for t in ("u64", "i64"):
    op(f"v_min_{t}", f"{t} {t} -> {t}", minimum)
    op(f"v_max_{t}", f"{t} {t} -> {t}", maximum)
op("v_mad_u32", "u32 u32 u32 -> u32", lambda a, b, c: a * b + c)
op("v_mad_nc_u64_u32", "u32 u32 u64 -> u64", lambda a, b, c: a.to(U64) * b.to(U64) + c)
op("v_mad_nc_i64_i32", "i32 i32 i64 -> i64", lambda a, b, c: a.to(I64) * b.to(I64) + c)


def add_then(choose: Callable[[Expr, Expr], Expr], type_: Type) -> Callable[[Expr, Expr, Expr], Expr]:
    """The sum limited to the type, clamp or not, then the smaller or larger of it and the third operand."""
    limited_sum = saturating(operator.add, type_)
    return lambda a, b, c: choose(limited_sum(a, b), c)  # type: ignore[arg-type]


def three(choose: Callable[[Expr, Expr], Expr], _: Type) -> Callable[[Expr, Expr, Expr], Expr]:
    """The smallest or largest of three."""
    return lambda a, b, c: choose(choose(a, b), c)


def rectified(f: Callable[[Expr, Expr, Expr], Expr], type_: Type) -> Callable[[Expr, Expr, Expr], Expr]:
    """What clamp makes of a result here: a negative one becomes 0 (AMD CDNA5 ISA 7.7, 15.10, 15.14)."""
    return f if type_.kind == "u" else lambda a, b, c: maximum(f(a, b, c), const(type_, 0))


for name, choose in (("min", minimum), ("max", maximum)):
    for type_ in (I32, U32, I16, U16):
        packed = type_.bits == 16
        for form, meaning in (("add_{}", add_then), ("{}3", three)) if packed else (("add_{}", add_then),):
            f, types = meaning(choose, type_), f"{type_} {type_} {type_} -> {type_}"
            mnemonic = f"v_{'pk_' if packed else ''}{form.format(name)}_{type_}"
            op(mnemonic, types, f, saturated=rectified(f, type_), packed=packed)

op(
    "v_bitop2_b32",
    "u32 u32 bitop3 -> u32",
    # the dual-issue form of v_bitop3 has no third operand, which reads as zero
    lambda a, b, table: truth_table(a, b, const(U32, 0), table),
)


def saturated_nibbles(word: Expr, signed: bool) -> Expr:
    """Four bytes limited to 4 bits each."""
    low, high = (-8, 7) if signed else (0, 15)
    result = const(U32, 0)
    for i in range(4):
        raised = word << (24 - 8 * i)
        byte = (raised.bits(I32) >> 24) if signed else (raised >> 24).bits(I32)
        result = result | ((limited(byte, low, high).bits(U32) & 15) << (4 * i))
    return result.to(U16)


op("v_sat_pk4_i4_i8", "u32 -> u16", lambda a: saturated_nibbles(a, True), rest="keep")
op("v_sat_pk4_u4_u8", "u32 -> u16", lambda a: saturated_nibbles(a, False), rest="keep")

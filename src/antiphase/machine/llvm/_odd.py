"""Rounding to odd: what is cut off leaves a trace in the last bit, so that a second, narrower rounding is right.

Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", IEEE Transactions on Computers 57(4), 2008.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from antiphase.isa import B1, F32, F64, U32, U64, Type

if TYPE_CHECKING:
    from antiphase.machine.llvm._lower import Lowering, Value


def narrowed(lowering: Lowering, value: Value) -> Value:
    """An f64 as an f32."""
    near = lowering.cast("fptrunc", value, F32)
    back = lowering.cast("fpext", near, F64)
    inexact = lowering.binary("fcmp one", back, value, B1)
    above = lowering.binary("fcmp ogt", lowering.intrinsic("fabs", back), lowering.intrinsic("fabs", value), B1)
    return _odd(lowering, near, U32, inexact, above)


def fma(lowering: Lowering, a: Value, b: Value, c: Value) -> Value:
    """a * b + c in f64, of factors narrow enough for an exact product."""
    product = lowering.binary("fmul", a, b)
    total = lowering.binary("fadd", product, c)
    # what the sum lost, exactly (Knuth's two-sum); NaN where the sum overflows, which counts as nothing
    part = lowering.binary("fsub", total, product)
    rest = lowering.binary("fsub", product, lowering.binary("fsub", total, part))
    lost = lowering.binary("fadd", rest, lowering.binary("fsub", c, part))
    zero = lowering.literal(F64, 0.0)
    signs = lowering.binary("fcmp olt", lost, zero, B1), lowering.binary("fcmp olt", total, zero, B1)
    return _odd(lowering, total, U64, lowering.binary("fcmp one", lost, zero, B1), lowering.binary("xor", *signs))


def _odd(lowering: Lowering, near: Value, word: Type, inexact: Value, above: Value) -> Value:
    """The rounded value or, if it is inexact and even, its neighbour on the other side of the true one.

    above: whether the rounded value is the larger one in magnitude.
    """
    bits = lowering.bitcast(near, word)
    one = lowering.literal(word, 1)
    even = lowering.binary("icmp eq", lowering.binary("and", bits, one), lowering.literal(word, 0), B1)
    down, up = lowering.binary("sub", bits, one), lowering.binary("add", bits, one)
    fix = lowering.binary("and", inexact, even)
    return lowering.bitcast(lowering.select(fix, lowering.select(above, down, up), bits), near.type)

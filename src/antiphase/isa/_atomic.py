"""What read-modify-write memory instructions compute: (old value, data...) -> new value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from antiphase.isa._expr import (
    BF16,
    F16,
    F32,
    F64,
    I32,
    I64,
    U16,
    U32,
    U64,
    Expr,
    Type,
    canonical,
    concat,
    const,
    is_nan,
    maximum,
    minimum,
    select,
)  # fmt: skip
from antiphase.isa._floats import greater, lesser, quieted

Update = Callable[..., Expr]


def wrapping_increment(old: Expr, limit: Expr) -> Expr:
    return select(old >= limit, const(old.type, 0), old + 1)


def wrapping_decrement(old: Expr, limit: Expr) -> Expr:
    return select((old == 0) | (old > limit), limit, old - 1)


def swap_if_equal(old: Expr, new: Expr, compare: Expr) -> Expr:
    return select(old == compare, new, old)


def packed_add(half: Type) -> Update:
    """Both 16-bit halves of a register added separately."""

    def add(old: Expr, data: Expr) -> Expr:
        low, high = (
            ((old >> shift).to(U16).bits(half) + (data >> shift).to(U16).bits(half)).bits(U16) for shift in (0, 16)
        )
        return concat(low, high)

    return add


@dataclass(frozen=True, slots=True)
class Atomic:
    """One operation. kind: 'u', 'i', 'b' for integers as GFX11 names spell it ('add_u32'), 'f' for floats.

    flat: its name in flat, global and buffer instructions of GFX9; '' where they do not have it. part: as of a Memory
    record, for 32 bits.
    """

    flat: str
    ds: str
    kind: str
    update: Update
    operands: int = 1
    part: Literal["", "bits"] = ""


INTEGER = (
    Atomic("add", "add", "u", lambda old, data: old + data),
    Atomic("sub", "sub", "u", lambda old, data: old - data),
    Atomic("", "rsub", "u", lambda old, data: data - old),
    Atomic("smin", "min", "i", minimum),
    Atomic("umin", "min", "u", minimum),
    Atomic("smax", "max", "i", maximum),
    Atomic("umax", "max", "u", maximum),
    Atomic("and", "and", "b", lambda old, data: old & data, part="bits"),
    Atomic("or", "or", "b", lambda old, data: old | data, part="bits"),
    Atomic("xor", "xor", "b", lambda old, data: old ^ data, part="bits"),
    Atomic("inc", "inc", "u", wrapping_increment),
    Atomic("dec", "dec", "u", wrapping_decrement),
    Atomic("swap", "wrxchg", "b", lambda old, data: data),
    Atomic("cmpswap", "cmpst", "b", swap_if_equal, operands=2, part="bits"),
    Atomic("", "mskor", "b", lambda old, mask, data: (old & ~mask) | data, operands=2),
)

# 32 bits only. GFX11 calls the first one csub, and has it in memory only
SUBTRACT = {
    "sub_clamp": lambda old, data: select(old < data, const(old.type, 0), old - data),
    "cond_sub": lambda old, data: select(old < data, old, old - data),
}


def number_first(old: Expr, data: Expr, of_numbers: Update) -> Expr:
    """Of one NaN the other operand, of two the new one, quiet; -0 is below +0 (AMD CDNA5 ISA 12.3, 15.15). Denormals as
    the mode has it, which is for LDS alone."""
    old, data = canonical(old), canonical(data)
    neither = select(is_nan(data), quieted(data), data)
    return select(is_nan(old), neither, select(is_nan(data), old, of_numbers(data, old)))


# a NaN in memory or data keeps the old value, as the manual's pseudocode states it
FLOAT = {
    "add": lambda old, data: old + data,
    "min": lambda old, data: select(data < old, data, old),
    "max": lambda old, data: select(data > old, data, old),
    "min_num": lambda old, data: number_first(old, data, lesser),
    "max_num": lambda old, data: number_first(old, data, greater),
}

PACKED = {"f16": packed_add(F16), "bf16": packed_add(BF16)}

WIDTHS: dict[int, dict[str, Type]] = {
    32: {"u": U32, "b": U32, "i": I32, "f": F32},
    64: {"u": U64, "b": U64, "i": I64, "f": F64},
}

"""Vector instructions on packed bytes: averages, sums of absolute differences, permutation, saturation."""

from __future__ import annotations

import functools

from antiphase.isa._expr import I16, I32, U8, U16, U32, U64, Expr, const, select
from antiphase.isa._families import GFX950, GFX1250
from antiphase.isa._floats import limited
from antiphase.isa._record import valu

CITE = "AMD Instinct MI300 CDNA3 ISA, chapter 12 (VOP3)"
op = functools.partial(valu, cite=CITE)


def lane_bytes(word: Expr) -> list[Expr]:
    return [(word >> (8 * i)) & 0xFF for i in range(4)]


def difference(a: Expr, b: Expr) -> Expr:
    return select(a > b, a - b, b - a)


def sad_bytes(a: Expr, b: Expr, total: Expr) -> Expr:
    for x, y in zip(lane_bytes(a), lane_bytes(b), strict=True):
        total = total + difference(x, y)
    return total


def masked_sad_bytes(a: Expr, b: Expr, total: Expr) -> Expr:
    """As above without the bytes that are zero in b."""
    for x, y in zip(lane_bytes(a), lane_bytes(b), strict=True):
        total = total + select(y == 0, const(U32, 0), difference(x, y))
    return total


def sad_halves(a: Expr, b: Expr, total: Expr) -> Expr:
    return total + difference(a & 0xFFFF, b & 0xFFFF) + difference(a >> 16, b >> 16)


def average_bytes(a: Expr, b: Expr, rounding: Expr) -> Expr:
    """Each byte (a + b + r) / 2, r the low bit of the third operand's byte."""
    parts = zip(lane_bytes(a), lane_bytes(b), lane_bytes(rounding), strict=True)
    shifted = [((x + y + (r & 1)) >> 1) << (8 * i) for i, (x, y, r) in enumerate(parts)]
    return shifted[0] | shifted[1] | shifted[2] | shifted[3]


op("v_sad_u8", "u32 u32 u32 -> u32", sad_bytes)
op("v_msad_u8", "u32 u32 u32 -> u32", masked_sad_bytes)
op("v_sad_hi_u8", "u32 u32 u32 -> u32", lambda a, b, c: (sad_bytes(a, b, const(U32, 0)) << 16) + c)
op("v_sad_u16", "u32 u32 u32 -> u32", sad_halves)
op("v_sad_u32", "u32 u32 u32 -> u32", lambda a, b, c: difference(a, b) + c)
op("v_lerp_u8", "u32 u32 u32 -> u32", average_bytes)

for name, one in (("qsad", sad_bytes), ("mqsad", masked_sad_bytes)):

    def four(a: Expr, b: Expr, total: Expr, one=one) -> Expr:
        """Four windows of the first operand, a byte apart, against the second; four 16-bit sums."""
        result = const(U64, 0)
        for i in range(4):
            start = ((total >> (16 * i)) & 0xFFFF).to(U32)
            sad = one((a >> (8 * i)).to(U32), b, start)
            result = result | (sad.to(U16).to(U64) << (16 * i))
        return result

    op(f"v_{name}_pk_u16_u8", "u64 u32 u64 -> u64", four)


def four_masked(a: Expr, b: Expr, totals: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Four windows of the first operand, a byte apart, against the second; four 32-bit sums."""
    return tuple(masked_sad_bytes((a >> (8 * i)).to(U32), b, total) for i, total in enumerate(totals))


op("v_mqsad_u32_u8", "u64 u32 u32x4 -> u32x4", four_masked)


def selected_byte(a: Expr, b: Expr, selector: Expr) -> Expr:
    """One byte of v_perm_b32: 0-3 of b, 4-7 of a, 8-11 the sign of byte 1, 3, 5, 7, 12 zero, then 0xff."""
    spread = ((selector & 3) << 1) | 1
    index = select(selector >= 8, spread, selector)
    word = select((index & 4) != 0, a, b)
    byte = (word >> ((index & 3) << 3)) & 0xFF
    sign = select((byte & 0x80) != 0, const(U32, 0xFF), const(U32, 0))
    beyond = select(selector == 12, const(U32, 0), const(U32, 0xFF))
    return select(selector < 8, byte, select(selector < 12, sign, beyond))


def permute_bytes(a: Expr, b: Expr, selectors: Expr) -> Expr:
    parts = [selected_byte(a, b, (selectors >> (8 * i)) & 0xFF) << (8 * i) for i in range(4)]
    return parts[0] | parts[1] | parts[2] | parts[3]


op("v_perm_b32", "u32 u32 u32 -> u32", permute_bytes)


def limit_byte(x: Expr, low: int, high: int) -> Expr:
    return limited(x, low, high).to(U8).to(U16)


for name, low, high in (("i8", -128, 127), ("u8", 0, 255)):
    op(
        f"v_ashr_pk_{name}_i32",
        "i32 i32 u32 -> u16",
        lambda a, b, n, low=low, high=high: limit_byte(a >> n, low, high) | (limit_byte(b >> n, low, high) << 8),
        rest="keep",
        targets=GFX950 | GFX1250,
        cite="AMD CDNA4 ISA, chapter 12 (VOP3)",
    )
op(
    "v_sat_pk_u8_i16",
    "u32 -> u16",
    lambda a: limit_byte(a.bits(I32).to(I16), 0, 255) | (limit_byte((a >> 16).to(U16).bits(I16), 0, 255) << 8),
)

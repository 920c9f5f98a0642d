"""v_trig_preop_f64: segments of 2 / pi for the reduction of large arguments."""

from __future__ import annotations

import functools

from antiphase.isa._expr import F64, I32, U32, U64, Expr, concat, const, select
from antiphase.isa._floats import exponent_field, scale
from antiphase.isa._record import valu

FRACTION_BITS = 1201


@functools.cache
def two_over_pi() -> list[int]:
    """The first 1201 bits of 2 / pi after the point as 32-bit words, the first word highest, zeros behind."""
    bits = FRACTION_BITS + 64
    one = 1 << bits

    def arctangent_of_inverse(n: int) -> int:
        total = term = one // n
        k = 1
        while term:
            term //= n * n
            total += (-1) ** k * (term // (2 * k + 1))
            k += 1
        return total

    pi = 4 * (4 * arctangent_of_inverse(5) - arctangent_of_inverse(239))  # Machin's formula
    fraction = (2 * one << FRACTION_BITS) // pi
    count = -(-FRACTION_BITS // 32)
    padded = fraction << (32 * count - FRACTION_BITS)
    return [(padded >> (32 * (count - 1 - i))) & 0xFFFFFFFF for i in range(count)]


def word_at(index: Expr) -> Expr:
    word = const(U32, 0)
    for i, value in enumerate(two_over_pi()):
        word = select(index == i, const(U32, value), word)
    return word


def segment(x: Expr, number: Expr) -> Expr:
    """53 bits of 2 / pi with their own weight: those of the numbered segment, further on the larger x is."""
    exponent = exponent_field(x)
    beyond = select(exponent > 1077, exponent - 1077, const(I32, 0))
    shift = ((number & 31) * 53) + beyond.bits(U32)
    index, within = shift >> 5, shift & 31
    high = concat(word_at(index + 1), word_at(index)) << within.to(U64)
    low = (word_at(index + 2).to(U64) << within.to(U64)) >> 32
    bits = ((high | low) >> 11).to(F64)
    lift = select(exponent >= 1968, const(I32, 128), const(I32, 0))
    return scale(bits, lift - 53 - shift.bits(I32))


valu(
    "v_trig_preop_f64",
    "f64 u32 -> f64",
    segment,
    cite="AMD Instinct MI300 CDNA3 ISA, chapter 12 (V_TRIG_PREOP_F64)",
)

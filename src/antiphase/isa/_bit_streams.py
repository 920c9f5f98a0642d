"""Values of few bits packed one after the other in 32-bit registers, the first lowest."""

from __future__ import annotations

from collections.abc import Sequence

from antiphase.isa._expr import U32, U64, Expr, concat, const, select

Words = tuple[Expr, ...]


def words_of(value: Expr | Words) -> Words:
    """The registers of a source: itself, both halves of a pair, or a run as it is."""
    if isinstance(value, tuple):
        return value
    return (value,) if value.type.bits == 32 else (value.to(U32), (value >> 32).to(U32))


def joined(codes: Sequence[Expr], bits: int) -> Words:
    """Codes as registers; bits above a code must be clear."""
    words = [const(U32, 0)] * (len(codes) * bits // 32)
    for i, code in enumerate(codes):
        word, at = divmod(i * bits, 32)
        words[word] = words[word] | (code << at)
        if at + bits > 32:
            words[word + 1] = words[word + 1] | (code >> (32 - at))
    return tuple(words)


def code_at(words: Words, bits: int, i: int) -> Expr:
    """The i-th code; bits above it are left in."""
    word, at = divmod(i * bits, 32)
    low = words[word] >> at
    return low | (words[word + 1] << (32 - at)) if at + bits > 32 else low


def code_chosen(words: Words, bits: int, i: Expr) -> Expr:
    """The code of a number known only at run time, nothing above it. i: u32 within the words."""
    start = i * bits
    low, high = words[0], words[1]
    for k in range(1, len(words)):
        here = (start >> 5) == k
        low = select(here, words[k], low)
        high = select(here, words[k + 1] if k + 1 < len(words) else const(U32, 0), high)
    return (concat(low, high) >> (start & 31).to(U64)).to(U32) & ((1 << bits) - 1)

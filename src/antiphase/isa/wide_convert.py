"""gfx950's conversions of 32 values at once: 6-bit floats in six registers to and from f32, f16 and bf16."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from antiphase.isa._expr import F32, U16, U32, Expr, Type, const
from antiphase.isa._record import Semantics, valu
from antiphase.isa._small_floats import encode
from antiphase.isa.small_float import CDNA4, NARROW, STOCHASTIC, parts, scaled_value, unscaled
from antiphase.isa.vector_integer import GFX950, next_random

BITS = 6
Words = tuple[Expr, ...]
op = functools.partial(valu, targets=GFX950, cite=CDNA4)


def gather(codes: Sequence[Expr]) -> Words:
    """6-bit codes one after the other in registers, the first lowest."""
    words = [const(U32, 0)] * (len(codes) * BITS // 32)
    for i, code in enumerate(codes):
        word, at = divmod(i * BITS, 32)
        words[word] = words[word] | (code << at)
        if at + BITS > 32:
            words[word + 1] = words[word + 1] | (code >> (32 - at))
    return tuple(words)


def code_at(words: Words, i: int) -> Expr:
    """The i-th 6-bit code; bits above it are left in."""
    word, at = divmod(i * BITS, 32)
    low = words[word] >> at
    return low | (words[word + 1] << (32 - at)) if at + BITS > 32 else low


def values_of(words: Words, type_: Type) -> list[Expr]:
    """The floats in registers: one each for f32, two for 16-bit types."""
    if type_ is F32:
        return [word.bits(F32) for word in words]
    return [half for word in words for half in parts(word, type_)]


def encode_all(form: str, type_: Type) -> Semantics:
    def semantics(words: Words, scale: Expr) -> Words:
        return gather([encode(unscaled(x, scale), form) for x in values_of(words, type_)])

    return semantics


def encode_two(form: str) -> Semantics:
    """Two operands of 16 values each, interleaved."""

    def semantics(first: Words, second: Words, scale: Expr) -> Words:
        mixed = [x.bits(F32) for pair in zip(first, second, strict=True) for x in pair]
        return gather([encode(unscaled(x, scale), form) for x in mixed])

    return semantics


def encode_all_stochastic(form: str, type_: Type) -> Semantics:
    """Each value has a random number of its own, made from the one before."""

    def semantics(words: Words, random: Expr, scale: Expr) -> Words:
        codes = []
        for x in values_of(words, type_):
            codes.append(encode(unscaled(x, scale), form, random))
            random = next_random(random)
        return gather(codes)

    return semantics


def decode_all(form: str, type_: Type) -> Semantics:
    def semantics(words: Words, scale: Expr) -> Words:
        values = [scaled_value(code_at(words, i), form, scale, type_) for i in range(32)]
        if type_ is F32:
            return tuple(value.bits(U32) for value in values)
        halves = [value.bits(U16).to(U32) for value in values]
        return tuple(low | (high << 16) for low, high in zip(halves[::2], halves[1::2], strict=True))

    return semantics


for form in ("fp6", "bf6"):
    op(f"v_cvt_scalef32_2xpk16_{form}_f32", "u32x16 u32x16 f32 -> u32x6", encode_two(form))
    for t, type_ in NARROW.items():
        wide = "u32x32" if type_ is F32 else "u32x16"
        op(f"v_cvt_scalef32_pk32_{t}_{form}", f"u32x6 f32 -> {wide}", decode_all(form, type_))
        op(
            f"v_cvt_scalef32_sr_pk32_{form}_{t}",
            f"{wide} u32 f32 -> u32x6",
            encode_all_stochastic(form, type_),
            status="modelled",
            note=STOCHASTIC,
        )
        if type_ is not F32:
            op(f"v_cvt_scalef32_pk32_{form}_{t}", f"{wide} f32 -> u32x6", encode_all(form, type_))

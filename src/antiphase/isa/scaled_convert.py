"""gfx1250's conversions of 8 and 16 values at once, of halves and 8-bit floats, and its table look-ups.

Which lane's and which byte's scale a widening conversion takes, its scale_sel says (AMD CDNA5 ISA 7.6.3, tables 36 and
37; Triton's lowering of scaled upcasts uses 0 and 8).
"""

from __future__ import annotations

import functools

from antiphase.isa._bit_streams import Words, code_at, code_chosen, joined, words_of
from antiphase.isa._expr import (
    BF16,
    F16,
    F32,
    U8,
    U16,
    U32,
    Expr,
    Type,
    concat,
    fetch_lanes,
    lane_id,
    select,
)  # fmt: skip
from antiphase.isa._families import GFX1250
from antiphase.isa._floats import to_half
from antiphase.isa._formats import SMALL, decode, decode_scale
from antiphase.isa._record import Semantics, valu
from antiphase.isa._small_floats import encode
from antiphase.isa.small_float import NARROW, OVERFLOW, STOCHASTIC, parts, two_codes, unscaled
from antiphase.isa.vector_convert import pack, quiet
from antiphase.isa.vector_integer import next_random

CITE = "AMD CDNA5 ISA, section 15.14; LLVM VOP1Instructions.td, VOP3Instructions.td (gfx1250)"
SELECT = (
    "scale_sel by the manual's tables, not by its pseudocode nor by MLIR, which has its bits the other way round; of "
    "8-bit formats, 9 and 11 are read as the later two bytes"
)
INFINITE = "with MODE.fp16_ovfl infinities become NaN, larger values stop at the largest"
op = functools.partial(valu, targets=GFX1250, cite=CITE, status="modelled")


def scale_for_lane(scale: Expr, selection: Expr, bits: int) -> Expr:
    """The E8M0 scale of this lane: a byte of lane L or L - 16 in the chosen half of the wave, in some
    settings a later byte for the upper lanes."""
    lane = lane_id()
    upper = lane >> 4
    first, second, third = (selection >> i & 1 for i in range(3))
    if bits == 8:
        block16 = (selection >> 3 & 1) != 0
        half = select(block16, second, first)
        # bits that choose a byte are reversed, as elsewhere
        byte = select(block16, (first << 1) + upper, (second << 1) + third)
    else:
        half, byte = first, select(third != 0, second + (upper << 1), (second << 1) + upper)
    word = fetch_lanes(scale, (lane & 15) | (half << 4))
    return decode_scale(word >> (byte << 3))


def widened(form: str, type_: Type, count: int) -> Semantics:
    bits = SMALL[form].bits

    def semantics(source: Expr | Words, scale: Expr, selection: Expr) -> Words:
        factor = scale_for_lane(scale, selection, bits)
        words = words_of(source)
        values = [decode(code_at(words, bits, i), form) * factor for i in range(count)]
        if type_ is F32:
            return tuple(value.bits(U32) for value in values)
        halves = [(value.to(type_)).bits(U16).to(U32) for value in values]
        return tuple(low | (high << 16) for low, high in zip(halves[::2], halves[1::2], strict=True))

    return semantics


def narrowed(form: str, type_: Type, *, stochastic: bool) -> Semantics:
    def encoded(source: Words, scale: Expr, random: Expr | None) -> Words:
        if type_ is F32:
            values = [word.bits(F32) for word in source]
        else:
            values = [half for word in source for half in parts(word, type_)]
        codes = []
        for i, value in enumerate(values):
            # two values share a random number, the first takes its low half
            bits = None if random is None else (random if i % 2 else random << 16)
            codes.append(encode(unscaled(value, scale), form, bits, infinite=True))
            random = next_random(random) if random is not None and i % 2 else random
        return joined(codes, SMALL[form].bits)

    if stochastic:
        return lambda source, random, scale: encoded(source, scale, random)
    return lambda source, scale: encoded(source, scale, None)


def registers(count: int) -> str:
    return "u32" if count == 1 else f"u32x{count}"


for count, forms in ((8, ("fp8", "bf8", "fp4")), (16, ("fp6", "bf6"))):
    for form in forms:
        small = registers(count * SMALL[form].bits // 32)
        for t, type_ in NARROW.items():
            wide = registers(count * type_.bits // 32)
            op(
                f"v_cvt_scale_pk{count}_{t}_{form}",
                f"{small} u32 scale_sel -> {wide}",
                widened(form, type_, count),
                note=SELECT,
            )
            op(
                f"v_cvt_scalef32_pk{count}_{form}_{t}",
                f"{wide} f32 -> {small}",
                narrowed(form, type_, stochastic=False),
                note=INFINITE,
            )
            op(
                f"v_cvt_scalef32_sr_pk{count}_{form}_{t}",
                f"{wide} u32 f32 -> {small}",
                narrowed(form, type_, stochastic=True),
                note=f"{STOCHASTIC}; a value's 16 bits lie at the top of what it loses; {INFINITE}",
            )

# -- halves to and from 8-bit floats
exact = functools.partial(valu, targets=GFX1250, cite=CITE)


def half_of(code: Expr, form: str) -> Expr:
    """Every 8-bit float is an f16 value."""
    return decode(code.to(U32), form).to(F16)


def packed_codes(word: Expr, form: str) -> Expr:
    low, high = parts(word, F16)
    return two_codes(low.to(F32), high.to(F32), form)


for form in ("fp8", "bf8"):
    exact(f"v_cvt_f16_{form}", "u8 -> f16", functools.partial(half_of, form=form), rest="keep")
    exact(
        f"v_cvt_pk_f16_{form}",
        "u16 -> u32",
        lambda a, f=form: pack(half_of(a, f), half_of(a >> 8, f)),
    )
    op(
        f"v_cvt_pk_{form}_f16",
        "u32 -> u16",
        functools.partial(packed_codes, form=form),
        rest="keep",
        status="exact",
        note=OVERFLOW,
    )
    op(
        f"v_cvt_sr_{form}_f16",
        "f16 u32 -> u8",
        lambda a, random, f=form: encode(quiet(a).to(F32), f, random).to(U8),
        rest="keep",
        note=STOCHASTIC,
    )


def stochastic_half(x: Expr, random: Expr, type_: Type) -> Expr:
    """f32 to a 16-bit float: the bits below its fraction take the low bits of a random number and go."""
    dropped = 13 if type_ is F16 else 16
    bits = quiet(x).bits(U32)
    special = (bits & 0x7F800000) == 0x7F800000
    moved = (bits + (random & ((1 << dropped) - 1))) & (0xFFFFFFFF << dropped)
    value = select(special, bits, moved).bits(F32)
    return to_half(value) if type_ is F16 else value.to(BF16)


for type_ in (F16, BF16):
    op(
        f"v_cvt_sr_pk_{type_}_f32",
        f"f32 f32 u32 -> p:{type_}",
        lambda a, b, random, t=type_: (stochastic_half(a, random, t), stochastic_half(b, random >> 16, t)),
        note="the random number's halves serve the two values, as the manual has it; it adds all 16 bits for f16 too, "
        "which loses 13: here the low ones are taken",
    )

# -- table look-up of 16 values by 4-bit indices
table = functools.partial(valu, targets=GFX1250, cite=f"{CITE}: the first source stands above the second")


def looked_up(bits: int, high: Expr, low: Expr, indices: Expr) -> Words | Expr:
    words = words_of(low) + words_of(high)
    chosen = [code_chosen(words, bits, (indices >> (4 * i)).to(U32) & 15) for i in range(16)]
    result = joined(chosen, bits)
    return concat(*result) if len(result) == 2 else result


table("v_perm_pk16_b4_u4", "u32 u32 u64 -> u64", functools.partial(looked_up, 4))
table("v_perm_pk16_b6_u4", "u32 u64 u64 -> u32x3", functools.partial(looked_up, 6))
table("v_perm_pk16_b8_u4", "u64 u64 u64 -> u32x4", functools.partial(looked_up, 8))

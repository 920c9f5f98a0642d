"""Scalar ALU: SOP1, SOP2, SOPC, SOPK."""

from __future__ import annotations

import functools

from antiphase.isa._expr import (
    I32,
    I64,
    U16,
    U32,
    U64,
    Expr,
    Type,
    bitreverse,
    clz,
    concat,
    const,
    ctz,
    maximum,
    minimum,
    popcount,
    select,
)
from antiphase.isa._record import salu

CITE = "AMD Instinct MI300 CDNA3 ISA, chapter 12.1-12.4 (SOP2, SOPK, SOP1, SOPC)"
op = functools.partial(salu, cite=CITE)


def nonzero(x: Expr) -> Expr:
    return x != 0


def add_unsigned(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    total = a + b
    return total, total < a


def add_with_carry(a: Expr, b: Expr, scc: Expr) -> tuple[Expr, Expr]:
    wide = a.to(U64) + b.to(U64) + scc.to(U64)
    return wide.to(U32), (wide >> 32) != 0


def subtract_with_borrow(a: Expr, b: Expr, scc: Expr) -> tuple[Expr, Expr]:
    borrow = scc.to(U64)
    return (a.to(U64) - b.to(U64) - borrow).to(U32), a.to(U64) < b.to(U64) + borrow


def signed_overflow(a: Expr, b: Expr, result: Expr, subtract: bool) -> Expr:
    """Two's complement overflow: the operands' signs allow it and the result's sign differs from a's."""
    other = a ^ b if subtract else ~(a ^ b)
    return (other & (a ^ result)) < 0


def add_signed(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    return a + b, signed_overflow(a, b, a + b, False)


def subtract_signed(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    return a - b, signed_overflow(a, b, a - b, True)


def multiply_high(a: Expr, b: Expr) -> Expr:
    wide = I64 if a.type is I32 else U64
    return ((a.to(wide) * b.to(wide)) >> 32).to(a.type)


def field_mask(bits: Expr, start: Expr, type_: Type) -> Expr:
    return ((const(type_, 1) << bits) - 1) << start


op("s_add_u32 s_add_co_u32", "u32 u32 -> u32 scc", add_unsigned)
op("s_sub_u32 s_sub_co_u32", "u32 u32 -> u32 scc", lambda a, b: (a - b, a < b))
op("s_add_i32 s_add_co_i32", "i32 i32 -> i32 scc", add_signed)
op("s_sub_i32 s_sub_co_i32", "i32 i32 -> i32 scc", subtract_signed)
op("s_addc_u32 s_add_co_ci_u32", "u32 u32 scc -> u32 scc", add_with_carry)
op("s_subb_u32 s_sub_co_ci_u32", "u32 u32 scc -> u32 scc", subtract_with_borrow)
op("s_min_i32", "i32 i32 -> i32 scc", lambda a, b: (minimum(a, b), a < b))
op("s_min_u32", "u32 u32 -> u32 scc", lambda a, b: (minimum(a, b), a < b))
op("s_max_i32", "i32 i32 -> i32 scc", lambda a, b: (maximum(a, b), a >= b))
op("s_max_u32", "u32 u32 -> u32 scc", lambda a, b: (maximum(a, b), a >= b))
op("s_mul_i32", "i32 i32 -> i32", lambda a, b: a * b)
op("s_mul_hi_u32", "u32 u32 -> u32", multiply_high)
op("s_mul_hi_i32", "i32 i32 -> i32", multiply_high)
op("s_absdiff_i32", "i32 i32 -> i32 scc", lambda a, b: (abs(a - b), abs(a - b) != 0))
op("s_cselect_b32", "u32 u32 scc -> u32", lambda a, b, scc: select(scc, a, b))
op("s_cselect_b64", "u64 u64 scc -> u64", lambda a, b, scc: select(scc, a, b))

for width, t in ((32, "u32"), (64, "u64")):
    for name, f in {
        "and": lambda a, b: a & b,
        "or": lambda a, b: a | b,
        "xor": lambda a, b: a ^ b,
        "andn2 and_not1": lambda a, b: a & ~b,
        "orn2 or_not1": lambda a, b: a | ~b,
        "nand": lambda a, b: ~(a & b),
        "nor": lambda a, b: ~(a | b),
        "xnor": lambda a, b: ~(a ^ b),
    }.items():
        names = " ".join(f"s_{n}_b{width}" for n in name.split())
        op(names, f"{t} {t} -> {t} scc", lambda a, b, f=f: (f(a, b), nonzero(f(a, b))))
    op(f"s_lshl_b{width}", f"{t} u32 -> {t} scc", lambda a, n: (a << n, nonzero(a << n)))
    op(f"s_lshr_b{width}", f"{t} u32 -> {t} scc", lambda a, n: (a >> n, nonzero(a >> n)))
    op(f"s_ashr_i{width}", f"i{width} u32 -> i{width} scc", lambda a, n: (a >> n, nonzero(a >> n)))
    op(f"s_not_b{width}", f"{t} -> {t} scc", lambda a: (~a, nonzero(~a)))
    op(f"s_mov_b{width}", f"{t} -> {t}", lambda a: a)
    op(f"s_cmov_b{width}", f"{t} d:{t} scc -> {t}", lambda a, d, scc: select(scc, a, d))
    op(f"s_brev_b{width}", f"{t} -> {t}", bitreverse)
    op(
        f"s_ff1_i32_b{width} s_ctz_i32_b{width}",
        f"{t} -> i32",
        lambda a: select(a == 0, const(a.type, -1), ctz(a)).to(I32),
    )
    op(f"s_ff0_i32_b{width}", f"{t} -> i32", lambda a: select(~a == 0, const(a.type, -1), ctz(~a)).to(I32))
    op(
        f"s_flbit_i32_b{width} s_clz_i32_u{width}",
        f"{t} -> i32",
        lambda a: select(a == 0, const(a.type, -1), clz(a)).to(I32),
    )
    op(f"s_bcnt1_i32_b{width}", f"{t} -> i32 scc", lambda a: (popcount(a).to(I32), popcount(a) != 0))
    op(f"s_bcnt0_i32_b{width}", f"{t} -> i32 scc", lambda a: (popcount(~a).to(I32), popcount(~a) != 0))
    op(f"s_bitset0_b{width}", f"u32 d:{t} -> {t}", lambda n, d: d & ~(const(d.type, 1) << n))
    op(f"s_bitset1_b{width}", f"u32 d:{t} -> {t}", lambda n, d: d | (const(d.type, 1) << n))
    op(f"s_bfm_b{width}", f"u32 u32 -> {t}", lambda n, s, t=t: field_mask(n, s, U32 if t == "u32" else U64))
    op(f"s_bitcmp0_b{width}", f"{t} u32 -> scc", lambda a, n: ((a >> n) & 1) == 0)
    op(f"s_bitcmp1_b{width}", f"{t} u32 -> scc", lambda a, n: ((a >> n) & 1) != 0)


def signed_bit_length(a: Expr) -> Expr:
    """Position of the first bit that differs from the sign bit, from the top; -1 if none."""
    flipped = (a ^ (a >> (a.type.bits - 1))).bits(U32 if a.type.bits == 32 else U64)
    return select(flipped == 0, const(flipped.type, -1), clz(flipped)).to(I32)


op("s_flbit_i32 s_cls_i32", "i32 -> i32", signed_bit_length)
op("s_flbit_i32_i64 s_cls_i32_i64", "i64 -> i32", signed_bit_length)
op("s_abs_i32", "i32 -> i32 scc", lambda a: (abs(a), abs(a) != 0))
op("s_sext_i32_i8", "i32 -> i32", lambda a: (a << 24) >> 24)
op("s_sext_i32_i16", "i32 -> i32", lambda a: (a << 16) >> 16)


def bit_field(a: Expr, field: Expr, wide: int) -> tuple[Expr, Expr]:
    """Extract: offset in the field's low bits, width in bits 22:16; a width beyond the top is cut there."""
    bits = a.type.bits
    offset = (field & (bits - 1)).to(a.type)
    width = ((field >> 16) & 0x7F).to(a.type)
    room = const(a.type, bits) - offset
    width = select(width > room, room, width)
    shifted = (a << (room - width)) >> (const(a.type, bits) - width)
    value = select(width == 0, const(a.type, 0), select(width >= bits, a >> offset, shifted))
    return value, value != 0


op("s_bfe_u32", "u32 u32 -> u32 scc", lambda a, f: bit_field(a, f, 32))
op("s_bfe_i32", "i32 u32 -> i32 scc", lambda a, f: bit_field(a, f, 32))
op("s_bfe_u64", "u64 u32 -> u64 scc", lambda a, f: bit_field(a, f, 64))
op("s_bfe_i64", "i64 u32 -> i64 scc", lambda a, f: bit_field(a, f, 64))

for n in (1, 2, 3, 4):
    op(
        f"s_lshl{n}_add_u32",
        "u32 u32 -> u32 scc",
        lambda a, b, n=n: ((a << n) + b, ((a.to(U64) << n) + b.to(U64)) >> 32 != 0),
    )

op("s_pack_ll_b32_b16", "u32 u32 -> u32", lambda a, b: concat(a.to(U16), b.to(U16)))
op("s_pack_lh_b32_b16", "u32 u32 -> u32", lambda a, b: (a & 0xFFFF) | (b & 0xFFFF0000))
op("s_pack_hh_b32_b16", "u32 u32 -> u32", lambda a, b: (a >> 16) | (b & 0xFFFF0000))

COMPARE = {
    "eq": lambda a, b: a == b, "lg": lambda a, b: a != b, "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
}  # fmt: skip
for name, compare in COMPARE.items():
    for t in ("i32", "u32"):
        op(f"s_cmp_{name}_{t}", f"{t} {t} -> scc", compare)
    op(f"s_cmpk_{name}_i32", "i32 k16 -> scc", lambda a, k, c=compare: c(a, k.to(I32)))
    op(f"s_cmpk_{name}_u32", "u32 k16 -> scc", lambda a, k, c=compare: c(a, k.bits(U16).to(U32)))
op("s_cmp_eq_u64", "u64 u64 -> scc", lambda a, b: a == b)
op("s_cmp_lg_u64", "u64 u64 -> scc", lambda a, b: a != b)

op("s_movk_i32", "k16 -> i32", lambda k: k.to(I32))
op("s_cmovk_i32", "k16 d:i32 scc -> i32", lambda k, d, scc: select(scc, k.to(I32), d))
op("s_addk_i32 s_addk_co_i32", "k16 d:i32 -> i32 scc", lambda k, d: add_signed(d, k.to(I32)))
op("s_mulk_i32", "k16 d:i32 -> i32", lambda k, d: d * k.to(I32))

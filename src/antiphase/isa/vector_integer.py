"""Vector integer arithmetic, shifts and logic: VOP1, VOP2 and VOP3."""

from __future__ import annotations

import functools
import operator

from antiphase.isa._expr import (
    I16,
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
    truth_table,
)  # fmt: skip
from antiphase.isa._families import GFX9, GFX950, GFX1250
from antiphase.isa._floats import limited
from antiphase.isa._record import Semantics, valu

CITE = "AMD Instinct MI300 CDNA3 ISA, chapter 12 (VOP1, VOP2, VOP3)"
KEEP = "LLVM GCNSubtarget::zeroesHigh16BitsOfDest (the gfx9 forms with op_sel keep the other half)"
op = functools.partial(valu, cite=CITE)


def add_carry(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    total = a + b
    return total, total < a


def add_with_carry(a: Expr, b: Expr, carry: Expr) -> tuple[Expr, Expr]:
    total = a.to(U64) + b.to(U64) + carry.to(U64)
    return total.to(U32), (total >> 32) != 0


def sub_with_borrow(a: Expr, b: Expr, borrow: Expr) -> tuple[Expr, Expr]:
    difference = a.to(U64) - b.to(U64) - borrow.to(U64)
    return difference.to(U32), (difference >> 32) != 0


def saturating(f: Semantics, narrow: Type) -> Semantics:
    """The exact result of an integer function, computed in 64 bits, limited to what `narrow` holds."""
    top = 1 << narrow.bits
    low, high = (-top // 2, top // 2 - 1) if narrow.kind == "i" else (0, top - 1)

    def semantics(*sources: Expr) -> Expr:
        exact = f(*(s.to(I64) for s in sources))
        assert isinstance(exact, Expr)
        return limited(exact, low, high).to(narrow)

    return semantics


def stopping(f: Semantics, edge: int) -> Semantics:
    """A sum or difference that stops at an edge where it carries; the carry is the plain instruction's."""

    def semantics(*sources: Expr) -> tuple[Expr, Expr]:
        result = f(*sources)
        assert isinstance(result, tuple)
        return select(result[1], const(U32, edge), result[0]), result[1]

    return semantics


def reversed_sub(a: Expr, b: Expr) -> Expr:
    return b - a


def multiply_add(a: Expr, b: Expr, c: Expr) -> Expr:
    return a * b + c


def sub_borrow(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    return a - b, a < b


for names, type_, f in (
    ("v_add_u32 v_add_nc_u32", U32, operator.add),
    ("v_sub_u32 v_sub_nc_u32", U32, operator.sub),
    ("v_subrev_u32 v_subrev_nc_u32", U32, reversed_sub),
    ("v_add_i32 v_add_nc_i32", I32, operator.add),
    ("v_sub_i32 v_sub_nc_i32", I32, operator.sub),
    ("v_add_u16 v_add_nc_u16", U16, operator.add),
    ("v_sub_u16 v_sub_nc_u16", U16, operator.sub),
    ("v_subrev_u16", U16, reversed_sub),
    ("v_mul_lo_u16", U16, operator.mul),
):
    op(names, f"{type_} {type_} -> {type_}", f, saturated=saturating(f, type_))
for names, f in (("v_add_i16 v_add_nc_i16", operator.add), ("v_sub_i16 v_sub_nc_i16", operator.sub)):
    valu(names, "i16 i16 -> i16", f, saturated=saturating(f, I16), rest="keep", cite=f"{CITE}; {KEEP}")

ALL_ONES = 0xFFFFFFFF
for names, f, edge in (
    ("v_add_co_u32", add_carry, ALL_ONES),
    ("v_sub_co_u32", sub_borrow, 0),
    ("v_subrev_co_u32", lambda a, b: sub_borrow(b, a), 0),
):
    op(names, "u32 u32 -> u32 mask", f, saturated=stopping(f, edge))
for names, f, edge in (
    ("v_addc_co_u32 v_add_co_ci_u32", add_with_carry, ALL_ONES),
    ("v_subb_co_u32 v_sub_co_ci_u32", sub_with_borrow, 0),
    ("v_subbrev_co_u32 v_subrev_co_ci_u32", lambda a, b, c: sub_with_borrow(b, a, c), 0),
):
    op(names, "u32 u32 mask -> u32 mask", f, saturated=stopping(f, edge))

op("v_add3_u32", "u32 u32 u32 -> u32", lambda a, b, c: a + b + c)
op("v_lshl_add_u32", "u32 u32 u32 -> u32", lambda a, n, c: (a << n) + c)
# a shift by more than 4 is unsupported and taken as 0: AMD CDNA3 ISA, CDNA4 ISA and CDNA5 ISA, V_LSHL_ADD_U64
op("v_lshl_add_u64", "u64 u32 u64 -> u64", lambda a, n, c: (a << select((n & 7) > 4, const(U32, 0), n & 7)) + c)
op("v_add_lshl_u32", "u32 u32 u32 -> u32", lambda a, b, n: (a + b) << n)
op("v_xad_u32", "u32 u32 u32 -> u32", lambda a, b, c: (a ^ b) + c)
op("v_lshl_or_b32", "u32 u32 u32 -> u32", lambda a, n, c: (a << n) | c)
op("v_and_or_b32", "u32 u32 u32 -> u32", lambda a, b, c: (a & b) | c)
op("v_or3_b32", "u32 u32 u32 -> u32", lambda a, b, c: a | b | c)
op("v_and_b32", "u32 u32 -> u32", lambda a, b: a & b)
op("v_or_b32", "u32 u32 -> u32", lambda a, b: a | b)
op("v_xor_b32", "u32 u32 -> u32", lambda a, b: a ^ b)
op("v_xnor_b32", "u32 u32 -> u32", lambda a, b: ~(a ^ b))
op("v_not_b32", "u32 -> u32", lambda a: ~a)
op("v_bfi_b32", "u32 u32 u32 -> u32", lambda m, a, b: (m & a) | (~m & b))
for bits, keep in ((32, "zero"), (16, "keep")):
    op(
        f"v_bitop3_b{bits}",
        f"u{bits} u{bits} u{bits} bitop3 -> u{bits}",
        truth_table,
        rest=keep,
        targets=GFX950 | GFX1250,
    )

op("v_lshlrev_b32", "u32 u32 -> u32", lambda n, a: a << n)
op("v_lshrrev_b32", "u32 u32 -> u32", lambda n, a: a >> n)
op("v_ashrrev_i32", "u32 i32 -> i32", lambda n, a: a >> n)
op("v_lshlrev_b16", "u16 u16 -> u16", lambda n, a: a << n)
op("v_lshrrev_b16", "u16 u16 -> u16", lambda n, a: a >> n)
op("v_ashrrev_i16", "u16 i16 -> i16", lambda n, a: a >> n)
op("v_lshlrev_b64", "u32 u64 -> u64", lambda n, a: a << n)
op("v_lshrrev_b64", "u32 u64 -> u64", lambda n, a: a >> n)
op("v_ashrrev_i64", "u32 i64 -> i64", lambda n, a: a >> n)
op("v_alignbit_b32", "u32 u32 u32 -> u32", lambda a, b, n: (concat(b, a) >> (n & 31)).to(U32))
op("v_alignbyte_b32", "u32 u32 u32 -> u32", lambda a, b, n: (concat(b, a) >> ((n & 3) << 3)).to(U32))

for type_, keep in ((I32, "zero"), (U32, "zero"), (I16, "keep"), (U16, "keep")):
    cite = CITE if keep == "zero" else f"{CITE}; {KEEP}"
    three = functools.partial(valu, cite=cite, rest=keep)
    t = type_.name
    op(f"v_min_{t}", f"{t} {t} -> {t}", minimum)
    op(f"v_max_{t}", f"{t} {t} -> {t}", maximum)
    three(f"v_min3_{t}", f"{t} {t} {t} -> {t}", lambda a, b, c: minimum(minimum(a, b), c))
    three(f"v_max3_{t}", f"{t} {t} {t} -> {t}", lambda a, b, c: maximum(maximum(a, b), c))
    three(
        f"v_med3_{t}",
        f"{t} {t} {t} -> {t}",
        lambda a, b, c: maximum(minimum(a, b), minimum(maximum(a, b), c)),
    )

op("v_mul_lo_u32", "u32 u32 -> u32", lambda a, b: a * b)
# LLVM's other name for the same opcode
op("v_mul_lo_i32", "u32 u32 -> u32", lambda a, b: a * b, targets=GFX9)
op("v_mul_hi_u32", "u32 u32 -> u32", lambda a, b: ((a.to(U64) * b.to(U64)) >> 32).to(U32))
op("v_mul_hi_i32", "i32 i32 -> i32", lambda a, b: ((a.to(I64) * b.to(I64)) >> 32).to(I32))


def low24(a: Expr) -> Expr:
    """The low 24 bits, sign-extended for signed operands."""
    return (a << 8) >> 8


def mul_add24(a: Expr, b: Expr, c: Expr) -> Expr:
    return low24(a) * low24(b) + c


def saturated_mul_add24(a: Expr, b: Expr, c: Expr) -> Expr:
    exact = low24(a).to(I64) * low24(b).to(I64) + c.to(I64)
    low, high = (0, (1 << 32) - 1) if c.type is U32 else (-(1 << 31), (1 << 31) - 1)
    return limited(exact, low, high).to(c.type)


for t, wide in (("i32", I64), ("u32", U64)):
    short = f"{t}_{t[0]}24"
    op(f"v_mul_{short}", f"{t} {t} -> {t}", lambda a, b: low24(a) * low24(b))
    op(
        f"v_mul_hi_{short}",
        f"{t} {t} -> {t}",
        lambda a, b, w=wide: ((low24(a).to(w) * low24(b).to(w)) >> 32).to(a.type),
    )
    op(f"v_mad_{short}", f"{t} {t} {t} -> {t}", mul_add24, saturated=saturated_mul_add24)

for t, wide in (("u16", U32), ("i16", I32)):
    narrow = U16 if t == "u16" else I16
    op(f"v_mad_legacy_{t}", f"{t} {t} {t} -> {t}", multiply_add, saturated=saturating(multiply_add, narrow))
    valu(
        f"v_mad_{t}",
        f"{t} {t} {t} -> {t}",
        multiply_add,
        saturated=saturating(multiply_add, narrow),
        rest="keep",
        cite=f"{CITE}; {KEEP}",
    )
    op(
        f"v_mad_{wide}_{t}",
        f"{t} {t} {wide} -> {wide}",
        lambda a, b, c: a.to(c.type) * b.to(c.type) + c,
        saturated=saturating(multiply_add, wide),
    )


def mad_u64(a: Expr, b: Expr, c: Expr) -> tuple[Expr, Expr]:
    total = a.to(U64) * b.to(U64) + c
    return total, total < c


def mad_i64(a: Expr, b: Expr, c: Expr) -> tuple[Expr, Expr]:
    """The mask is bit 64 of the 65-bit sum: its sign, which differs from bit 63's on overflow."""
    product = a.to(I64) * b.to(I64)
    total = product + c
    overflow = ((product ^ total) & (c ^ total)) < 0
    return total, (total < 0) ^ overflow


op("v_mad_u64_u32 v_mad_co_u64_u32", "u32 u32 u64 -> u64 mask", mad_u64)
op("v_mad_i64_i32 v_mad_co_i64_i32", "i32 i32 i64 -> i64 mask", mad_i64)

op("v_bfrev_b32", "u32 -> u32", bitreverse)
op("v_ffbh_u32 v_clz_i32_u32", "u32 -> i32", lambda a: select(a == 0, const(U32, -1), clz(a)).to(I32))
op("v_ffbl_b32 v_ctz_i32_b32", "u32 -> i32", lambda a: select(a == 0, const(U32, -1), ctz(a)).to(I32))


def leading_sign_bits(a: Expr) -> Expr:
    """Position from the top of the first bit that differs from the sign, -1 if none does."""
    changed = (a ^ (a >> 31)).bits(U32)
    return select(changed == 0, const(U32, -1), clz(changed)).to(I32)


op("v_ffbh_i32 v_cls_i32", "i32 -> i32", leading_sign_bits)
op("v_bcnt_u32_b32", "u32 u32 -> u32", lambda a, b: popcount(a) + b)
op("v_bfm_b32", "u32 u32 -> u32", lambda n, s: ((const(U32, 1) << n) - 1) << s)
op("v_bfe_u32", "u32 u32 u32 -> u32", lambda a, s, n: (a >> s) & ((const(U32, 1) << n) - 1))


def bit_field_signed(a: Expr, start: Expr, width: Expr) -> Expr:
    """Bits start .. start + width - 1, sign-extended from the top one; 0 for a width of 0 modulo 32."""
    count = width & 31
    mask = ((const(U32, 1) << count) - 1).bits(I32)
    sign = ((const(U32, 1) << (count - 1)) & mask.bits(U32)).bits(I32)
    value = (a >> start) & mask
    return (value ^ sign) - sign


op("v_bfe_i32", "i32 u32 u32 -> i32", bit_field_signed)


def next_random(state: Expr) -> Expr:
    """One step of a 32-bit linear feedback shift register."""
    return (state << 1) ^ select(state.bits(I32) < 0, const(U32, 197), const(U32, 0))


op("v_prng_b32", "u32 -> u32", next_random, targets=GFX950 | GFX1250, cite="AMD CDNA4 ISA, chapter 12 (VOP1)")

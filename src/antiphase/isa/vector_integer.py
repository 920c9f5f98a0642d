"""Vector integer arithmetic, shifts and logic: VOP1, VOP2 and VOP3."""

from __future__ import annotations

import functools

from antiphase.isa._expr import (
    I16, I32, I64, U8, U16, U32, U64, Expr, Type, bitreverse, clz, concat, const, ctz, lane_id, maximum, minimum,
    popcount, select, truth_table,
)  # fmt: skip
from antiphase.isa._floats import limited
from antiphase.isa._record import valu

CITE = "AMD Instinct MI300 CDNA3 ISA, chapter 12 (VOP1, VOP2, VOP3)"
KEEP = "LLVM GCNSubtarget::zeroesHigh16BitsOfDest (the gfx9 forms with op_sel keep the other half)"
GFX950 = frozenset({"gfx950"})
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


def saturating(f: object, narrow: Type) -> object:
    """The exact result of an integer function limited to what `narrow` holds. Computed in 64 bits."""

    def semantics(*sources: Expr) -> Expr:
        exact = f(*(s.to(I64) for s in sources))  # type: ignore[operator]
        low, high = (-(1 << narrow.bits - 1), (1 << narrow.bits - 1) - 1) if narrow.kind == "i" else (0, (1 << narrow.bits) - 1)
        return limited(exact, low, high).to(narrow)

    return semantics


def first(f: object) -> object:
    """Saturating sums keep their carry: the sum limited, the carry of the plain instruction."""

    def semantics(*sources: Expr) -> tuple[Expr, Expr]:
        total, carry = f(*sources)  # type: ignore[operator]
        edge = const(U32, 0xFFFFFFFF if f in (add_carry, add_with_carry) else 0)
        return select(carry, edge, total), carry

    return semantics


ADD = lambda a, b: a + b  # noqa: E731
SUB = lambda a, b: a - b  # noqa: E731
REVERSED_SUB = lambda a, b: b - a  # noqa: E731
MUL_ADD = lambda a, b, c: a * b + c  # noqa: E731
BORROW = lambda a, b: (a - b, a < b)  # noqa: E731
REVERSED_BORROW = lambda a, b: (b - a, b < a)  # noqa: E731
REVERSED_SUBB = lambda a, b, c: sub_with_borrow(b, a, c)  # noqa: E731

for names, type_, f in (
    ("v_add_u32 v_add_nc_u32", U32, ADD),
    ("v_sub_u32 v_sub_nc_u32", U32, SUB),
    ("v_subrev_u32 v_subrev_nc_u32", U32, REVERSED_SUB),
    ("v_add_i32 v_add_nc_i32", I32, ADD),
    ("v_sub_i32 v_sub_nc_i32", I32, SUB),
    ("v_add_u16 v_add_nc_u16", U16, ADD),
    ("v_sub_u16 v_sub_nc_u16", U16, SUB),
    ("v_subrev_u16", U16, REVERSED_SUB),
    ("v_mul_lo_u16", U16, lambda a, b: a * b),
):
    op(names, f"{type_} {type_} -> {type_}", f, saturated=saturating(f, type_))
for names, f in (("v_add_i16 v_add_nc_i16", ADD), ("v_sub_i16 v_sub_nc_i16", SUB)):
    valu(names, "i16 i16 -> i16", f, saturated=saturating(f, I16), rest="keep", cite=f"{CITE}; {KEEP}")

for names, f in (
    ("v_add_co_u32", add_carry), ("v_sub_co_u32", BORROW), ("v_subrev_co_u32", REVERSED_BORROW),
):  # fmt: skip
    op(names, "u32 u32 -> u32 mask", f, saturated=first(f))
for names, f in (
    ("v_addc_co_u32 v_add_co_ci_u32", add_with_carry),
    ("v_subb_co_u32 v_sub_co_ci_u32", sub_with_borrow),
    ("v_subbrev_co_u32 v_subrev_co_ci_u32", REVERSED_SUBB),
):
    op(names, "u32 u32 mask -> u32 mask", f, saturated=first(f))

op("v_add3_u32", "u32 u32 u32 -> u32", lambda a, b, c: a + b + c)
op("v_lshl_add_u32", "u32 u32 u32 -> u32", lambda a, n, c: (a << n) + c)
op("v_lshl_add_u64", "u64 u32 u64 -> u64", lambda a, n, c: (a << (n & 7)) + c)
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
    op(f"v_bitop3_b{bits}", f"u{bits} u{bits} u{bits} bitop3 -> u{bits}", truth_table, rest=keep, targets=GFX950)

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
    op(f"v_mad_legacy_{t}", f"{t} {t} {t} -> {t}", MUL_ADD, saturated=saturating(MUL_ADD, narrow))
    valu(
        f"v_mad_{t}",
        f"{t} {t} {t} -> {t}",
        MUL_ADD,
        saturated=saturating(MUL_ADD, narrow),
        rest="keep",
        cite=f"{CITE}; {KEEP}",
    )
    op(
        f"v_mad_{wide}_{t}",
        f"{t} {t} {wide} -> {wide}",
        lambda a, b, c: a.to(c.type) * b.to(c.type) + c,
        saturated=saturating(MUL_ADD, wide),
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
    """Bits start .. start + width - 1, sign-extended from the top one; 0 for a width of 0 (width modulo 32)."""
    count = width & 31
    mask = ((const(U32, 1) << count) - 1).bits(I32)
    sign = ((const(U32, 1) << (count - 1)) & mask.bits(U32)).bits(I32)
    value = (a >> start) & mask
    return (value ^ sign) - sign


op("v_bfe_i32", "i32 u32 u32 -> i32", bit_field_signed)


def lanes_below(first_lane_of_half: int, mask: Expr, base: Expr) -> Expr:
    """base plus the set bits of the mask below this lane; the mask covers 32 lanes from the given one."""
    lane = lane_id()
    start = const(U32, first_lane_of_half)
    inside = (const(U32, 1) << (lane - start)) - 1
    below = select(lane < start, const(U32, 0), select(lane >= start + 32, const(U32, -1), inside))
    return popcount(mask & below) + base


op("v_mbcnt_lo_u32_b32", "u32 u32 -> u32", functools.partial(lanes_below, 0))
op("v_mbcnt_hi_u32_b32", "u32 u32 -> u32", functools.partial(lanes_below, 32))


def selected_byte(a: Expr, b: Expr, selector: Expr) -> Expr:
    """One byte of v_perm_b32: 0-3 of b, 4-7 of a, 8-11 the sign of byte 1, 3, 5, 7 spread, 12 zero, above it 0xff."""
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
        targets=GFX950,
        cite="AMD CDNA4 ISA, chapter 12 (VOP3)",
    )
op("v_sat_pk_u8_i16", "u32 -> u16", lambda a: limit_byte(a.bits(I32).to(I16), 0, 255) | (limit_byte((a >> 16).to(U16).bits(I16), 0, 255) << 8))
op("v_prng_b32", "u32 -> u32", lambda a: (a << 1) ^ select(a.bits(I32) < 0, const(U32, 197), const(U32, 0)), targets=GFX950)

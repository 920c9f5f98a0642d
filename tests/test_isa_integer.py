"""Vector integer instructions against NumPy on edges and random values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from isa_harness import Machine, record, run

RNG = np.random.default_rng(20)
EDGES = np.array([0, 1, 2, 31, 32, 0x7FFF, 0x8000, 0xFFFF, 0xFFFFFF, 0x800000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF])
WORDS = np.concatenate([EDGES, RNG.integers(0, 1 << 32, 51)]).astype(np.uint32)
A, B = (x.ravel() for x in np.meshgrid(WORDS, WORDS))
C = RNG.permutation(B)
LONG = (A.astype(np.uint64) << np.uint64(32)) | C
U64, I64, U32, I32 = np.uint64, np.int64, np.uint32, np.int32

Reference = Callable[..., np.ndarray]
WRAP = 1 << 32


def signed(x: np.ndarray) -> np.ndarray:
    """Register values as Python-sized signed integers."""
    return x.astype(U32).view(I32).astype(I64)


def plain(x: np.ndarray) -> np.ndarray:
    return x.astype(I64)


def low16(x: np.ndarray) -> np.ndarray:
    return (x & 0xFFFF).astype(I64)


def signed16(x: np.ndarray) -> np.ndarray:
    return x.astype(np.uint16).view(np.int16).astype(I64)


def low24(x: np.ndarray) -> np.ndarray:
    return plain(x) & 0xFFFFFF


def signed24(x: np.ndarray) -> np.ndarray:
    return (low24(x) ^ 0x800000) - 0x800000


def shift(x: np.ndarray, bits: int = 32) -> np.ndarray:
    return plain(x) % bits


def bit_count(x: np.ndarray) -> np.ndarray:
    return np.array([int(v).bit_count() for v in x])


def leading(x: np.ndarray) -> np.ndarray:
    return np.array([32 - int(v).bit_length() if v else -1 for v in x])


def trailing(x: np.ndarray) -> np.ndarray:
    return np.array([(int(v) & -int(v)).bit_length() - 1 for v in x])


def sad(a: np.ndarray, b: np.ndarray, masked: bool = False) -> np.ndarray:
    x, y = (v.astype(U32).view(np.uint8).reshape(-1, 4).astype(I64) for v in (a, b))
    return np.where((y == 0) & masked, 0, abs(x - y)).sum(axis=1)


def dot(a: np.ndarray, b: np.ndarray, bits: int, sign: bool) -> np.ndarray:
    def fields(x: np.ndarray) -> np.ndarray:
        parts = np.stack([(plain(x) >> at) & ((1 << bits) - 1) for at in range(0, 32, bits)], axis=1)
        return (parts ^ (1 << bits - 1)) - (1 << bits - 1) if sign else parts

    return (fields(a) * fields(b)).sum(axis=1)


UNARY: dict[str, Reference] = {
    "v_not_b32": lambda a: ~plain(a),
    "v_mov_b32": plain,
    "v_bfrev_b32": lambda a: np.array([int(f"{v:032b}"[::-1], 2) for v in a]),
    "v_ffbh_u32": leading,
    "v_ffbl_b32": trailing,
    "v_ffbh_i32": lambda a: leading(np.where(signed(a) < 0, ~a, a).astype(U32)),
    "v_prng_b32": lambda a: (plain(a) << 1) ^ np.where(signed(a) < 0, 197, 0),
    "v_sat_pk_u8_i16": lambda a: np.clip(signed16(a), 0, 255) | (np.clip(signed16(a >> 16), 0, 255) << 8),
}
BINARY: dict[str, Reference] = {
    "v_add_u32": lambda a, b: plain(a) + b,
    "v_sub_u32": lambda a, b: plain(a) - b,
    "v_subrev_u32": lambda a, b: plain(b) - a,
    "v_and_b32": lambda a, b: plain(a) & b,
    "v_or_b32": lambda a, b: plain(a) | b,
    "v_xor_b32": lambda a, b: plain(a) ^ b,
    "v_xnor_b32": lambda a, b: ~(plain(a) ^ b),
    "v_lshlrev_b32": lambda a, b: plain(b) << shift(a),
    "v_lshrrev_b32": lambda a, b: plain(b) >> shift(a),
    "v_ashrrev_i32": lambda a, b: signed(b) >> shift(a),
    "v_min_i32": lambda a, b: np.minimum(signed(a), signed(b)),
    "v_max_i32": lambda a, b: np.maximum(signed(a), signed(b)),
    "v_min_u32": np.minimum,
    "v_max_u32": np.maximum,
    "v_mul_lo_u32": lambda a, b: a * b,
    "v_mul_hi_u32": lambda a, b: (a.astype(U64) * b) >> U64(32),
    "v_mul_hi_i32": lambda a, b: (signed(a) * signed(b)) >> 32,
    "v_mul_u32_u24": lambda a, b: low24(a) * low24(b),
    "v_mul_hi_u32_u24": lambda a, b: (low24(a) * low24(b)) >> 32,
    "v_mul_i32_i24": lambda a, b: signed24(a) * signed24(b),
    "v_mul_hi_i32_i24": lambda a, b: (signed24(a) * signed24(b)) >> 32,
    "v_bcnt_u32_b32": lambda a, b: bit_count(a) + b,
    "v_bfm_b32": lambda a, b: ((1 << shift(a)) - 1) << shift(b),
    "v_cvt_pk_u16_u32": lambda a, b: np.minimum(plain(a), 65535) | (np.minimum(plain(b), 65535) << 16),
    "v_cvt_pk_i16_i32": lambda a, b: (
        (np.clip(signed(a), -32768, 32767) & 0xFFFF) | ((np.clip(signed(b), -32768, 32767) & 0xFFFF) << 16)
    ),
}
HALVES: dict[str, Reference] = {
    "v_add_u16": lambda a, b: low16(a) + low16(b),
    "v_sub_u16": lambda a, b: low16(a) - low16(b),
    "v_subrev_u16": lambda a, b: low16(b) - low16(a),
    "v_mul_lo_u16": lambda a, b: low16(a) * low16(b),
    "v_lshlrev_b16": lambda a, b: low16(b) << shift(a, 16),
    "v_lshrrev_b16": lambda a, b: low16(b) >> shift(a, 16),
    "v_ashrrev_i16": lambda a, b: signed16(b) >> shift(a, 16),
    "v_max_i16": lambda a, b: np.maximum(signed16(a), signed16(b)),
    "v_min_u16": lambda a, b: np.minimum(low16(a), low16(b)),
    "v_pk_add_u16": lambda a, b: low16(a) + low16(b),
    "v_pk_max_i16": lambda a, b: np.maximum(signed16(a), signed16(b)),
}
TERNARY: dict[str, Reference] = {
    "v_add3_u32": lambda a, b, c: plain(a) + b + c,
    "v_lshl_add_u32": lambda a, b, c: (plain(a) << shift(b)) + c,
    "v_add_lshl_u32": lambda a, b, c: ((plain(a) + b) % WRAP) << shift(c),
    "v_lshl_or_b32": lambda a, b, c: (plain(a) << shift(b)) | c,
    "v_and_or_b32": lambda a, b, c: (plain(a) & b) | c,
    "v_or3_b32": lambda a, b, c: plain(a) | b | c,
    "v_xad_u32": lambda a, b, c: (plain(a) ^ b) + c,
    "v_bfi_b32": lambda a, b, c: (plain(a) & b) | (~plain(a) & c),
    "v_mad_u32_u24": lambda a, b, c: low24(a) * low24(b) + c,
    "v_mad_i32_i24": lambda a, b, c: signed24(a) * signed24(b) + signed(c),
    "v_mad_u32_u16": lambda a, b, c: low16(a) * low16(b) + c,
    "v_mad_i32_i16": lambda a, b, c: signed16(a) * signed16(b) + signed(c),
    "v_bfe_u32": lambda a, b, c: (plain(a) >> shift(b)) & ((1 << shift(c)) - 1),
    "v_alignbit_b32": lambda a, b, c: ((plain(a) << 32 | b) >> shift(c)) & 0xFFFFFFFF,
    "v_alignbyte_b32": lambda a, b, c: ((plain(a) << 32 | b) >> (8 * shift(c, 4))) & 0xFFFFFFFF,
    "v_min3_u32": lambda a, b, c: np.minimum(np.minimum(a, b), c),
    "v_max3_i32": lambda a, b, c: np.maximum(np.maximum(signed(a), signed(b)), signed(c)),
    "v_med3_i32": lambda a, b, c: np.sort([signed(a), signed(b), signed(c)], axis=0)[1],
    "v_med3_u32": lambda a, b, c: np.sort([a, b, c], axis=0)[1],
    "v_sad_u8": lambda a, b, c: sad(a, b) + c,
    "v_msad_u8": lambda a, b, c: sad(a, b, True) + c,
    "v_sad_hi_u8": lambda a, b, c: (sad(a, b) << 16) + c,
    "v_sad_u16": lambda a, b, c: abs(low16(a) - low16(b)) + abs(low16(a >> 16) - low16(b >> 16)) + c,
    "v_sad_u32": lambda a, b, c: abs(plain(a) - b) + c,
    **{
        f"v_dot{32 // bits}_{t}_{t[0]}{bits}": lambda a, b, c, bits=bits, t=t: dot(a, b, bits, t == "i32") + c
        for bits in (4, 8, 16)
        for t in ("i32", "u32")
    },
}


@pytest.fixture(scope="module")
def machine() -> Machine:
    """All records of the tables, compiled together."""
    result = Machine()
    for name in [*UNARY, *BINARY, *HALVES, *TERNARY]:
        result.add_record(record(name))
    return result


@pytest.mark.parametrize("name", [*UNARY, *BINARY, *HALVES, *TERNARY])
def test_agrees_with_numpy(machine: Machine, name: str) -> None:
    sources = (A,) if name in UNARY else (A, B, C) if name in TERNARY else (A, B)
    reference = {**UNARY, **BINARY, **HALVES, **TERNARY}[name]
    (result,) = machine(machine.add_record(record(name)), *sources)
    bits = 8 * result.itemsize
    expected = np.asarray(reference(*sources)).astype(I64) & ((1 << bits) - 1)
    np.testing.assert_array_equal(result.astype(I64) & ((1 << bits) - 1), expected)


def test_signed_field_extract() -> None:
    (result,) = run("v_bfe_i32", A, B, C)
    for value, a, b, c in zip(result[:600], A, B, C, strict=False):
        width = int(c) % 32
        field = (signed(np.array([a]))[0] >> (int(b) % 32)) & ((1 << width) - 1)
        assert value == (field - (1 << width) if width and field >> (width - 1) else field)


LIMITS = {"u32": (0, WRAP - 1), "i32": (-(1 << 31), (1 << 31) - 1), "u16": (0, 65535), "i16": (-32768, 32767)}


@pytest.mark.parametrize("type_", LIMITS)
@pytest.mark.parametrize("name", ["add", "sub"])
def test_clamp_saturates(name: str, type_: str) -> None:
    (result,) = run(f"v_{name}_{type_}", A, B, saturated=True)
    read = {"u32": plain, "i32": signed, "u16": low16, "i16": signed16}[type_]
    exact = read(A) + read(B) if name == "add" else read(A) - read(B)
    np.testing.assert_array_equal(result.astype(I64), np.clip(exact, *LIMITS[type_]))


def test_saturated_multiply_add() -> None:
    (result,) = run("v_mad_i32_i24", A, B, C, saturated=True)
    np.testing.assert_array_equal(result, np.clip(signed24(A) * signed24(B) + signed(C), *LIMITS["i32"]))
    (result,) = run("v_dot4_i32_i8", A, B, C, saturated=True)
    np.testing.assert_array_equal(result, np.clip(dot(A, B, 8, True) + signed(C), *LIMITS["i32"]))


def test_carries() -> None:
    carry = (C & 1).astype(np.uint8)
    total = plain(A) + B
    for name, exact in (
        ("v_add_co_u32", total),
        ("v_sub_co_u32", plain(A) - B),
        ("v_subrev_co_u32", plain(B) - A),
    ):
        value, mask = run(name, A, B)
        np.testing.assert_array_equal(value, exact.astype(U32))
        np.testing.assert_array_equal(mask, (exact < 0) | (exact >= WRAP))
    for name, exact in (
        ("v_addc_co_u32", total + carry),
        ("v_subb_co_u32", plain(A) - B - carry),
        ("v_subbrev_co_u32", plain(B) - A - carry),
    ):
        value, mask = run(name, A, B, carry)
        np.testing.assert_array_equal(value, exact.astype(U32))
        np.testing.assert_array_equal(mask, (exact < 0) | (exact >= WRAP))


def test_64_bit_multiply_add() -> None:
    value, mask = run("v_mad_u64_u32", A, B, LONG)
    exact = [int(a) * int(b) + int(c) for a, b, c in zip(A, B, LONG, strict=True)]
    np.testing.assert_array_equal(value, np.array([v % (1 << 64) for v in exact], U64))
    np.testing.assert_array_equal(mask, [v >> 64 for v in exact])
    value, mask = run("v_mad_i64_i32", signed(A), signed(B), LONG.view(I64))
    exact = [int(a) * int(b) + int(c) for a, b, c in zip(signed(A), signed(B), LONG.view(I64), strict=True)]
    np.testing.assert_array_equal(value.view(U64), np.array([v % (1 << 64) for v in exact], U64))
    np.testing.assert_array_equal(mask, [(v >> 64) & 1 for v in exact])


def test_64_bit_shifts() -> None:
    count = plain(A) % 64
    np.testing.assert_array_equal(run("v_lshlrev_b64", A, LONG)[0], LONG << count.astype(U64))
    np.testing.assert_array_equal(run("v_lshrrev_b64", A, LONG)[0], LONG >> count.astype(U64))
    np.testing.assert_array_equal(run("v_ashrrev_i64", A, LONG.view(I64))[0], LONG.view(I64) >> count)
    np.testing.assert_array_equal(
        run("v_lshl_add_u64", LONG, A, LONG[::-1])[0], (LONG << np.where(A % 8 > 4, 0, A % 8).astype(U64)) + LONG[::-1]
    )


@pytest.mark.parametrize("table", [0, 0x01, 0x1B, 0x40, 0x96, 0xC8, 0xCA, 0xE8, 0xFF, *RNG.integers(0, 256, 6)])
def test_truth_table(table: int) -> None:
    (result,) = run("v_bitop3_b32", A, B, C, 0, constants={3: int(table)})
    expected = np.zeros_like(A)
    for entry in range(8):
        terms = [x if entry >> (2 - i) & 1 else ~x for i, x in enumerate((A, B, C))]
        if table >> entry & 1:
            expected |= terms[0] & terms[1] & terms[2]
    np.testing.assert_array_equal(result, expected)


def test_byte_permute() -> None:
    # every selector in every position, 13 and above alike
    selectors = np.array([s | (s * 7 % 16) << 8 | (s * 5 % 16) << 16 | (255 - s) << 24 for s in range(16)], U32)
    a, b = A[: len(selectors)], RNG.integers(0, 1 << 32, len(selectors)).astype(U32)
    (result,) = run("v_perm_b32", a, b, selectors)
    for value, x, y, selector in zip(result, a, b, selectors, strict=True):
        data = int(y).to_bytes(4, "little") + int(x).to_bytes(4, "little")
        expected = []
        for s in int(selector).to_bytes(4, "little"):
            if s < 8:
                expected.append(data[s])
            elif s < 12:
                expected.append(255 * (data[2 * (s - 8) + 1] >> 7))
            else:
                expected.append(0 if s == 12 else 255)
        assert int(value).to_bytes(4, "little") == bytes(expected)


def test_counts_of_lower_lanes() -> None:
    mask = 0xA5A5F00F_3C3C1234
    lanes = np.arange(64)
    (low,) = run("v_mbcnt_lo_u32_b32", np.full(64, mask & 0xFFFFFFFF), np.full(64, 7))
    (both,) = run("v_mbcnt_hi_u32_b32", np.full(64, mask >> 32), low)
    np.testing.assert_array_equal(both, [7 + (mask & ((1 << int(n)) - 1)).bit_count() for n in lanes])

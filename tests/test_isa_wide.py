"""gfx950's conversions of 32 values at once, quad sums of absolute differences, segments of 2 / pi."""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from isa_harness import DTYPES, LANES, run

RNG = np.random.default_rng(24)
FORMS = {"fp6": ml_dtypes.float6_e2m3fn, "bf6": ml_dtypes.float6_e3m2fn}
LARGEST = {"fp6": 7.5, "bf6": 28.0}


def registers(rows: np.ndarray) -> list[np.ndarray]:
    """Lane values of consecutive registers from one row of bytes a lane."""
    return list(np.ascontiguousarray(rows).view(np.uint32).T)


def packed(codes: np.ndarray) -> np.ndarray:
    """32 six-bit codes a lane as 24 bytes."""
    bits = (codes[:, :, None] >> np.arange(6)) & 1
    return np.packbits(bits.reshape(len(codes), -1).astype(np.uint8), axis=1, bitorder="little")


@pytest.mark.parametrize("t", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("form", FORMS)
def test_decode(form: str, t: str) -> None:
    codes = RNG.integers(0, 64, (LANES, 32)).astype(np.uint8)
    result = run(f"v_cvt_scalef32_pk32_{t}_{form}", *registers(packed(codes)), np.full(LANES, 4.0))
    values = np.stack(result, axis=1).view(DTYPES[t])
    np.testing.assert_array_equal(values, (codes.view(FORMS[form]).astype(np.float32) * 4).astype(DTYPES[t]))


@pytest.mark.parametrize("t", ["f16", "bf16"])
@pytest.mark.parametrize("form", FORMS)
def test_encode(form: str, t: str) -> None:
    x = np.clip(RNG.standard_normal((LANES, 32)) * 3, -7.5, 7.5).astype(DTYPES[t])
    result = run(f"v_cvt_scalef32_pk32_{form}_{t}", *registers(x), np.full(LANES, 0.5))
    expected = np.clip(x.astype(np.float32) * 2, -LARGEST[form], LARGEST[form]).astype(FORMS[form]).view(np.uint8)
    np.testing.assert_array_equal(np.stack(result, axis=1), packed(expected).view(np.uint32))


@pytest.mark.parametrize("form", FORMS)
def test_encode_two_operands_interleaves(form: str) -> None:
    a, b = (np.clip(RNG.standard_normal((LANES, 16)), -7, 7).astype(np.float32) for _ in range(2))
    result = run(f"v_cvt_scalef32_2xpk16_{form}_f32", *registers(a), *registers(b), np.ones(LANES))
    mixed = np.stack([a, b], axis=2).reshape(LANES, 32).astype(FORMS[form]).view(np.uint8)
    np.testing.assert_array_equal(np.stack(result, axis=1), packed(mixed).view(np.uint32))


def test_stochastic_encode_brackets_the_value() -> None:
    x = RNG.uniform(-7, 7, (LANES, 32)).astype(np.float32)
    random = RNG.integers(0, 1 << 32, LANES)
    result = run("v_cvt_scalef32_sr_pk32_fp6_f32", *registers(x), random, np.ones(LANES))
    bits = np.unpackbits(np.stack(result, axis=1).view(np.uint8), axis=1, bitorder="little").reshape(LANES, 32, 6)
    codes = (bits << np.arange(6)).sum(axis=2).astype(np.uint8)
    values = codes.view(FORMS["fp6"]).astype(np.float32)
    step = np.maximum(np.exp2(np.floor(np.log2(abs(x)))), 1) / 8
    assert (abs(values - x) < step).all()
    assert 0.3 < (abs(values) > abs(x)).mean() < 0.7


def test_quad_sums_of_differences() -> None:
    a, b = (
        RNG.integers(0, 1 << 62, LANES).astype(np.uint64),
        RNG.integers(0, 1 << 32, LANES).astype(np.uint32),
    )
    b[:4] = [0, 0xFF, 0xFF00, 0xFFFFFFFF]
    start = [RNG.integers(0, 1 << 15, LANES) for _ in range(4)]
    windows = [((a >> np.uint64(8 * i)) & np.uint64(0xFFFFFFFF)).astype(np.uint32) for i in range(4)]

    def sums(masked: bool) -> list[np.ndarray]:
        y = b.view(np.uint8).reshape(-1, 4).astype(int)
        terms = [abs(w.view(np.uint8).reshape(-1, 4).astype(int) - y) * ((y != 0) | (not masked)) for w in windows]
        return [t.sum(axis=1) + s for t, s in zip(terms, start, strict=True)]

    for got, expected in zip(run("v_mqsad_u32_u8", a, b, *start), sums(True), strict=True):
        np.testing.assert_array_equal(got, expected)
    total = sum(s.astype(np.uint64) << np.uint64(16 * i) for i, s in enumerate(start))
    for name, masked in (("v_qsad_pk_u16_u8", False), ("v_mqsad_pk_u16_u8", True)):
        (result,) = run(name, a, b, total)
        np.testing.assert_array_equal(result.view(np.uint16).reshape(-1, 4).T, sums(masked))


PI = Fraction(31415926535897932384626433832795028841971693993751058209749445923078164062862090, 10**79)


def test_segments_add_up_to_two_over_pi() -> None:
    (parts,) = run("v_trig_preop_f64", np.ones(5), np.arange(5))
    total = Fraction(0)
    for i, part in enumerate(parts):
        assert 0 <= part < 2.0 ** (-53 * i)
        total += Fraction(float(part))
    assert 0 <= 2 / PI - total < Fraction(1, 2**258)
    # each power of two beyond 2 ** 54 moves the segments on by a bit
    (moved,) = run("v_trig_preop_f64", np.array([2.0**55]), np.array([0]))
    assert Fraction(float(moved[0])) == Fraction(int(2 / PI * 2**54) % 2**53, 2**54)

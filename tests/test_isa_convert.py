"""Conversions: integers, halves, bfloat, normalised integers; floats of 8 and 4 bits against ml_dtypes."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from isa_harness import DTYPES, Machine, record, run

from antiphase.machine.llvm._lower import FloatMode

np.seterr(all="ignore")
RNG = np.random.default_rng(22)
LIMITS = {"i32": (-(2**31), 2**31 - 1), "u32": (0, 2**32 - 1), "i16": (-32768, 32767), "u16": (0, 65535)}
SPECIAL = np.array(
    [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, 255.5, 65519.9, 65520, 1e5, 3e9, 5e9, 1e30, 1e-8, 1e-45, np.inf, np.nan]
)
SPREAD = RNG.standard_normal(400) * np.exp2(RNG.uniform(-30, 40, 400))
FLOATS = np.concatenate([SPECIAL, -SPECIAL, SPREAD])
ALL_CODES = np.arange(256, dtype=np.uint8)
OVERFLOW = FloatMode(fp16_ovfl=True)


def same(result: np.ndarray, expected: np.ndarray) -> None:
    nan = np.isnan(expected)
    np.testing.assert_array_equal(np.isnan(result), nan)
    np.testing.assert_array_equal(result[~nan].view(f"u{result.itemsize}"), expected[~nan].view(f"u{result.itemsize}"))


@pytest.mark.parametrize(("result", "source"), [
    ("i32", "f64"), ("i32", "f32"), ("u32", "f32"), ("u32", "f64"), ("i16", "f16"), ("u16", "f16"),
])  # fmt: skip
def test_to_integers_truncates_and_saturates(result: str, source: str) -> None:
    x = FLOATS.astype(DTYPES[source])
    (value,) = run(f"v_cvt_{result}_{source}", x)
    wide = np.nan_to_num(np.trunc(x.astype(np.float64)), nan=0.0, posinf=1e300, neginf=-1e300)
    np.testing.assert_array_equal(value.astype(np.int64), np.clip(wide, *LIMITS[result]).astype(np.int64))


@pytest.mark.parametrize(("result", "source"), [
    ("f64", "i32"), ("f64", "u32"), ("f32", "i32"), ("f32", "u32"), ("f16", "i16"), ("f16", "u16"),
    ("f32", "f64"), ("f64", "f32"), ("f16", "f32"), ("f32", "f16"), ("f32", "bf16"),
])  # fmt: skip
def test_to_floats_rounds_to_nearest_even(result: str, source: str) -> None:
    dtype = DTYPES[source]
    x = RNG.integers(0, 256, 4096 * dtype.itemsize).astype(np.uint8).view(dtype)
    x = np.concatenate([x, FLOATS.astype(dtype)]) if source[0] in "fb" else x
    same(run(f"v_cvt_{result}_{source}", x)[0], x.astype(DTYPES[result]))


def test_bytes_and_offsets() -> None:
    word = np.array([0xFF804001], np.uint32)
    assert [run(f"v_cvt_f32_ubyte{n}", word)[0][0] for n in range(4)] == [1, 64, 128, 255]
    (offsets,) = run("v_cvt_off_f32_i4", np.arange(16))
    np.testing.assert_array_equal(offsets, [n / 16 for n in [*range(8), *range(-8, 0)]])
    (packed,) = run("v_cvt_pk_u8_f32", np.array([-3.0, 7.9, 300.0, np.nan]), np.arange(4), np.full(4, 0x11223344))
    assert [hex(v) for v in packed] == ["0x11223300", "0x11220744", "0x11ff3344", "0x223344"]
    assert run("v_cvt_rpi_i32_f32", np.array([2.5]))[0][0] == 3
    assert run("v_cvt_flr_i32_f32", np.array([-2.5]))[0][0] == -3


def test_half_pairs() -> None:
    x = FLOATS.astype(np.float32)
    near, turned = run("v_cvt_pk_f16_f32", x, x[::-1])
    same(near, x.astype(np.float16))
    same(turned, x[::-1].astype(np.float16))
    low, _ = run("v_cvt_pkrtz_f16_f32", x, x)
    finite = np.isfinite(x)
    expected = x[finite].astype(np.float16)
    away = abs(expected.astype(np.float32)) > abs(x[finite])
    expected[away] = np.nextafter(expected[away], np.float16(0))
    np.testing.assert_array_equal(low[finite], expected)
    np.testing.assert_array_equal(np.isnan(low), np.isnan(x))
    np.testing.assert_array_equal(np.isinf(low), np.isinf(x))
    bf16, _ = run("v_cvt_pk_bf16_f32", x, x)
    same(bf16, x.astype(ml_dtypes.bfloat16))
    assert run("v_cvt_f16_f32", np.array([1e6, np.inf]), mode=OVERFLOW)[0].tolist() == [65504, np.inf]


def test_normalised_integers() -> None:
    x = np.array([-2.0, -1.0, 0.0, 0.5, 1.0, 2.0, np.nan, np.inf], np.float32)
    (signed,) = run("v_cvt_pknorm_i16_f32", x, x)
    assert signed.view(np.int16)[::2].tolist() == [-32767, -32767, 0, 16384, 32767, 32767, 0, 32767]
    (unsigned,) = run("v_cvt_pknorm_u16_f32", x, x)
    assert unsigned.view(np.uint16)[1::2].tolist() == [0, 0, 0, 32768, 65535, 65535, 0, 65535]


FORMATS = {
    ("fp8", "gfx942"): ml_dtypes.float8_e4m3fnuz, ("bf8", "gfx942"): ml_dtypes.float8_e5m2fnuz,
    ("fp8", "gfx950"): ml_dtypes.float8_e4m3fn, ("bf8", "gfx950"): ml_dtypes.float8_e5m2,
}  # fmt: skip
EVERY = pytest.mark.parametrize(("name", "target"), FORMATS)


@EVERY
def test_8_bit_floats_decode(name: str, target: str) -> None:
    expected = ALL_CODES.view(FORMATS[name, target]).astype(np.float32)
    same(run(f"v_cvt_f32_{name}", ALL_CODES, target=target)[0], expected)
    pairs = np.concatenate([ALL_CODES, ALL_CODES[::-1]]).view(np.uint16)
    (result,) = run(f"v_cvt_pk_f32_{name}", pairs, target=target)
    same(result.view(np.float32), pairs.view(FORMATS[name, target]).astype(np.float32))


@EVERY
def test_8_bit_floats_encode(name: str, target: str) -> None:
    form = FORMATS[name, target]
    x = np.concatenate([FLOATS.astype(np.float32), RNG.standard_normal(2000).astype(np.float32) * 30])
    x = np.concatenate([x, ALL_CODES.view(form).astype(np.float32), 1.0625 * ALL_CODES.view(form).astype(np.float32)])
    (result,) = run(f"v_cvt_pk_{name}_f32", x, x[::-1], target=target)
    for got, given in ((result & 0xFF, x), (result >> 8, x[::-1])):
        expected = given.astype(form)
        nan = np.isnan(expected.astype(np.float32))
        codes = got.astype(np.uint8)
        np.testing.assert_array_equal(np.isnan(codes.view(form).astype(np.float32)), nan)
        np.testing.assert_array_equal(codes[~nan], expected[~nan].view(np.uint8))


@EVERY
def test_8_bit_overflow_mode_stops_at_the_largest(name: str, target: str) -> None:
    form = FORMATS[name, target]
    largest = float(ml_dtypes.finfo(form).max)
    (result,) = run(f"v_cvt_pk_{name}_f32", np.array([1e30, -1e30]), np.zeros(1), target=target, mode=OVERFLOW)
    assert (result & 0xFF).astype(np.uint8).view(form).astype(float).tolist() == [largest, -largest]


@EVERY
def test_stochastic_rounding_is_unbiased(name: str, target: str) -> None:
    form = FORMATS[name, target]
    for value in (1.0, 1.03, -3.3, 0.02, 1e-3, 0.0):
        x = np.full(4096, value, np.float32)
        (codes,) = run(f"v_cvt_sr_{name}_f32", x, RNG.integers(0, 1 << 32, len(x)), target=target)
        results = codes.view(form).astype(np.float64)
        assert len(set(results.tolist())) <= 2
        step = np.ptp(results) if value not in (1.0, 0.0) else 0
        assert abs(results.mean() - np.float32(value)) <= 4 * step / np.sqrt(len(x))


SCALES = np.array([1.0, 2.0, 0.25, 2.0**40, 2.0**-40, 3.0], np.float32)


@pytest.mark.parametrize("t", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("name", ["fp8", "bf8", "fp4"])
def test_scaled_decode(name: str, t: str) -> None:
    form = {"fp8": ml_dtypes.float8_e4m3fn, "bf8": ml_dtypes.float8_e5m2, "fp4": ml_dtypes.float4_e2m1fn}[name]
    machine = Machine()
    key = machine.add_record(record(f"v_cvt_scalef32_pk_{t}_{name}"))
    for scale in SCALES:
        codes = ALL_CODES if name == "fp4" else np.concatenate([ALL_CODES, ALL_CODES[::-1]]).view(np.uint16)
        (result,) = machine(key, codes, np.array([scale]))
        if name == "fp4":
            values = np.stack([(codes & 15), codes >> 4], axis=1).ravel().astype(np.uint8).view(form)
        else:
            values = codes.view(form)
        power = 2.0 ** np.floor(np.log2(scale))
        same(result.view(DTYPES[t]), (values.astype(np.float64) * power).astype(np.float32).astype(DTYPES[t]))


@pytest.mark.parametrize("t", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("name", ["fp8", "bf8", "fp4"])
def test_scaled_encode(name: str, t: str) -> None:
    form = {"fp8": ml_dtypes.float8_e4m3fn, "bf8": ml_dtypes.float8_e5m2, "fp4": ml_dtypes.float4_e2m1fn}[name]
    x = (RNG.standard_normal(1000) * 8).astype(DTYPES[t])
    for scale in (1.0, 4.0, 0.5):
        if t == "f32":
            (result,) = run(f"v_cvt_scalef32_pk_{name}_f32", x, x[::-1], np.array([scale]))
            firsts, seconds = x, x[::-1]
        else:
            words = x.view(np.uint16).view(np.uint32)
            (result,) = run(f"v_cvt_scalef32_pk_{name}_{t}", words, np.array([scale]))
            firsts, seconds = x[::2], x[1::2]
        bits = 4 if name == "fp4" else 8
        low = (firsts.astype(np.float64) / scale).astype(np.float32).astype(form).view(np.uint8)
        high = (seconds.astype(np.float64) / scale).astype(np.float32).astype(form).view(np.uint8)
        np.testing.assert_array_equal(result, low.astype(np.uint16) | (high.astype(np.uint16) << bits))


def test_stochastic_half() -> None:
    x = np.full(4096, 1 + 2.0**-12, np.float32)
    (result,) = run("v_cvt_sr_f16_f32", x, RNG.integers(0, 1 << 32, len(x)))
    assert set(result.tolist()) == {1.0, 1 + 2.0**-10}
    assert abs((result > 1).mean() - 0.25) < 0.03

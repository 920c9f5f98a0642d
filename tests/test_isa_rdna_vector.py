"""Vector arithmetic of GFX11, GFX12 and gfx1250 beside CDNA's."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from isa_harness import Machine, record, run

np.seterr(all="ignore")
RNG = np.random.default_rng(13)
SPECIALS = np.array([0.0, -0.0, 1e-40, -1.5, 1.0, 3e38, -np.inf, np.inf, np.nan, 2.5, -3.4028235e38], np.float32)


def integers(t: str, count: int = 512) -> np.ndarray:
    info = np.iinfo(t)
    edges = [0, 1, info.max, info.min, info.max - 1, info.min + 1]
    return np.concatenate([np.array(edges, t), RNG.integers(info.min, info.max, count, t, endpoint=True)])


def exact(a: np.ndarray) -> list[int]:
    return a.tolist()


@pytest.mark.parametrize("t", ["i64", "u64"])
def test_64_bits(t: str) -> None:
    dtype = {"i": "int", "u": "uint"}[t[0]] + "64"
    a, b = integers(dtype), integers(dtype)[::-1].copy()
    for name, expected in (("min", np.minimum(a, b)), ("max", np.maximum(a, b))):
        np.testing.assert_array_equal(run(f"v_{name}_{t}", a, b, target="gfx1250")[0], expected)
    if t == "u64":
        for name, expected in (("add_nc", a + b), ("sub_nc", a - b), ("mul", a * b)):
            np.testing.assert_array_equal(run(f"v_{name}_u64", a, b, target="gfx1250")[0], expected)
        top = (1 << 64) - 1
        limited = [min(x + y, top) for x, y in zip(exact(a), exact(b), strict=True)]
        assert run("v_add_nc_u64", a, b, target="gfx1250", saturated=True)[0].tolist() == limited
        limited = [max(x - y, 0) for x, y in zip(exact(a), exact(b), strict=True)]
        assert run("v_sub_nc_u64", a, b, target="gfx1250", saturated=True)[0].tolist() == limited


def test_multiply_adds() -> None:
    a, b, c = integers("uint32"), integers("uint32")[::-1].copy(), integers("uint64")
    np.testing.assert_array_equal(run("v_mad_u32", a, b, a, target="gfx1250")[0], a * b + a)
    wide = a.astype(np.uint64) * b + c
    np.testing.assert_array_equal(run("v_mad_nc_u64_u32", a, b, c, target="gfx1250")[0], wide)
    signed = [x.view(np.int32).astype(np.int64) for x in (a, b)]
    total = signed[0] * signed[1] + c.view(np.int64)
    np.testing.assert_array_equal(
        run("v_mad_nc_i64_i32", a.view(np.int32), b.view(np.int32), c.view(np.int64), target="gfx1250")[0],
        total,
    )


@pytest.mark.parametrize(("t", "prefix"), [("int32", "v_"), ("uint32", "v_"), ("int16", "v_pk_"), ("uint16", "v_pk_")])
def test_sums_are_limited_before_the_choice(t: str, prefix: str) -> None:
    info = np.iinfo(t)
    a, b, c = integers(t), integers(t)[::-1].copy(), np.roll(integers(t), 7)
    suffix = t.replace("uint", "u").replace("int", "i")
    total = np.clip(a.astype(np.int64) + b, info.min, info.max)
    for name, choose in (("min", np.minimum), ("max", np.maximum)):
        (result,) = run(f"{prefix}add_{name}_{suffix}", a, b, c, target="gfx1250")
        np.testing.assert_array_equal(result, choose(total, c))
        if prefix == "v_pk_":
            (result,) = run(f"v_pk_{name}3_{suffix}", a, b, c, target="gfx1250")
            np.testing.assert_array_equal(result, choose(choose(a, b), c))


@pytest.mark.parametrize("t", ["i32", "u32"])
def test_minimum_then_maximum_of_integers(t: str) -> None:
    dtype = "int32" if t == "i32" else "uint32"
    a, b, c = integers(dtype), integers(dtype)[::-1].copy(), np.roll(integers(dtype), 5)
    for target in ("gfx1100", "gfx1201"):
        (result,) = run(f"v_minmax_{t}", a, b, c, target=target)
        np.testing.assert_array_equal(result, np.maximum(np.minimum(a, b), c))
        (result,) = run(f"v_maxmin_{t}", a, b, c, target=target)
        np.testing.assert_array_equal(result, np.minimum(np.maximum(a, b), c))


def test_saturating_packs() -> None:
    words = integers("uint32")
    fields = np.stack([words >> at & 0xFF for at in range(0, 32, 8)]).astype(np.uint8)
    for name, limited in (
        ("v_sat_pk4_i4_i8", np.clip(fields.view(np.int8), -8, 7).astype(np.uint32) & 15),
        ("v_sat_pk4_u4_u8", np.clip(fields, 0, 15).astype(np.uint32)),
    ):
        expected = sum(limited[i] << np.uint32(4 * i) for i in range(4))
        np.testing.assert_array_equal(run(name, words, target="gfx1250")[0], expected)


def test_bitwise_functions() -> None:
    a, b, c = integers("uint32"), integers("uint32")[::-1].copy(), np.roll(integers("uint32"), 3)
    np.testing.assert_array_equal(run("v_xor3_b32", a, b, c, target="gfx1100")[0], a ^ b ^ c)
    for table, expected in ((0x40, a & b), (0x54, a | b), (0x14, a ^ b)):
        machine = Machine()
        key = machine.add_record(record("v_bitop2_b32", "gfx1250"), constants={2: table})
        np.testing.assert_array_equal(machine(key, a, b, table)[0], expected)


def test_zero_times_anything_is_zero() -> None:
    a, b = (x.ravel() for x in np.meshgrid(SPECIALS, SPECIALS))
    c = np.full_like(a, 2.0)
    zero = (a == 0) | (b == 0)
    for target in ("gfx1100", "gfx1201", "gfx1250"):
        np.testing.assert_array_equal(
            run("v_mul_dx9_zero_f32", a, b, target=target)[0], np.where(zero, np.float32(0), a * b)
        )
        product = a.astype(np.float64) * b + c
        expected = np.where(zero, c, product.astype(np.float32))
        np.testing.assert_array_equal(run("v_fma_dx9_zero_f32", a, b, c, target=target)[0], expected)
        lowest = np.float32(-3.4028235e38)
        for limit in (1.0, 0.0, np.nan):
            excluded = (b <= lowest) | np.isnan(b) | (not limit > 0)
            expected = np.where(excluded, lowest, a * b)
            np.testing.assert_array_equal(run("v_mullit_f32", a, b, np.float32(limit), target=target)[0], expected)


def test_half_multiply_adds() -> None:
    a, b, c = (RNG.uniform(-4, 4, 256).astype(np.float16) for _ in range(3))
    exact_sum = (a.astype(np.float64) * b + c).astype(np.float16)
    for name in ("v_fmac_f16", "v_fmaak_f16", "v_fmamk_f16"):
        sources = (a, b, c)
        np.testing.assert_array_equal(run(name, *sources, target="gfx1100")[0], exact_sum)


def bf16(count: int = 256) -> np.ndarray:
    specials = SPECIALS.astype(ml_dtypes.bfloat16)
    return np.concatenate([specials, RNG.uniform(-8, 8, count).astype(ml_dtypes.bfloat16)])


def test_packed_bf16() -> None:
    a, b, c = bf16(), bf16()[::-1].copy(), np.roll(bf16(), 3)
    wide = [x.astype(np.float32) for x in (a, b, c)]
    for name, expected in (
        ("add", wide[0] + wide[1]), ("mul", wide[0] * wide[1]),
        ("fma", wide[0].astype(np.float64) * wide[1] + wide[2]),
    ):  # fmt: skip
        sources = (a, b, c) if name == "fma" else (a, b)
        (result,) = run(f"v_pk_{name}_bf16", *sources, target="gfx1250")
        np.testing.assert_array_equal(result.astype(np.float32), expected.astype(ml_dtypes.bfloat16).astype(np.float32))
    for name, choose in (("min", np.fmin), ("max", np.fmax)):
        (result,) = run(f"v_pk_{name}_num_bf16", a, b, target="gfx1250")
        np.testing.assert_array_equal(result.astype(np.float32), choose(wide[0], wide[1]))


FUNCTIONS = {
    "exp": np.exp2, "log": np.log2, "sqrt": np.sqrt, "tanh": np.tanh,
    "sin": lambda x: np.sin(2 * np.pi * x), "cos": lambda x: np.cos(2 * np.pi * x),
    "rcp": lambda x: 1 / x, "rsq": lambda x: 1 / np.sqrt(x),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_bf16_functions(name: str) -> None:
    x = np.concatenate([RNG.uniform(0.01, 8, 256), [1.0, 0.25, 4.0]]).astype(ml_dtypes.bfloat16)
    (result,) = run(f"v_{name}_bf16", x, target="gfx1250")
    expected = FUNCTIONS[name](x.astype(np.float64))
    np.testing.assert_allclose(result.astype(np.float64), expected, rtol=2**-8, atol=2**-8)


@pytest.mark.parametrize("t", [np.float32, np.float16])
def test_hyperbolic_tangent(t: type) -> None:
    small = np.exp2(RNG.uniform(-20, -8, 64))
    x = np.concatenate([RNG.uniform(-9, 9, 256), small, -small, [0.0, -0.0, np.inf, -np.inf, 100.0, 1e4]]).astype(t)
    (result,) = run(f"v_tanh_{'f32' if t is np.float32 else 'f16'}", x, target="gfx1250")
    np.testing.assert_allclose(
        result, np.tanh(x.astype(np.float64)).astype(t), rtol=2.0 ** (-23 if t is np.float32 else -10)
    )
    np.testing.assert_array_equal(np.signbit(result), np.signbit(x))
    assert np.isnan(run(f"v_tanh_{'f32' if t is np.float32 else 'f16'}", t(np.nan), target="gfx1250")[0][0])


def test_dot_products_of_16_and_8_bit_floats() -> None:
    words_a, words_b = (RNG.uniform(-2, 2, (256, 2)).astype(np.float16) for _ in range(2))
    c = RNG.uniform(-2, 2, 256).astype(np.float16)
    exact_sum = (words_a.astype(np.float64) * words_b).sum(1) + c
    halves = (*words_a.T, *words_b.T)
    for target in ("gfx1100", "gfx1201"):
        (half,) = run("v_dot2_f16_f16", *halves, c, target=target)
        np.testing.assert_allclose(half, exact_sum, atol=2**-8)
        (single,) = run("v_dot2_f32_f16", *halves, c.astype(np.float32), target=target)
        np.testing.assert_allclose(single, exact_sum, rtol=1e-5, atol=1e-6)
    for first, one in (("fp8", ml_dtypes.float8_e4m3fn), ("bf8", ml_dtypes.float8_e5m2)):
        for second, two in (("fp8", ml_dtypes.float8_e4m3fn), ("bf8", ml_dtypes.float8_e5m2)):
            x, y = (RNG.uniform(-2, 2, (256, 4)).astype(t) for t in (one, two))
            (result,) = run(
                f"v_dot4_f32_{first}_{second}", x.view(np.uint32).ravel(), y.view(np.uint32).ravel(),
                np.zeros(256, np.float32), target="gfx1200",
            )  # fmt: skip
            exact_sum = (x.astype(np.float64) * y.astype(np.float64)).sum(1)
            np.testing.assert_allclose(result, exact_sum, rtol=1e-5, atol=1e-6)


def test_conversion_of_pairs_to_16_bit_integers() -> None:
    a = np.array([0.0, 1.9, -1.9, 40000.0, -40000.0, 70000.0, np.nan, np.inf], np.float32)
    (packed,) = run("v_cvt_pk_i16_f32", a, a, target="gfx1100")
    assert (packed & 0xFFFF).astype(np.uint16).view(np.int16).tolist() == [
        0,
        1,
        -1,
        32767,
        -32768,
        32767,
        0,
        32767,
    ]
    (packed,) = run("v_cvt_pk_u16_f32", a, a, target="gfx1200")
    assert (packed >> 16).tolist() == [0, 1, 0, 40000, 0, 65535, 0, 65535]

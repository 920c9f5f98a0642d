"""Vector float instructions: special values, rounding, IEEE and denormal modes, transcendentals, division."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from isa_harness import DTYPES, Machine, record, run

from antiphase.isa import F32, F64, Expr, Type
from antiphase.isa._expr import const, fma, source
from antiphase.machine.llvm._lower import FloatMode

np.seterr(all="ignore")
RNG = np.random.default_rng(21)
FLOATS = {"f16": (np.float16, np.uint16), "f32": (np.float32, np.uint32), "f64": (np.float64, np.uint64)}
FRACTION = {"f16": 10, "f32": 23, "f64": 52}


def specials(t: str) -> np.ndarray:
    """Zeros, denormals, infinities, NaNs of both kinds, extremes, ordinary numbers, all with both signs."""
    kind, word = FLOATS[t]
    bits, fraction = 8 * word(0).itemsize, FRACTION[t]
    top = ((1 << (bits - 1)) - 1) >> fraction << fraction
    codes = [0, 1, (1 << fraction) - 1, 1 << fraction, top - 1, top, top | 1, top | (1 << (fraction - 1)) | 5]
    numbers = np.array([0.5, 1.0, 1.5, 2.5, 3.0, 3.25, 1e-3, 1000.0], kind).view(word)
    positive = np.concatenate([np.array(codes, word), numbers])
    return np.concatenate([positive, positive | word(1 << (bits - 1))]).view(kind)


def randoms(t: str, count: int = 256) -> np.ndarray:
    word = FLOATS[t][1]
    return RNG.integers(0, 1 << 8 * word(0).itemsize, count, dtype=word).view(FLOATS[t][0])


def pairs(t: str) -> tuple[np.ndarray, np.ndarray]:
    a, b = (x.ravel() for x in np.meshgrid(specials(t), specials(t)))
    return np.concatenate([a, randoms(t)]), np.concatenate([b, randoms(t)])


def same(result: np.ndarray, expected: np.ndarray) -> None:
    """Equal bits, NaNs as one value."""
    expected = expected.astype(result.dtype)
    word = f"u{result.itemsize}"
    nan = np.isnan(expected)
    np.testing.assert_array_equal(np.isnan(result), nan)
    np.testing.assert_array_equal(result[~nan].view(word), expected[~nan].view(word))


ARITHMETIC: dict[str, Callable[..., np.ndarray]] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "subrev": lambda a, b: b - a,
    "mul": lambda a, b: a * b,
}  # fmt: skip


NAMED = [(name, t) for name in ARITHMETIC for t in FLOATS if t != "f64" or not name.startswith("sub")]


@pytest.mark.parametrize(("name", "t"), NAMED)
def test_arithmetic(name: str, t: str) -> None:
    a, b = pairs(t)
    same(run(f"v_{name}_{t}", a, b)[0], ARITHMETIC[name](a, b))


def test_fused_multiply_add_rounds_once() -> None:
    a, b, c = (RNG.standard_normal(512).astype(np.float32) for _ in range(3))
    exact = [Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z)) for x, y, z in zip(a, b, c, strict=True)]
    for name, sources in (("v_fma_f32", (a, b, c)), ("v_fmac_f32", (a, b, c)), ("v_pk_fma_f32", (a, b, c))):
        (result,) = run(name, *sources)
        for value, right in zip(result, exact, strict=True):
            error = abs(Fraction(float(value)) - right)
            assert error <= abs(Fraction(float(np.spacing(abs(value))))) / 2
    one = np.float32(1 + 2**-12)
    assert run("v_fma_f32", one, one, np.float32(-1 - 2**-11))[0][0] == 2.0**-24
    half = np.float16(1 + 2**-6)
    assert run("v_fma_f16", half, half, np.float16(-1 - 2**-5))[0][0] == 2.0**-12
    assert run("v_mad_f16", half, half, np.float16(-1 - 2**-5))[0][0] == 0


def reference_extreme(a: np.ndarray, b: np.ndarray, t: str, largest: bool, ieee: bool) -> np.ndarray:
    """min/max by ordering keys in which -0 is below +0; NaN rules as the manual's pseudocode gives them."""
    word = FLOATS[t][1]
    quiet = word(1 << (FRACTION[t] - 1))

    def key(x: np.ndarray) -> np.ndarray:
        size = abs(x).view(word).astype(np.int64)
        return np.where(np.signbit(x), -size - 1, size)

    def signalling(x: np.ndarray) -> np.ndarray:
        return np.isnan(x) & ((x.view(word) & quiet) == 0)

    pick_a = key(a) > key(b) if largest else key(a) < key(b)
    result = np.where(np.isnan(b) | (pick_a & ~np.isnan(a)), a.view(word), b.view(word))
    if ieee:
        result = np.where(signalling(b), b.view(word) | quiet, result)
        result = np.where(signalling(a), a.view(word) | quiet, result)
    return result.astype(word).view(FLOATS[t][0])


@pytest.mark.parametrize("ieee", [True, False])
@pytest.mark.parametrize("t", ["f32", "f16", "f64"])
@pytest.mark.parametrize("name", ["min", "max"])
def test_minimum_and_maximum(name: str, t: str, ieee: bool) -> None:
    a, b = pairs(t)
    (result,) = run(f"v_{name}_{t}", a, b, mode=FloatMode(ieee=ieee))
    expected = reference_extreme(a, b, t, name == "max", ieee)
    word = FLOATS[t][1]
    np.testing.assert_array_equal(result.view(word), expected.view(word))


@pytest.mark.parametrize("t", ["f32", "f16"])
def test_three_operands(t: str) -> None:
    numbers = [x for x in specials(t) if not np.isnan(x)][::3]
    a, b, c = (np.array(x, FLOATS[t][0]) for x in zip(*itertools.product(numbers, repeat=3), strict=True))
    ordered = np.sort([a, b, c], axis=0)
    for name, at in (("min3", 0), ("med3", 1), ("max3", 2)):
        np.testing.assert_array_equal(run(f"v_{name}_{t}", a, b, c)[0], ordered[at])
    nan = np.array([np.nan], FLOATS[t][0])
    assert run(f"v_med3_{t}", nan, nan + 0, np.array([3.0]))[0][0] == 3.0
    assert run(f"v_med3_{t}", np.array([5.0]), nan, np.array([3.0]))[0][0] == 3.0


def test_ieee_754_2019_minimum_gives_nan() -> None:
    a, b = pairs("f32")
    (result,) = run("v_minimum3_f32", a, b, b)
    expected = reference_extreme(a, b, "f32", False, False)
    same(result, np.where(np.isnan(a) | np.isnan(b), np.float32(np.nan), expected))


@pytest.mark.parametrize("t", ["f32", "f16", "f64"])
def test_rounding_to_integers(t: str) -> None:
    x = np.concatenate([specials(t), (RNG.standard_normal(200) * 100).astype(FLOATS[t][0]), randoms(t)])
    for name, f in (("trunc", np.trunc), ("ceil", np.ceil), ("rndne", np.rint), ("floor", np.floor)):
        same(run(f"v_{name}_{t}", x)[0], f(x))
    (result,) = run(f"v_fract_{t}", x)
    finite = np.isfinite(x)
    assert ((result[finite] >= 0) & (result[finite] < 1)).all()
    tiny = np.array([-1e-7 if t == "f16" else -1e-30], FLOATS[t][0])
    assert run(f"v_fract_{t}", tiny)[0][0] == np.nextafter(FLOATS[t][0](1), FLOATS[t][0](0))


@pytest.mark.parametrize("t", ["f32", "f16", "f64"])
def test_exponent_and_mantissa(t: str) -> None:
    x = np.concatenate([specials(t), randoms(t)])
    mantissa, exponent = np.frexp(x)
    same(run(f"v_frexp_mant_{t}", x)[0], mantissa)
    name = "v_frexp_exp_i16_f16" if t == "f16" else f"v_frexp_exp_i32_{t}"
    np.testing.assert_array_equal(run(name, x)[0], np.where(np.isfinite(x), exponent, 0))


@pytest.mark.parametrize("t", ["f32", "f16", "f64"])
def test_scaling_rounds_once(t: str) -> None:
    x = np.concatenate([specials(t), randoms(t)])
    span = {"f16": 50, "f32": 320, "f64": 2300}[t]
    n = RNG.integers(-span, span, len(x)).astype(np.int16 if t == "f16" else np.int32)
    # NumPy's own f16 ldexp goes through f32 and rounds once, too
    same(run(f"v_ldexp_{t}", x, n)[0], np.ldexp(x, n))
    # into the denormals, where a second rounding would show
    down = {"f16": 16, "f32": 128, "f64": 1024}[t] + RNG.integers(0, 8, 500)
    x = RNG.uniform(0.25, 1, 500).astype(FLOATS[t][0])
    same(run(f"v_ldexp_{t}", x, -down)[0], np.ldexp(x, -down))
    edge = 32767 if t == "f16" else 2**31 - 1
    assert run(f"v_ldexp_{t}", np.array([1.0]), np.array([-edge]))[0][0] == 0
    assert run(f"v_ldexp_{t}", np.array([1.0]), np.array([edge]))[0][0] == np.inf


def test_denormals_follow_mode() -> None:
    tiny = np.array([2**-130, -(2**-130), 1.0], np.float32)
    flushed = FloatMode(denormal32=0)
    np.testing.assert_array_equal(run("v_add_f32", tiny, np.zeros(1))[0], tiny)
    zeros = run("v_mul_f32", tiny, np.ones(1), mode=flushed)[0]
    same(zeros, np.array([0.0, -0.0, 1.0], np.float32))
    same(run("v_max_f32", tiny, tiny, mode=flushed)[0], np.array([0.0, -0.0, 1.0], np.float32))
    same(run("v_max_f32", tiny, tiny)[0], tiny)
    assert run("v_cvt_f16_f32", np.array([2**-20]), mode=FloatMode(denormal64=0))[0][0] == 0
    assert run("v_cvt_f16_f32", np.array([2**-20]))[0][0] == 2**-20


def test_half_overflow_mode() -> None:
    a, b = np.array([60000, -60000, np.inf], np.float16), np.array([60000, -60000, 1], np.float16)
    np.testing.assert_array_equal(run("v_add_f16", a, b)[0], [np.inf, -np.inf, np.inf])
    clamped = run("v_add_f16", a, b, mode=FloatMode(fp16_ovfl=True))[0]
    np.testing.assert_array_equal(clamped, [65504, -65504, np.inf])


TRANSCENDENTAL: dict[str, tuple[Callable[..., np.ndarray], np.ndarray]] = {
    "exp": (np.exp2, np.concatenate([RNG.uniform(-125, 127, 2000), RNG.uniform(-1e-3, 1e-3, 200)])),
    "log": (np.log2, np.concatenate([np.exp2(RNG.uniform(-125, 127, 2000)), RNG.uniform(0.9, 1.1, 500)])),
    "sin": (lambda x: np.sin(2 * np.pi * (x - np.rint(x))), RNG.uniform(-300, 300, 2000)),
    "cos": (lambda x: np.cos(2 * np.pi * (x - np.rint(x))), RNG.uniform(-300, 300, 2000)),
    "rcp": (lambda x: 1 / x, RNG.standard_normal(2000)),
    "rsq": (lambda x: 1 / np.sqrt(x), np.exp2(RNG.uniform(-100, 100, 2000))),
    "sqrt": (np.sqrt, np.exp2(RNG.uniform(-120, 120, 2000))),
}


@pytest.mark.parametrize("name", TRANSCENDENTAL)
def test_transcendentals_are_within_an_ulp(name: str) -> None:
    f, x = TRANSCENDENTAL[name]
    x = x.astype(np.float32)
    (result,) = run(f"v_{name}_f32", x)
    exact = f(x.astype(np.float64))
    error = abs(result - exact) / np.spacing(abs(exact).astype(np.float32))
    assert error.max() < 0.51
    halves = np.float16(x[abs(x) < 15][:400])
    (result,) = run(f"v_{name}_f16", halves)
    exact = f(halves.astype(np.float64))
    usable = np.isfinite(np.float16(exact))
    error = abs(result - exact) / np.spacing(abs(exact).astype(np.float16))
    assert error[usable].max() < 0.51


INF, NAN = np.inf, np.nan
EDGES = {
    "exp": [(-INF, 0), (INF, INF), (0, 1), (-0.0, 1), (NAN, NAN), (128, INF), (-127, 0),
            (-1e30, 0), (1e30, INF), (3, 8)],
    "log": [(0, -INF), (-0.0, -INF), (-1, NAN), (INF, INF), (-INF, NAN), (NAN, NAN), (1, 0),
            (2**-130, -INF), (8, 3)],
    "sin": [(0, 0), (-0.0, -0.0), (0.25, 1), (0.5, 0), (0.75, -1), (INF, NAN), (NAN, NAN), (1e30, 0)],
    "cos": [(0, 1), (0.25, 0), (0.5, -1), (-INF, NAN), (NAN, NAN), (1e30, 1)],
    "rcp": [(0, INF), (-0.0, -INF), (INF, 0), (-INF, -0.0), (NAN, NAN), (2**-130, INF), (3e38, 0), (4, 0.25)],
    "rsq": [(0, INF), (-0.0, -INF), (INF, 0), (-1, NAN), (NAN, NAN), (16, 0.25), (-(2**-130), -INF)],
    "sqrt": [(0, 0), (-0.0, -0.0), (INF, INF), (-1, NAN), (NAN, NAN), (2**-130, 0), (16, 4)],
}  # fmt: skip


@pytest.mark.parametrize("name", EDGES)
def test_transcendental_edges(name: str) -> None:
    x, expected = (np.array(v, np.float32) for v in zip(*EDGES[name], strict=True))
    (result,) = run(f"v_{name}_f32", x)
    same(result, expected)


def division(numerator: Expr, denominator: Expr, reciprocal: Expr) -> Expr:
    """The sequence LLVM emits for a correctly rounded quotient, from the records' own semantics."""
    scale, fmas, fixup = (record(f"v_div_{n}_{numerator.type}").semantics for n in ("scale", "fmas", "fixup"))
    scaled_d, _ = scale(denominator, denominator, numerator)  # type: ignore[misc]
    scaled_n, flag = scale(numerator, denominator, numerator)  # type: ignore[misc]
    one = const(numerator.type, 1.0)
    r = reciprocal
    for _ in range(2 if numerator.type is F64 else 1):
        r = fma(fma(-scaled_d, r, one), r, r)
    q = scaled_n * r
    if numerator.type is F32:
        q = fma(fma(-scaled_d, q, scaled_n), r, q)
    remainder = fma(-scaled_d, q, scaled_n)
    return fixup(fmas(remainder, r, q, flag), denominator, numerator)  # type: ignore[return-value]


@pytest.fixture(scope="module")
def divider() -> Machine:
    machine = Machine()
    for type_ in (F32, F64):
        n, d = source(0, type_), source(1, type_)
        scaled, _ = record(f"v_div_scale_{type_}").semantics(d, d, n)  # type: ignore[misc]
        reciprocal = record(f"v_rcp_{type_}").semantics(scaled)
        assert isinstance(reciprocal, Expr)
        machine.add(type_.name, (division(n, d, reciprocal),), (type_, type_))
    return machine


@pytest.mark.parametrize("type_", [F32, F64], ids=str)
def test_division_sequence_is_correctly_rounded(divider: Machine, type_: Type) -> None:
    t = type_.name
    a, b = pairs(t)
    wide = np.concatenate([a, randoms(t, 4000)]), np.concatenate([b, randoms(t, 4000)])
    near = RNG.standard_normal(2000), RNG.standard_normal(2000)
    for n, d in (wide, tuple(x.astype(FLOATS[t][0]) for x in near)):
        same(divider(t, n, d)[0], n / d)


@pytest.mark.parametrize("t", ["f32", "f64"])
def test_division_predicate_goes_by_exponents(t: str) -> None:
    """tinygrad a9069c17, test/amd/hw/test_vop3.py, TestDivScale: zeros set it, and a quotient that may be denormal."""
    tiny, huge = (2.0**-126, 2.0**127) if t == "f32" else (2.0**-1022, 2.0**1023)
    numerator = np.array([1, 1, 0, tiny, 1, 1, 3 * tiny], DTYPES[t])
    denominator = np.array([4, 0, 1, 1, huge, tiny / 2, 1], DTYPES[t])
    scaled, predicate = run(f"v_div_scale_{t}", numerator, denominator, numerator)
    assert predicate.tolist() == [0, 1, 1, 1, 1, 1, 0]
    assert np.isnan(scaled).tolist() == [False, True, True, *[False] * 4]
    flushing = FloatMode(denormal32=0, denormal64=0)
    flushed, predicate = run(f"v_div_scale_{t}", numerator, denominator, numerator, mode=flushing)
    assert np.isnan(flushed[5]) and predicate[5] == 1, "a denormal denominator is a zero where MODE flushes"


@pytest.mark.parametrize(("t", "size"), [("f16", 2.0**-20), ("f32", 2.0**-140), ("f64", 5e-324)])
def test_division_of_flushed_denormals_is_that_of_zeros(t: str, size: float) -> None:
    denormal, one = np.array([size], DTYPES[t]), np.ones(1, DTYPES[t])
    mode = FloatMode(denormal32=0, denormal64=0)
    assert run(f"v_div_fixup_{t}", one, denormal, one, mode=mode)[0] == np.inf
    (zero,) = run(f"v_div_fixup_{t}", one, one, -denormal, mode=mode)
    assert zero == 0 and np.signbit(zero)


@settings(max_examples=200, deadline=None)
@given(st.floats(width=32), st.floats(width=32))
def test_division_by_hypothesis(divider: Machine, n: float, d: float) -> None:
    a, b = np.array([n], np.float32), np.array([d], np.float32)
    same(divider("f32", a, b)[0], a / b)

"""Conversions of GFX12 and gfx1250: seed 000, section 4, "FP32 -> FP8 / BF8", and gfx1250's scaled ones."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from _wave import Wave
from isa_harness import Machine, record, run

from antiphase.machine.llvm._lower import FloatMode

np.seterr(all="ignore")
RNG = np.random.default_rng(3)
KINDS = {
    "fp8": ml_dtypes.float8_e4m3fn, "bf8": ml_dtypes.float8_e5m2, "fp6": ml_dtypes.float6_e2m3fn,
    "bf6": ml_dtypes.float6_e3m2fn, "fp4": ml_dtypes.float4_e2m1fn,
}  # fmt: skip
BITS = {"fp8": 8, "bf8": 8, "fp6": 6, "bf6": 6, "fp4": 4}
WIDE = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
LARGEST = {"fp8": 448.0, "bf8": 57344.0}
SPECIALS = [
    0.0, -0.0, 1e-40, 2.0**-9, 2.0**-10, 1.5 * 2.0**-10, 2.0**-16, 2.0**-17, 1.0, -1.0625, 448.0, 460.0,
    464.0, 465.0, -500.0, 57344.0, 61440.0, 61439.0, 65536.0, 3e38, np.inf, -np.inf, np.nan,
]  # fmt: skip


def floats(count: int = 512) -> np.ndarray:
    spread = np.exp2(RNG.uniform(-20, 18, count)) * RNG.choice([-1, 1], count)
    return np.concatenate([SPECIALS, spread]).astype(np.float32)


def same_codes(result: np.ndarray, expected: np.ndarray, kind: str) -> None:
    """Equal codes, NaNs of either kind as one."""
    values = expected.astype(np.float32)
    nan = np.isnan(values)
    np.testing.assert_array_equal(np.isnan(result.astype(np.uint8).view(KINDS[kind]).astype(np.float32)), nan)
    np.testing.assert_array_equal(result[~nan], expected.view(np.uint8)[~nan])


@pytest.mark.parametrize("target", ["gfx1200", "gfx1201", "gfx1250"])
@pytest.mark.parametrize("kind", ["fp8", "bf8"])
def test_seed_000_section_4_nearest_even_with_overflow(kind: str, target: str) -> None:
    x = floats()
    y = x[::-1].copy()
    (packed,) = run(f"v_cvt_pk_{kind}_f32", x, y, target=target, mode=FloatMode(fp16_ovfl=False))
    same_codes(packed & 0xFF, x.astype(KINDS[kind]), kind)
    same_codes(packed >> 8, y.astype(KINDS[kind]), kind)
    beyond = np.abs(x) > 1e5
    overflow = packed[beyond & np.isfinite(x)].astype(np.uint8) & 0x7F
    assert set(overflow.tolist()) == ({0x7F} if kind == "fp8" else {0x7C})

    (packed,) = run(f"v_cvt_pk_{kind}_f32", x, y, target=target, mode=FloatMode(fp16_ovfl=True))
    limited = np.clip(x, -LARGEST[kind], LARGEST[kind])
    same_codes(packed & 0xFF, limited.astype(KINDS[kind]), kind)


@pytest.mark.parametrize("kind", ["fp8", "bf8"])
def test_seed_000_section_4_stochastic_rounding_takes_its_bits_from_the_second_operand(kind: str) -> None:
    values = np.sort(np.arange(256, dtype=np.uint8).view(KINDS[kind]).astype(np.float32))
    values = values[np.isfinite(values)]
    x = np.clip(np.exp2(RNG.uniform(-5, 7, 64)), 0, 400).astype(np.float32)
    up = values[np.searchsorted(values, x)]
    down = values[np.searchsorted(values, x, "right") - 1]
    seeds = RNG.integers(0, 1 << 32, (400, 1), dtype=np.uint32)
    grid = np.broadcast_to(x, (400, 64)).ravel(), np.broadcast_to(seeds, (400, 64)).ravel()
    (codes,) = run(f"v_cvt_sr_{kind}_f32", *grid, target="gfx1201")
    result = codes.view(KINDS[kind]).astype(np.float32).reshape(400, 64)
    assert ((result == up) | (result == down)).all()
    share = (result == up).mean(0)
    expected = np.where(up > down, (x - down) / np.where(up > down, up - down, 1), 1)
    np.testing.assert_allclose(share, expected, atol=0.12)
    (lowest,) = run(f"v_cvt_sr_{kind}_f32", x, 0, target="gfx1201")
    np.testing.assert_array_equal(lowest.view(KINDS[kind]).astype(np.float32), down)


@pytest.mark.parametrize("kind", ["fp8", "bf8"])
def test_every_code_widens(kind: str) -> None:
    codes = np.arange(256, dtype=np.uint8)
    values = codes.view(KINDS[kind]).astype(np.float32)
    for target in ("gfx1200", "gfx1250"):
        np.testing.assert_array_equal(run(f"v_cvt_f32_{kind}", codes, target=target)[0], values)
    (half,) = run(f"v_cvt_f16_{kind}", codes, target="gfx1250")
    np.testing.assert_array_equal(half.astype(np.float32), values)
    pairs = codes.astype(np.uint16) | codes[::-1].astype(np.uint16) << 8
    (both,) = run(f"v_cvt_pk_f16_{kind}", pairs, target="gfx1250")
    np.testing.assert_array_equal(
        both.view(np.float16).reshape(-1, 2).astype(np.float32), np.stack([values, values[::-1]], 1)
    )


@pytest.mark.parametrize("kind", ["fp8", "bf8"])
def test_halves_narrow(kind: str) -> None:
    x = floats().astype(np.float16)
    y = x[::-1].copy()
    packed = np.stack([x, y], 1).view(np.uint32).ravel()
    (codes,) = run(f"v_cvt_pk_{kind}_f16", packed, target="gfx1250")
    same_codes(codes & 0xFF, x.astype(KINDS[kind]), kind)
    same_codes(codes >> 8, y.astype(KINDS[kind]), kind)
    finite = np.abs(x.astype(np.float32)) < LARGEST[kind]
    for seed in (0, 0xFFFFFFFF):
        result = run(f"v_cvt_sr_{kind}_f16", x[finite], seed, target="gfx1250")[0].view(KINDS[kind]).astype(np.float32)
        error = np.abs(result) - np.abs(x[finite].astype(np.float32))
        assert (error <= 0).all() if seed == 0 else (error >= 0).all()


def codes_to_words(codes: np.ndarray, bits: int) -> list[np.ndarray]:
    """codes[value, lane] packed into 32-bit registers, a row each."""
    words = []
    for lane in codes.T.tolist():
        whole = sum(code << bits * i for i, code in enumerate(lane))
        words.append([whole >> 32 * k & 0xFFFFFFFF for k in range(len(lane) * bits // 32)])
    return list(np.array(words, np.uint32).T.copy())


def words_to_codes(words: tuple[np.ndarray, ...], bits: int) -> np.ndarray:
    lanes = []
    for lane in zip(*(w.tolist() for w in words), strict=True):
        whole = sum(word << 32 * k for k, word in enumerate(lane))
        lanes.append([whole >> bits * i & (1 << bits) - 1 for i in range(len(lane) * 32 // bits)])
    return np.array(lanes, np.uint8).T


def wide_words(values: np.ndarray) -> list[np.ndarray]:
    """values[value, lane] as registers: one each for f32, two in one for 16-bit types."""
    if values.dtype.itemsize == 4:
        return [row.view(np.uint32) for row in values]
    return [row.view(np.uint32).ravel() for row in values.reshape(len(values) // 2, 2, -1).transpose(0, 2, 1).copy()]


def words_to_wide(words: tuple[np.ndarray, ...], type_: type) -> np.ndarray:
    if np.dtype(type_).itemsize == 4:
        return np.stack([w.view(type_) for w in words])
    return np.stack([half for w in words for half in w.view(type_).reshape(-1, 2).T])


FORMS = [(8, "fp8"), (8, "bf8"), (8, "fp4"), (16, "fp6"), (16, "bf6")]


@pytest.mark.parametrize(("count", "kind"), FORMS)
def test_scaled_narrowing_divides_by_the_scale(count: int, kind: str) -> None:
    exponents = RNG.integers(-3, 4, 64)
    scale = np.exp2(exponents).astype(np.float32)
    for t, type_ in WIDE.items():
        values = (RNG.uniform(-8, 8, (count, 64)) * scale).astype(type_)
        words = run(f"v_cvt_scalef32_pk{count}_{kind}_{t}", *wide_words(values), scale, target="gfx1250")
        expected = (values.astype(np.float32) / scale).astype(KINDS[kind])
        np.testing.assert_array_equal(words_to_codes(words, BITS[kind]), expected.view(np.uint8), t)
        for seed in (0, 0xFFFFFFFF):
            words = run(f"v_cvt_scalef32_sr_pk{count}_{kind}_{t}", *wide_words(values), seed, scale, target="gfx1250")
            result = words_to_codes(words, BITS[kind]).view(KINDS[kind]).astype(np.float32)
            near, exact = expected.astype(np.float32), values.astype(np.float32) / scale
            if seed == 0:  # the first value's random number is the seed itself, and so are all made from 0
                assert (np.abs(result) <= np.abs(exact)).all()
            assert (np.abs(result - exact) <= 1.01 * np.maximum(np.abs(near), 0.5)).all()


@pytest.mark.parametrize(("count", "kind"), FORMS)
@pytest.mark.parametrize("t", WIDE)
def test_scaled_widening_takes_each_lanes_scale(count: int, kind: str, t: str) -> None:
    bits = BITS[kind]
    codes = RNG.integers(0, 1 << bits, (count, 64)).astype(np.uint8)
    values = codes.view(KINDS[kind]).astype(np.float32)
    scale = RNG.integers(0, 1 << 32, 64, dtype=np.uint32) & 0x07070707 | 0x78787878
    lane = np.arange(64)
    upper, low = (lane >> 4) & 1, lane & 15
    # (lane whose register holds the scale, byte) by scale_sel: AMD CDNA5 ISA tables 36 and 37
    if bits == 8:
        choices = {2 * k: (low, 0 * lane + byte) for k, byte in enumerate((0, 2, 1, 3))}
        choices |= {selection + 1: (low + 16, byte) for selection, (_, byte) in choices.items()}
        choices |= {8: (low, upper), 10: (low + 16, upper)}
    else:
        choices = {0: (low, upper), 1: (low + 16, upper), 2: (low, 2 + upper), 4: (low, 2 * upper)}
        choices |= {6: (low, 1 + 2 * upper), 7: (low + 16, 1 + 2 * upper)}
    machine = Machine()
    instruction = record(f"v_cvt_scale_pk{count}_{t}_{kind}", "gfx1250")
    for selection, (from_lane, byte) in choices.items():
        sources = [*codes_to_words(codes, bits), scale]
        key = machine.add_record(instruction, constants={len(sources): selection})
        result = words_to_wide(machine(key, *sources, selection), WIDE[t])
        exponent = (scale[from_lane] >> (8 * byte.astype(np.uint32))) & 0xFF
        expected = (values * np.exp2(exponent.astype(np.float64) - 127)).astype(np.float32).astype(WIDE[t])
        half = slice(0, 32)  # gfx1250 has 32 lanes
        np.testing.assert_array_equal(result[:, half].astype(np.float32), expected[:, half].astype(np.float32))


@pytest.mark.parametrize(("count", "kind"), FORMS)
@pytest.mark.parametrize("t", WIDE)
def test_scaled_stochastic_narrowing_uses_half_a_random_number_a_value(count: int, kind: str, t: str) -> None:
    """AMD CDNA5 ISA 15.14: randomVal[pass % 2 * 16 +: 16], and the next random number after every second value."""
    step = {"fp8": 2.0**-3, "bf8": 2.0**-2, "fp6": 2.0**-3, "bf6": 2.0**-2, "fp4": 0.5}[kind]
    values = np.full((count, 64), 1 + step / 2, WIDE[t])
    seed = RNG.integers(0, 1 << 32, 64, dtype=np.uint32)
    one = np.float32(1).repeat(64)
    words = run(f"v_cvt_scalef32_sr_pk{count}_{kind}_{t}", *wide_words(values), seed, one, target="gfx1250")
    result = words_to_codes(words, BITS[kind]).view(KINDS[kind]).astype(np.float32)
    random = seed.copy()
    for i in range(count):
        part = random >> 16 if i % 2 else random & 0xFFFF
        np.testing.assert_array_equal(result[i], np.where(part >= 0x8000, 1 + step, 1.0), str(i))
        if i % 2:
            random = (random << np.uint32(1)) ^ np.where(random >> 31, np.uint32(197), np.uint32(0))


@pytest.mark.parametrize(("count", "kind"), FORMS)
@pytest.mark.parametrize("limited", [False, True])
def test_scaled_narrowing_beyond_the_largest(count: int, kind: str, limited: bool) -> None:
    """AMD CDNA5 ISA 7.6.2: infinities of the scaled conversions are NaN with FP16_OVFL, larger values the largest."""
    values = np.tile(np.array([[np.inf, -np.inf, 1e30, -1e30]], np.float32), (count, 1))
    one, mode = np.float32(1).repeat(4), FloatMode(fp16_ovfl=limited)
    words = run(f"v_cvt_scalef32_pk{count}_{kind}_f32", *wide_words(values), one, target="gfx1250", mode=mode)
    result = words_to_codes(words, BITS[kind])[0].view(KINDS[kind]).astype(np.float32)
    top = float(ml_dtypes.finfo(KINDS[kind]).max)
    beyond = {"fp8": np.nan, "bf8": np.inf}.get(kind, top)
    expected = [np.nan if kind in LARGEST else top, top] if limited else [beyond, beyond]
    np.testing.assert_array_equal(result, np.array([1, -1, 1, -1]) * np.repeat(expected, 2))


def test_clamp_means_e5m3_in_conversions_of_fp8() -> None:
    """AMD CDNA5 ISA 7.6.3 and the formats of 7.12.6: bias 15, no sign, 255 is NaN, 114688 the largest."""
    codes = np.arange(32, dtype=np.uint32) * 8 + np.arange(32) % 8
    scale = np.where(codes < 8, codes * 2.0**-17, (8 + codes % 8) / 8 * np.exp2((codes >> 3) - 15.0))
    scale[codes == 255] = np.nan
    wave = Wave("gfx1250", 32, v1=codes).run("v_cvt_f32_fp8_e64 v2, v1 clamp\nv_cvt_f32_bf8_e64 v3, v1 clamp")
    np.testing.assert_array_equal(wave["v2"].view(np.float32), scale.astype(np.float32))
    np.testing.assert_array_equal(
        wave["v3"].view(np.float32), codes.astype(np.uint8).view(ml_dtypes.float8_e5m2).astype(np.float32)
    )
    back = np.where(codes == 255, 2.0**18, scale).astype(np.float32)
    wave = Wave("gfx1250", 32, v1=back.view(np.uint32), v2=0, v3=0, v4=0)
    wave.run("v_cvt_pk_fp8_f32 v2, v1, v1 clamp\nv_cvt_sr_fp8_f32 v3, v1, v4 clamp")
    np.testing.assert_array_equal(wave["v2"], codes * 0x101)
    np.testing.assert_array_equal(wave["v3"], codes)


@pytest.mark.parametrize(("t", "dropped"), [("bf16", 16), ("f16", 13)])
def test_stochastic_pairs_split_the_random_number(t: str, dropped: int) -> None:
    a, b = (RNG.uniform(-30, 30, 256).astype(np.float32) for _ in range(2))
    random = RNG.integers(0, 1 << 32, 256, dtype=np.uint32)
    halves = run(f"v_cvt_sr_pk_{t}_f32", a, b, random, target="gfx1250")
    for value, part, half in ((a, random & 0xFFFF, halves[0]), (b, random >> 16, halves[1])):
        moved = (value.view(np.uint32) + (part & (1 << dropped) - 1)) & np.uint32(0xFFFFFFFF << dropped & 0xFFFFFFFF)
        np.testing.assert_array_equal(half.astype(np.float32), moved.view(np.float32))


@pytest.mark.parametrize(("bits", "high", "low"), [(4, 1, 1), (6, 1, 2), (8, 2, 2)])
def test_table_look_up_has_the_first_source_above_the_second(bits: int, high: int, low: int) -> None:
    def pair(words: list[np.ndarray]) -> np.ndarray:
        return words[0] if len(words) == 1 else words[0].astype(np.uint64) | words[1].astype(np.uint64) << 32

    upper, lower = ([RNG.integers(0, 1 << 32, 64, dtype=np.uint32) for _ in range(n)] for n in (high, low))
    indices = RNG.integers(0, 1 << 64, 64, dtype=np.uint64)
    results = run(f"v_perm_pk16_b{bits}_u4", pair(upper), pair(lower), indices, target="gfx1250")
    table = [sum(int(w[i]) << 32 * k for k, w in enumerate(lower + upper)) for i in range(64)]
    for i in range(64):
        chosen = [table[i] >> bits * (int(indices[i]) >> 4 * k & 15) & (1 << bits) - 1 for k in range(16)]
        expected = sum(c << bits * k for k, c in enumerate(chosen))
        assert sum(int(r[i]) << 8 * r.itemsize * k for k, r in enumerate(results)) == expected

"""Both halves of one register as sources and results of dot products and conversions, with their modifiers."""

from __future__ import annotations

import numpy as np
import pytest
from _wave import Wave

from antiphase.errors import Unsupported

HIGH = 16
SPECIAL = np.array([0x0000, 0x8000, 0x3C00, 0xBC00, 0x7BFF, 0x0001, 0x4200, 0x3555], np.uint32)


def pairs(seed: int) -> np.ndarray:
    """Two f16 a lane: special values first, the rest small numbers."""
    random = np.random.default_rng(seed)
    halves = random.uniform(-2, 2, (2, 32)).astype(np.float16).view(np.uint16).astype(np.uint32)
    halves[0, :8], halves[1, 4:12] = SPECIAL, SPECIAL[::-1]
    return halves[0] | halves[1] << HIGH


def of(words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    low, high = words.astype(np.uint16), (words >> HIGH).astype(np.uint16)
    return low.view(np.float16).astype(np.float64), high.view(np.float16).astype(np.float64)


A, B = pairs(1), pairs(2)
(A0, A1), (B0, B1) = of(A), of(B)
C = np.random.default_rng(3).uniform(-4, 4, 32).astype(np.float32)


def dot(text: str, target: str) -> np.ndarray:
    wave = Wave(target, 32 if target.startswith("gfx1") else 64, v1=tiled(A, target), v2=tiled(B, target))
    wave.set({"v3": tiled(C.view(np.uint32), target)})
    return wave.run(text)["v4"][:32].view(np.float32)


def tiled(words: np.ndarray, target: str) -> np.ndarray:
    return words if target.startswith("gfx1") else np.concatenate((words, words))


def near(got: np.ndarray, expected: np.ndarray) -> None:
    """One rounding to f32 a product, of numbers below 2**18."""
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-3)


@pytest.mark.parametrize("target", ["gfx942", "gfx1100", "gfx1201"])
@pytest.mark.parametrize(
    ("modifiers", "expected"),
    [
        ("neg_lo:[1,0,0] neg_hi:[1,0,0]", -A0 * B0 - A1 * B1 + C),
        ("neg_lo:[0,1,0]", -A0 * B0 + A1 * B1 + C),
        ("neg_hi:[1,1,0]", A0 * B0 + A1 * B1 + C),
        ("neg_lo:[0,0,1] neg_hi:[0,0,1]", A0 * B0 + A1 * B1 - C),
    ],
)
def test_negated_halves_and_sums(target: str, modifiers: str, expected: np.ndarray) -> None:
    near(dot(f"v_dot2_f32_f16 v4, v1, v2, v3 {modifiers}", target), expected)


@pytest.mark.parametrize(
    ("modifiers", "expected"),
    [
        ("op_sel:[1,0,0]", A1 * B0 + A1 * B1 + C),
        ("op_sel:[1,0,0] op_sel_hi:[0,1,1]", A1 * B0 + A0 * B1 + C),
        ("op_sel_hi:[1,0,1] neg_lo:[1,0,0]", -A0 * B0 + A1 * B0 + C),
    ],
)
def test_halves_that_op_sel_chooses(modifiers: str, expected: np.ndarray) -> None:
    """AMD RDNA3 ISA 7.5.1: DOT2_F32_F16 supports OPSEL of both factors."""
    near(dot(f"v_dot2_f32_f16 v4, v1, v2, v3 {modifiers}", "gfx1100"), expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-v1, v2", -A0 * B0 - A1 * B1),
        ("-v1, -v2", A0 * B0 + A1 * B1),
        ("|v1|, |v2|", abs(A0 * B0) + abs(A1 * B1)),
    ],
)
def test_signs_of_a_packed_source_are_of_both_halves(text: str, expected: np.ndarray) -> None:
    """llc 22 prints fneg and fabs of the whole <2 x half> as -v1 and |v1|."""
    got = Wave("gfx1201", 32, v1=A, v2=B, v3=0).run(f"v_dot2_f16_f16 v4, {text}, v3")["v4"]
    with np.errstate(over="ignore"):
        rounded = expected.astype(np.float16)
    np.testing.assert_allclose(got.astype(np.uint16).view(np.float16), rounded, rtol=2e-3, atol=4e-3)


def test_a_float_constant_fills_the_low_half() -> None:
    """LLVM 22 makes 1.0 of <half 1.0, half 0.0>; the bits of an f32 1.0 would be 0.0 and 1.875."""
    near(dot("v_dot2_f32_f16 v4, v1, 1.0, v3", "gfx942"), A0 + C)
    near(dot("v_dot2_f32_f16 v4, v1, 0x40003c00, v3", "gfx1100"), A0 + 2 * A1 + C)
    wave = Wave("gfx942", 64, v1=tiled(A, "gfx942"), v4=tiled(C.view(np.uint32), "gfx942"))
    near(wave.run("v_dot2c_f32_f16_e32 v4, -4.0, v1")["v4"][:32].view(np.float32), -4 * A0 + C)


def test_lanes_are_moved_before_their_halves_are_read() -> None:
    turn = np.arange(32) ^ 1
    moved = "quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf"
    near(dot(f"v_dot2_f32_f16_e64_dpp v4, v1, v2, v3 {moved}", "gfx1100"), A0[turn] * B0 + A1[turn] * B1 + C)
    mixed = dot(f"v_fma_mix_f32_e64_dpp v4, v1, v2, v3 op_sel:[1,0,0] op_sel_hi:[1,1,0] {moved}", "gfx1100")
    near(mixed, A1[turn] * B0 + C)


def test_signs_of_the_sum_of_a_dot_product_of_bytes() -> None:
    """llc 22 prints fneg of it as neg_lo and fabs as neg_hi."""
    for modifiers, expected in (("neg_lo", -C), ("neg_hi", abs(C))):
        wave = Wave("gfx1201", 32, v1=A, v2=0, v3=C.view(np.uint32))
        got = wave.run(f"v_dot4_f32_fp8_bf8 v4, v2, v2, v3 {modifiers}:[0,0,1]")["v4"].view(np.float32)
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(
    ("target", "line", "reason"),
    [
        ("gfx942", "v_dot2_f32_f16 v4, v1, v2, v3 op_sel:[1,0,0]", "op_sel on a source"),
        ("gfx942", "v_dot4_i32_i8 v4, v1, v2, v3 op_sel_hi:[0,1,1]", "op_sel on a source"),
        ("gfx1201", "v_dot4_i32_iu8 v4, v1, v2, v3 neg_hi:[1,0,0]", "neg_hi on v_dot4_i32_iu8"),
        ("gfx1201", "v_dot4_f32_fp8_bf8 v4, v1, v2, v3 neg_lo:[1,0,0]", "neg_lo on v_dot4_f32_fp8_bf8"),
        ("gfx1100", "v_dot2_f32_f16 v4, v1, v2, v3 neg_hi:[0,0,1]", "neg_hi alone"),
        ("gfx1100", "v_dot2_f32_bf16 v4, v1, 1.0, v3", "not certain"),
    ],
)
def test_modifiers_without_a_meaning_are_refused(target: str, line: str, reason: str) -> None:
    with pytest.raises(Unsupported, match=reason):
        dot(line, target)


@pytest.mark.parametrize("small", [2.0**-30, 2.0**-100])
def test_a_fused_product_of_bf16_is_rounded_once(small: float) -> None:
    """1.5 * (1 + 2**-7) lies half-way between two bf16; what is added, far below an f32 or f64, decides."""
    bits = {x: int(np.float32(x).view(np.uint32)) >> HIGH for x in (1.5, 1 + 2.0**-7, small, -small)}
    factors = (bits[1.5] | bits[1.5] << HIGH, bits[1 + 2.0**-7] | bits[1 + 2.0**-7] << HIGH)
    wave = Wave("gfx1250", 32, v1=factors[0], v2=factors[1], v3=bits[small] | bits[-small] << HIGH)
    result = wave.run("v_pk_fma_bf16 v4, v1, v2, v3")["v4"][0]
    above, below = (int(np.float32(x).view(np.uint32)) >> HIGH for x in (1.5 + 2.0**-6, 1.5 + 2.0**-7))
    assert (result & 0xFFFF, result >> HIGH) == (above, below)


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("gfx942", "v_cvt_pkrtz_f16_f32"),
        ("gfx1100", "v_cvt_pk_rtz_f16_f32_e64"),
        ("gfx950", "v_cvt_pk_f16_f32"),
        ("gfx1250", "v_cvt_pk_bf16_f32"),
        ("gfx1250", "v_cvt_sr_pk_f16_f32"),
    ],
)
def test_clamp_limits_both_halves_of_a_packed_conversion(target: str, name: str) -> None:
    """llc 22 folds the minimum and maximum of a <2 x half> into the conversion that makes it."""
    lanes = 32 if target.startswith("gfx1") else 64
    values = np.resize(np.array([-1.0, -0.0, 0.0, 0.25, 0.5, 1.0, 7.0, np.inf, -np.inf], np.float32), lanes)
    wave = Wave(target, lanes, v1=values.view(np.uint32), v2=values[::-1].copy().view(np.uint32))
    random = ", 0" if "_sr_" in name else ""
    word = wave.run(f"{name} v4, v1, v2{random} clamp")["v4"]
    for half, source in ((word & 0xFFFF, values), (word >> HIGH, values[::-1])):
        limited = np.clip(source, np.float32(0), np.float32(1))
        narrow = limited.astype(np.float16).view(np.uint16)
        expected = limited.view(np.uint32) >> HIGH if "bf16" in name else narrow
        np.testing.assert_array_equal(half & 0x7FFF, expected & 0x7FFF)

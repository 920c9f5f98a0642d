"""How GFX11 and GFX12 lines bind: true16 halves, carries, dual issue, byte selection, mixed signs."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from _wave import Wave

RNG = np.random.default_rng(5)


def words(count: int = 32) -> np.ndarray:
    return RNG.integers(0, 1 << 32, count, dtype=np.uint32)


@pytest.mark.parametrize("target", ["gfx1100", "gfx1150", "gfx1200", "gfx1250"])
def test_halves_are_read_and_written_alone(target: str) -> None:
    a, b, old = words(), words(), words()
    wave = Wave(target, 32, v1=a, v2=b, v3=old, v4=old, v5=old, v6=old, v7=a, v8=b, vcc_lo=0x0F0F0F0F).run(
        """v_add_nc_u16 v3.h, v1.l, v2.h
        v_mov_b16_e64 v4.l, v1.h
        v_xor_b16 v5.l, v1.h, v2.l
        v_cndmask_b16 v6.h, v1.l, v2.h, vcc_lo
        v_swap_b16 v7.l, v8.h"""
    )
    low, high = a & 0xFFFF, a >> 16
    np.testing.assert_array_equal(wave["v3"], (((low + (b >> 16)) & 0xFFFF) << 16) | (old & 0xFFFF))
    np.testing.assert_array_equal(wave["v4"], (old & 0xFFFF0000) | high)
    np.testing.assert_array_equal(wave["v5"], (old & 0xFFFF0000) | (high ^ (b & 0xFFFF)))
    chosen = np.where(0x0F0F0F0F >> np.arange(32) & 1, b >> 16, low)
    np.testing.assert_array_equal(wave["v6"], (chosen << 16) | (old & 0xFFFF))
    np.testing.assert_array_equal(wave["v7"], (a & 0xFFFF0000) | (b >> 16))
    np.testing.assert_array_equal(wave["v8"], (low << 16) | (b & 0xFFFF))


def test_a_narrow_result_keeps_the_other_half() -> None:
    old = words()
    x = np.linspace(-3, 3, 32).astype(np.float32)
    for target, kept in (("gfx1100", old & 0xFFFF0000), ("gfx942", 0)):
        wave = Wave(target, 32, v1=x.view(np.uint32), v2=old).run("v_cvt_f16_f32_e32 v2, v1")
        np.testing.assert_array_equal(wave["v2"], x.astype(np.float16).view(np.uint16) | kept)


def test_carries_are_named_masks() -> None:
    a, b = words(), words()
    wave = Wave("gfx1100", 32, v1=a, v2=b).run(
        "v_add_co_u32 v3, vcc_lo, v1, v2\nv_add_co_ci_u32_e32 v4, vcc_lo, v1, v2, vcc_lo"
    )
    carry = (a.astype(np.uint64) + b) >> 32
    np.testing.assert_array_equal(wave["v3"], a + b)
    np.testing.assert_array_equal(wave["v4"], a + b + carry.astype(np.uint32))


def test_dual_issue_reads_before_it_writes() -> None:
    a, b = words(), words()
    wave = Wave("gfx1100", 32, v0=a, v1=b).run("v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v1, v0")
    np.testing.assert_array_equal(wave["v0"], b)
    np.testing.assert_array_equal(wave["v1"], a)


def test_dual_conditional_move_has_vcc_unnamed_or_a_mask_named() -> None:
    a, b = words(), words()
    mask = np.arange(32) % 2 == 0
    wave = Wave("gfx1250", 32, v0=a, v1=b, v2=a, v3=b, vcc_lo=0x55555555, s4=0xAAAAAAAA).run(
        """v_dual_cndmask_b32 v4, v0, v1 :: v_dual_mov_b32 v5, v0
        v_dual_cndmask_b32 v6, v0, v1, s4 :: v_dual_bitop2_b32 v7, v0, v1 bitop3:0x54"""
    )
    np.testing.assert_array_equal(wave["v4"], np.where(mask, b, a))
    np.testing.assert_array_equal(wave["v6"], np.where(mask, a, b))
    np.testing.assert_array_equal(wave["v7"], a | b)


def test_dot_products_choose_the_sign_of_each_side() -> None:
    a, b, c = words(), words(), words()
    for bits, name in ((8, "v_dot4_i32_iu8"), (4, "v_dot8_i32_iu4")):
        for signs in ((0, 0), (1, 0), (0, 1), (1, 1)):
            wave = Wave("gfx1100", 32, v1=a, v2=b, v3=c).run(f"{name} v4, v1, v2, v3 neg_lo:[{signs[0]},{signs[1]},0]")

            def parts(x: np.ndarray, signed: int, bits: int = bits) -> np.ndarray:
                fields = np.stack([x >> at & (1 << bits) - 1 for at in range(0, 32, bits)]).astype(np.int64)
                return np.where(fields >> (bits - 1) & signed, fields - (1 << bits), fields)

            total = (parts(a, signs[0]) * parts(b, signs[1])).sum(0) + c.view(np.int32)
            np.testing.assert_array_equal(wave["v4"], (total & 0xFFFFFFFF).astype(np.uint32))


@pytest.mark.parametrize("target", ["gfx1201", "gfx1250"])
def test_bytes_are_selected_by_number(target: str) -> None:
    a, old = words() & 0x77777777, words()
    x = np.linspace(-4, 4, 32).astype(np.float32)
    for byte in range(4):
        wave = Wave(target, 32, v1=a, v2=x.view(np.uint32), v3=0, v4=old).run(
            f"v_cvt_f32_fp8_e64 v5, v1 byte_sel:{byte}\nv_cvt_sr_fp8_f32 v4, v2, v3 byte_sel:{byte}"
        )
        plain = Wave(target, 32, v1=a >> (8 * byte) & 0xFF, v2=x.view(np.uint32), v3=0, v4=0).run(
            "v_cvt_f32_fp8_e32 v5, v1\nv_cvt_sr_fp8_f32 v4, v2, v3"
        )
        np.testing.assert_array_equal(wave["v5"], plain["v5"])
        field = np.uint32(0xFF << (8 * byte))
        np.testing.assert_array_equal(wave["v4"], (old & ~field) | (plain["v4"] << (8 * byte)))


def test_mixed_multiply_add_takes_halves_of_bf16() -> None:
    x = np.linspace(-4, 4, 64).astype(ml_dtypes.bfloat16).view(np.uint32)
    y, old = np.linspace(-1, 1, 32).astype(np.float32), words()
    lines = "{} {}, v1, v2, v1 op_sel:[1,0,0] op_sel_hi:[1,0,1]"
    names = (("v_fma_mix_f32_bf16", "v3"), ("v_fma_mixlo_bf16", "v4"), ("v_fma_mixhi_bf16", "v5"))
    wave = Wave("gfx1250", 32, v1=x, v2=y.view(np.uint32), v4=old, v5=old)
    wave.run("\n".join(lines.format(*name) for name in names))
    low, high = x.view(ml_dtypes.bfloat16).reshape(-1, 2).T.astype(np.float64)
    total = (high * y + low).astype(np.float32)
    narrow = total.astype(ml_dtypes.bfloat16).view(np.uint16).astype(np.uint32)
    np.testing.assert_array_equal(wave["v3"].view(np.float32), total)
    np.testing.assert_array_equal(wave["v4"], (old & 0xFFFF0000) | narrow)
    np.testing.assert_array_equal(wave["v5"], (narrow << 16) | (old & 0xFFFF))


def test_clamp_of_minima_and_maxima_of_three_takes_negative_results_to_zero() -> None:
    """AMD CDNA5 ISA 7.7 "Packed Min3 and Max3", 15.10, 15.14: the sum is limited in any case, clamp is RELU."""
    a, b, c = (words() for _ in range(3))
    signed = [x.view(np.int32).astype(np.int64) for x in (a, b, c)]
    halves = [x.view(np.int16).astype(np.int64) for x in (a, b, c)]
    names = ("v_add_max_i32", "v_add_min_i32", "v_pk_add_max_i16", "v_pk_min3_i16", "v_pk_max3_u16")
    for clamp in ("", " clamp"):
        wave = Wave("gfx1250", 32, v1=a, v2=b, v3=c)
        wave.run("\n".join(f"{name} v{4 + i}, v1, v2, v3{clamp}" for i, name in enumerate(names)))
        low = 0 if clamp else -(1 << 40)
        total = np.clip(signed[0] + signed[1], -(1 << 31), (1 << 31) - 1)
        narrow = np.clip(halves[0] + halves[1], -(1 << 15), (1 << 15) - 1)
        for i, expected in enumerate((np.maximum(total, signed[2]), np.minimum(total, signed[2]))):
            np.testing.assert_array_equal(wave[f"v{4 + i}"].view(np.int32), np.maximum(expected, low))
        for i, expected in enumerate((np.maximum(narrow, halves[2]), np.minimum.reduce(halves))):
            np.testing.assert_array_equal(wave[f"v{6 + i}"].view(np.int16), np.maximum(expected, low))
        np.testing.assert_array_equal(
            wave["v8"].view(np.uint16), np.maximum.reduce([x.view(np.uint16) for x in (a, b, c)])
        )


def test_no_operation() -> None:
    before = words()
    np.testing.assert_array_equal(Wave("gfx1250", 32, v1=before).run("v_nop\nv_nop")["v1"], before)

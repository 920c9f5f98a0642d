"""MODE: rounding and denormals as s_setreg leaves them, against exact arithmetic rounded by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from _asm import Snippet

from antiphase.errors import Unsupported

NEAREST, UP, DOWN, ZERO = range(4)
BITS = {np.float32: 32, np.float16: 16, np.float64: 64}


def rounded(exact: Fraction, dtype: type, mode: int) -> np.floating:
    """The value of `dtype` that an exact number rounds to."""
    near = dtype(float(exact))
    candidates = [np.nextafter(near, dtype(-np.inf)), near, np.nextafter(near, dtype(np.inf))]
    finite = [c for c in candidates if np.isfinite(c)]
    if mode == NEAREST:
        return min(finite, key=lambda c: (abs(Fraction(float(c)) - exact), c.view(f"u{c.itemsize}") & 1))
    if mode == ZERO:
        mode = UP if exact < 0 else DOWN
    if mode == UP:
        return min(c for c in finite if Fraction(float(c)) >= exact)
    return max(c for c in finite if Fraction(float(c)) <= exact)


def values(dtype: type, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.standard_normal(64) * np.exp2(rng.integers(-3, 4, 64))).astype(dtype)


def exactly(op: str, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> list[Fraction]:
    terms = zip(*([Fraction(float(v)) for v in array] for array in (a, b, c)), strict=True)
    return [x + y if op == "add" else x * y if op == "mul" else x * y + z for x, y, z in terms]


def set_mode(k: Snippet, first: int, size: int, value: int) -> None:
    k(f"s_setreg_imm32_b32 hwreg(HW_REG_MODE, {first}, {size}), {value:#x}")


def test_every_round_mode_of_every_width() -> None:
    k = Snippet(inputs=3)
    k("""v_lshlrev_b32 v2, 3, v0
         global_load_dword v4, v2, s[10:11]
         global_load_dword v5, v2, s[12:13]
         global_load_dword v6, v2, s[14:15]""")
    k("s_waitcnt vmcnt(0)\nv_cvt_f16_f32 v7, v4\nv_cvt_f16_f32 v8, v5\nv_cvt_f16_f32 v9, v6")
    for i, source in enumerate((4, 5, 6)):
        k(f"v_cvt_f64_f32 v[{10 + 2 * i}:{11 + 2 * i}], v{source}")
    # bits the conversions cannot make
    k("v_or_b32 v10, 0x155, v10\nv_or_b32 v12, 0x2aa, v12\nv_or_b32 v14, 0x111, v14")
    k.keep("v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15")
    numbers: dict[tuple[int, int], int] = {}
    for mode in (NEAREST, UP, DOWN, ZERO):
        for width in (32, 64):
            # the other field has another mode, which must not matter
            set_mode(k, 0, 4, mode | (mode + 1) % 4 << 2 if width == 32 else mode << 2 | (mode + 1) % 4)
            if width == 32:
                k("v_add_f32 v20, v4, v5\nv_mul_f32 v21, v4, v5\nv_fma_f32 v22, v4, v5, v6")
                numbers[mode, 32] = k.keep("v20", "v21", "v22")
            else:
                k("v_add_f16 v20, v7, v8\nv_mul_f16 v21, v7, v8\nv_fma_f16 v22, v7, v8, v9")
                k("v_add_f64 v[24:25], v[10:11], v[12:13]\nv_mul_f64 v[26:27], v[10:11], v[12:13]")
                k("v_fma_f64 v[28:29], v[10:11], v[12:13], v[14:15]\nv_cvt_f16_f32 v23, v4")
                numbers[mode, 16] = k.keep("v20", "v21", "v22", "v24", "v25", "v26", "v27", "v28", "v29", "v23")
    arrays = [values(np.float32, i) for i in range(3)]
    spread = [np.stack([a, a], axis=1).ravel() for a in arrays]
    kept = k.run(*spread)
    halves = [kept[i].astype(np.uint16).view(np.float16) for i in range(3)]

    def pair(i: int) -> np.ndarray:
        return (kept[i].astype(np.uint64) | kept[i + 1].astype(np.uint64) << np.uint64(32)).view(np.float64)

    doubles = [pair(i) for i in (3, 5, 7)]
    for mode in (NEAREST, UP, DOWN, ZERO):
        for i, op in enumerate(("add", "mul", "fma")):
            single, small = numbers[mode, 32], numbers[mode, 16]
            for dtype, given, got in (
                (np.float32, arrays, kept.as_(single + i, np.float32)),
                (np.float16, halves, kept[small + i].astype(np.uint16).view(np.float16)),
                (np.float64, doubles, pair(small + 3 + 2 * i)),
            ):
                expected = np.array([rounded(x, dtype, mode) for x in exactly(op, *given)], dtype)
                np.testing.assert_array_equal(got, expected, f"{op} {dtype.__name__} mode {mode}")
        converted = kept[numbers[mode, 16] + 9].astype(np.uint16).view(np.float16)
        expected = np.array([rounded(Fraction(float(x)), np.float16, mode) for x in arrays[0]], np.float16)
        np.testing.assert_array_equal(converted, expected, f"cvt_f16_f32 mode {mode}")


TINY32, TINY16, TINY64 = 0x00400000, 0x0200, 0x0008000000000000
"""Half of the smallest normal number of each format."""


@pytest.mark.parametrize("field", range(4))
def test_denormals_in_and_out_for_f32_and_for_f16_and_f64(field: int) -> None:
    """field bit 0 keeps denormal inputs, bit 1 keeps denormal results; the two fields are independent."""
    keeps_in, keeps_out = bool(field & 1), bool(field & 2)
    k = Snippet()
    k(f"""v_mov_b32 v2, {TINY32:#x}
          v_mov_b32 v3, 0x80400000
          v_mov_b32 v4, 0x00800000
          v_mov_b32 v5, {TINY16:#x}""")
    k("""v_mov_b32 v6, 0x0400
         v_mov_b32 v8, 0
         v_mov_b32 v9, 0x00080000
         v_mov_b32 v10, 0
         v_mov_b32 v11, 0x00100000""")
    set_mode(k, 4, 4, field | 3 << 2)
    k("""v_mul_f32 v20, 2.0, v2
         v_mul_f32 v21, 2.0, v3
         v_mul_f32 v22, 0.5, v4
         v_mul_f16 v23, 0.5, v6
         v_mul_f64 v[24:25], 0.5, v[10:11]""")
    k("v_cmp_lt_f32 vcc, 0, v2\nv_cndmask_b32 v26, 0, 1, vcc\nv_max_f32 v27, v2, v2")
    k.keep("v20", "v21", "v22", "v23", "v25", "v26", "v27")
    set_mode(k, 4, 4, 3 | field << 2)
    k("""v_mul_f16 v20, 2.0, v5
         v_mul_f16 v21, 0.5, v6
         v_mul_f64 v[22:23], 2.0, v[8:9]
         v_mul_f64 v[24:25], 0.5, v[10:11]
         v_mul_f32 v26, 0.5, v4""")
    k.keep("v20", "v21", "v23", "v25", "v26")
    kept = k.run()
    got = [int(kept[i][0]) for i in range(12)]
    single = [0x00800000, 0x80800000] if keeps_in else [0, 0x80000000]
    assert got[:3] == [*single, TINY32 if keeps_out else 0]
    assert got[3:5] == [TINY16, TINY64 >> 32], "f16 and f64 have the other field"
    assert got[5] == int(keeps_in), "comparisons see inputs"
    assert got[6] == (TINY32 if keeps_in and keeps_out else 0)
    assert got[7] == (0x0400 if keeps_in else 0) and got[8] == (TINY16 if keeps_out else 0)
    assert got[9] == (0x00100000 if keeps_in else 0) and got[10] == (TINY64 >> 32 if keeps_out else 0)
    assert got[11] == TINY32, "f32 has the other field"


def test_the_descriptor_sets_the_mode_and_getreg_reads_it() -> None:
    k = Snippet(descriptor={"float_round_mode_32": UP, "float_denorm_mode_32": 0, "dx10_clamp": 1, "ieee_mode": 0})
    k("""v_mov_b32 v2, 1.0
         v_mov_b32 v3, 0x30000000
         v_add_f32 v4, v2, v3
         s_getreg_b32 s20, hwreg(HW_REG_MODE, 0, 10)""")
    k("s_setreg_imm32_b32 0x801, 2\nv_add_f32 v5, v2, v3\ns_getreg_b32 s21, hwreg(HW_REG_MODE)")
    k.keep("v4", "v5", "s20", "s21")
    kept = k.run()
    assert kept[0][0] == 0x3F800001 and kept[1][0] == 0x3F800000, "0x801 is MODE, first bit 0, two bits"
    assert kept[2][0] == UP | 3 << 6 | 1 << 8 and kept[3][0] == DOWN | 3 << 6 | 1 << 8


def test_a_loop_that_sets_the_mode_is_translated_in_each_block_s_mode() -> None:
    k = Snippet()
    k("""v_mov_b32 v2, 1.0
         v_mov_b32 v3, 0x30000000
         s_mov_b32 s16, 0
         s_branch .Lbody
         .Lloop:
         s_add_u32 s16, s16, 1
         .Lbody:""")
    set_mode(k, 0, 2, UP)
    k("v_add_f32 v2, v2, v3")
    set_mode(k, 0, 2, NEAREST)
    k("v_add_f32 v4, v2, v3\ns_cmp_lt_u32 s16, 4\ns_cbranch_scc1 .Lloop")
    k.keep("v2", "v4")
    kept = k.run()
    assert kept[0][0] == 0x3F800005 and kept[1][0] == 0x3F800005


def test_a_mode_that_depends_on_the_path_is_unsupported_only_where_it_matters() -> None:
    k = Snippet()
    k("s_cmp_eq_u32 s2, 1\ns_cbranch_scc0 .Lskip")
    set_mode(k, 0, 2, UP)
    k(".Lskip:\nv_mov_b32 v2, 1.0")
    k.keep("v2")
    with pytest.raises(Unsupported, match=r"k\.s:\d+: 'v_mov_b32 v2, 1\.0' is not supported: it is reached with two"):
        k.run()

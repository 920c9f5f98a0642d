"""Scalar instructions of GFX11, GFX12 and gfx1250: masks, bits, 64 bits and floats (seed 000, section 4)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from _wave import Wave
from isa_harness import run

from antiphase.isa import find
from antiphase.machine.llvm._lower import FloatMode

np.seterr(all="ignore")
RNG = np.random.default_rng(7)
M32 = 0xFFFFFFFF
LOGIC = {
    "and": lambda s, e: s & e, "or": lambda s, e: s | e, "xor": lambda s, e: s ^ e,
    "nand": lambda s, e: ~(s & e), "nor": lambda s, e: ~(s | e), "xnor": lambda s, e: ~(s ^ e),
    "and_not0": lambda s, e: ~s & e, "and_not1": lambda s, e: s & ~e,
    "or_not0": lambda s, e: ~s | e, "or_not1": lambda s, e: s | ~e,
}  # fmt: skip
OLD = {"and_not0": "andn1", "and_not1": "andn2", "or_not0": "orn1", "or_not1": "orn2"}


@pytest.mark.parametrize("name", LOGIC)
def test_save_and_write_exec_in_wave32(name: str) -> None:
    for source, exec_ in ((0x0F0F1234, 0xFF00FFFF), (0, 0x80000001), (M32, M32)):
        result = LOGIC[name](source, exec_) & M32
        for spelling in (name, OLD.get(name, name)):
            wave = Wave("gfx1100", 32, s4=source, exec_lo=exec_).run(f"s_{spelling}_saveexec_b32 s6, s4")
            assert (wave["s6"], wave["exec_lo"], wave["scc"]) == (exec_, result, result != 0)
            if name.startswith("and_not"):
                wave = Wave("gfx1201", 32, s4=source, exec_lo=exec_).run(f"s_{spelling}_wrexec_b32 s6, s4")
                assert (wave["s6"], wave["exec_lo"], wave["scc"]) == (result, result, result != 0)


def test_save_exec_in_wave64_takes_both_halves() -> None:
    wave = Wave("gfx1100", 64, s4=0xF0, s5=0x0F, exec_lo=0x3C, exec_hi=0x3C)
    wave.run("s_and_not1_saveexec_b64 s[6:7], s[4:5]")
    assert (wave["s6"], wave["s7"], wave["exec_lo"], wave["exec_hi"]) == (0x3C, 0x3C, 0xC0, 0x03)


@pytest.mark.parametrize("bits", [32, 64])
def test_bits(bits: int) -> None:
    dtype = f"u{bits // 8}"
    top = 1 << (bits - 1)
    values = [0, 1, top, top - 1, (1 << bits) - 1, 0x00F0_0100, 0x8421, *RNG.integers(0, top, 16).tolist()]
    array = np.array(values, dtype)

    def quads(x: int) -> list[int]:
        return [int(x >> at & 15 != 0) for at in range(0, bits, 4)]

    mask = [sum(q << i for i, q in enumerate(quads(x))) for x in values]
    whole = [sum(15 * q << 4 * i for i, q in enumerate(quads(x))) for x in values]
    for name, expected in (("quadmask", mask), ("wqm", whole)):
        result, scc = run(f"s_{name}_b{bits}", array, target="gfx1100")
        assert result.tolist() == expected
        assert scc.tolist() == [int(e != 0) for e in expected]
    leading = [bits - x.bit_length() if x else -1 for x in values]
    trailing = [(x & -x).bit_length() - 1 if x else -1 for x in values]
    assert run(f"s_clz_i32_u{bits}", array, target="gfx1201")[0].tolist() == leading
    assert run(f"s_ctz_i32_b{bits}", array, target="gfx1201")[0].tolist() == trailing


def test_bits_of_32_doubled_and_halves_packed() -> None:
    values = np.append(RNG.integers(0, 1 << 32, 32), [0, M32, 1, 1 << 31]).astype(np.uint32)
    doubled = [sum((x >> i & 1) * (3 << 2 * i) for i in range(32)) for x in values.tolist()]
    assert run("s_bitreplicate_b64_b32", values, target="gfx1100")[0].tolist() == doubled
    other = values[::-1].copy()
    packed = (values >> 16) | (other << 16)
    np.testing.assert_array_equal(run("s_pack_hl_b32_b16", values, other, target="gfx1100")[0], packed)


def test_64_bit_arithmetic() -> None:
    a, b = (RNG.integers(0, 1 << 64, 64, dtype=np.uint64) for _ in range(2))
    for name, expected in (("s_add_nc_u64", a + b), ("s_sub_nc_u64", a - b), ("s_mul_u64", a * b)):
        for target in ("gfx1200", "gfx1250"):
            np.testing.assert_array_equal(run(name, a, b, target=target)[0], expected)
        assert find(name, "gfx1151") is None


def test_carry_arithmetic_has_new_names() -> None:
    wave = Wave("gfx1201", 32, s1=M32, s2=1, s3=7, s4=8).run(
        """s_add_co_u32 s5, s1, s2
        s_add_co_ci_u32 s6, s3, s4
        s_sub_co_u32 s7, s2, s1
        s_sub_co_ci_u32 s8, s3, s4"""
    )
    assert [int(wave[f"s{i}"][0]) for i in (5, 6, 7, 8)] == [0, 16, 2, M32 - 1]


SPECIALS = np.array(
    [0.0, -0.0, 1e-40, -1e-42, 1.0, -2.5, 0.5, 1.5, 65504.0, 7e4, 3e38, np.inf, -np.inf, np.nan, 1e-5],
    np.float32,
)


@pytest.mark.parametrize("target", ["gfx1150", "gfx1200", "gfx1250"])
def test_seed_000_section_4_scalar_float(target: str) -> None:
    for t in (np.float32, np.float16):
        s = "f32" if t is np.float32 else "f16"
        a, b = (x.ravel().astype(t) for x in np.meshgrid(SPECIALS, SPECIALS))
        for name, expected in (
            ("add", a + b), ("sub", a - b), ("mul", a * b), ("ceil", np.ceil(a)), ("floor", np.floor(a)),
            ("trunc", np.trunc(a)), ("rndne", np.rint(a)),
        ):  # fmt: skip
            sources = (a, b) if name in ("add", "sub", "mul") else (a,)
            np.testing.assert_array_equal(run(f"s_{name}_{s}", *sources, target=target)[0], expected, name)
        unordered = np.isnan(a) | np.isnan(b)
        for name, expected in (
            ("lt", a < b), ("lg", (a < b) | (a > b)), ("neq", a != b), ("nlt", ~(a < b)), ("o", ~unordered),
            ("u", unordered), ("nge", ~(a >= b)), ("eq", a == b),
        ):  # fmt: skip
            np.testing.assert_array_equal(run(f"s_cmp_{name}_{s}", a, b, target=target)[0], expected, name)


def test_scalar_multiply_add_rounds_once_and_half_results_have_zeros_above() -> None:
    wave = Wave("gfx1150", 32, s1=np.float32(1 + 2**-12).view(np.uint32), s2=np.float32(-1).view(np.uint32))
    wave.run("s_fmac_f32 s2, s1, s1\ns_fmaak_f32 s3, s1, s1, 0xbf800000\ns_fmamk_f32 s4, s1, 0x3f800800, s1")
    exact = np.float32(2**-11 + 2**-24)
    assert [wave[f"s{i}"].view(np.float32)[0] for i in (2, 3)] == [exact, exact]
    wave = Wave("gfx1201", 32, s1=0xABCD3C00, s2=0xFFFF4000, s3=0xDEADBEEF).run("s_add_f16 s3, s1, s2")
    assert wave["s3"][0] == np.float16(3.0).view(np.uint16)


def test_scalar_conversions() -> None:
    values = np.array([0.0, -1.5, 2.5, 3e9, -3e9, np.nan, np.inf, 70000.0, 1e-8], np.float32)
    signed = run("s_cvt_i32_f32", values, target="gfx1150")[0].tolist()
    assert signed == [0, -1, 2, 2**31 - 1, -(2**31), 0, 2**31 - 1, 70000, 0]
    unsigned = run("s_cvt_u32_f32", values, target="gfx1200")[0].tolist()
    assert unsigned == [0, 0, 2, 3_000_000_000, 0, 0, M32, 70000, 0]
    integers = np.array([0, 1, -1, 2**31 - 1, -(2**31)], np.int32)
    np.testing.assert_array_equal(run("s_cvt_f32_i32", integers, target="gfx1150")[0], integers.astype(np.float32))
    np.testing.assert_array_equal(
        run("s_cvt_f16_f32", values, target="gfx1150")[0], values.astype(np.float16), "s_cvt_f16_f32"
    )
    packed = np.array([0x3C004000], np.uint32)
    assert run("s_cvt_hi_f32_f16", packed, target="gfx1150")[0][0] == 1.0
    near, far = np.float32(1 + 2**-11 + 2**-20), np.float32(70000)
    (word,) = run("s_cvt_pk_rtz_f16_f32", near, far, target="gfx1201")[0].tolist()
    assert word == 0x7BFF_3C00


def test_denormals_follow_mode_in_scalar_float() -> None:
    tiny = np.float32(1e-40)
    assert run("s_add_f32", tiny, tiny, target="gfx1150")[0][0] == tiny + tiny
    assert run("s_add_f32", tiny, tiny, target="gfx1150", mode=FloatMode(denormal32=0))[0][0] == 0.0


def test_transcendentals_of_scalars() -> None:
    x = np.array([0.25, 1.0, 2.0, 9.0, 10.0], np.float32)
    for name, function in (
        ("exp", np.exp2), ("log", np.log2), ("rcp", np.reciprocal), ("sqrt", np.sqrt),
        ("rsq", lambda a: 1 / np.sqrt(a)),
    ):  # fmt: skip
        np.testing.assert_allclose(run(f"v_s_{name}_f32", x, target="gfx1200")[0], function(x), rtol=2**-23)
    wave = Wave("gfx1201", 32, s1=np.float32(4.0).view(np.uint32)).run("v_s_rsq_f32 s2, s1")
    assert math.isclose(wave["s2"].view(np.float32)[0], 0.5)

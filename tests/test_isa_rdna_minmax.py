"""Float minimum and maximum on GFX11 and GFX12: seed 000, section 4, "FP32 minimum / maximum"."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from isa_harness import run

from antiphase.machine.llvm._lower import FloatMode

GFX11, GFX12 = ("gfx1100", "gfx1103", "gfx1150", "gfx1153"), ("gfx1200", "gfx1201", "gfx1250")
WORDS = {"f16": np.uint16, "f32": np.uint32, "f64": np.uint64}
FRACTION = {"f16": 10, "f32": 23, "f64": 52}


class Float:
    """A float format's special codes, and the two rules of the manuals written on codes."""

    def __init__(self, t: str) -> None:
        self.t, self.word, fraction = t, WORDS[t], FRACTION[t]
        bits = 8 * self.word(0).itemsize
        self.sign = 1 << (bits - 1)
        self.infinity = (self.sign - 1) >> fraction << fraction
        self.quiet_bit = 1 << (fraction - 1)
        one = (self.infinity >> 1) >> fraction << fraction
        numbers = [0, 1, (1 << fraction) - 1, 1 << fraction, one, one + 3, self.infinity - 1, self.infinity]
        nans = [self.infinity | 5, self.infinity | self.quiet_bit | 9]
        self.codes = [c | s for c in numbers + nans for s in (0, self.sign)]

    def nan(self, a: int) -> bool:
        return (a & (self.sign - 1)) > self.infinity

    def signalling(self, a: int) -> bool:
        return self.nan(a) and not a & self.quiet_bit

    def order(self, a: int) -> int:
        """An integer ordered as the number, -0 below +0."""
        return -(a & (self.sign - 1)) - 1 if a & self.sign else a

    def choose(self, a: int, b: int, least: bool) -> int:
        return (min if least else max)(a, b, key=self.order)

    def ieee_mode(self, a: int, b: int, least: bool, ieee: bool) -> int:
        """RDNA 3 and 3.5: V_MIN and V_MAX."""
        for x in (a, b):
            if ieee and self.signalling(x):
                return x | self.quiet_bit
        if self.nan(b):
            return a
        return b if self.nan(a) else self.choose(a, b, least)

    def number(self, a: int, b: int, least: bool) -> int:
        """RDNA 4: V_MIN_NUM and V_MAX_NUM."""
        if self.nan(a):
            return a | self.quiet_bit if self.nan(b) else b
        return a if self.nan(b) else self.choose(a, b, least)

    def propagating(self, a: int, b: int, least: bool) -> int:
        """RDNA 4: V_MINIMUM and V_MAXIMUM."""
        for test in (self.signalling, self.nan):
            for x in (a, b):
                if test(x):
                    return x | self.quiet_bit
        return self.choose(a, b, least)

    def arrays(self, count: int) -> list[np.ndarray]:
        codes = np.array(list(itertools.product(self.codes, repeat=count)), self.word)
        return [codes[:, i].view(f"f{codes.itemsize}") for i in range(count)]


def compare(form: Float, result: np.ndarray, expected: list[int]) -> None:
    np.testing.assert_array_equal(result.view(form.word), np.array(expected, form.word))


def codes_of(form: Float, arrays: list[np.ndarray]) -> list[list[int]]:
    return [a.view(form.word).tolist() for a in arrays]


@pytest.mark.parametrize("target", GFX11)
@pytest.mark.parametrize("ieee", [False, True])
@pytest.mark.parametrize("name", ["min", "max"])
def test_seed_000_section_4_gfx11_follows_ieee_mode(name: str, ieee: bool, target: str) -> None:
    for t in WORDS:
        form = Float(t)
        arrays = form.arrays(2)
        (result,) = run(f"v_{name}_{t}", *arrays, target=target, mode=FloatMode(ieee=ieee))
        pairs = zip(*codes_of(form, arrays), strict=True)
        compare(form, result, [form.ieee_mode(a, b, name == "min", ieee) for a, b in pairs])


@pytest.mark.parametrize("target", GFX12)
@pytest.mark.parametrize("ieee", [False, True])
@pytest.mark.parametrize("name", ["min", "max"])
def test_seed_000_section_4_gfx12_has_two_families_and_no_mode(name: str, ieee: bool, target: str) -> None:
    mode, least = FloatMode(ieee=ieee), name == "min"
    for t in WORDS:
        form = Float(t)
        arrays = form.arrays(2)
        codes = codes_of(form, arrays)
        for mnemonic in (f"v_{name}_num_{t}", f"v_{name}_{t}"):
            (result,) = run(mnemonic, *arrays, target=target, mode=mode)
            compare(form, result, [form.number(a, b, least) for a, b in zip(*codes, strict=True)])
        (result,) = run(f"v_{name}imum_{t}", *arrays, target=target, mode=mode)
        compare(form, result, [form.propagating(a, b, least) for a, b in zip(*codes, strict=True)])


@pytest.mark.parametrize("t", ["f32", "f16"])
def test_three_operands_compose_two(t: str) -> None:
    form = Float(t)
    form.codes = form.codes[::2] + form.codes[1:8:2]
    arrays = form.arrays(3)
    triples = list(zip(*codes_of(form, arrays), strict=True))
    for mnemonic, rule, first, second in (
        ("min3_num", form.number, True, True), ("max3_num", form.number, False, False),
        ("minmax_num", form.number, True, False), ("maxmin_num", form.number, False, True),
        ("minimum3", form.propagating, True, True), ("maximum3", form.propagating, False, False),
        ("minimummaximum", form.propagating, True, False), ("maximumminimum", form.propagating, False, True),
    ):  # fmt: skip
        (result,) = run(f"v_{mnemonic}_{t}", *arrays, target="gfx1201")
        compare(form, result, [rule(rule(a, b, first), c, second) for a, b, c in triples])
    for mnemonic, first in (("minmax", True), ("maxmin", False)):
        (result,) = run(f"v_{mnemonic}_{t}", *arrays, target="gfx1100")
        expected = [form.ieee_mode(form.ieee_mode(a, b, first, True), c, not first, True) for a, b, c in triples]
        compare(form, result, expected)


def test_median_of_numbers_ignores_nans() -> None:
    form = Float("f32")
    arrays = form.arrays(3)
    (result,) = run("v_med3_num_f32", *arrays, target="gfx1200")
    for triple, got in zip(zip(*codes_of(form, arrays), strict=True), result.view(np.uint32), strict=True):
        numbers = sorted((x for x in triple if not form.nan(x)), key=form.order)
        if len(numbers) == 3:
            assert got == numbers[1]
        elif numbers:
            assert got == numbers[0]
        else:
            assert form.nan(int(got)) and int(got) & form.quiet_bit


@pytest.mark.parametrize("target", ["gfx1150", "gfx1201"])
def test_scalar_forms_follow_the_vector_ones(target: str) -> None:
    form = Float("f32")
    arrays = form.arrays(2)
    names = ["min", "max"] if target == "gfx1150" else ["min_num", "max_num", "minimum", "maximum"]
    for name in names:
        (scalar,) = run(f"s_{name}_f32", *arrays, target=target)
        (vector,) = run(f"v_{name}_f32", *arrays, target=target)
        np.testing.assert_array_equal(scalar.view(np.uint32), vector.view(np.uint32))

"""Literals of 64-bit float operands: 32 bits are the upper half; gfx1250 has 64-bit ones (encodings of llvm-mc 22)."""

from __future__ import annotations

import numpy as np
import pytest
from _wave import Wave


def holding(value: float, target: str, lanes: int) -> Wave:
    """A wave with a float in v[2:3]."""
    wave, word = Wave(target, lanes), int(np.float64(value).view(np.uint64))
    wave["v2"], wave["v3"] = word & 0xFFFFFFFF, word >> 32
    return wave


def result(wave: Wave) -> float:
    words = np.stack([wave["v0"], wave["v1"]], 1).copy().view(np.float64)
    assert (words == words[0]).all()
    return float(words[0, 0])


@pytest.mark.parametrize(
    ("target", "literal", "value"),
    [
        ("gfx942", "0x40590000", 100.0),
        ("gfx1100", "0x40590000", 100.0),
        ("gfx1250", "0x40590000", 100.0),
        ("gfx1250", "0x3fb999999999999a", 0.1),
        ("gfx1250", "0xbfb999999999999a", -0.1),
        ("gfx1250", "lit64(0x40590000)", float(np.uint64(0x40590000).view(np.float64))),
        ("gfx1250", "lit64(0x4059000000000000)", 100.0),
        ("gfx1250", "0.5", 0.5),
    ],
)
def test_an_f64_literal(target: str, literal: str, value: float) -> None:
    wave = holding(3.0, target, 64 if target == "gfx942" else 32)
    assert result(wave.run(f"v_mul_f64 v[0:1], {literal}, v[2:3]")) == 3.0 * value


def test_fmaak_and_fmamk_take_64_bits() -> None:
    wave = holding(3.0, "gfx1250", 32)
    assert result(wave.run("v_fmaak_f64 v[0:1], v[2:3], v[2:3], 0x3fb999999999999a")) == 9.1
    assert result(wave.run("v_fmamk_f64 v[0:1], v[2:3], 0x3fc999999999999a, v[2:3]")) == pytest.approx(3.6)

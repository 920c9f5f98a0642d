"""The patterns of ds_swizzle_b32 by name: the bits that LLVM's assembler gives them (llvm-mc 22, -show-encoding)."""

from __future__ import annotations

import pytest

from antiphase.isa import swizzle_offset


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        ("swizzle(SWAP,16)", 0x401F),
        ('swizzle(BITMASK_PERM,"01pip")', 0x0907),
        ('swizzle(BITMASK_PERM,"ppppp")', 0x001F),
        ("swizzle(QUAD_PERM,0,1,2,3)", 0x80E4),
        ("swizzle(QUAD_PERM,3,2,0,1)", 0x804B),
        ("swizzle(BROADCAST,8,5)", 0x00B8),
        ("swizzle(BROADCAST, 2, 1)", 0x003E),
        ("swizzle(REVERSE,8)", 0x1C1F),
        ("swizzle(FFT,3)", 0xE003),
        ("swizzle(ROTATE,1,9)", 0xC520),
        ("swizzle(ROTATE,0,9)", 0xC120),
    ],
)
def test_bits(text: str, bits: int) -> None:
    assert swizzle_offset(text) == bits


@pytest.mark.parametrize(
    "text", ["swizzle(SWAP)", "swizzle(SWAP,x)", "swizzle(NONE,1)", 'swizzle(BITMASK_PERM,"0")', "16"]
)
def test_what_is_no_pattern(text: str) -> None:
    assert swizzle_offset(text) is None

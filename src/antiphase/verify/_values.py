"""Register values as the fact files write them, and as registers hold them."""

from __future__ import annotations

import re
import struct

from antiphase.arch._check_specs import Runs

Value = int | float | tuple[int | float, ...]
Row = tuple[int, ...]
"""Bits of a register, one number a lane or one for a scalar register."""

_VECTOR = re.compile(r"[va]\d+")


def is_vector(name: str) -> bool:
    """Whether a register holds a value a lane."""
    return _VECTOR.fullmatch(name) is not None


def malformed(spec: Runs, wave: int) -> str:
    """What is wrong with the values of a check for a wave size; '' if nothing is."""
    for name, value in (*spec.given.items(), *spec.expect.items()):
        if isinstance(value, tuple) and len(value) != (wave if is_vector(name) else 1):
            return f"{len(value)} values for {name} of wave{wave}"
    return ""


def each(value: Value, count: int) -> tuple[int | float, ...]:
    """The values of that many lanes."""
    return value if isinstance(value, tuple) else (value,) * count


def lanes(value: Value, wave: int) -> Row:
    """A vector register."""
    return tuple(bits(one) & 0xFFFFFFFF for one in each(value, wave))


def bits(value: int | float) -> int:
    """A pattern of up to 64 bits, or those of a 32-bit float."""
    if isinstance(value, float):
        return int.from_bytes(struct.pack("<f", value), "little")
    return value & 0xFFFFFFFFFFFFFFFF


def same(written: int | float, held: int) -> bool:
    """Whether a register holds what is written. A NaN written as a float stands for any NaN."""
    if isinstance(written, float) and written != written:
        return held & 0x7FFFFFFF > 0x7F800000
    return bits(written) == held or (written < 0 and bits(written) & 0xFFFFFFFF == held)


def like(written: int | float, held: int) -> int | float:
    """Bits in the way that the fact writes its value."""
    return struct.unpack("<f", struct.pack("<I", held))[0] if isinstance(written, float) else held

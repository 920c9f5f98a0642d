"""The offset of ds_swizzle_b32 by its patterns' names, as LLVM prints it: `swizzle(SWAP,16)`.

Source: LLVM AMDGPUModifierSyntax ("swizzle"), SIDefines.h (namespace Swizzle), AMDGPUAsmParser.cpp (parseSwizzle*).
"""

from __future__ import annotations

import re

_PATTERN = re.compile(r"swizzle\((\w+),(.*)\)")
_MASKS = {"0": (0, 0, 0), "1": (0, 1, 0), "p": (1, 0, 0), "i": (1, 0, 1)}  # of one bit: and, or, exclusive or


def swizzle_offset(text: str) -> int | None:
    """The 16 bits of a pattern, None for a text that is none."""
    match = _PATTERN.fullmatch(text.replace(" ", ""))
    if match is None:
        return None
    name, rest = match[1], match[2]
    if name == "BITMASK_PERM":
        bits = rest.strip('"')
        known = len(bits) == 5 and set(bits) <= _MASKS.keys()
        return _masks(*(_number(bits, which) for which in range(3))) if known else None
    try:
        numbers = [int(part, 0) for part in rest.split(",")]
    except ValueError:
        return None
    return _numbered(name, numbers)


def _number(bits: str, which: int) -> int:
    return sum(_MASKS[bit][which] << place for place, bit in enumerate(reversed(bits)))


def _masks(and_: int, or_: int, xor: int) -> int:
    return and_ | or_ << 5 | xor << 10


def _numbered(name: str, numbers: list[int]) -> int | None:
    match name, numbers:
        case "QUAD_PERM", [a, b, c, d]:
            return 0x8000 | a | b << 2 | c << 4 | d << 6
        case "BROADCAST", [size, lane]:
            return _masks(32 - size, lane, 0)
        case "SWAP", [size]:
            return _masks(31, 0, size)
        case "REVERSE", [size]:
            return _masks(31, 0, size - 1)
        case "FFT", [mask]:
            return 0xE000 | mask
        case "ROTATE", [right, count]:
            return 0xC000 | right << 10 | count << 5
        case _:
            return None

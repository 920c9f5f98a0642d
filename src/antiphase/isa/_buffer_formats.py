"""Formats of elements in buffers: what NUM_FORMAT, DATA_FORMAT and FORMAT of a resource or a tbuffer line mean.

Sources: AMD CDNA3 ISA 9.1.2 table 40 (DFMT, NFMT), RDNA3 ISA 10.7 table 52, RDNA4 ISA 10.7 table 62; names as LLVM's
AMDGPUAsmUtils (MTBUFFormat) has them. A name lists components from the highest bits down, so that x of 2_10_10_10 is
in bits 9:0 and x of 10_11_11 has 11 bits: Mesa ac_formats.c, ac_get_cb_format; PAL, X11Y11Z10_Float.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

KINDS = ("unorm", "snorm", "uscaled", "sscaled", "uint", "sint", "raw", "float")
"""What the bits of a component mean; the index is CDNA's NUM_FORMAT, but for 'raw', which is bits as they are."""

IDENTITY = 0o7654
"""DST_SEL of x, y, z, w in three bits each: 0 and 1 are these numbers, 4 to 7 components of the element."""


@dataclass(frozen=True, slots=True)
class BufferFormat:
    """widths: bits of x, y, z and w from the lowest bit of the element on, none of an INVALID format."""

    name: str
    widths: tuple[int, ...]
    kind: str

    @property
    def bytes(self) -> int:
        return sum(self.widths) // 8

    @property
    def identity(self) -> int:
        """DST_SEL of a tbuffer load: X000, XY00, XYZ0 or XYZW by the number of components (CDNA3 ISA 9.1.4)."""
        return IDENTITY & ((1 << 3 * len(self.widths)) - 1)


_DATA = (
    "INVALID", "8", "16", "8_8", "32", "16_16", "10_11_11", "11_11_10", "10_10_10_2", "2_10_10_10", "8_8_8_8", "32_32",
    "16_16_16_16", "32_32_32", "32_32_32_32", "RESERVED_15",
)  # fmt: skip
_NUMERIC = ("UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "RESERVED_6", "FLOAT")
_FIXED, _ALL = _NUMERIC[:6], (*_NUMERIC[:6], "FLOAT")
_PLAIN = ("UINT", "SINT", "FLOAT")
_UNIFIED = [
    (data, kinds)
    for group, kinds in (
        ("8", _FIXED), ("16", _ALL), ("8_8", _FIXED), ("32", _PLAIN), ("16_16", _ALL),
        ("10_11_11 11_11_10", ("FLOAT",)), ("10_10_10_2", ("UNORM", "SNORM", "UINT", "SINT")),
        ("2_10_10_10 8_8_8_8", _FIXED), ("32_32", _PLAIN), ("16_16_16_16", _ALL), ("32_32_32 32_32_32_32", _PLAIN),
    )
    for data in group.split()
]  # fmt: skip
UNIFIED = ("INVALID", *(f"{data}_{kind}" for data, kinds in _UNIFIED for kind in kinds))
"""Names of RDNA's formats by number, without LLVM's BUF_FMT_. Higher numbers are formats of images."""


def _format(data: str, kind: str) -> BufferFormat | None:
    """None where nothing says what it would be."""
    if data == "INVALID":
        return BufferFormat(data, (), "uint")
    if data.startswith("RESERVED") or kind.startswith("RESERVED"):
        return None
    widths = tuple(map(int, reversed(data.split("_"))))
    if kind == "FLOAT" and (8 in widths or 2 in widths):
        return None
    # "data in memory that is 32 or 64 bits do not undergo any format conversion" (CDNA3 ISA 9.1.3)
    plain = widths[0] < 32 or kind in _PLAIN
    return BufferFormat(f"{data}_{kind}", widths, kind.lower() if plain else "raw")


@functools.cache
def buffer_formats(generation: str) -> Mapping[int, BufferFormat]:
    """The formats of 'gfx9' by DATA_FORMAT + 16 * NUM_FORMAT, of 'gfx11' and 'gfx12' by FORMAT."""
    if generation == "gfx9":
        pairs = enumerate((data, kind) for kind in _NUMERIC for data in _DATA)
    else:
        pairs = enumerate([("INVALID", "")] + [(data, kind) for data, kinds in _UNIFIED for kind in kinds])
    made = {code: _format(data, kind) for code, (data, kind) in pairs}
    return {code: one for code, one in made.items() if one is not None}


def format_code(text: str | int | None, generation: str) -> int:
    """The number of a `format:` operand: a number, `[BUF_FMT_...]`, or `[BUF_DATA_FORMAT_..., BUF_NUM_FORMAT_...]` of
    which either may be missing; None for no operand. ValueError for a name that the generation does not have."""
    if isinstance(text, int):
        return text
    data, kind = "8", "UNORM"
    for name in text.strip("[]").split(",") if text else ():
        if name.startswith("BUF_FMT_") and generation != "gfx9":
            return _index(UNIFIED, name.removeprefix("BUF_FMT_"), name)
        if name.startswith("BUF_DATA_FORMAT_"):
            data = name.removeprefix("BUF_DATA_FORMAT_")
        elif name.startswith("BUF_NUM_FORMAT_"):
            kind = name.removeprefix("BUF_NUM_FORMAT_")
        else:
            raise ValueError(f"format {name}")
    if generation == "gfx9":
        return _index(_DATA, data, data) + 16 * _index(_NUMERIC, kind, kind)
    return 0 if data == "INVALID" else _index(UNIFIED, f"{data}_{kind}", f"{data}, {kind}")


def _index(names: tuple[str, ...], name: str, said: str) -> int:
    if name not in names:
        raise ValueError(f"format {said}")
    return names.index(name)

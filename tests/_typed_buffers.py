"""Formats of buffer elements for tests: names and encodings as text, conversions with NumPy, and kernels of one wave.

Nothing here comes from antiphase: layouts are written out, numbers go through tables of all codes or float64.
"""

from __future__ import annotations

import numpy as np
from _asm import Snippet
from _memory_kernels import Kernel

from antiphase.machine import Execution

LAYOUTS = {
    "8": (8,), "16": (16,), "8_8": (8, 8), "32": (32,), "16_16": (16, 16), "10_11_11": (11, 11, 10),
    "11_11_10": (10, 11, 11), "10_10_10_2": (2, 10, 10, 10), "2_10_10_10": (10, 10, 10, 2), "8_8_8_8": (8,) * 4,
    "32_32": (32, 32), "16_16_16_16": (16,) * 4, "32_32_32": (32,) * 3, "32_32_32_32": (32,) * 4,
}  # fmt: skip
"""Bits of x, y, z, w, from the lowest of the element on; the position is CDNA's DATA_FORMAT, counted from 1."""
NUMERIC = ("UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "", "FLOAT")


def formats(target: str) -> dict[str, int]:
    """Every format of a target, as DATA_KIND, and its number: of CDNA DATA_FORMAT + 16 * NUM_FORMAT."""
    if target != "gfx942":
        return {name: number for number, name in enumerate(UNIFIED.split(), 1)}
    return {
        f"{data}_{kind}": i + 16 * n
        for i, (data, widths) in enumerate(LAYOUTS.items(), 1)
        for n, kind in enumerate(NUMERIC)
        if kind and (kind in ("UINT", "SINT") or (max(widths) in (11, 16, 32) if kind == "FLOAT" else widths[0] < 32))
    }


UNIFIED = """
8_UNORM 8_SNORM 8_USCALED 8_SSCALED 8_UINT 8_SINT
16_UNORM 16_SNORM 16_USCALED 16_SSCALED 16_UINT 16_SINT 16_FLOAT
8_8_UNORM 8_8_SNORM 8_8_USCALED 8_8_SSCALED 8_8_UINT 8_8_SINT
32_UINT 32_SINT 32_FLOAT
16_16_UNORM 16_16_SNORM 16_16_USCALED 16_16_SSCALED 16_16_UINT 16_16_SINT 16_16_FLOAT
10_11_11_FLOAT 11_11_10_FLOAT
10_10_10_2_UNORM 10_10_10_2_SNORM 10_10_10_2_UINT 10_10_10_2_SINT
2_10_10_10_UNORM 2_10_10_10_SNORM 2_10_10_10_USCALED 2_10_10_10_SSCALED 2_10_10_10_UINT 2_10_10_10_SINT
8_8_8_8_UNORM 8_8_8_8_SNORM 8_8_8_8_USCALED 8_8_8_8_SSCALED 8_8_8_8_UINT 8_8_8_8_SINT
32_32_UINT 32_32_SINT 32_32_FLOAT
16_16_16_16_UNORM 16_16_16_16_SNORM 16_16_16_16_USCALED 16_16_16_16_SSCALED 16_16_16_16_UINT 16_16_16_16_SINT
16_16_16_16_FLOAT
32_32_32_UINT 32_32_32_SINT 32_32_32_FLOAT 32_32_32_32_UINT 32_32_32_32_SINT 32_32_32_32_FLOAT
"""
"""AMD RDNA3 ISA, table 52, from number 1 on."""


def split(name: str) -> tuple[tuple[int, ...], str]:
    """Widths and kind of a format."""
    data, kind = name.rsplit("_", 1)
    return LAYOUTS[data], kind


def word3(target: str, code: int, select: str) -> int:
    """The last word of a resource. select: DST_SEL of x to w, letters and digits. RDNA checks bytes."""
    chosen = sum(("01__" + "xyzw").index(letter) << 3 * i for i, letter in enumerate(select))
    if target == "gfx942":
        return chosen | code >> 4 << 12 | (code & 15) << 15
    return chosen | code << 12 | 3 << 28


# -- conversions ------------------------------------------------------------------------------------------------


def small_floats(width: int) -> np.ndarray:
    """The values of all codes without sign of a float of 10, 11 or 16 bits with 5 bits of exponent, as float64."""
    fraction_bits = {10: 5, 11: 6, 16: 10}[width]
    codes = np.arange(1 << 5 + fraction_bits)
    exponent, fraction = codes >> fraction_bits, codes % (1 << fraction_bits)
    scale = 2.0**-fraction_bits
    value = np.where(exponent > 0, (1 + fraction * scale) * 2.0 ** (exponent - 15.0), fraction * scale * 2.0**-14)
    return np.where(exponent < 31, value, np.where(fraction > 0, np.nan, np.inf))


def truncated(x: np.ndarray, width: int) -> np.ndarray:
    """Codes of float32 values toward zero: of 10 and 11 bits without sign. A NaN is the quiet one."""
    table = small_floats(width)
    finite = table[np.isfinite(table)]
    with np.errstate(invalid="ignore"):
        size = np.abs(x.astype(np.float64))
    codes = np.searchsorted(finite, size, side="right") - 1
    infinity = len(finite)
    codes = np.where(np.isinf(x), infinity, codes)
    if width == 16:
        codes |= np.signbit(x).astype(int) << 15
    else:
        codes = np.where(x < 0, 0, codes)
    return np.where(np.isnan(x), infinity | infinity // 62, codes).astype(np.uint32)


def loaded(codes: np.ndarray, width: int, kind: str, half: bool) -> np.ndarray:
    """What a load gives for codes of a component, in the low bits of u32."""
    unsigned = codes.astype(np.int64)
    signed = unsigned - ((unsigned >> width - 1) << width)
    type_, bits = (np.float16, np.uint16) if half else (np.float32, np.uint32)
    with np.errstate(over="ignore", invalid="ignore"):
        match kind:
            case "UINT":
                return np.minimum(unsigned, 0xFFFF if half else 0xFFFFFFFF).astype(np.uint32)
            case "SINT":
                return (np.clip(signed, -0x8000, 0x7FFF) & 0xFFFF if half else signed).astype(np.uint32)
            case "UNORM":
                value = unsigned / (2**width - 1)
            case "SNORM":
                value = np.maximum(signed / (2 ** (width - 1) - 1), -1)
            case "USCALED":
                value = unsigned.astype(np.float64)
            case "SSCALED":
                value = signed.astype(np.float64)
            case _:
                return _loaded_float(codes, width, half)
        return value.astype(type_).view(bits).astype(np.uint32)


def _loaded_float(codes: np.ndarray, width: int, half: bool) -> np.ndarray:
    if width == 32:
        return truncated(codes.astype(np.uint32).view(np.float32), 16) if half else codes.astype(np.uint32)
    if width == 16:
        value = codes.astype(np.uint16)
        return value.astype(np.uint32) if half else value.view(np.float16).astype(np.float32).view(np.uint32)
    value = small_floats(width)[codes]
    if half:
        return value.astype(np.float16).view(np.uint16).astype(np.uint32)
    return value.astype(np.float32).view(np.uint32)


def stored(words: np.ndarray, width: int, kind: str, half: bool) -> np.ndarray:
    """Codes for what registers hold, in the low bits of u32."""
    words = words.astype(np.uint32)
    if kind in ("UINT", "SINT"):
        held = (words & 0xFFFF).astype(np.uint16) if half else words
        value = held.view(np.int16 if half else np.int32) if kind == "SINT" else held
        low, high = (-(1 << width - 1), (1 << width - 1) - 1) if kind == "SINT" else (0, (1 << width) - 1)
        return (np.clip(value.astype(np.int64), low, high) & (1 << width) - 1).astype(np.uint32)
    if half and kind == "FLOAT" and width == 16:
        return words & 0xFFFF
    if not half and width == 32:
        return words
    with np.errstate(invalid="ignore"):
        x = (words & 0xFFFF).astype(np.uint16).view(np.float16).astype(np.float32) if half else words.view(np.float32)
    if kind == "FLOAT":
        return x.view(np.uint32) if width == 32 else truncated(x, width)
    signed = kind[0] == "S"
    most = (1 << width - signed) - 1
    scale = most if kind.endswith("NORM") else 1
    least = -most - (not kind.endswith("NORM")) if signed else 0
    with np.errstate(invalid="ignore"):
        whole = np.rint(np.nan_to_num(x.astype(np.float64), nan=0.0, posinf=1e9, neginf=-1e9) * scale)
    return (np.clip(whole, least, most).astype(np.int64) & (1 << width) - 1).astype(np.uint32)


def components(element: np.ndarray, widths: tuple[int, ...]) -> list[np.ndarray]:
    """Codes of x, y, ... of elements that are rows of bytes."""
    whole = [int.from_bytes(row.tobytes(), "little") for row in element]
    starts = np.cumsum([0, *widths])
    places = list(zip(starts.tolist(), widths, strict=False))
    return [np.array([w >> start & (1 << n) - 1 for w in whole], np.int64) for start, n in places]


def assembled(codes: list[np.ndarray], widths: tuple[int, ...]) -> np.ndarray:
    """Rows of bytes of elements with such components."""
    starts = np.cumsum([0, *widths])
    rows = []
    for lane in range(len(codes[0])):
        whole = sum(int(c[lane]) << int(s) for c, s in zip(codes, starts, strict=False))
        rows.append(np.frombuffer(whole.to_bytes(sum(widths) // 8, "little"), np.uint8))
    return np.array(rows)


# -- kernels ----------------------------------------------------------------------------------------------------


def lanes(target: str) -> int:
    return 64 if target == "gfx942" else 32


def wait(target: str) -> str:
    return "s_wait_loadcnt 0" if target == "gfx1201" else "s_waitcnt vmcnt(0)"


def soffset(target: str) -> str:
    return "null" if target == "gfx1201" else "0"


def mnemonic(target: str, access: str, count: int, half: bool, prefix: str = "tbuffer") -> str:
    """As the target's assembler spells it."""
    letters = "xyzw"[:count]
    if not half:
        return f"{prefix}_{access}_format_{letters}"
    return f"{prefix}_{access}_" + (f"format_d16_{letters}" if target == "gfx942" else f"d16_format_{letters}")


def registers(first: int, count: int, half: bool) -> str:
    number = -(-count // 2) if half else count
    return f"v{first}" if number == 1 else f"v[{first}:{first + number - 1}]"


def resource(target: str, pointer: int, records: int, last: int) -> str:
    """A resource in s[20:23] for what s[pointer:pointer+1] points to."""
    return f"""
        s_mov_b32 s20, s{pointer}
        s_mov_b32 s21, s{pointer + 1}
        s_mov_b32 s22, {records}
        s_mov_b32 s23, {last:#x}"""


def run(target: str, body: str, *arrays: np.ndarray, record: bool = False) -> Execution:
    """One wave: v0 is the lane and v2 16 times that; s[10:11] and on point to the arrays, used in place."""
    text = "v_lshlrev_b32 v2, 4, v0\n" + body
    if target == "gfx942":
        kernel = Snippet(inputs=len(arrays))
        kernel(text)
    else:
        kernel = Kernel(target, inputs=len(arrays))
        kernel(text)
    return kernel.run(*arrays, record=record).execution


def stored_rows(target: str, number: int) -> str:
    """Stores v[4:7] of every lane as row `number` of rows of lanes x 4 dwords at s[12:13]."""
    add = "v_add_u32" if target == "gfx942" else "v_add_nc_u32"
    return f"{wait(target)}\n{add} v3, {number * lanes(target) * 16}, v2\nglobal_store_dwordx4 v3, v[4:7], s[12:13]"

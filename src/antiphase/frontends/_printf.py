"""C's printf for a message that a kernel sends: the format, and its arguments in 64-bit words.

As ROCm's runtime does it (ROCm/clr f9f995c, rocclr/device/devhcprintf.cpp): the format ends in a zero byte and is
padded to whole words, as is a string argument; every other argument is a word. Each conversion is given to the host's
own printf, so that what is printed is what a HIP program prints on this host.
"""

from __future__ import annotations

import ctypes
import re
import struct
from collections.abc import Sequence

_PLAIN_OR_CONVERSION = re.compile(rb"%%|%[^%diouxXfFeEgGaAcspn]*[diouxXfFeEgGaAcspn]|[^%]+|%")
_CONVERSION = re.compile(rb"%[-+ #0']*(\*|\d+)?(?:\.(\*|\d*))?(hh|ll|[hlqjztL])?([diouxXfFeEgGaAcspn])")
_STRINGS_AND_FLOATS = b"sfFeEgGaA"

_snprintf = ctypes.CDLL(None).snprintf
_snprintf.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p]
_snprintf.restype = ctypes.c_int


def formatted(words: Sequence[int]) -> bytes:
    """What a message prints. It ends early where the words do, and a %n takes its argument and does nothing."""
    data = struct.pack(f"<{len(words)}Q", *words)
    text, rest = _string(data)
    printed = b""
    for part in _PLAIN_OR_CONVERSION.findall(text):
        if part == b"%%":
            printed += b"%"
        elif part[:1] != b"%":
            printed += part
        elif not rest:
            break
        else:
            one, rest = _converted(part, rest)
            printed += one
    return printed


def _string(data: bytes) -> tuple[bytes, bytes]:
    """The string that words begin with, and the words behind it."""
    text = data.partition(b"\0")[0]
    return text, data[(len(text) + 8) // 8 * 8 :]


def _converted(text: bytes, rest: bytes) -> tuple[bytes, bytes]:
    """One conversion, and the words it leaves. C leaves open what one that is none prints: it stays as it is."""
    match = _CONVERSION.fullmatch(text)
    if match is None:
        return text, rest[8:]
    width, precision, length, kind = match.groups(default=b"")
    stars = (width, precision).count(b"*")
    sizes, rest = rest[: 8 * stars], rest[8 * stars :]
    if len(rest) < 8:
        return b"", b""
    if kind == b"n":
        return b"", rest[8:]
    # a wide string or a long double is not what the words hold
    form = text if kind not in _STRINGS_AND_FLOATS or not length else text.replace(length, b"", 1)
    numbers = [ctypes.c_int(size & 0xFFFFFFFF) for size in struct.unpack(f"<{stars}Q", sizes)]
    if kind == b"s":
        string, rest = _string(rest)
        return _print(form, *numbers, ctypes.c_char_p(string)), rest
    word = struct.unpack("<d" if kind in _STRINGS_AND_FLOATS else "<Q", rest[:8])[0]
    value = ctypes.c_double(word) if kind in _STRINGS_AND_FLOATS else ctypes.c_uint64(word)
    return _print(form, *numbers, value), rest[8:]


def _print(form: bytes, *values: object) -> bytes:
    size = _snprintf(None, 0, form, *values)
    if size < 0:
        return b""
    room = ctypes.create_string_buffer(size + 1)
    _snprintf(room, size + 1, form, *values)
    return room.raw[:size]

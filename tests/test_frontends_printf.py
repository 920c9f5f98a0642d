"""printf messages: what C's printf prints for each conversion, and where a message ends."""

from __future__ import annotations

import struct

import pytest

from antiphase.frontends._printf import formatted

_NEGATIVE = (1 << 64) - 5


def words(*values: float | str) -> list[int]:
    """A message as the device makes it: strings end in a zero byte and fill whole words."""
    found: list[int] = []
    for value in values:
        if isinstance(value, str):
            data = value.encode() + b"\0"
            data += bytes(-len(data) % 8)
            found += struct.unpack(f"<{len(data) // 8}Q", data)
        else:
            found.append(struct.unpack("<Q", struct.pack("<d", value))[0] if isinstance(value, float) else value)
    return found


@pytest.mark.parametrize(
    ("message", "printed"),
    [
        (("plain",), "plain"),
        (("100%% of %d\n", 7), "100% of 7\n"),
        (("%d %i %u", _NEGATIVE, _NEGATIVE, _NEGATIVE), "-5 -5 4294967291"),
        (("%ld %llu %hd %hhu", _NEGATIVE, _NEGATIVE, 0x1FFFF, 0x1FE), "-5 18446744073709551611 -1 254"),
        (("%x %#X %o %c|", 255, 255, 8, 65), "ff 0XFF 10 A|"),
        (("[%5d|%-5d|%05d|%+d|% d|%.3d]", 42, 42, 42, 42, 42, 7), "[   42|42   |00042|+42| 42|007]"),
        (("%f %.2e %g %G %a", 1.5, 12345.678, 1e-7, 1e20, 1.0), "1.500000 1.23e+04 1e-07 1E+20 0x1p+0"),
        (("%f %F %5.1f|", float("inf"), float("-inf"), float("nan")), "inf -INF   nan|"),
        (("%lf %Lf", 0.5, 0.25), "0.500000 0.250000"),
        (("%s and %s", "a string of more than eight bytes", ""), "a string of more than eight bytes and "),
        (("[%10.3s|%ls]%d", "abcdef", "wide", 3), "[       abc|wide]3"),
        (("%*d %-*.*f|", 4, 7, 8, 2, 3.14159), "   7 3.14    |"),
        (("%p %n%d", 0x1234, 0, 9), "0x1234 9"),
        (("%d, %d", 1), "1, "),
        (("%y then %d", 3, 4), "%y then 4"),
        (("at the end %",), "at the end "),
    ],
)
def test_prints_what_c_prints(message: tuple[float | str, ...], printed: str) -> None:
    assert formatted(words(*message)).decode() == printed


def test_a_string_of_exactly_one_word_takes_a_second_for_its_end() -> None:
    assert formatted(words("%s%d", "12345678", 9)).decode() == "123456789"

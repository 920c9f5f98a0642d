"""Buffer loads and stores in formats, against NumPy: every format, every number of components, on three generations."""

from __future__ import annotations

import numpy as np
import pytest
from _typed_buffers import (
    assembled,
    components,
    formats,
    lanes,
    loaded,
    mnemonic,
    registers,
    resource,
    run,
    soffset,
    split,
    stored,
    stored_rows,
    wait,
    word3,
)  # fmt: skip

TARGETS = ("gfx942", "gfx1100", "gfx1201")
OLD = 0xDEADBEEF
HALVES = pytest.mark.parametrize("half", [False, True], ids=["32", "d16"])
SPECIAL = np.array(
    [
        0, 0x80000000, 0x3F800000, 0xBF800000, 0x3F000000, 0x3F7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001,
        0x7F800001, 1, 0x807FFFFF, 0x477FE000, 0x477FF000, 0x38800000, 0x33000000, 0x43000000, 0xC3000000, 0x42FF0000,
        0x7F7FFFFF, 0x4B800000, 0x00003C00, 0x0000BC00, 0x00007C00, 0x0000FC00, 0x00007E00, 0x00007BFF, 0x00000001,
        0x7FFFFFFF, 0xFFFFFFFF, 0x3E99999A,
    ],
    np.uint32,
)  # fmt: skip


def elements(target: str, seed: int = 0) -> np.ndarray:
    """A row of 16 bytes a lane: all zeros, all ones, the extremes of dwords, special floats, then random bytes."""
    data = np.random.default_rng(seed).integers(0, 1 << 32, (lanes(target), 4), np.uint32)
    extremes = np.array([0, 0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, 0x80808080, 0x7C007C00, 0x80008000, 0x7FFF7FFF])
    data[:8] = extremes[:, None]
    data[8:16] = SPECIAL[:32].reshape(8, 4)
    return data


def values(target: str, half: bool) -> np.ndarray:
    """Four registers of every lane for stores: special values, then numbers about 1 and random bits."""
    n = lanes(target)
    rng = np.random.default_rng(3)
    data = rng.integers(0, 1 << 32, (n, 4), np.uint32)
    data[:8] = SPECIAL.reshape(8, 4)
    near = rng.normal(0, 1, (n - 24, 4))
    if half:
        data[8:24] = rng.integers(-300, 300, (16, 4)).astype(np.float16).view(np.uint16) * np.uint32(0x10001)
        data[24:] = near.astype(np.float16).view(np.uint16) * np.uint32(0x10001)
    else:
        data[8:16] = rng.integers(-70000, 70000, (8, 4)).astype(np.float32).view(np.uint32)
        data[16:24] = rng.integers(-40000, 70000, (8, 4)).astype(np.int32).view(np.uint32)
        data[24:] = near.astype(np.float32).view(np.uint32)
    return data


def expected_registers(channels: list[np.ndarray], half: bool) -> np.ndarray:
    """v[4:7] after a load of so many components into registers that held OLD."""
    out = np.full((len(channels[0]), 4), OLD, np.uint32)
    for i, channel in enumerate(channels):
        if not half:
            out[:, i] = channel
        else:
            shift = np.uint32(16 * (i % 2))
            out[:, i // 2] = out[:, i // 2] & ~(np.uint32(0xFFFF) << shift) | channel.astype(np.uint32) << shift
    return out


def same(got: np.ndarray, wanted: np.ndarray, kind: str, half: bool) -> bool:
    """Equal but for the payload and sign of NaNs, which no manual states."""
    if kind != "FLOAT":
        return bool((got == wanted).all())
    bits, infinity, sign = (np.uint16, 0x7C00, 1 << 15) if half else (np.uint32, 0x7F800000, 1 << 31)
    a, b = (np.ascontiguousarray(x).view(bits) for x in (got, wanted))
    nan = ((a & (sign - 1)) > infinity) & ((b & (sign - 1)) > infinity)
    return bool(((a == b) | nan).all())


FILL = "\n".join(f"v_mov_b32 v{i}, {OLD:#x}" for i in range(4, 8))


@pytest.mark.parametrize("record", [False, True], ids=["fast", "recording"])
@HALVES
@pytest.mark.parametrize("target", TARGETS)
def test_tbuffer_loads_of_every_format(target: str, half: bool, record: bool) -> None:
    """Components that a format lacks are 0 (CDNA3 ISA 9.1.4: X000, XY00, XYZ0)."""
    data, every = elements(target), formats(target)
    cases = [(name, code, n) for name, code in every.items() for n in (1, 2, 3, 4)]
    out = np.zeros((len(cases), lanes(target), 4), np.uint32)
    body = resource(target, 10, data.nbytes, word3(target, 0, "0000"))
    for i, (_, code, n) in enumerate(cases):
        body += f"\n{FILL}\n{mnemonic(target, 'load', n, half)} {registers(4, n, half)}, v2, s[20:23], "
        body += f"{soffset(target)} format:{code} offen\n" + stored_rows(target, i)
    execution = run(target, body, data, out, record=record)
    assert not execution.faults
    for got, (name, _, n) in zip(out, cases, strict=True):
        widths, kind = split(name)
        codes = components(data.view(np.uint8), widths)
        channels = [loaded(c, w, kind, half) for c, w in zip(codes, widths, strict=True)]
        channels += [np.zeros(lanes(target), np.uint32)] * (4 - len(channels))
        assert same(got, expected_registers(channels[:n], half), kind, half), (name, n)


@pytest.mark.parametrize("record", [False, True], ids=["fast", "recording"])
@HALVES
@pytest.mark.parametrize("target", TARGETS)
def test_tbuffer_stores_of_every_format(target: str, half: bool, record: bool) -> None:
    """A store with fewer components than the format: the others are 0, on GFX12 the first one again."""
    data, every = values(target, half), formats(target)
    cases = [(name, code, n) for name, code in every.items() for n in (1, 2, 3, 4)]
    out = np.full((len(cases), lanes(target), 16), 0xA5, np.uint8)
    body = f"global_load_dwordx4 v[4:7], v2, s[10:11]\n{wait(target)}"
    body += resource(target, 12, out.nbytes, word3(target, 0, "0000"))
    size = lanes(target) * 16
    for i, (_, code, n) in enumerate(cases):
        body += f"\ns_mov_b32 s30, {i * size}\n{mnemonic(target, 'store', n, half)} {registers(4, n, half)}, v2, "
        body += f"s[20:23], s30 format:{code} offen"
    execution = run(target, body, data, out, record=record)
    assert not execution.faults
    for got, (name, _, n) in zip(out, cases, strict=True):
        widths, kind = split(name)
        given = [data[:, i // 2] >> np.uint32(16 * (i % 2)) & 0xFFFF if half else data[:, i] for i in range(n)]
        given += [given[0] if target == "gfx1201" else np.zeros_like(given[0])] * (4 - n)
        codes = [stored(g, w, kind, half) for g, w in zip(given, widths, strict=False)]
        wanted = assembled(codes, widths)
        mine = got[:, : wanted.shape[1]]
        if kind == "FLOAT":
            pairs = zip(components(mine, widths), codes, widths, strict=True)
            assert all(same_codes(a, b, w) for a, b, w in pairs), (name, n)
        else:
            assert (mine == wanted).all(), (name, n)
        assert (got[:, wanted.shape[1] :] == 0xA5).all(), (name, n)


def same_codes(a: np.ndarray, b: np.ndarray, width: int) -> bool:
    infinity = {10: 0x3E0, 11: 0x7C0, 16: 0x7C00, 32: 0x7F800000}[width]
    magnitude = (1 << width - (width >= 16)) - 1
    nan = ((a & magnitude) > infinity) & ((b & magnitude) > infinity)
    return bool(((a == b) | nan).all())


SELECTS = ("xyzw", "zyxw", "xxxx", "0101", "wz10", "1y0x")


@pytest.mark.parametrize("select", SELECTS)
@HALVES
@pytest.mark.parametrize("target", TARGETS)
def test_buffer_loads_take_format_and_selection_from_the_resource(target: str, half: bool, select: str) -> None:
    data, every = elements(target, 1), formats(target)
    out = np.zeros((len(every), lanes(target), 4), np.uint32)
    body = ""
    for i, code in enumerate(every.values()):
        body += resource(target, 10, data.nbytes, word3(target, code, select))
        body += f"\n{FILL}\n{mnemonic(target, 'load', 4, half, 'buffer')} {registers(4, 4, half)}, v2, s[20:23], "
        body += f"{soffset(target)} offen\n" + stored_rows(target, i)
    assert not run(target, body, data, out).faults
    for got, name in zip(out, every, strict=True):
        widths, kind = split(name)
        codes = components(data.view(np.uint8), widths)
        integers = kind in ("UINT", "SINT")
        one = np.full(lanes(target), 1 if integers else 0x3C00 if half else 0x3F800000, np.uint32)
        by_name = {"0": np.zeros_like(one), "1": one, "x": 0 * one, "y": 0 * one, "z": 0 * one, "w": one}
        by_name |= {a: loaded(c, w, kind, half) for a, c, w in zip("xyzw", codes, widths, strict=False)}
        wanted = expected_registers([by_name[letter] for letter in select], half)
        assert same(got, wanted, kind, half), name


@pytest.mark.parametrize("select", ["xyzw", "zyxw", "xxxx", "x001", "10yx"])
@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("target", TARGETS)
def test_buffer_stores_send_components_where_loads_find_them(target: str, count: int, select: str) -> None:
    data = values(target, False)
    out = np.full((lanes(target), 4), 0xA5A5A5A5, np.uint32)
    code = formats(target)["32_32_32_32_UINT"]
    body = f"global_load_dwordx4 v[4:7], v2, s[10:11]\n{wait(target)}"
    body += resource(target, 12, out.nbytes, word3(target, code, select))
    body += f"\n{mnemonic(target, 'store', count, False, 'buffer')} {registers(4, count, False)}, v2, s[20:23], "
    assert not run(target, body + f"{soffset(target)} offen", data, out).faults
    rest = data[:, 0] if target == "gfx1201" else np.zeros_like(data[:, 0])
    for i, letter in enumerate("xyzw"):
        from_ = select.find(letter)
        wanted = np.zeros_like(rest) if from_ < 0 else data[:, from_] if from_ < count else rest
        assert (out[:, i] == wanted).all(), letter


@pytest.mark.parametrize("target", TARGETS)
def test_the_upper_half_alone_is_loaded_and_stored(target: str) -> None:
    data, out = elements(target), np.zeros((2, lanes(target), 4), np.uint32)
    load, store = (
        f"buffer_{access}_" + ("format_d16_hi_x" if target == "gfx942" else "d16_hi_format_x")
        for access in ("load", "store")
    )
    code = formats(target)["16_SNORM"]
    body = resource(target, 10, data.nbytes, word3(target, code, "xyzw"))
    body += f"\n{FILL}\n{load} v4, v2, s[20:23], {soffset(target)} offen\n" + stored_rows(target, 0)
    body += resource(target, 12, out.nbytes, word3(target, code, "xyzw"))
    size = lanes(target) * 16
    body += f"\ns_mov_b32 s30, {size}\n{store} v4, v2, s[20:23], s30 offen"
    assert not run(target, body, data, out).faults
    codes = data.view(np.uint16)[:, 0].astype(np.int64)
    wanted = loaded(codes, 16, "SNORM", True) << np.uint32(16) | OLD & 0xFFFF
    assert (out[0, :, 0] == wanted).all()
    assert (out[1, :, 0] == stored(wanted >> np.uint32(16), 16, "SNORM", True)).all() and not out[1, :, 1:].any()


@pytest.mark.parametrize("target", TARGETS)
def test_a_load_and_a_store_in_one_format_keep_the_bytes(target: str) -> None:
    """But for the second code of -1 and for NaNs, which the elements here do not have."""
    every = formats(target)
    data = elements(target, 2)
    data[:16] = data[16:32]
    out = np.zeros((len(every), lanes(target), 16), np.uint8)
    body = ""
    for i, code in enumerate(every.values()):
        body += resource(target, 10, data.nbytes, 0) + f"\ns_mov_b32 s30, {i * lanes(target) * 16}"
        text = f"v[4:7], v2, s[20:23], {{}} format:{code} offen"
        body += f"\ntbuffer_load_format_xyzw {text.format(soffset(target))}\n{wait(target)}"
        body += resource(target, 12, out.nbytes, 0) + f"\ntbuffer_store_format_xyzw {text.format('s30')}"
    body = body.replace("s_mov_b32 s23, 0x0", f"s_mov_b32 s23, {word3(target, 0, '0000'):#x}")
    assert not run(target, body, data, out).faults
    for got, name in zip(out, every, strict=True):
        widths, kind = split(name)
        before = components(data.view(np.uint8), widths)
        after = components(got[:, : sum(widths) // 8], widths)
        for a, b, width in zip(before, after, widths, strict=True):
            lowest = (a == 1 << width - 1) if kind == "SNORM" else np.zeros(len(a), bool)
            equal = (a == b) | (lowest & (b == (1 << width - 1) + 1))
            assert same_codes(a, b, width) if kind == "FLOAT" else equal.all(), name


@pytest.mark.parametrize("record", [False, True], ids=["fast", "recording"])
@pytest.mark.parametrize("target", ["gfx1100", "gfx1201"])
def test_an_element_that_is_partly_out_of_range_is_out_of_range(target: str, record: bool) -> None:
    """RDNA3 ISA 9.4.1: all or nothing; loads give 0, but 1 where DST_SEL says so; stores do nothing."""
    data = elements(target)
    out = np.zeros((2, lanes(target), 4), np.uint32)
    code, count = formats(target)["16_16_16_16_UINT"], 5
    # the last element has 7 of its 8 bytes in range
    body = resource(target, 10, 16 * count + 7, word3(target, code, "xyz1"))
    body += f"\n{FILL}\nbuffer_load_format_xyzw v[4:7], v2, s[20:23], {soffset(target)} offen\n"
    body += stored_rows(target, 0)
    body += f"\nv_mov_b32 v8, v2\n{resource(target, 12, 16 * count + 7, word3(target, code, 'xyzw'))}"
    body = body.replace("s_mov_b32 s20, s12", f"s_add_u32 s20, s12, {lanes(target) * 16}")
    body = body.replace("s_mov_b32 s21, s13", "s_addc_u32 s21, s13, 0")
    body += f"\nbuffer_store_format_xyzw v[4:7], v8, s[20:23], {soffset(target)} offen"
    assert not run(target, body, data, out, record=record).faults
    halves = data.view(np.uint16)
    assert (out[0, :count, :3] == halves[:count, :3]).all() and not out[0, count:, :3].any()
    assert (out[0, :, 3] == 1).all()
    assert out[1, :count].any(1).all() and not out[1, count:].any()


@pytest.mark.parametrize(("target", "scale"), [*((target, 0) for target in TARGETS), ("gfx1201", 1), ("gfx1201", 2)])
def test_index_and_stride_find_elements(target: str, scale: int) -> None:
    """RDNA4 ISA 9.6: the stride counts 1, 4, 8 or 32 bytes."""
    data, out = np.tile(elements(target), (8, 1)), np.zeros((1, lanes(target), 4), np.uint32)
    code, stride, records = formats(target)["8_8_UINT"], 12, 7
    last = word3(target, code, "xy00") & ~(3 << 28) | scale << 18
    body = resource(target, 10, records, last) + f"\ns_or_b32 s21, s21, {stride << 16:#x}"
    body += f"\nv_mov_b32 v8, v0\nv_mov_b32 v9, 4\n{FILL}"
    body += f"\nbuffer_load_format_xy v[4:5], v[8:9], s[20:23], {soffset(target)} idxen offen offset:2\n"
    assert not run(target, body + stored_rows(target, 0), data, out).faults
    bytes_ = data.view(np.uint8).ravel()
    for lane in range(lanes(target)):
        place = stride * (1, 4, 8, 32)[scale] * lane + 6
        wanted = bytes_[place : place + 2].tolist() if lane < records else [0, 0]
        assert out[0, lane, :2].tolist() == wanted

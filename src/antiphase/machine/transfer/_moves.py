"""load_* and store_*: native functions between registers and the places in ADDRESSES."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from antiphase.machine import _layout as at
from antiphase.machine.llvm._ir import Function

DWORDS = {32: 1, 64: 2, 96: 3, 128: 4}
LOADS = (
    "u8",
    "i8",
    "u16",
    "i16",
    "u8_low",
    "i8_low",
    "u16_low",
    "u8_high",
    "i8_high",
    "u16_high",
    "32",
    "64",
    "96",
    "128",
)
STORES = ("8", "16", "8_high", "16_high", "32", "64", "96", "128")


def functions(lanes: int) -> list[Function]:
    return [*load_functions(lanes), *store_functions(lanes)]


def load_functions(lanes: int) -> list[Function]:
    """load_*(w, registers, mask, zero): lanes of `mask` load from ADDRESSES; lanes of `zero` get 0."""
    return [_load(name, lanes) for name in LOADS]


def _load(name: str, lanes: int) -> Function:
    f = Function(f"load_{name}", "void", [("ptr", "w"), ("ptr", "to"), ("i64", "mask"), ("i64", "zero")])
    count = DWORDS[int(name)] if name.isdigit() else 1
    with f.each_bit("%zero") as lane:
        for k in range(count):
            target = f.index("i32", f.at("%to", 4 * lanes * k), lane)
            kept = {"low": 0xFFFF0000, "high": 0xFFFF}.get(name.partition("_")[2])
            zero = f.let(f"and i32 {f.load('i32', target)}, {kept}") if kept else "0"
            f.store("i32", zero, target)

    def move(lane: str) -> None:
        source = f.let(f"inttoptr i64 {f.load('i64', f.index('i64', f.at('%w', at.ADDRESSES), lane))} to ptr")
        if not name.isdigit():
            target = f.index("i32", "%to", lane)
            f.store("i32", _extended(f, name, source, target), target)
            return
        for k in range(count):
            value = f.load("i32", f.at(source, 4 * k), 1)
            f.store("i32", value, f.index("i32", f.at("%to", 4 * lanes * k), lane))

    _for_lanes(f, lanes, move, (lambda: _load_quads(f, lanes)) if name == "128" else None)
    f.ret()
    return f


def _for_lanes(f: Function, lanes: int, move: Callable[[str], None], whole: Callable[[], None] | None = None) -> None:
    """Run `move` for the lanes of %mask; for the usual full mask in a plain loop, or `whole` for all lanes at once."""
    full, some, done = f.block("full"), f.block("some"), f.block("done")
    f.branch(f.let(f"icmp eq i64 %mask, {(1 << lanes) - 1 if lanes < 64 else -1}"), full, some)
    f.label(full)
    if whole is not None:
        whole()
    else:
        with f.loop(lanes) as lane:
            move(lane)
    f.jump(done)
    f.label(some)
    with f.each_bit("%mask") as lane:
        move(lane)
    f.jump(done)
    f.label(done)


def _load_quads(f: Function, lanes: int) -> None:
    """Four dwords of every lane, 16 lanes at a time: vector loads and a transposition instead of 64 scalar moves."""
    with f.loop(lanes // 16) as group:
        first = f.let(f"mul i64 {group}, 16")
        rows = [_quad_row(f, [_lane_pointer(f, first, 4 * q + j) for q in range(4)]) for j in range(4)]
        for k, plane in enumerate(_transposed(f, rows)):
            f.store("<16 x i32>", plane, f.index("i32", f.at("%to", 4 * lanes * k), first), 64)


def _store_quads(f: Function, lanes: int) -> None:
    with f.loop(lanes // 16) as group:
        first = f.let(f"mul i64 {group}, 16")
        planes = [f.load("<16 x i32>", f.index("i32", f.at("%from", 4 * lanes * k), first), 64) for k in range(4)]
        # transposing is its own inverse: row j now holds lanes j, 4 + j, 8 + j and 12 + j
        for j, row in enumerate(_transposed(f, planes)):
            for q in range(4):
                order = ", ".join(f"i32 {4 * q + k}" for k in range(4))
                quad = f.let(f"shufflevector <16 x i32> {row}, <16 x i32> poison, <4 x i32> <{order}>")
                f.store("<4 x i32>", quad, _lane_pointer(f, first, 4 * q + j), 1)


def _lane_pointer(f: Function, first: str, lane: int) -> str:
    entry = f.index("i64", f.at("%w", at.ADDRESSES + 8 * lane), first)
    return f.let(f"inttoptr i64 {f.load('i64', entry)} to ptr")


def _quad_row(f: Function, pointers: list[str]) -> str:
    """Four lanes' 16 bytes side by side in one vector."""
    quads = [f.load("<4 x i32>", p, 1) for p in pointers]
    halves = [
        f.let(f"shufflevector <4 x i32> {a}, <4 x i32> {b}, {_order(range(8))}") for a, b in (quads[:2], quads[2:])
    ]
    return f.let(f"shufflevector <8 x i32> {halves[0]}, <8 x i32> {halves[1]}, {_order(range(16))}")


def _order(lanes: Iterable[int]) -> str:
    listed = [f"i32 {i}" for i in lanes]
    return f"<{len(listed)} x i32> <{', '.join(listed)}>"


def _transposed(f: Function, rows: list[str]) -> list[str]:
    """4 x 4 transposition within each 128-bit quarter of four vectors."""

    def unpack(a: str, b: str, width: int, high: bool) -> str:
        parts: list[int] = []
        for quarter in range(0, 16, 4):
            start = quarter + (2 if high else 0)
            for i in range(start, start + 2, width):
                parts += [*range(i, i + width), *range(16 + i, 16 + i + width)]
        return f.let(f"shufflevector <16 x i32> {a}, <16 x i32> {b}, {_order(parts)}")

    a, b, c, d = rows
    ab, cd, ab_high, cd_high = (
        unpack(a, b, 1, False),
        unpack(c, d, 1, False),
        unpack(a, b, 1, True),
        unpack(c, d, 1, True),
    )
    return [unpack(x, y, 2, high) for x, y in ((ab, cd), (ab_high, cd_high)) for high in (False, True)]


def _extended(f: Function, name: str, source: str, target: str) -> str:
    """A byte or short as a register: extended, or placed in one half beside the other half's old value."""
    element, _, half = name.partition("_")
    bits = int(element[1:])
    value = f.load(f"i{bits}", source, 1)
    cast = "sext" if element[0] == "i" else "zext"
    if not half:
        return f.let(f"{cast} i{bits} {value} to i32")
    short = value if bits == 16 else f.let(f"{cast} i{bits} {value} to i16")
    word = f.let(f"zext i16 {short} to i32")
    old = f.load("i32", target)
    if half == "high":
        word = f.let(f"shl i32 {word}, 16")
        return f.let(f"or i32 {word}, {f.let(f'and i32 {old}, 65535')}")
    return f.let(f"or i32 {word}, {f.let(f'and i32 {old}, -65536')}")


def store_functions(lanes: int) -> list[Function]:
    """store_*(w, registers, mask): lanes of `mask` store to ADDRESSES."""
    return [_store(name, lanes) for name in STORES]


def _store(name: str, lanes: int) -> Function:
    f = Function(f"store_{name}", "void", [("ptr", "w"), ("ptr", "from"), ("i64", "mask")])
    size, _, half = name.partition("_")
    bits = int(size)

    def move(lane: str) -> None:
        target = f.let(f"inttoptr i64 {f.load('i64', f.index('i64', f.at('%w', at.ADDRESSES), lane))} to ptr")
        for k in range(DWORDS.get(bits, 1)):
            value = f.load("i32", f.index("i32", f.at("%from", 4 * lanes * k), lane))
            if half:
                value = f.let(f"lshr i32 {value}, 16")
            if bits < 32:
                f.store(f"i{bits}", f.let(f"trunc i32 {value} to i{bits}"), target, 1)
            else:
                f.store("i32", value, f.at(target, 4 * k), 1)

    _for_lanes(f, lanes, move, (lambda: _store_quads(f, lanes)) if name == "128" else None)
    f.ret()
    return f

"""Native functions of the tensor data mover: a descriptor's tile, row by row, with bounds and padding.

Source: AMD CDNA5 ISA 10.11 and its tables 61-67.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from antiphase.machine import _layout as at
from antiphase.machine.llvm._ir import Function
from antiphase.machine.waves import _faults

GROUPS = (4, 8, 4, 4)
WORDS = sum(GROUPS)
LOAD, STORE, POISON = range(3)
"""What to do with a tile."""


def functions() -> list[Function]:
    return [_barrier(), _place(), _move(), _tile(), _row(), _piece()]


def _field(f: Function, words: str, group: int, first: int, width: int) -> str:
    """Bits of a group as i64, at most 57 of them."""
    bit = 32 * sum(GROUPS[:group]) + first
    low = f.load("i64", f.at(words, bit // 32 * 4), 4)
    value = f.let(f"lshr i64 {low}, {bit % 32}")
    return f.let(f"and i64 {value}, {(1 << width) - 1}")


def _barrier() -> Function:
    """tensor_barrier(words): LDS address of the barrier to arrive at, -1 for none or a null descriptor."""
    f = Function("tensor_barrier", "i64", [("ptr", "words")])
    wanted = f.let(f"icmp ne i64 {_field(f, '%words', 1, 18, 1)}, 0")
    valid = f.let(f"icmp ne i64 {_field(f, '%words', 0, 0, 2)}, 0")
    address = f.let(f"shl i64 {_field(f, '%words', 1, 32, 16)}, 3")
    f.ret(f.let(f"select i1 {f.let(f'and i1 {wanted}, {valid}')}, i64 {address}, i64 -1"))
    return f


def _place() -> Function:
    """place_tensor(w, slot): carry out a pending load."""
    f = Function("place_tensor", "void", [("ptr", "w"), ("ptr", "slot")])
    inst = f.load("i32", f.at("%slot", at.SLOT_DESTINATION))
    words = f.at("%slot", at.SLOT_DATA)
    f.call("void", "tensor_move", ("ptr", "%w"), ("ptr", words), ("i32", inst), ("i32", str(LOAD)))
    f.ret()
    return f


def _move() -> Function:
    """tensor_move(w, words, inst, what): the transfer of a descriptor. Its mask of workgroups makes a load a multicast,
    which serves those that load for themselves (AMD CDNA5 ISA 10.7, 10.11.3)."""
    f = Function("tensor_move", "void", [("ptr", "w"), ("ptr", "words"), ("i32", "inst"), ("i32", "what")])
    null = f.let(f"icmp eq i64 {_field(f, '%words', 0, 0, 2)}, 0")
    nothing = f.let(f"icmp eq i64 {_field(f, '%words', 1, 112, 16)}, 0")
    with f.if_(f.let(f"or i1 {null}, {nothing}")):
        f.ret()
        f.label(f.block("unreachable"))
    lds = f.load("ptr", f.at("%w", at.LDS))
    f.call("void", "tensor_tile", ("ptr", "%w"), ("ptr", "%words"), ("i32", "%inst"), ("i32", "%what"), ("ptr", lds))
    f.ret()
    return f


@dataclass(frozen=True, slots=True)
class _Tile:
    """Fields of a descriptor as i64. extents: tile size by dimension, 1 where unused. limits: tensor extents, all ones
    where unused. strides: elements from one of a dimension to the next, of dimensions 1 and up."""

    extents: list[str]
    limits: list[str]
    strides: list[str]
    iterations: str
    memory_step: str
    lds_step: str


def _decoded(f: Function, gather: str) -> _Tile:
    def field(group: int, first: int, width: int) -> str:
        return _field(f, "%words", group, first, width)

    def unless(condition: str, value: str, other: str) -> str:
        return f.let(f"select i1 {condition}, i64 {other}, i64 {value}")

    iterate = f.let(f"icmp ne i64 {field(1, 19, 1)}, 0")
    iterate = f.let(f"and i1 {iterate}, {f.let(f'xor i1 {gather}, true')}")
    flat = f.let(f"or i1 {iterate}, {gather}")
    sizes = [field(1, 112, 16), field(1, 128, 16), unless(gather, field(1, 144, 16), "0")]
    sizes += [unless(flat, field(2, 112, 16), "0"), unless(flat, field(3, 80, 16), "0")]
    bounds = [field(1, 48, 32), field(1, 80, 32), field(2, 0, 32), field(2, 32, 32), field(3, 48, 32)]
    extents, limits = [sizes[0]], [bounds[0]]
    for size, bound in zip(sizes[1:], bounds[1:], strict=True):
        unused = f.let(f"icmp eq i64 {size}, 0")
        extents.append(unless(unused, size, "1"))
        limits.append(unless(unused, bound, "-1"))
    strides = [field(1, 160, 48), field(1, 208, 48), field(2, 64, 48), field(3, 0, 48)]
    again = f.let(f"add i64 {field(2, 112, 16)}, 1")
    count = f.let(f"select i1 {iterate}, i64 {again}, i64 1")
    return _Tile(extents, limits, strides, count, field(2, 64, 48), field(2, 32, 32))


def _tile() -> Function:
    """tensor_tile(w, words, inst, what, lds): row by row, a row being contiguous in memory."""
    params = [("ptr", "w"), ("ptr", "words"), ("i32", "inst"), ("i32", "what"), ("ptr", "lds")]
    f = Function("tensor_tile", "void", params)
    scale = _field(f, "%words", 1, 16, 2)
    gather = f.let(f"icmp ne i64 {_field(f, '%words', 0, 31, 1)}, 0")
    tile = _decoded(f, gather)
    memory, lds = _field(f, "%words", 0, 64, 57), _field(f, "%words", 0, 32, 32)
    row_bytes = f.let(f"shl i64 {tile.extents[0]}, {scale}")
    whole = f.let(f"select i1 {_less(f, tile.limits[0], tile.extents[0])}, i64 {tile.limits[0]}, i64 {tile.extents[0]}")
    inside = f.let(f"shl i64 {whole}, {scale}")
    with f.loop(tile.iterations) as turn:
        written = f.variable("i64", "0")
        written.set("0")
        start = _advanced(f, memory, turn, tile.memory_step, scale)
        target = _advanced(f, lds, turn, tile.lds_step, scale)
        with _nested(f, tile.extents[:0:-1]) as indices:
            outward = indices[::-1]
            rows = [_row_index(f, gather, outward[0]), *outward[1:]]
            address, valid = start, inside
            for row, stride, limit in zip(rows, tile.strides, tile.limits[1:], strict=True):
                address = _advanced(f, address, row, stride, scale)
                valid = f.let(f"select i1 {_less(f, row, limit)}, i64 {valid}, i64 0")
            now = written.get()
            common = [(kind, f"%{name}") for kind, name in f.params]
            place = [("i64", value) for value in (address, valid, row_bytes, target, now)]
            f.call("void", "tensor_row", *common, *place)
            written.set(f.let(f"add i64 {now}, {row_bytes}"))
    f.ret()
    return f


def _less(f: Function, a: str, b: str) -> str:
    return f.let(f"icmp ult i64 {a}, {b}")


def _advanced(f: Function, start: str, count: str, stride: str, scale: str) -> str:
    step = f.let(f"mul i64 {count}, {stride}")
    return f.let(f"add i64 {start}, {f.let(f'shl i64 {step}, {scale}')}")


@contextmanager
def _nested(f: Function, counts: list[str]) -> Iterator[list[str]]:
    """Loops inside one another; yields their indices, outermost first."""
    with ExitStack() as stack:
        yield [stack.enter_context(f.loop(count)) for count in counts]


def _row_index(f: Function, gather: str, row: str) -> str:
    """The row itself, or in gather mode entry `row` of the list in groups 2 and 3: 16 of 16 bits or 8 of 32."""
    answer = f.variable("i64", "0")
    answer.set(row)
    with f.if_(gather):
        table = f.at("%words", 4 * sum(GROUPS[:2]))
        wide = f.let(f"icmp ne i64 {_field(f, '%words', 0, 30, 1)}, 0")
        long = f.let(f"zext i32 {f.load('i32', f.index('i32', table, f.let(f'and i64 {row}, 7')), 4)} to i64")
        short = f.let(f"zext i16 {f.load('i16', f.index('i16', table, f.let(f'and i64 {row}, 15')), 2)} to i64")
        answer.set(f.let(f"select i1 {wide}, i64 {long}, i64 {short}"))
    return answer.get()


def _row() -> Function:
    """tensor_row(w, words, inst, what, lds, address, valid, bytes, target, written): one row of a tile.

    address: in memory; its first `valid` bytes exist. target: LDS address of the tile; written: bytes of the tile
    before this row, without padding. A load inserts padding after every interval; a store ignores it, and drops what
    does not exist (10.11.6), wherever in LDS that would lie: Triton passes over the padding of its rows by a tile wider
    than the tensor, and behind the last row no padding is allocated.
    """
    place = [("i64", "address"), ("i64", "valid"), ("i64", "bytes"), ("i64", "target"), ("i64", "written")]
    common = [("ptr", "w"), ("ptr", "words"), ("i32", "inst"), ("i32", "what"), ("ptr", "lds")]
    f = Function("tensor_row", "void", [*common, *place])
    store = f.let(f"icmp eq i32 %what, {STORE}")
    touched = f.let(f"select i1 {store}, i64 %valid, i64 %bytes")
    padded = f.let(f"icmp ne i64 {_field(f, '%words', 1, 20, 1)}, 0")
    padded = f.let(f"and i1 {padded}, {f.let(f'xor i1 {store}, true')}")
    interval_bits = f.let(f"add i64 {_field(f, '%words', 1, 22, 3)}, 3")
    interval = f.let(f"shl i64 1, {interval_bits}")
    encoded = f.let(f"add i64 {_field(f, '%words', 1, 25, 7)}, 1")
    amount = f.let(f"shl i64 {encoded}, 2")
    done = f.variable("i64", "0")
    head, body, end = f.block("head"), f.block("body"), f.block("end")
    f.jump(head)
    f.label(head)
    x = done.get()
    f.branch(_less(f, x, touched), body, end)
    f.label(body)
    n = f.let(f"add i64 %written, {x}")
    rest = f.let(f"sub i64 {touched}, {x}")
    since = f.let(f"and i64 {n}, {f.let(f'sub i64 {interval}, 1')}")
    until = f.let(f"sub i64 {interval}, {since}")
    short = f.let(f"and i1 {padded}, {_less(f, until, rest)}")
    size = f.let(f"select i1 {short}, i64 {until}, i64 {rest}")
    gaps = f.let(f"mul i64 {f.let(f'lshr i64 {n}, {interval_bits}')}, {amount}")
    position = f.let(f"add i64 {n}, {f.let(f'select i1 {padded}, i64 {gaps}, i64 0')}")
    left = f.let(f"select i1 {_less(f, x, '%valid')}, i64 {f.let(f'sub i64 %valid, {x}')}, i64 0")
    moved = f.let(f"select i1 {_less(f, left, size)}, i64 {left}, i64 {size}")
    inner, outer = f.let(f"add i64 %target, {position}"), f.let(f"add i64 %address, {x}")
    f.call(
        "void", "tensor_piece", ("ptr", "%w"), ("i32", "%inst"), ("i32", "%what"), ("ptr", "%lds"), ("i64", inner),
        ("i64", outer), ("i64", moved), ("i64", size),
    )  # fmt: skip
    done.set(f.let(f"add i64 {x}, {size}"))
    f.jump(head)
    f.label(end)
    f.ret()
    return f


def _piece() -> Function:
    """tensor_piece(w, inst, what, lds, target, address, moved, size): contiguous bytes; of `size` in LDS `moved` exist
    in memory, in a store all; a load makes the others 0. What lies outside LDS or memory is a fault, and stays."""
    params = [("ptr", "w"), ("i32", "inst"), ("i32", "what"), ("ptr", "lds"), ("i64", "target"), ("i64", "address")]
    f = Function("tensor_piece", "void", [*params, ("i64", "moved"), ("i64", "size")])
    end = f.let("add i64 %target, %size")

    def fault(condition: str, kind: str, address: str, size: str) -> None:
        with f.if_(condition):
            where = ("i64", address), ("i64", size)
            f.call("void", "fault", ("ptr", "%w"), ("i32", "%inst"), ("i32", kind), ("i64", "0"), *where)
            f.ret()
            f.label(f.block("unreachable"))

    limit = f.load("i64", f.at("%w", at.LDS_SIZE))
    fault(f.let(f"icmp ugt i64 {end}, {limit}"), str(_faults.FAULT_LDS), "%target", "%size")
    inner = f.at("%lds", "%target")
    with f.if_(f.let(f"icmp eq i32 %what, {POISON}")):
        # the two bytes of half a POISON in turn
        with f.loop("%size") as i:
            odd = f.let(f"trunc i64 {f.let(f'add i64 %target, {i}')} to i1")
            byte = f.let(f"select i1 {odd}, i8 {at.POISON >> 8 & 0xFF}, i8 {(at.POISON & 0xFF) - 256}")
            f.store("i8", byte, f.at(inner, i), 1)
        f.ret()
        f.label(f.block("unreachable"))
    store = f.let(f"icmp eq i32 %what, {STORE}")
    with f.if_(f.let("icmp ne i64 %moved, 0")):
        write = f.let(f"zext i1 {store} to i64")
        wanted = ("i64", "%address"), ("i64", "%moved"), ("i64", write), ("i64", str(_faults.EXACT))
        entry = f.call("ptr", "find", ("ptr", "%w"), *wanted)
        kind = f.let(f"zext i1 {store} to i32")
        fault(f.let(f"icmp eq ptr {entry}, null"), kind, "%address", "%moved")
        outer = f.let("inttoptr i64 %address to ptr")
        to, source = (f.let(f"select i1 {store}, ptr {a}, ptr {b}") for a, b in ((outer, inner), (inner, outer)))
        f.call("void", "llvm.memcpy.p0.p0.i64", ("ptr", to), ("ptr", source), ("i64", "%moved"), ("i1", "false"))
    with f.if_not(store):
        rest = f.let("sub i64 %size, %moved")
        f.call(
            "void", "llvm.memset.p0.i64", ("ptr", f.at(inner, "%moved")), ("i8", "0"), ("i64", rest), ("i1", "false")
        )
    f.ret()
    return f

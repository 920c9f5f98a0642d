"""address_*: native functions that fill a wave's ADDRESSES from registers."""

from __future__ import annotations

from antiphase.machine import _layout as at
from antiphase.machine.llvm._ir import Function


def functions(lanes: int) -> list[Function]:
    words, longs = f"<{lanes} x i32>", f"<{lanes} x i64>"

    def finish(f: Function, addresses: str) -> Function:
        f.store(longs, addresses, f.at("%w", at.ADDRESSES), 64)
        f.ret()
        return f

    uniform = Function("address_uniform", "void", [("ptr", "w"), ("i64", "base")])
    finish(uniform, splat(uniform, "%base", lanes))

    narrow = Function("address_v32", "void", [("ptr", "w"), ("ptr", "v"), ("i64", "base")])
    wide = narrow.let(f"zext {words} {narrow.load(words, '%v', 64)} to {longs}")
    finish(narrow, narrow.let(f"add {longs} {wide}, {splat(narrow, '%base', lanes)}"))

    params = [("ptr", "w"), ("ptr", "v"), ("i64", "base"), ("i64", "scale")]
    signed = Function("address_i32", "void", params)
    wide = signed.let(f"sext {words} {signed.load(words, '%v', 64)} to {longs}")
    scaled = signed.let(f"mul {longs} {wide}, {splat(signed, '%scale', lanes)}")
    finish(signed, signed.let(f"add {longs} {scaled}, {splat(signed, '%base', lanes)}"))

    f = Function("address_v64", "void", [("ptr", "w"), ("ptr", "v"), ("i64", "base")])
    low = f.let(f"zext {words} {f.load(words, '%v', 64)} to {longs}")
    high = f.let(f"zext {words} {f.load(words, f.at('%v', 4 * lanes), 64)} to {longs}")
    high = f.let(f"shl {longs} {high}, splat (i64 32)")
    whole = f.let(f"or disjoint {longs} {low}, {high}")
    finish(f, f.let(f"add {longs} {whole}, {splat(f, '%base', lanes)}"))

    # a run of `size` bytes per lane, as loads to LDS write it
    run = Function("address_run", "void", [("ptr", "w"), ("i64", "base"), ("i64", "size")])
    ids = ", ".join(f"i64 {i}" for i in range(lanes))
    steps = run.let(f"mul {longs} <{ids}>, {splat(run, '%size', lanes)}")
    finish(run, run.let(f"add {longs} {steps}, {splat(run, '%base', lanes)}"))
    return [uniform, narrow, signed, f, run, _address_buffer(lanes)]


def _address_buffer(lanes: int) -> Function:
    """Addresses in a linear buffer; returns the lanes that are in range.

    v: offset plane or null; index: index plane or null; base, stride, records: fields of the resource; check: what is
    compared, as OOB_SELECT (0 index and offset within the stride, 1 index, 2 only that records is not 0, 3 bytes), and
    4 bytes and offset within the stride, the scalar offset included.
    Sources: AMD CDNA3 ISA 9.1.5, RDNA3 ISA 10.1.5 "Range checking", CDNA5 ISA 9.4.1.
    """
    words, longs, flags = f"<{lanes} x i32>", f"<{lanes} x i64>", f"<{lanes} x i1>"
    fields = [("i64", "base"), ("i64", "stride"), ("i64", "records"), ("i32", "check")]
    planes = [("ptr", "v"), ("ptr", "index")]
    offsets = [("i64", "soffset"), ("i64", "offset"), ("i64", "size")]
    f = Function("address_buffer", "i64", [("ptr", "w"), *planes, *fields, *offsets])

    def plane(pointer: str) -> str:
        value = f.variable(longs, "zeroinitializer")
        with f.if_(f.let(f"icmp ne ptr {pointer}, null")):
            value.set(f.let(f"zext {words} {f.load(words, pointer, 64)} to {longs}"))
        return value.get()

    def within(value: str, limit: str, comparison: str = "ule") -> str:
        return f.let(f"icmp {comparison} {longs} {value}, {splat(f, limit, lanes)}")

    index, vector = plane("%index"), plane("%v")
    inner = f.let(f"add {longs} {vector}, {splat(f, '%offset', lanes)}")
    first = f.let(f"mul {longs} {index}, {splat(f, '%stride', lanes)}")
    linear = f.let(f"add {longs} {first}, {inner}")
    inner_end = f.let(f"add {longs} {inner}, {splat(f, '%size', lanes)}")
    past = f.let("add i64 %soffset, %size")
    linear_end = f.let(f"add {longs} {linear}, {splat(f, past, lanes)}")
    any_stride = f.let(f"select i1 {f.let('icmp eq i64 %stride, 0')}, i64 -1, i64 %stride")
    by_index = within(index, "%records", "ult")
    in_record = within(inner_end, any_stride)
    some = f.let("icmp ne i64 %records, 0")
    always = f.let(f"select i1 {some}, {flags} splat (i1 true), {flags} zeroinitializer")
    bytes_ = ok = within(linear_end, "%records")
    inside = within(f.let(f"add {longs} {inner_end}, {splat(f, '%soffset', lanes)}"), any_stride)
    both = f.let(f"and {flags} {bytes_}, {inside}")
    for number, answer in enumerate((f.let(f"and {flags} {by_index}, {in_record}"), by_index, always, bytes_, both)):
        chosen = f.let(f"icmp eq i32 %check, {number}")
        ok = f.let(f"select i1 {chosen}, {flags} {answer}, {flags} {ok}")
    start = splat(f, f.let("add i64 %base, %soffset"), lanes)
    f.store(longs, f.let(f"add {longs} {linear}, {start}"), f.at("%w", at.ADDRESSES), 64)
    f.ret(bits(f, ok, lanes))
    return f


def bits(f: Function, predicate: str, lanes: int) -> str:
    """One predicate per lane as a mask."""
    mask = f.let(f"bitcast <{lanes} x i1> {predicate} to i{lanes}")
    return mask if lanes == 64 else f.let(f"zext i{lanes} {mask} to i64")


def splat(f: Function, value: str, lanes: int) -> str:
    """An i64 in every lane."""
    longs = f"<{lanes} x i64>"
    one = f.let(f"insertelement {longs} poison, i64 {value}, i32 0")
    return f.let(f"shufflevector {longs} {one}, {longs} poison, <{lanes} x i32> zeroinitializer")

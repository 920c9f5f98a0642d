"""Native helpers of memory instructions: form addresses, check them against allocations, move data.

A memory instruction is address_*, then check_*, then load/store/atomic. Between them the addresses lie in the wave
(ADDRESSES, one i64 a lane) and the lanes that may access are an i64 mask. Nothing here knows an instruction set.
"""

from __future__ import annotations

from antiphase.machine import _events, _pending, _schedule
from antiphase.machine import _layout as at
from antiphase.machine._ir import Function, module

# the launch's context, in bytes
ALLOCATIONS, ALLOCATION_COUNT, FAULTS, FAULT_COUNT, FAULT_CAPACITY, CONTEXT_BYTES = 0, 8, 16, 24, 32, 64
# an allocation: first byte, one past the last byte, 1 if it may be written
ALLOCATION_BYTES = 24
# a fault: instruction, lane, wave, kind, address, bytes, workgroup x y z
FAULT_BYTES = 64
FAULT_READ, FAULT_WRITE, FAULT_LDS, FAULT_SCRATCH = range(4)

# where FLAT addresses turn into LDS or private memory: bits 63:32, outside what a host maps
SHARED_APERTURE, PRIVATE_APERTURE = 0x0001_0000, 0x0002_0000

DWORDS = {32: 1, 64: 2, 96: 3, 128: 4}


def address_functions(lanes: int) -> list[Function]:
    """address_*: fill ADDRESSES from registers."""
    words, longs = f"<{lanes} x i32>", f"<{lanes} x i64>"

    def splat(f: Function, value: str) -> str:
        one = f.let(f"insertelement {longs} poison, i64 {value}, i32 0")
        return f.let(f"shufflevector {longs} {one}, {longs} poison, <{lanes} x i32> zeroinitializer")

    def finish(f: Function, addresses: str) -> Function:
        f.store(longs, addresses, f.at("%w", at.ADDRESSES), 64)
        f.ret()
        return f

    uniform = Function("address_uniform", "void", [("ptr", "w"), ("i64", "base")])
    finish(uniform, splat(uniform, "%base"))

    narrow = Function("address_v32", "void", [("ptr", "w"), ("ptr", "v"), ("i64", "base")])
    wide = narrow.let(f"zext {words} {narrow.load(words, '%v', 64)} to {longs}")
    finish(narrow, narrow.let(f"add {longs} {wide}, {splat(narrow, '%base')}"))

    signed = Function("address_i32", "void", [("ptr", "w"), ("ptr", "v"), ("i64", "base")])
    wide = signed.let(f"sext {words} {signed.load(words, '%v', 64)} to {longs}")
    finish(signed, signed.let(f"add {longs} {wide}, {splat(signed, '%base')}"))

    f = Function("address_v64", "void", [("ptr", "w"), ("ptr", "v"), ("i64", "base")])
    low = f.let(f"zext {words} {f.load(words, '%v', 64)} to {longs}")
    high = f.let(f"zext {words} {f.load(words, f.at('%v', 4 * lanes), 64)} to {longs}")
    high = f.let(f"shl {longs} {high}, splat (i64 32)")
    whole = f.let(f"or disjoint {longs} {low}, {high}")
    finish(f, f.let(f"add {longs} {whole}, {splat(f, '%base')}"))

    # a run of `size` bytes per lane, as loads to LDS write it
    run = Function("address_run", "void", [("ptr", "w"), ("i64", "base"), ("i64", "size")])
    ids = ", ".join(f"i64 {i}" for i in range(lanes))
    steps = run.let(f"mul {longs} <{ids}>, {splat(run, '%size')}")
    finish(run, run.let(f"add {longs} {steps}, {splat(run, '%base')}"))
    return [uniform, narrow, signed, f, run, _address_buffer(lanes)]


def _address_buffer(lanes: int) -> Function:
    """Raw and structured buffer addresses; returns the lanes inside num_records.

    Source: AMD CDNA3 ISA, section 9.1.5 "Buffer addressing" (linear buffers; swizzled ones are refused by the
    translator). v: offset plane or null; index: index plane or null; resource: 4 dwords.
    """
    words, longs = f"<{lanes} x i32>", f"<{lanes} x i64>"
    f = Function(
        "address_buffer",
        "i64",
        [("ptr", "w"), ("ptr", "v"), ("ptr", "index"), ("ptr", "resource"), ("i64", "soffset"), ("i64", "offset"), ("i64", "size")],
    )

    def splat(value: str) -> str:
        one = f.let(f"insertelement {longs} poison, i64 {value}, i32 0")
        return f.let(f"shufflevector {longs} {one}, {longs} poison, <{lanes} x i32> zeroinitializer")

    def plane(pointer: str) -> str:
        value = f.variable(longs, "zeroinitializer")
        with f.if_(f.let(f"icmp ne ptr {pointer}, null")):
            value.set(f.let(f"zext {words} {f.load(words, pointer, 64)} to {longs}"))
        return value.get()

    word0, word1 = f.load("i64", "%resource", 4), f.load("i32", f.at("%resource", 8), 4)
    base = f.let(f"and i64 {word0}, {(1 << 48) - 1}")
    stride = f.let(f"and i64 {f.let(f'lshr i64 {word0}, 48')}, 16383")
    records = f.let(f"zext i32 {word1} to i64")
    index = plane("%index")
    inside_lane = f.let(f"add {longs} {plane('%v')}, {splat('%offset')}")
    end = f.let(f"add {longs} {inside_lane}, {splat('%size')}")
    # raw buffers check bytes; structured ones check the index and, within a record, the stride
    raw_ok = f.let(f"icmp ule {longs} {end}, {splat(records)}")
    index_ok = f.let(f"icmp ult {longs} {index}, {splat(records)}")
    structured = f.let(f"icmp ne i64 {stride}, 0")
    ok = f.let(f"select i1 {structured}, <{lanes} x i1> {index_ok}, <{lanes} x i1> {raw_ok}")
    scaled = f.let(f"mul {longs} {index}, {splat(stride)}")
    start = splat(f.let(f"add i64 {base}, %soffset"))
    address = f.let(f"add {longs} {f.let(f'add {longs} {scaled}, {inside_lane}')}, {start}")
    f.store(longs, address, f.at("%w", at.ADDRESSES), 64)
    f.ret(_bits(f, ok, lanes))
    return f


def _bits(f: Function, predicate: str, lanes: int) -> str:
    bits = f.let(f"bitcast <{lanes} x i1> {predicate} to i{lanes}")
    return bits if lanes == 64 else f.let(f"zext i{lanes} {bits} to i64")


def check_functions(lanes: int) -> list[Function]:
    """check_*: the lanes of a mask whose access lies inside an allocation (LDS, scratch); others become faults."""
    return [_fault(), _find(), _check_memory(lanes), _check_window(lanes, "lds"), _check_window(lanes, "scratch"), _check_flat(lanes)]


def _fault() -> Function:
    """Note one bad access; counting goes on when the list is full."""
    f = Function(
        "fault", "void", [("ptr", "w"), ("i32", "inst"), ("i32", "kind"), ("i64", "lane"), ("i64", "address"), ("i64", "size")],
        "nounwind noinline cold",
    )  # fmt: skip
    context = f.load("ptr", f.at("%w", at.CONTEXT))
    n = f.let(f"atomicrmw add ptr {f.at(context, FAULT_COUNT)}, i64 1 monotonic")
    with f.if_(f.let(f"icmp ult i64 {n}, {f.load('i64', f.at(context, FAULT_CAPACITY))}")):
        record = f.at(f.load("ptr", f.at(context, FAULTS)), f.let(f"mul i64 {n}, {FAULT_BYTES}"))
        f.store("i32", "%inst", record)
        f.store("i32", f.let("trunc i64 %lane to i32"), f.at(record, 4))
        f.store("i32", f.load("i32", f.at("%w", at.WAVE)), f.at(record, 8))
        f.store("i32", "%kind", f.at(record, 12))
        f.store("i64", "%address", f.at(record, 16))
        f.store("i64", "%size", f.at(record, 24))
        for k in range(3):
            f.store("i32", f.load("i32", f.at("%w", at.GROUP + 4 * k)), f.at(record, 32 + 4 * k))
    f.ret()
    return f


def _find() -> Function:
    """The allocation that holds [address, address + size), or null."""
    f = Function("find", "ptr", [("ptr", "w"), ("i64", "address"), ("i64", "size"), ("i64", "write")])
    context = f.load("ptr", f.at("%w", at.CONTEXT))
    table, count = f.load("ptr", context), f.load("i64", f.at(context, ALLOCATION_COUNT))
    end = f.let("add i64 %address, %size")
    with f.loop(count) as i:
        entry = f.at(table, f.let(f"mul i64 {i}, {ALLOCATION_BYTES}"))
        from_ = f.let(f"icmp uge i64 %address, {f.load('i64', entry)}")
        to = f.let(f"icmp ule i64 {end}, {f.load('i64', f.at(entry, 8))}")
        allowed = f.let(f"icmp uge i64 {f.load('i64', f.at(entry, 16))}, %write")
        with f.if_(f.let(f"and i1 {f.let(f'and i1 {from_}, {to}')}, {allowed}")):
            f.ret(entry)
            f.label(f.block("unreachable"))
    f.ret("null")
    return f


def _check_memory(lanes: int) -> Function:
    longs = f"<{lanes} x i64>"
    f = Function(
        "check_memory", "i64", [("ptr", "w"), ("i64", "mask"), ("i64", "size"), ("i32", "inst"), ("i64", "write")]
    )
    with f.if_(f.let("icmp eq i64 %mask, 0")):
        f.ret("0")
        f.label(f.block("unreachable"))
    # most instructions stay in one allocation: find that of the first lane and test the others against it
    addresses = f.at("%w", at.ADDRESSES)
    first = f.load("i64", f.index("i64", addresses, f.call("i64", "llvm.cttz.i64", ("i64", "%mask"), ("i1", "true"))))
    entry = f.call("ptr", "find", ("ptr", "%w"), ("i64", first), ("i64", "%size"), ("i64", "%write"))
    with f.if_(f.let(f"icmp ne ptr {entry}, null")):
        all_ = f.load(longs, addresses, 64)
        start, end = f.load("i64", entry), f.load("i64", f.at(entry, 8))
        # one unsigned comparison: address - start <= end - start - size
        offset = f.let(f"sub {longs} {all_}, {_splat(f, start, lanes)}")
        room = f.let(f"sub i64 {f.let(f'sub i64 {end}, {start}')}, %size")
        inside = _bits(f, f.let(f"icmp ule {longs} {offset}, {_splat(f, room, lanes)}"), lanes)
        outside = f.let(f"and i64 %mask, {f.let(f'xor i64 {inside}, -1')}")
        with f.if_(f.let(f"icmp eq i64 {outside}, 0")):
            f.ret("%mask")
            f.label(f.block("unreachable"))
    good = f.variable("i64", "0")
    with f.each_bit("%mask") as lane:
        address = f.load("i64", f.index("i64", addresses, lane))
        entry = f.call("ptr", "find", ("ptr", "%w"), ("i64", address), ("i64", "%size"), ("i64", "%write"))
        found, missing, done = f.block("found"), f.block("missing"), f.block("done")
        f.branch(f.let(f"icmp ne ptr {entry}, null"), found, missing)
        f.label(found)
        good.set(f.let(f"or i64 {good.get()}, {f.let(f'shl i64 1, {lane}')}"))
        f.jump(done)
        f.label(missing)
        kind = f.let("trunc i64 %write to i32")
        f.call(
            "void", "fault", ("ptr", "%w"), ("i32", "%inst"), ("i32", kind), ("i64", lane), ("i64", address), ("i64", "%size")
        )  # fmt: skip
        f.jump(done)
        f.label(done)
    f.ret(good.get())
    return f


def _check_window(lanes: int, kind: str) -> Function:
    """LDS and scratch: offsets below the size, turned into host addresses. Scratch lanes each have their own run."""
    longs = f"<{lanes} x i64>"
    f = Function(f"check_{kind}", "i64", [("ptr", "w"), ("i64", "mask"), ("i64", "size"), ("i32", "inst")])
    base_at, size_at = (at.LDS, at.LDS_SIZE) if kind == "lds" else (at.SCRATCH, at.SCRATCH_SIZE)
    addresses = f.at("%w", at.ADDRESSES)
    offsets = f.load(longs, addresses, 64)
    limit = f.load("i64", f.at("%w", size_at))
    room = f.let(f"sub i64 {limit}, %size")
    fits = f.let(f"icmp sge i64 {room}, 0")
    inside = f.let(f"select i1 {fits}, i64 {_bits(f, f.let(f'icmp ule {longs} {offsets}, {_splat(f, room, lanes)}'), lanes)}, i64 0")
    good = f.let(f"and i64 %mask, {inside}")
    number = FAULT_LDS if kind == "lds" else FAULT_SCRATCH
    with f.each_bit(f.let(f"xor i64 %mask, {good}")) as lane:
        address = f.load("i64", f.index("i64", addresses, lane))
        f.call(
            "void", "fault", ("ptr", "%w"), ("i32", "%inst"), ("i32", str(number)), ("i64", lane), ("i64", address), ("i64", "%size")
        )  # fmt: skip
    base = _splat(f, f.let(f"ptrtoint ptr {f.load('ptr', f.at('%w', base_at))} to i64"), lanes)
    absolute = f.let(f"add {longs} {offsets}, {base}")
    if kind == "scratch":
        ids = ", ".join(f"i64 {i}" for i in range(lanes))
        absolute = f.let(f"add {longs} {absolute}, {f.let(f'mul {longs} <{ids}>, {_splat(f, limit, lanes)}')}")
    f.store(longs, absolute, addresses, 64)
    f.ret(good)
    return f


def _check_flat(lanes: int) -> Function:
    """FLAT: each lane's address says whether it means LDS, private memory or global memory."""
    f = Function(
        "check_flat", "i64", [("ptr", "w"), ("i64", "mask"), ("i64", "size"), ("i32", "inst"), ("i64", "write")]
    )
    addresses = f.at("%w", at.ADDRESSES)
    good = f.variable("i64", "0")
    with f.each_bit("%mask") as lane:
        pointer = f.index("i64", addresses, lane)
        address = f.load("i64", pointer)
        offset, aperture = f.let(f"and i64 {address}, 4294967295"), f.let(f"lshr i64 {address}, 32")
        fits = f.variable("i1", "false")
        global_, done = f.block("global"), f.block("done")
        for number, base, limit in (
            (SHARED_APERTURE, at.LDS, at.LDS_SIZE),
            (PRIVATE_APERTURE, at.SCRATCH, at.SCRATCH_SIZE),
        ):
            here, next_ = f.block("window"), f.block("next")
            f.branch(f.let(f"icmp eq i64 {aperture}, {number}"), here, next_)
            f.label(here)
            size = f.load("i64", f.at("%w", limit))
            fits.set(f.let(f"icmp ule i64 {f.let(f'add i64 {offset}, %size')}, {size}"))
            start = f.let(f"ptrtoint ptr {f.load('ptr', f.at('%w', base))} to i64")
            if base == at.SCRATCH:
                start = f.let(f"add i64 {start}, {f.let(f'mul i64 {lane}, {size}')}")
            f.store("i64", f.let(f"add i64 {start}, {offset}"), pointer)
            f.jump(done)
            f.label(next_)
        f.jump(global_)
        f.label(global_)
        entry = f.call("ptr", "find", ("ptr", "%w"), ("i64", address), ("i64", "%size"), ("i64", "%write"))
        fits.set(f.let(f"icmp ne ptr {entry}, null"))
        f.jump(done)
        f.label(done)
        with f.if_not(fits.get()):
            f.call(
                "void", "fault", ("ptr", "%w"), ("i32", "%inst"), ("i32", f.let("trunc i64 %write to i32")), ("i64", lane),
                ("i64", address), ("i64", "%size"),
            )  # fmt: skip
        bit = f.let(f"shl i64 {f.let(f'zext i1 {fits.get()} to i64')}, {lane}")
        good.set(f.let(f"or i64 {good.get()}, {bit}"))
    f.ret(good.get())
    return f


def _splat(f: Function, value: str, lanes: int) -> str:
    longs = f"<{lanes} x i64>"
    one = f.let(f"insertelement {longs} poison, i64 {value}, i32 0")
    return f.let(f"shufflevector {longs} {one}, {longs} poison, <{lanes} x i32> zeroinitializer")


# -- moving data ------------------------------------------------------------------------------------------------

LOADS = ("u8", "i8", "u16", "i16", "u8_low", "i8_low", "u16_low", "u8_high", "i8_high", "u16_high", "32", "64", "96", "128")
STORES = ("8", "16", "8_high", "16_high", "32", "64", "96", "128")


def load_functions(lanes: int) -> list[Function]:
    """load_*(w, registers, mask, zero): lanes of `mask` load from ADDRESSES; lanes of `zero` get 0."""
    return [_load(name, lanes) for name in LOADS]


def _load(name: str, lanes: int) -> Function:
    f = Function(f"load_{name}", "void", [("ptr", "w"), ("ptr", "to"), ("i64", "mask"), ("i64", "zero")])
    count = DWORDS[int(name)] if name.isdigit() else 1
    with f.each_bit("%zero") as lane:
        for k in range(count):
            f.store("i32", "0", f.index("i32", f.at("%to", 4 * lanes * k), lane))

    def move(lane: str) -> None:
        source = f.let(f"inttoptr i64 {f.load('i64', f.index('i64', f.at('%w', at.ADDRESSES), lane))} to ptr")
        if not name.isdigit():
            target = f.index("i32", "%to", lane)
            f.store("i32", _extended(f, name, source, target), target)
            return
        for k in range(count):
            value = f.load("i32", f.at(source, 4 * k), 1)
            f.store("i32", value, f.index("i32", f.at("%to", 4 * lanes * k), lane))

    _for_lanes(f, lanes, move)
    f.ret()
    return f


def _for_lanes(f: Function, lanes: int, move) -> None:
    """Run `move` for the lanes of %mask; the usual full mask is a plain loop."""
    full, some, done = f.block("full"), f.block("some"), f.block("done")
    f.branch(f.let(f"icmp eq i64 %mask, {(1 << lanes) - 1 if lanes < 64 else -1}"), full, some)
    f.label(full)
    with f.loop(lanes) as lane:
        move(lane)
    f.jump(done)
    f.label(some)
    with f.each_bit("%mask") as lane:
        move(lane)
    f.jump(done)
    f.label(done)


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

    _for_lanes(f, lanes, move)
    f.ret()
    return f


def transpose_functions(lanes: int) -> list[Function]:
    """transpose_N(w, registers, exec): loaded data in TEMPORARY to registers, N-bit elements transposed.

    Each 16 lanes hold a matrix of 16 columns, its rows laid out over the lanes one after another; lane i gets column i.
    Source: AMD CDNA4 ISA, section 11.4 "LDS transpose loads"; Triton's use of ds_read_b64_tr_b16.
    """
    return [_transpose(bits, lanes) for bits in (4, 6, 8, 16)]


def _transpose(bits: int, lanes: int) -> Function:
    f = Function(f"transpose_{bits}", "void", [("ptr", "w"), ("ptr", "to"), ("i64", "exec")])
    total = 96 if bits == 6 else 64
    rows, dwords = total // bits, total // 32
    mask = (1 << bits) - 1
    packed = f.alloca(f"[{lanes} x i128]")
    temporary = f.at("%w", at.TEMPORARY)
    with f.loop(lanes) as lane:
        value = "0"
        for k in range(dwords):
            word = f.load("i32", f.index("i32", f.at(temporary, 4 * lanes * k), lane))
            wide = f.let(f"zext i32 {word} to i128")
            value = f.let(f"or i128 {value}, {f.let(f'shl i128 {wide}, {32 * k}')}")
        f.store("i128", value, f.index("i128", packed, lane))
    with f.each_bit("%exec") as lane:
        group, column = f.let(f"and i64 {lane}, -16"), f.let(f"and i64 {lane}, 15")
        value = "0"
        for r in range(rows):
            element = f.let(f"add i64 {column}, {16 * r}")
            source = f.let(f"add i64 {group}, {f.let(f'udiv i64 {element}, {rows}')}")
            shift = f.let(f"mul i64 {f.let(f'urem i64 {element}, {rows}')}, {bits}")
            whole = f.load("i128", f.index("i128", packed, source))
            wide_shift = f.let(f"zext i64 {shift} to i128")
            part = f.let(f"and i128 {f.let(f'lshr i128 {whole}, {wide_shift}')}, {mask}")
            value = f.let(f"or i128 {value}, {f.let(f'shl i128 {part}, {bits * r}')}")
        for k in range(dwords):
            word = f.let(f"trunc i128 {f.let(f'lshr i128 {value}, {32 * k}')} to i32")
            f.store("i32", word, f.index("i32", f.at("%to", 4 * lanes * k), lane))
    f.ret()
    return f


def scalar_load() -> Function:
    """scalar_load(w, to, address, dwords, inst): contiguous dwords into scalar registers."""
    f = Function(
        "scalar_load", "void", [("ptr", "w"), ("ptr", "to"), ("i64", "address"), ("i64", "dwords"), ("i32", "inst")]
    )
    size = f.let("mul i64 %dwords, 4")
    address = f.let("and i64 %address, -4")
    entry = f.call("ptr", "find", ("ptr", "%w"), ("i64", address), ("i64", size), ("i64", "0"))
    with f.if_(f.let(f"icmp eq ptr {entry}, null")):
        f.call(
            "void", "fault", ("ptr", "%w"), ("i32", "%inst"), ("i32", "0"), ("i64", "0"), ("i64", address), ("i64", size)
        )  # fmt: skip
        f.ret()
        f.label(f.block("unreachable"))
    source = f.let(f"inttoptr i64 {address} to ptr")
    with f.loop("%dwords") as i:
        f.store("i32", f.load("i32", f.index("i32", source, i), 1), f.index("i32", "%to", i))
    f.ret()
    return f


def _functions(lanes: int) -> list[Function]:
    return [
        *address_functions(lanes), *check_functions(lanes), *load_functions(lanes), *store_functions(lanes),
        *transpose_functions(lanes), scalar_load(), *_pending.functions(lanes), *_events.functions(lanes),
        *_schedule.functions(lanes),
    ]  # fmt: skip


def runtime_text(lanes: int) -> str:
    """The module of all helpers for one wave size."""
    return module(_functions(lanes))


def names(lanes: int) -> list[str]:
    """Names of the helpers, for translated code to link with."""
    return [f.name for f in _functions(lanes)]

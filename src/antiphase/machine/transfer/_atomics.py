"""Read-modify-write instructions as functions: each lane in turn, atomic against other host threads."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from antiphase.isa import Memory, generation, source
from antiphase.machine import _layout as at
from antiphase.machine._context import TYPE_OF_BITS
from antiphase.machine.llvm import _native
from antiphase.machine.llvm._ir import Function, module
from antiphase.machine.llvm._lower import FloatMode, Lowering, Value
from antiphase.machine.waves import _faults

_loaded: dict[str, _native.Library] = {}


def function(record: Memory, mode: FloatMode, target: str, lanes: int) -> str:
    """Name of the function (w, old values or null, mask, instruction, data planes...); compiled when first needed."""
    f = _build(record, _float_mode(record, mode, target), lanes)
    name = f"{record.name}_{hashlib.sha256(f.text().encode()).hexdigest()[:16]}"
    if name not in _loaded:
        f.name = name
        _loaded[name] = _native.Library(module([f]), 2)
        _native.publish(name, _loaded[name].address(name))
    return name


def _float_mode(record: Memory, mode: FloatMode, target: str) -> FloatMode:
    """What MODE says to atomics: nothing about rounding from GFX11 on, and about denormals on GFX12 only in LDS and not
    to f64 sums (AMD RDNA4 ISA 7.2.4 and 13, CDNA5 ISA 7.2.4 and 12)."""
    kind = generation(target)
    if kind == "gfx9":
        return mode
    mode = replace(mode, round32=0, round64=0)
    if kind == "gfx11" or (record.space == "ds" and record.bits == 32):
        return mode
    return replace(mode, denormal32=3, denormal64=3)


def _build(record: Memory, mode: FloatMode, lanes: int) -> Function:
    bits = record.bits
    word = f"i{bits}"
    data_planes = [("ptr", f"d{i}") for i in range(record.operands)]
    params = [("ptr", "w"), ("ptr", "to"), ("i64", "mask"), ("i32", "inst"), *data_planes]
    f = Function("atomic", "void", params)
    assert record.update is not None
    update = record.update(*(source(i, record.type) for i in range(record.operands + 1)))
    with f.each_bit("%mask") as lane:
        retry, done, next_ = f.block("retry"), f.block("done"), f.block("next")
        address = f.load("i64", f.index("i64", f.at("%w", at.ADDRESSES), lane))
        _skip_misaligned(f, record, lane, address, next_)
        data = [_read(f, f"%d{i}", lane, bits, lanes) for i in range(record.operands)]
        beyond = f.call("i32", "beyond", ("ptr", "%w"), ("i64", address)) if _may_reach(record) else ""
        target = f.let(f"inttoptr i64 {address} to ptr")
        old = f.variable(word, f.load(word, target, 1))
        f.jump(retry)
        f.label(retry)
        seen = old.get()
        lowering = Lowering(f, 1, mode, [], lambda: "-1")
        lowering.sources = [lowering.bitcast(Value(v, TYPE_OF_BITS[bits], 1), record.type) for v in (seen, *data)]
        new = lowering.bitcast(lowering.lower(update), TYPE_OF_BITS[bits]).text
        if beyond:
            new = _kept(f, record, lane, address, (seen, new, data[0], beyond), next_)
        pair = f.let(f"cmpxchg ptr {target}, {word} {seen}, {word} {new} seq_cst seq_cst, align {bits // 8}")
        old.set(f.let(f"extractvalue {{ {word}, i1 }} {pair}, 0"))
        f.branch(f.let(f"extractvalue {{ {word}, i1 }} {pair}, 1"), done, retry)
        f.label(done)
        with f.if_(f.let("icmp ne ptr %to, null")):
            _write(f, "%to", lane, old.get(), bits, lanes)
        f.jump(next_)
        f.label(next_)
    f.ret()
    return f


def _skip_misaligned(f: Function, record: Memory, lane: str, address: str, next_: str) -> None:
    """A misaligned atomic is a fault; on some hosts a locked access across cache lines ends the process."""
    size = record.bits // 8
    with f.if_(f.let(f"icmp ne i64 {f.let(f'and i64 {address}, {size - 1}')}, 0")):
        kind = _faults.FAULT_WRITE
        if record.space == "ds":
            kind = _faults.FAULT_LDS
            base = f.let(f"ptrtoint ptr {f.load('ptr', f.at('%w', at.LDS))} to i64")
            address = f.let(f"sub i64 {address}, {base}")
        _fault(f, kind, lane, address, size, next_)


def _may_reach(record: Memory) -> bool:
    """Whether an atomic may be one on a part of its dword, of which the rest lies beyond an allocation."""
    return bool(record.part) and record.space != "ds"


def _kept(f: Function, record: Memory, lane: str, address: str, words: tuple[str, str, str, str], next_: str) -> str:
    """The new value with the bits beyond the allocation as they are; a fault if the instruction was to change them.

    words: the old value, the new one, the data operand, and the bits beyond.
    """
    seen, new, data, beyond = words
    # adding 0 to a half that lies beyond is no wish to change it, though -0 + 0 is 0
    change = f.let(f"and i32 {data}, {0x7FFF7FFF}") if record.part == "halves" else f.let(f"xor i32 {seen}, {new}")
    with f.if_(f.let(f"icmp ne i32 {f.let(f'and i32 {change}, {beyond}')}, 0")):
        _fault(f, _faults.FAULT_WRITE, lane, address, 4, next_)
    inside = f.let(f"and i32 {new}, {f.let(f'xor i32 {beyond}, -1')}")
    return f.let(f"or i32 {inside}, {f.let(f'and i32 {seen}, {beyond}')}")


def _fault(f: Function, kind: int, lane: str, address: str, size: int, next_: str) -> None:
    """Note a fault and go on with the next lane."""
    where = ("i64", lane), ("i64", address), ("i64", str(size))
    f.call("void", "fault", ("ptr", "%w"), ("i32", "%inst"), ("i32", str(kind)), *where)
    f.jump(next_)
    f.label(f.block("unreachable"))


def _read(f: Function, plane: str, lane: str, bits: int, lanes: int) -> str:
    low = f.load("i32", f.index("i32", plane, lane))
    if bits == 32:
        return low
    high = f.load("i32", f.index("i32", f.at(plane, 4 * lanes), lane))
    wide = f.let(f"shl i64 {f.let(f'zext i32 {high} to i64')}, 32")
    return f.let(f"or i64 {wide}, {f.let(f'zext i32 {low} to i64')}")


def _write(f: Function, plane: str, lane: str, value: str, bits: int, lanes: int) -> None:
    if bits == 32:
        f.store("i32", value, f.index("i32", plane, lane))
        return
    f.store("i32", f.let(f"trunc i64 {value} to i32"), f.index("i32", plane, lane))
    high = f.let(f"trunc i64 {f.let(f'lshr i64 {value}, 32')} to i32")
    f.store("i32", high, f.index("i32", f.at(plane, 4 * lanes), lane))

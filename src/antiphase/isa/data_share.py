"""LDS instructions (DS format), and the lane permutations that travel through the same unit."""

from __future__ import annotations

import functools
from typing import Any

from antiphase.isa._expr import (
    I8,
    I16,
    U8,
    U16,
    U32,
    U64,
    Expr,
    bitreverse,
    concat,
    const,
    fetch_lanes,
    gather_lanes,
    lane_id,
    scatter_lanes,
    select,
)
from antiphase.isa._families import GFX9, GFX11, GFX12, GFX950, GFX1250, RDNA4, WAVE32
from antiphase.isa._record import memory
from antiphase.isa._transpose import CDNA4_TRANSPOSES, WMMA_TRANSPOSES

from ._atomic import FLOAT, INTEGER, PACKED, SUBTRACT, WIDTHS
from .memory import transpose_status

CITE = "AMD Instinct MI300 CDNA3 ISA, chapter 11 and 12.13 (DS); AMD RDNA3 ISA 12, RDNA4 ISA 12"
load = functools.partial(memory, space="ds", access="load", cite=CITE)
store = functools.partial(memory, space="ds", access="store", cite=CITE)
atomic = functools.partial(memory, space="ds", access="atomic", cite=CITE)

for bits in (32, 64, 96, 128):
    load(f"ds_read_b{bits} ds_load_b{bits}", bits=bits)
    store(f"ds_write_b{bits} ds_store_b{bits}", bits=bits)
for bits in (32, 64):
    for stride, unit in (("", 1), ("st64", 64)):
        suffix = "_stride64" if stride else ""
        spacing = bits // 8 * unit
        names = f"ds_read2{stride}_b{bits} ds_load_2addr{suffix}_b{bits}"
        load(names, bits=bits, count=2, spacing=spacing)
        names = f"ds_write2{stride}_b{bits} ds_store_2addr{suffix}_b{bits}"
        store(names, bits=bits, count=2, spacing=spacing, operands=2)
        names = f"ds_wrxchg2{stride}_rtn_b{bits} ds_storexchg_2addr{suffix}_rtn_b{bits}"
        swap = {"type": WIDTHS[bits]["b"], "update": lambda old, data: data, "returns": True}
        atomic(names, bits=bits, count=2, spacing=spacing, **swap)

for type_ in (U8, I8, U16, I16):
    extend = "sign" if type_.kind == "i" else "zero"
    load(f"ds_read_{type_} ds_load_{type_}", bits=type_.bits, type=type_, extend=extend)
for name, type_ in {"u8": U8, "i8": I8, "u16": U16}.items():
    for half, extend in (("d16", "low"), ("d16_hi", "high")):
        load(f"ds_read_{name}_{half} ds_load_{name}_{half}", bits=type_.bits, type=type_, extend=extend)
for bits in (8, 16):
    store(f"ds_write_b{bits} ds_store_b{bits}", bits=bits)
    store(f"ds_write_b{bits}_d16_hi ds_store_b{bits}_d16_hi", bits=bits, extend="high")

for bits, element in ((64, 16), (64, 8), (64, 4), (96, 6)):
    cite = "AMD CDNA4 ISA, chapter 11 (LDS transpose loads)"
    shape = CDNA4_TRANSPOSES[element]
    load(f"ds_read_b{bits}_tr_b{element}", bits=bits, transpose=shape, exec_rule="whole", targets=GFX950, cite=cite)
for bits, element in ((128, 16), (64, 8), (64, 4), (96, 6)):
    fields: dict[str, Any] = {
        "bits": bits,
        "transpose": WMMA_TRANSPOSES[element],
        "exec_rule": "ignored",
        "targets": GFX1250,
    }
    load(f"ds_load_tr{element}_b{bits}", cite="AMD CDNA5 ISA 11.2.4, 10.9.2", **fields, **transpose_status(element))

load("ds_read_addtid_b32 ds_load_addtid_b32", by_lane=True)
store("ds_write_addtid_b32 ds_store_addtid_b32", by_lane=True)
memory("ds_append", "ds", "append", update=lambda old, lanes: old + lanes, cite=CITE)
memory("ds_consume", "ds", "append", update=lambda old, lanes: old - lanes, cite=CITE)
memory("lds_direct_load", "direct", "load", targets=GFX11, cite="AMD RDNA3 ISA 12.4")
memory("ds_direct_load lds_direct_load", "direct", "load", targets=RDNA4, cite="AMD RDNA4 ISA 12.4")


def plain_and_returning(names: str, plain: bool = True, **fields: Any) -> None:
    """`ds_add_u32` and `ds_add_rtn_u32`."""
    for name in names.split():
        stem, _, type_ = name.rpartition("_")
        if plain:
            atomic(name, **fields)
        atomic(f"{stem}_rtn_{type_}", returns=True, **fields)


for bits, types in WIDTHS.items():
    for a in INTEGER:
        name = {"wrxchg": f"ds_wrxchg_b{bits} ds_storexchg_b{bits}"}.get(a.ds, f"ds_{a.ds}_{a.kind}{bits}")
        update, operands = a.update, a.operands
        if a.ds == "cmpst":
            for kind, targets in (("b", WAVE32), ("f", GFX11)):
                fields = {"bits": bits, "type": types[kind], "update": update, "operands": 2, "targets": targets}
                plain_and_returning(f"ds_cmpstore_{kind}{bits}", **fields)
            # the compare value is the first operand here, the second everywhere else
            update = functools.partial(lambda old, compare, new, swap: swap(old, new, compare), swap=a.update)
        fields = {"bits": bits, "type": types[a.kind], "update": update, "operands": operands}
        plain_and_returning(name, a.ds != "wrxchg", targets=GFX9 if a.ds == "cmpst" else None, **fields)
    for name, update in FLOAT.items():
        targets = GFX12 if name.endswith("_num") else GFX9 | GFX1250 if (name, bits) == ("add", 64) else None
        plain_and_returning(f"ds_{name}_f{bits}", bits=bits, type=types["f"], update=update, targets=targets)
    plain_and_returning(
        f"ds_cmpst_f{bits}", bits=bits, type=types["f"], operands=2, targets=GFX9,
        update=lambda old, compare, new: select(old == compare, new, old),
    )  # fmt: skip
for half, update in PACKED.items():
    plain_and_returning(f"ds_pk_add_{half}", update=update, targets=GFX9 | GFX12)
for name, update in SUBTRACT.items():
    plain_and_returning(f"ds_{name}_u32", update=update, targets=GFX12)
plain_and_returning("ds_wrap_b32", False, operands=2, update=lambda old, a, b: select(old >= a, old - a, old + b))


def exchanged_if_marked(old: Expr, data: Expr) -> Expr:
    """Each half of memory takes its half of the data, without the top bit, where that bit is set."""
    halves = [(old >> shift).to(U32) for shift in (0, 32)], [(data >> shift).to(U32) for shift in (0, 32)]
    low, high = (select((d >> 31) != 0, d & 0x7FFFFFFF, o) for o, d in zip(*halves, strict=True))
    return concat(low, high)


atomic("ds_condxchg32_rtn_b64", bits=64, type=U64, update=exchanged_if_marked, returns=True)


def swizzle(value: Expr, offset: int) -> Expr:
    """Lanes exchanged in each half of 32 as the offset says: FFT order, rotation, quads or bit masks."""
    lane = lane_id()
    low, half = lane & 0x1F, lane & 0x20
    mask = offset & 0x1F
    if offset >= 0xE000:
        reverse = bitreverse(low) >> 27
        source = (reverse >> mask.bit_count()) | (low & mask) if mask != 0x1F else low
    elif offset >= 0xC000:
        rotation = (offset >> 5 & 0x1F) * (-1 if offset & 0x400 else 1)
        source = ((low & mask) | ((low + rotation % 32) & (~mask & 0x1F))) & 0x1F
    elif offset & 0x8000:
        shift = (lane & 3) << 1
        source = (low & 0x1C) | ((const(U32, offset & 0xFF) >> shift) & 3)
    else:
        source = ((low & mask) | (offset >> 5 & 0x1F)) ^ (offset >> 10 & 0x1F)
    return gather_lanes(value, half | source)


def same_half(index: Expr) -> Expr:
    """RDNA 3 and 3.5: the index counts within the lane's own half of 32 (seed: AMD RDNA3 ISA pp. 137-138)."""
    return (lane_id() & 0x20) | (index & 0x1F)


for targets, where in ((GFX11, same_half), (GFX9 | GFX12, lambda index: index)):
    load(
        "ds_bpermute_b32", targets=targets,
        lanes=lambda address, data, offset, where=where: gather_lanes(data, where((address + offset) >> 2)),
    )  # fmt: skip
    load(
        "ds_permute_b32", targets=targets,
        lanes=lambda address, data, offset, where=where: scatter_lanes(data, where((address + offset) >> 2)),
    )  # fmt: skip
load(
    "ds_bpermute_fi_b32", targets=GFX12, cite="AMD RDNA4 ISA, p. 163",
    lanes=lambda address, data, offset: fetch_lanes(data, (address + offset) >> 2),
)  # fmt: skip
load("ds_swizzle_b32", lanes=swizzle, operands=0)


def arrive(old: Expr, count: Expr) -> Expr:
    """An LDS barrier: pending count in bits 28:0, phase in 31:29, the count to begin again with in 47:32. Arrivals that
    take the pending count below 0 borrow from the phase; it begins again whatever they were."""
    state = (old - count) & 0xFFFFFFFF
    below = (state >> PENDING_BITS - 1 & 1) != 0
    reload = (state & ~const(U64, (1 << PENDING_BITS) - 1)) | (old >> 32 & 0xFFFF)
    return (old & ~const(U64, 0xFFFFFFFF)) | select(below, reload, state)


PENDING_BITS = 29
barrier = functools.partial(
    atomic, bits=64, type=U64, targets=GFX1250, cite="AMD CDNA5 ISA 11.2.2, 15.15; Triton's lowering of LDS barriers",
    status="modelled", note="a pending count of 29 bits, as Triton assumes; hardware can be set up for other widths",
)  # fmt: skip
barrier("ds_atomic_barrier_arrive_rtn_b64", update=arrive, returns=True)
barrier(
    "ds_atomic_async_barrier_arrive_b64", asynchronous=True, operands=0,
    update=lambda old: arrive(old, const(U64, 1)),
)  # fmt: skip

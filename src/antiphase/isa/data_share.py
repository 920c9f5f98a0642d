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
    Expr,
    bitreverse,
    const,
    gather_lanes,
    lane_id,
    scatter_lanes,
    select,
)
from antiphase.isa._record import memory

from ._atomic import FLOAT, INTEGER, PACKED, WIDTHS

CITE = "AMD Instinct MI300 CDNA3 ISA, chapter 11 and 12.13 (DS)"
CDNA4 = "AMD CDNA4 ISA, chapter 11 (LDS transpose loads)"
TARGETS = frozenset(("gfx950",))
load = functools.partial(memory, space="ds", access="load", cite=CITE)
store = functools.partial(memory, space="ds", access="store", cite=CITE)
atomic = functools.partial(memory, space="ds", access="atomic", cite=CITE)

for bits in (32, 64, 96, 128):
    load(f"ds_read_b{bits} ds_load_b{bits}", bits=bits)
    store(f"ds_write_b{bits} ds_store_b{bits}", bits=bits)
for bits in (32, 64):
    for stride, unit in (("", 1), ("st64", 64)):
        spacing = bits // 8 * unit
        names = f"ds_read2{stride}_b{bits} ds_load_2addr{'_stride64' if stride else ''}_b{bits}"
        load(names, bits=bits, count=2, spacing=spacing)
        names = f"ds_write2{stride}_b{bits} ds_store_2addr{'_stride64' if stride else ''}_b{bits}"
        store(names, bits=bits, count=2, spacing=spacing, operands=2)

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
    load(f"ds_read_b{bits}_tr_b{element}", bits=bits, transpose=element, targets=TARGETS, cite=CDNA4)


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
            plain_and_returning(f"ds_cmpstore_b{bits}", bits=bits, type=types["b"], update=update, operands=2)
            # the compare value is the first operand here, the second everywhere else
            update = functools.partial(lambda old, compare, new, swap: swap(old, new, compare), swap=a.update)
        plain_and_returning(
            name, a.ds != "wrxchg", bits=bits, type=types[a.kind], update=update, operands=operands
        )
    for name, update in FLOAT.items():
        plain_and_returning(f"ds_{name}_f{bits}", bits=bits, type=types["f"], update=update)
    plain_and_returning(
        f"ds_cmpst_f{bits}", bits=bits, type=types["f"], operands=2,
        update=lambda old, compare, new: select(old == compare, new, old),
    )  # fmt: skip
for half, update in PACKED.items():
    plain_and_returning(f"ds_pk_add_{half}", update=update)
plain_and_returning(
    "ds_wrap_b32", False, operands=2, update=lambda old, a, b: select(old >= a, old - a, old + b)
)


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


load("ds_bpermute_b32", lanes=lambda address, data, offset: gather_lanes(data, (address + offset) >> 2))
load("ds_permute_b32", lanes=lambda address, data, offset: scatter_lanes(data, (address + offset) >> 2))
load("ds_swizzle_b32", lanes=swizzle, operands=0)

"""Scalar memory, and vector memory as flat, global, scratch and buffer instructions."""

from __future__ import annotations

from antiphase.isa._expr import I8, I16, U8, U16, U32, Type
from antiphase.isa._record import memory

from ._atomic import FLOAT, INTEGER, PACKED, WIDTHS

CITE = "AMD Instinct MI300 CDNA3 ISA, chapters 8-10 and 12.6 (SMEM), 12.14 (MUBUF), 12.16 (FLAT)"
CDNA4 = frozenset(("gfx950",))

for n in (1, 2, 4, 8, 16):
    width = "" if n == 1 else f"x{n}"
    memory(f"s_load_dword{width} s_load_b{32 * n}", "smem", "load", bits=32 * n, cite=CITE)
    memory(f"s_buffer_load_dword{width} s_buffer_load_b{32 * n}", "smem", "load", bits=32 * n, cite=CITE)
memory("s_dcache_inv s_dcache_wb s_dcache_inv_vol s_dcache_wb_vol", "smem", "cache", cite=CITE)
memory("s_memtime s_memrealtime", "smem", "clock", bits=64, cite=CITE)
memory("buffer_inv buffer_wbl2", "buffer", "cache", cite=CITE)

DWORDS = {1: "dword b32", 2: "dwordx2 b64", 3: "dwordx3 b96", 4: "dwordx4 b128"}
SUB_DWORD: dict[str, Type] = {
    "ubyte u8": U8, "sbyte i8": I8, "ushort u16": U16, "sshort i16": I16,
}  # fmt: skip
HALVES: dict[str, Type] = {
    "ubyte_d16 d16_u8": U8, "sbyte_d16 d16_i8": I8, "short_d16 d16_b16": U16,
    "ubyte_d16_hi d16_hi_u8": U8, "sbyte_d16_hi d16_hi_i8": I8, "short_d16_hi d16_hi_b16": U16,
}  # fmt: skip
STORES = {"byte b8": 8, "short b16": 16}
HIGH_STORES = {"byte_d16_hi d16_hi_b8": 8, "short_d16_hi d16_hi_b16": 16}


def named(prefix: str, names: str) -> str:
    return " ".join(prefix + name for name in names.split())


def loads_and_stores(space: str) -> None:
    load, store = f"{space}_load_", f"{space}_store_"
    for n, names in DWORDS.items():
        memory(named(load, names), space, "load", bits=32 * n, cite=CITE)
        memory(named(store, names), space, "store", bits=32 * n, cite=CITE)
    for names, type_ in SUB_DWORD.items():
        extend = "sign" if type_.kind == "i" else "zero"
        memory(named(load, names), space, "load", bits=type_.bits, type=type_, extend=extend, cite=CITE)
    for names, type_ in HALVES.items():
        extend = "high" if "_hi" in names else "low"
        memory(named(load, names), space, "load", bits=type_.bits, type=type_, extend=extend, cite=CITE)
    for names, bits in STORES.items():
        memory(named(store, names), space, "store", bits=bits, cite=CITE)
    for names, bits in HIGH_STORES.items():
        memory(named(store, names), space, "store", bits=bits, extend="high", cite=CITE)


def loads_to_lds(space: str) -> None:
    """Loads whose data goes to LDS; buffer loads say so with the `lds` modifier instead."""
    for names, type_ in SUB_DWORD.items():
        name, extend = f"{space}_load_lds_{names.split()[0]}", "sign" if type_.kind == "i" else "zero"
        memory(name, space, "load", bits=type_.bits, type=type_, extend=extend, to_lds=True, cite=CITE)
    for n, targets in ((1, None), (3, CDNA4), (4, CDNA4)):
        name = f"{space}_load_lds_{DWORDS[n].split()[0]}"
        memory(name, space, "load", bits=32 * n, to_lds=True, targets=targets, cite=CITE)


def atomics(space: str) -> None:
    prefix = f"{space}_atomic_"
    for bits, types in WIDTHS.items():
        for a in filter(lambda a: a.flat, INTEGER):
            gfx9 = a.flat + ("_x2" if bits == 64 else "")
            gfx11 = f"{a.flat if a.kind == 'b' else a.ds}_{a.kind}{bits}"
            names = named(prefix, f"{gfx9} {gfx11}")
            fields = {"bits": bits, "type": types[a.kind], "update": a.update, "operands": a.operands}
            memory(names, space, "atomic", cite=CITE, **fields)
        for name, update in FLOAT.items():
            # CDNA has no f32 minimum and maximum outside LDS
            if bits == 64 or name == "add":
                names = f"{prefix}{name}_f{bits}"
                memory(names, space, "atomic", bits=bits, type=types["f"], update=update, cite=CITE)
    for half, update in PACKED.items():
        targets = CDNA4 if (space, half) == ("buffer", "bf16") else None
        name = f"{prefix}pk_add_{half}"
        memory(name, space, "atomic", type=U32, update=update, targets=targets, cite=CITE)


for space in ("global", "flat", "scratch", "buffer"):
    loads_and_stores(space)
for space in ("global", "scratch"):
    loads_to_lds(space)
for space in ("global", "flat", "buffer"):
    atomics(space)

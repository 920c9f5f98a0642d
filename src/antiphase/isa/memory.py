"""Vector memory: flat, global, scratch and buffer instructions, and transfers by tensor descriptor."""

from __future__ import annotations

from typing import Any

from antiphase.isa._expr import I8, I16, U8, U16, U32, Type
from antiphase.isa._families import GFX9, GFX11, GFX12, GFX950, GFX1250
from antiphase.isa._record import memory
from antiphase.isa._transpose import WMMA_TRANSPOSES

from ._atomic import FLOAT, INTEGER, PACKED, SUBTRACT, WIDTHS, swap_if_equal

CITE = "AMD Instinct MI300 CDNA3 ISA, chapters 9-10 and 12.14 (MUBUF), 12.16 (FLAT); AMD RDNA3 ISA 10-11, RDNA4 ISA 11"
CDNA5 = "AMD CDNA5 ISA, chapter 10; LLVM AMDGPUUsage, gfx1250"

memory("buffer_inv buffer_wbl2", "buffer", "cache", targets=GFX9, cite=CITE)
memory("buffer_gl0_inv buffer_gl1_inv", "buffer", "cache", targets=GFX11, cite=CITE)
memory("global_inv global_wb global_wbinv", "global", "cache", targets=GFX12, cite=CITE)
memory("global_prefetch_b8 flat_prefetch_b8", "global", "cache", targets=GFX1250, cite=CDNA5)

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
    """CDNA loads whose data goes to LDS; buffer loads say so with the `lds` modifier instead."""
    for names, type_ in SUB_DWORD.items():
        name, extend = f"{space}_load_lds_{names.split()[0]}", "sign" if type_.kind == "i" else "zero"
        memory(name, space, "load", bits=type_.bits, type=type_, extend=extend, to_lds=True, targets=GFX9, cite=CITE)
    for n, targets in ((1, GFX9), (3, GFX950), (4, GFX950)):
        name = f"{space}_load_lds_{DWORDS[n].split()[0]}"
        memory(name, space, "load", bits=32 * n, to_lds=True, targets=targets, cite=CITE)


def transfers() -> None:
    """gfx1250: between memory and LDS without registers, each lane its own LDS address; loads for a whole cluster."""
    for bits in (8, 32, 64, 128):
        fields: dict[str, Any] = {
            "bits": bits, "type": U8 if bits == 8 else U32, "to_lds": True, "asynchronous": True, "targets": GFX1250,
            "cite": CDNA5,
        }  # fmt: skip
        memory(f"global_load_async_to_lds_b{bits}", "global", "load", **fields)
        memory(f"global_store_async_from_lds_b{bits}", "global", "store", **fields)
        memory(f"cluster_load_async_to_lds_b{bits}", "global", "load", multicast=True, **fields)
    for bits in (32, 64, 128):
        memory(f"cluster_load_b{bits}", "global", "load", bits=bits, multicast=True, targets=GFX1250, cite=CDNA5)
        for space in ("global", "flat"):
            memory(f"{space}_load_monitor_b{bits}", space, "load", bits=bits, targets=GFX1250, cite=CDNA5)
    memory("tensor_load_to_lds", "tensor", "load", to_lds=True, targets=GFX1250, cite="AMD CDNA5 ISA 10.11")
    memory("tensor_store_from_lds", "tensor", "store", to_lds=True, targets=GFX1250, cite="AMD CDNA5 ISA 10.11")


def blocks() -> None:
    """Runs of 32 VGPRs, as spills of callee-saved registers use them."""
    cite = "AMD RDNA4 ISA 11.5; AMD CDNA5 ISA 10.6"
    for space in ("global", "scratch"):
        for access in ("load", "store"):
            name = f"{space}_{access}_block"
            memory(name, space, access, count=32, spacing=4, chosen=True, targets=GFX12, cite=cite)


def transposing() -> None:
    """WMMA operand loads (wave32): each lane reads a row, elements are exchanged between lanes."""
    for element, bits, names, targets in (
        (16, 128, "tr_b128 tr16_b128", GFX12), (8, 64, "tr_b64 tr8_b64", GFX12), (6, 96, "tr6_b96", GFX1250),
        (4, 64, "tr4_b64", GFX1250),
    ):  # fmt: skip
        memory(
            named("global_load_", names), "global", "load", bits=bits, transpose=WMMA_TRANSPOSES[element],
            exec_rule="whole", targets=targets, cite="AMD RDNA4 ISA 11.6.2; AMD CDNA5 ISA 10.9.2 and its figure",
            **transpose_status(element),
        )  # fmt: skip


def transpose_status(element: int) -> dict[str, str]:
    """The exchange between lanes: of 6 bits, the manual's figure and rocjitsu say different things."""
    if element != 6:
        return {}
    return {
        "status": "modelled",
        "note": "lane exchange by the manual's figure and its layout of 6 bits; rocjitsu differs",
    }


def atomics(space: str) -> None:
    prefix = f"{space}_atomic_"
    for bits, types in WIDTHS.items():
        for a in filter(lambda a: a.flat, INTEGER):
            gfx9 = a.flat + ("_x2" if bits == 64 else "")
            gfx11 = f"{a.flat if a.kind == 'b' else a.ds}_{a.kind}{bits}"
            names = named(prefix, f"{gfx9} {gfx11}")
            part = a.part if bits == 32 else ""
            fields = {"bits": bits, "type": types[a.kind], "update": a.update, "operands": a.operands, "part": part}
            memory(names, space, "atomic", cite=CITE, **fields)
        for name, update in FLOAT.items():
            for targets, names in float_names(name, bits):
                fields = {"bits": bits, "type": types["f"], "update": update, "targets": targets}
                memory(named(prefix, names), space, "atomic", cite=CITE, **fields)
    memory(
        named(prefix, "cmpswap_f32 fcmpswap"), space, "atomic", type=WIDTHS[32]["f"], update=swap_if_equal, operands=2,
        targets=GFX11, cite=CITE,
    )  # fmt: skip
    for names, targets, update in (
        ("csub_u32 csub", GFX11, "sub_clamp"), ("sub_clamp_u32 csub_u32 csub", GFX12, "sub_clamp"),
        ("cond_sub_u32", GFX12, "cond_sub"),
    ):  # fmt: skip
        memory(named(prefix, names), space, "atomic", update=SUBTRACT[update], targets=targets, cite=CITE)
    for half, update in PACKED.items():
        targets = GFX950 | GFX12 if (space, half) == ("buffer", "bf16") else GFX9 | GFX12
        name = f"{prefix}pk_add_{half}"
        memory(name, space, "atomic", type=U32, update=update, part="halves", targets=targets, cite=CITE)


def float_names(name: str, bits: int) -> list[tuple[frozenset[str], str]]:
    """Who has a float atomic, and its names there. CDNA has no f32 minimum and maximum outside LDS, RDNA no f64 at
    all; GFX12 computes minima by the IEEE rule and takes older names for them."""
    plain = f"{name}_f{bits}"
    if name == "add":
        return [(GFX9 | GFX11 | GFX12 if bits == 32 else GFX9 | GFX1250, plain)]
    if name.endswith("_num"):
        older = name.removesuffix("_num")
        return [(GFX12, f"{plain} {older}_f32 f{older}")] if bits == 32 else [(GFX1250, f"{plain} {older}_f64")]
    return [(GFX11, f"{plain} f{name}")] if bits == 32 else [(GFX9, plain)]


for space in ("global", "flat", "scratch", "buffer"):
    loads_and_stores(space)
for space in ("global", "scratch"):
    loads_to_lds(space)
for space in ("global", "flat", "buffer"):
    atomics(space)
memory("global_load_addtid_b32 global_load_dword_addtid", "global", "load", by_lane=True, cite=CITE)
memory("global_store_addtid_b32 global_store_dword_addtid", "global", "store", by_lane=True, cite=CITE)
transfers()
blocks()
transposing()

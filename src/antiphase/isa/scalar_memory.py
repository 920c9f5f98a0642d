"""Scalar memory: loads into SGPRs, constant buffers, prefetching, the scalar caches; on CDNA stores and atomics too."""

from __future__ import annotations

import functools

from antiphase.isa._expr import I8, I16, U8, U16
from antiphase.isa._families import GFX9, GFX12
from antiphase.isa._record import memory

from ._atomic import INTEGER, WIDTHS

CITE = "AMD Instinct MI300 CDNA3 ISA, chapter 8 and 12.6 (SMEM); AMD RDNA3 ISA 9, RDNA4 ISA 10"
CDNA = "AMD Instinct MI300 CDNA3 ISA, chapter 8 and 12.6 (SMEM); AMD CDNA4 ISA, the same"
SCRATCH = "memory that a scalar address reaches; the machine keeps no private memory there"
AT_ONCE = "written at once; in hardware the scalar cache holds the data until s_dcache_wb"

for n in (1, 2, 3, 4, 8, 16):
    width, targets = "" if n == 1 else f"x{n}", GFX12 if n == 3 else None
    for kind in ("s_load", "s_buffer_load"):
        memory(f"{kind}_dword{width} {kind}_b{32 * n}", "smem", "load", bits=32 * n, targets=targets, cite=CITE)
for type_ in (U8, I8, U16, I16):
    extend = "sign" if type_.kind == "i" else "zero"
    for kind in ("s_load", "s_buffer_load"):
        name = f"{kind}_{type_}"
        memory(name, "smem", "load", bits=type_.bits, type=type_, extend=extend, targets=GFX12, cite=CITE)
memory("s_dcache_inv", "smem", "cache", cite=CITE)
memory("s_dcache_wb s_dcache_inv_vol s_dcache_wb_vol", "smem", "cache", targets=GFX9, cite=CITE)
memory(
    "s_prefetch_data s_prefetch_data_pc_rel s_prefetch_inst s_prefetch_inst_pc_rel s_buffer_prefetch_data",
    "smem", "cache", targets=GFX12, cite=CITE,
)  # fmt: skip
memory(
    "s_memtime s_memrealtime", "smem", "clock", bits=64, status="modelled", note="counts executed instructions",
    cite=CITE,
)  # fmt: skip

cdna = functools.partial(memory, space="smem", targets=GFX9, cite=CDNA, status="modelled")
for n in (1, 2, 4):
    name = "dword" if n == 1 else f"dwordx{n}"
    cdna(f"s_scratch_load_{name}", access="load", bits=32 * n, spacing=64, note=SCRATCH)
    cdna(f"s_scratch_store_{name}", access="store", bits=32 * n, spacing=64, note=f"{SCRATCH}; {AT_ONCE}")
    for kind in ("s_store", "s_buffer_store"):
        cdna(f"{kind}_{name}", access="store", bits=32 * n, note=AT_ONCE)
for bits, types in WIDTHS.items():
    for a in filter(lambda a: a.flat, INTEGER):
        fields = {"bits": bits, "type": types[a.kind], "update": a.update, "operands": a.operands}
        for kind in ("s_atomic", "s_buffer_atomic"):
            name = f"{kind}_{a.flat}" + ("_x2" if bits == 64 else "")
            memory(name, "smem", "atomic", targets=GFX9, cite=CDNA, **fields)
kept = "the data stays; hardware drops what is not written back"
cdna("s_dcache_discard s_dcache_discard_x2", access="cache", note=kept)

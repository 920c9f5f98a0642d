"""Scalar memory: loads into SGPRs, constant buffers, prefetching and the scalar caches."""

from __future__ import annotations

from antiphase.isa._expr import I8, I16, U8, U16
from antiphase.isa._families import GFX9, GFX12
from antiphase.isa._record import memory

CITE = "AMD Instinct MI300 CDNA3 ISA, chapter 8 and 12.6 (SMEM); AMD RDNA3 ISA 9, RDNA4 ISA 10"

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
memory("s_memtime s_memrealtime", "smem", "clock", bits=64, cite=CITE)

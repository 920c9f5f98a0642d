"""Buffer loads and stores that convert between registers and the format of the resource or of the instruction."""

from __future__ import annotations

from typing import Literal

from antiphase.isa._families import GFX9, GFX11, RDNA4
from antiphase.isa._record import memory

CITE = (
    "AMD Instinct MI300 CDNA3 ISA 9.1.2-9.1.5, 12.13, 12.14; AMD RDNA3 ISA 9.3 and 10.7, RDNA4 ISA 9.3 and 10.7; "
    "components that a store lacks: Mesa aco, visit_image_store"
)
NOTE = (
    "where the manuals are silent, rounding and saturation are those of Direct3D's data conversion rules, and an "
    "element without a fourth component has 1 there for DST_SEL"
)
TARGETS = GFX9 | GFX11 | RDNA4


def typed(access: Literal["load", "store"]) -> None:
    for prefix, format_ in (("buffer", "resource"), ("tbuffer", "instruction")):
        fields = {"format": format_, "targets": TARGETS, "status": "modelled", "note": NOTE, "cite": CITE}
        start = f"{prefix}_{access}_"
        for n in (1, 2, 3, 4):
            letters = "xyzw"[:n]
            memory(f"{start}format_{letters}", "buffer", access, bits=32 * n, components=n, **fields)
            halves = f"{start}d16_format_{letters} {start}format_d16_{letters}"
            # a register that a load fills by half keeps its upper half
            kept = {"extend": "low"} if n % 2 and access == "load" else {}
            memory(halves, "buffer", access, bits=16 * n, components=n, **kept, **fields)
    high = f"buffer_{access}_d16_hi_format_x buffer_{access}_format_d16_hi_x"
    fields = {"format": "resource", "targets": TARGETS, "status": "modelled", "note": NOTE, "cite": CITE}
    memory(high, "buffer", access, bits=16, components=1, extend="high", **fields)


typed("load")
typed("store")

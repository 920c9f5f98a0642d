"""Registers addressed at run time: moves whose register numbers M0 adds to, and the GPR index mode of CDNA 3 and 4.

The number in the text plus the index is the register that is meant. Where that is out of range, a source is register 0
and with a result out of range the instruction does nothing.
"""

from __future__ import annotations

import functools

from antiphase.isa._expr import Expr
from antiphase.isa._families import GFX9, WAVE32
from antiphase.isa._record import Index, control, salu, valu

SCALAR = (
    "AMD Instinct MI300 CDNA3 ISA, 3.6.1 and 12.3; AMD RDNA3 ISA, 3.3.1.4 and 16.3; AMD RDNA4 and CDNA5 ISA, 3.3.1.3"
)
VECTOR = "AMD RDNA3 ISA, 3.3.2.2 and 7.8; AMD RDNA4 ISA, 3.3.2.2 and 7.11; AMD CDNA5 ISA, 3.3.2.2 and 7.11"
INDEX_MODE = "AMD Instinct MI300 CDNA3 ISA, 6.6 (VGPR Indexing), 12.3 (SOP1), 12.4 (SOPC), 12.5 (SOPP)"

WHOLE, LOW, HIGH = Index(0, 32), Index(0, 10), Index(16, 10)


def moved(source: Expr, m0: Expr) -> Expr:
    """What a relative move does once its registers are known: M0 has done its part by then."""
    return source


scalar = functools.partial(salu, semantics=moved, cite=SCALAR)
for width in (32, 64):
    scalar(f"s_movrels_b{width}", f"u{width} m0 -> u{width}", relative=(None, WHOLE))
    scalar(f"s_movreld_b{width}", f"u{width} m0 -> u{width}", relative=(WHOLE, None))
scalar("s_movrelsd_2_b32", "u32 m0 -> u32", relative=(HIGH, LOW), targets=WAVE32)

vector = functools.partial(valu, cite=VECTOR, targets=WAVE32)
vector("v_movrels_b32", "u32 m0 -> u32", moved, relative=(None, WHOLE))
vector("v_movreld_b32", "u32 m0 -> u32", moved, relative=(WHOLE, None))
vector("v_movrelsd_b32", "u32 m0 -> u32", moved, relative=(WHOLE, WHOLE))
vector("v_movrelsd_2_b32", "u32 m0 -> u32", moved, relative=(HIGH, LOW))
vector("v_swaprel_b32", "d:u32 e:u32 m0 -> u32 u32", lambda d, e, m0: (e, d), relative=(HIGH, LOW))


def with_index(index: Expr, m0: Expr) -> Expr:
    return (m0 & 0xFFFFFF00) | (index & 0xFF)


def with_enables(enables: Expr, m0: Expr) -> Expr:
    return (m0 & 0xFFFF0FFF) | ((enables & 0xF) << 12)


mode = functools.partial(salu, cite=INDEX_MODE, targets=GFX9)
mode(
    "s_set_gpr_idx_on",
    "u32 u32 m0 -> m0",
    lambda index, enables, m0: with_enables(enables, with_index(index, m0)),
    note="sets MODE.GPR_IDX_EN: from here on M0[7:0] adds to the VGPR numbers of vector ALU instructions, if M0[12] is "
    "set to that of src0, M0[13] to src1, M0[14] to src2, M0[15] to the result",
)
mode("s_set_gpr_idx_idx", "u32 m0 -> m0", with_index)
mode("s_set_gpr_idx_mode", "u32 m0 -> m0", with_enables)
control("s_set_gpr_idx_off", "gpr_idx_off", cite=INDEX_MODE, targets=GFX9)

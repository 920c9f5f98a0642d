"""Moves and logic on 16-bit halves of registers (true16), GFX11 and later; and v_nop."""

from __future__ import annotations

import functools

from antiphase.isa._expr import I32, U32, select
from antiphase.isa._families import WAVE32
from antiphase.isa._record import valu

CITE = "AMD RDNA3 ISA (15-Aug-2023), chapter 16.7, 16.8, 16.10 (VOP2, VOP1, VOP3)"
op = functools.partial(valu, targets=WAVE32, cite=CITE, rest="keep")

op("v_mov_b16", "u16 -> u16", lambda a: a)
op("v_not_b16", "u16 -> u16", lambda a: ~a)
op("v_and_b16", "u16 u16 -> u16", lambda a, b: a & b)
op("v_or_b16", "u16 u16 -> u16", lambda a, b: a | b)
op("v_xor_b16", "u16 u16 -> u16", lambda a, b: a ^ b)
op("v_cndmask_b16", "u16 u16 mask -> u16", lambda a, b, mask: select(mask, b, a))
op("v_swap_b16", "d:u16 e:u16 -> u16 u16", lambda a, b: (b, a))
op("v_cvt_i32_i16", "i16 -> i32", lambda a: a.to(I32))
op("v_cvt_u32_u16", "u16 -> u32", lambda a: a.to(U32))

valu("v_nop", "->", lambda: (), cite="AMD RDNA3 ISA, RDNA4 ISA, CDNA3 ISA, chapter VOP1 (V_NOP)")
valu(
    "v_pipeflush",
    "->",
    lambda: (),
    targets=WAVE32,
    cite=f"{CITE}: flushes the vector pipeline, no effect on values",
)

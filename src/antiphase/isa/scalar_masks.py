"""Scalar instructions on lane masks: those that save and write EXEC, whole-quad masks, bit doubling.

The `_b32` forms are wave32's and work on EXEC_LO. GFX11 renamed n1, n2, the operand inverted, to not0, not1.
"""

from __future__ import annotations

import functools

from antiphase.isa._expr import U64, Expr
from antiphase.isa._families import GFX12, WAVE32
from antiphase.isa._record import salu
from antiphase.isa.scalar import CITE, nonzero

RDNA3 = "AMD RDNA3 ISA (15-Aug-2023), chapter 16.1-16.3 (SOP2, SOPK, SOP1)"
RDNA4 = "AMD RDNA4 ISA (7-Apr-2025), chapter 16.1-16.4 (SOP2, SOPK, SOP1, SOPC)"

SAVEEXEC = {
    "and": lambda s, e: s & e, "or": lambda s, e: s | e, "xor": lambda s, e: s ^ e,
    "nand": lambda s, e: ~(s & e), "nor": lambda s, e: ~(s | e), "xnor": lambda s, e: ~(s ^ e),
    "andn1 and_not0": lambda s, e: ~s & e, "andn2 and_not1": lambda s, e: s & ~e,
    "orn1 or_not0": lambda s, e: ~s | e, "orn2 or_not1": lambda s, e: s | ~e,
}  # fmt: skip
WREXEC = ("andn1 and_not0", "andn2 and_not1")

for bits, exec_, op in (
    (64, "exec", functools.partial(salu, cite=CITE)),
    (32, "exec_lo", functools.partial(salu, cite=RDNA3, targets=WAVE32)),
):
    signature = f"u{bits} {exec_} -> u{bits} {exec_} scc"
    for name, f in SAVEEXEC.items():
        names = " ".join(f"s_{n}_saveexec_b{bits}" for n in name.split())
        op(names, signature, lambda s, e, f=f: (e, f(s, e), nonzero(f(s, e))))
    for name in WREXEC:
        names = " ".join(f"s_{n}_wrexec_b{bits}" for n in name.split())
        op(names, signature, lambda s, e, f=SAVEEXEC[name]: (f(s, e), f(s, e), nonzero(f(s, e))))


def runs(width: int, every: int, bits: int) -> int:
    """A mask with `width` ones at the bottom of every group of `every` bits."""
    return sum(((1 << width) - 1) << at for at in range(0, bits, every)) & ((1 << bits) - 1)


def quads_with_any(a: Expr) -> Expr:
    """The lowest bit of each group of four set if any bit of the group is."""
    return (a | (a >> 1) | (a >> 2) | (a >> 3)) & runs(1, 4, a.type.bits)


def whole_quads(a: Expr) -> tuple[Expr, Expr]:
    """Each group of four bits becomes all ones if any of them is set."""
    any_ = quads_with_any(a)
    mask = any_ | (any_ << 1) | (any_ << 2) | (any_ << 3)
    return mask, nonzero(mask)


def quad_mask(a: Expr) -> tuple[Expr, Expr]:
    """One bit for each group of four: whether any of them is set."""
    packed = quads_with_any(a)
    for width in (2, 4, 8, 16):  # result bits that stand together after the step
        packed = (packed | (packed >> (3 * width // 2))) & runs(width, 4 * width, a.type.bits)
    return packed, nonzero(packed)


def doubled_bits(a: Expr) -> Expr:
    """Each bit of 32 written twice."""
    wide = a.to(U64)
    for step in (16, 8, 4, 2, 1):
        wide = (wide | (wide << step)) & runs(step, 2 * step, 64)
    return wide | (wide << 1)


all_targets = functools.partial(salu, cite=CITE)
new = functools.partial(salu, cite=RDNA3, targets=WAVE32)
for bits in (32, 64):
    all_targets(f"s_wqm_b{bits}", f"u{bits} -> u{bits} scc", whole_quads)
    all_targets(f"s_quadmask_b{bits}", f"u{bits} -> u{bits} scc", quad_mask)
all_targets("s_bitreplicate_b64_b32", "u32 -> u64", doubled_bits)
new("s_pack_hl_b32_b16", "u32 u32 -> u32", lambda a, b: (a >> 16) | (b << 16))

wide = functools.partial(salu, cite=RDNA4, targets=GFX12)
wide("s_add_nc_u64", "u64 u64 -> u64", lambda a, b: a + b)
wide("s_sub_nc_u64", "u64 u64 -> u64", lambda a, b: a - b)
wide("s_mul_u64", "u64 u64 -> u64", lambda a, b: a * b)

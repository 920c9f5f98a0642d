"""Vector comparisons: VOPC and its VOP3 forms. v_cmp writes a lane mask.

v_cmpx writes EXEC: on CDNA as well as the mask it names, on GFX10 and later alone.
"""

from __future__ import annotations

import functools

from antiphase.isa._expr import B1, Expr, ballot, const, is_nan
from antiphase.isa._families import GFX11, WAVE32
from antiphase.isa._floats import LAYOUT, exponent_field, is_signalling, magnitude, negative
from antiphase.isa._record import Semantics, valu

CITE = "AMD Instinct MI300 CDNA3 ISA, chapter 12.9 (VOPC)"
RDNA3 = "AMD RDNA3 ISA (15-Aug-2023), chapter 16.9 (VOPC); the same on RDNA3.5 and RDNA4"


def compare(name: str, types: str, predicate: Semantics) -> None:
    """Register v_cmp_<name> and v_cmpx_<name>."""

    def with_exec(*sources: Expr) -> tuple[Expr, Expr]:
        result = predicate(*sources)
        assert isinstance(result, Expr)
        return result, ballot(result)

    def to_exec(*sources: Expr) -> Expr:
        return with_exec(*sources)[1]

    valu(f"v_cmp_{name}", f"{types} -> mask", predicate, cite=CITE)
    valu(f"v_cmpx_{name}", f"{types} -> mask exec", with_exec, cite=CITE)
    # comparisons whose outcome is fixed: none for 16-bit integers from GFX11, none at all on GFX12
    fixed = name.split("_")[0] in ("f", "t", "tru")
    if not (fixed and name.endswith(("i16", "u16"))):
        valu(f"v_cmpx_{name}", f"{types} -> exec", to_exec, cite=RDNA3, targets=GFX11 if fixed else WAVE32)
    if name.startswith("tru_"):
        new = functools.partial(valu, cite=RDNA3, targets=GFX11)
        new(f"v_cmp_t_{name[4:]}", f"{types} -> mask", predicate)
        new(f"v_cmpx_t_{name[4:]}", f"{types} -> exec", to_exec)


def never(a: Expr, b: Expr) -> Expr:
    return const(B1, 0)


def always(a: Expr, b: Expr) -> Expr:
    return const(B1, 1)


def ordered(a: Expr, b: Expr) -> Expr:
    return ~(is_nan(a) | is_nan(b))


INTEGER: dict[str, Semantics] = {
    "f": never, "lt": lambda a, b: a < b, "eq": lambda a, b: a == b, "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b, "ne": lambda a, b: a != b, "ge": lambda a, b: a >= b, "t": always,
}  # fmt: skip
FLOAT: dict[str, Semantics] = {
    "f": never, "lt": lambda a, b: a < b, "eq": lambda a, b: a == b, "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b, "lg": lambda a, b: (a < b) | (a > b), "ge": lambda a, b: a >= b, "o": ordered,
    "u": lambda a, b: is_nan(a) | is_nan(b), "nge": lambda a, b: ~(a >= b),
    "nlg": lambda a, b: ~((a < b) | (a > b)),
    "ngt": lambda a, b: ~(a > b), "nle": lambda a, b: ~(a <= b), "neq": lambda a, b: a != b,
    "nlt": lambda a, b: ~(a < b), "tru": always,
}  # fmt: skip


def in_class(x: Expr, classes: Expr) -> Expr:
    """Whether the mask has the bit of the value's class: signalling, quiet NaN, -inf, -normal, -denormal, -0,
    +0, +denormal, +normal, +inf."""
    layout = LAYOUT[x.type]
    exponent, size, minus = exponent_field(x), magnitude(x), negative(x)
    top = 2 * layout.bias + 1
    infinite = size == layout.infinity
    normal = (exponent > 0) & (exponent < top)
    denormal = (exponent == 0) & (size != 0)
    quiet = is_nan(x) & ~is_signalling(x)
    kinds = [is_signalling(x), quiet]
    kinds += [infinite & minus, normal & minus, denormal & minus, (size == 0) & minus]
    kinds += [(size == 0) & ~minus, denormal & ~minus, normal & ~minus, infinite & ~minus]
    hits = [kind & ((classes & (1 << bit)) != 0) for bit, kind in enumerate(kinds)]
    result = hits[0]
    for hit in hits[1:]:
        result = result | hit
    return result


for t in ("f16", "f32", "f64"):
    for name, predicate in FLOAT.items():
        compare(f"{name}_{t}", f"{t} {t}", predicate)
    compare(f"class_{t}", f"{t} u32", in_class)
for t in ("i16", "u16", "i32", "u32", "i64", "u64"):
    for name, predicate in INTEGER.items():
        compare(f"{name}_{t}", f"{t} {t}", predicate)

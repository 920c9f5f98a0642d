"""Float minimum and maximum of GFX11 and GFX12, quiet and signalling NaNs included.

GFX11 has V_MIN and V_MAX, whose treatment of signalling NaNs follows MODE.IEEE (isa.vector_float). GFX12 has
no such mode but two families: `num` prefers a number to any NaN (IEEE 754-2019 minimumNumber), the other
makes a NaN of any NaN (minimum). Both put -0 below +0. A signalling NaN sets TRAPSTS.INVALID, which the
machine does not model.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from antiphase.isa._expr import Expr, canonical, is_nan, select
from antiphase.isa._families import GFX11, GFX12, GFX1250
from antiphase.isa._floats import (
    greater,
    is_signalling,
    lesser,
    max_float,
    min_float,
    quieted,
)  # fmt: skip
from antiphase.isa._record import valu

RDNA3 = "AMD RDNA3 ISA (15-Aug-2023), pp. 262-263 (V_MIN_F32, V_MAX_F32) and chapter 16.10 (VOP3)"
RDNA4 = "AMD RDNA4 ISA (7-Apr-2025), p. 83, pp. 304-305 (V_MIN_NUM_F32), pp. 525-526 (V_MINIMUM_F32)"
CDNA5 = "AMD CDNA5 ISA, sections 15.10, 15.14; LLVM VOP3PInstructions.td (gfx1250)"

Two = Callable[[Expr, Expr], Expr]


def number_first(of_numbers: Two) -> Two:
    """The number if one operand is NaN, a quiet NaN only of two."""

    def semantics(x: Expr, y: Expr) -> Expr:
        a, b = canonical(x), canonical(y)
        return select(is_nan(a), select(is_nan(b), quieted(a), b), select(is_nan(b), a, of_numbers(a, b)))

    return semantics


def nan_first(of_numbers: Two) -> Two:
    """A quiet NaN if any operand is NaN: a signalling one before a quiet one, the first before the second."""

    def semantics(x: Expr, y: Expr) -> Expr:
        a, b = canonical(x), canonical(y)
        from_b = (is_signalling(b) & ~is_signalling(a)) | ~is_nan(a)
        nan = select(from_b, quieted(b), quieted(a))
        return select(is_nan(a) | is_nan(b), nan, of_numbers(a, b))

    return semantics


MINIMUM_NUMBER, MAXIMUM_NUMBER = number_first(lesser), number_first(greater)
MINIMUM, MAXIMUM = nan_first(lesser), nan_first(greater)


def three(first: Two, second: Two) -> Callable[[Expr, Expr, Expr], Expr]:
    return lambda a, b, c: second(first(a, b), c)


def median_number(x: Expr, y: Expr, z: Expr) -> Expr:
    """Middle of three numbers; the minimum of the numbers if any is NaN."""
    a, b, c = canonical(x), canonical(y), canonical(z)
    middle = greater(lesser(a, b), lesser(greater(a, b), c))
    some_nan = is_nan(a) | is_nan(b) | is_nan(c)
    return select(some_nan, three(MINIMUM_NUMBER, MINIMUM_NUMBER)(x, y, z), middle)


op = functools.partial(valu, targets=GFX12, cite=RDNA4)
for t in ("f32", "f16", "f64"):
    op(f"v_min_num_{t} v_min_{t}", f"{t} {t} -> {t}", MINIMUM_NUMBER)
    op(f"v_max_num_{t} v_max_{t}", f"{t} {t} -> {t}", MAXIMUM_NUMBER)
    op(f"v_minimum_{t}", f"{t} {t} -> {t}", MINIMUM)
    op(f"v_maximum_{t}", f"{t} {t} -> {t}", MAXIMUM)
for t in ("f32", "f16"):
    for names, semantics in {
        "min3_num min3": three(MINIMUM_NUMBER, MINIMUM_NUMBER),
        "max3_num max3": three(MAXIMUM_NUMBER, MAXIMUM_NUMBER),
        "minmax_num minmax": three(MINIMUM_NUMBER, MAXIMUM_NUMBER),
        "maxmin_num maxmin": three(MAXIMUM_NUMBER, MINIMUM_NUMBER),
        "med3_num med3": median_number,
        "minimum3": three(MINIMUM, MINIMUM),
        "maximum3": three(MAXIMUM, MAXIMUM),
        "minimummaximum": three(MINIMUM, MAXIMUM),
        "maximumminimum": three(MAXIMUM, MINIMUM),
    }.items():
        op(" ".join(f"v_{name}_{t}" for name in names.split()), f"{t} {t} {t} -> {t}", semantics)
    # GFX11 composes the two-operand forms, IEEE mode included
    old = functools.partial(valu, targets=GFX11, cite=RDNA3)
    old(f"v_minmax_{t}", f"{t} {t} {t} -> {t}", three(min_float, max_float))
    old(f"v_maxmin_{t}", f"{t} {t} {t} -> {t}", three(max_float, min_float))

pair = functools.partial(op, packed=True)
pair("v_pk_min_num_f16 v_pk_min_f16", "f16 f16 -> f16", MINIMUM_NUMBER)
pair("v_pk_max_num_f16 v_pk_max_f16", "f16 f16 -> f16", MAXIMUM_NUMBER)
pair("v_pk_minimum_f16", "f16 f16 -> f16", MINIMUM)
pair("v_pk_maximum_f16", "f16 f16 -> f16", MAXIMUM)
new = functools.partial(valu, targets=GFX1250, packed=True, cite=CDNA5)
new("v_pk_min3_num_f16", "f16 f16 f16 -> f16", three(MINIMUM_NUMBER, MINIMUM_NUMBER))
new("v_pk_max3_num_f16", "f16 f16 f16 -> f16", three(MAXIMUM_NUMBER, MAXIMUM_NUMBER))
new("v_pk_minimum3_f16", "f16 f16 f16 -> f16", three(MINIMUM, MINIMUM))
new("v_pk_maximum3_f16", "f16 f16 f16 -> f16", three(MAXIMUM, MAXIMUM))
new("v_pk_min_num_bf16", "bf16 bf16 -> bf16", MINIMUM_NUMBER)
new("v_pk_max_num_bf16", "bf16 bf16 -> bf16", MAXIMUM_NUMBER)

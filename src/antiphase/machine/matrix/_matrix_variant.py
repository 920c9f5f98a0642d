"""Modifiers of a matrix instruction, as far as they change what it computes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from antiphase.isa import Matrix
from antiphase.isa._formats import F8F6F4

# LLVM AMDGPUBaseInfo.h, namespace WMMA: values of the modifiers that are names in text
_NAMED = {
    "matrix_a_fmt": ("FP8", "BF8", "FP6", "BF6", "FP4"),
    "matrix_a_scale": ("ROW0", "ROW1"),
    "matrix_a_scale_fmt": ("E8", "E5M3", "E4M3"),
}
SCALE_FORMATS = ("e8m0", "e5m3", "e4m3")


@dataclass(frozen=True, slots=True)
class Variant:
    """Modifiers of one matrix instruction.

    cbsz, blgp: as in an MFMA; in F8F6F4 instructions of either kind the formats of A and B. abid: as in an
    MFMA; the set of indices of a sparse instruction. neg, neg_hi: of A, B and C, as an MFMA on F64 or a WMMA
    has them. scale_bytes: which byte of the scale registers of A and B an MFMA reads; scale_rows: which 16
    lanes of them a WMMA reads; scale_formats: their formats. half: 16 bits of C and D that RDNA 3 uses.
    clamp: integer results saturate. inline_c: bits of an inline constant in place of C, whose pointer is not
    read.
    """

    cbsz: int = 0
    abid: int = 0
    blgp: int = 0
    neg: tuple[int, ...] = (0, 0, 0)
    neg_hi: tuple[int, ...] = (0, 0, 0)
    scale_bytes: tuple[int, int] = (0, 0)
    scale_rows: tuple[int, int] = (0, 0)
    scale_formats: tuple[int, int] = (0, 0)
    half: int = 0
    clamp: bool = False
    inline_c: int | None = None

    @classmethod
    def of(cls, modifiers: Mapping[str, object], inline_c: int | None = None) -> Variant:
        """From modifiers as asm reads them."""
        low, high = (_bits(modifiers, name) for name in ("op_sel", "op_sel_hi"))
        return cls(
            cbsz=_number(modifiers, "cbsz") or _named(modifiers, "matrix_a_fmt"),
            abid=_number(modifiers, "abid") or _number(modifiers, "index_key"),
            blgp=_number(modifiers, "blgp") or _named(modifiers, "matrix_b_fmt"),
            neg=_bits(modifiers, "neg_lo" if "neg_lo" in modifiers else "neg"),
            neg_hi=_bits(modifiers, "neg_hi"),
            scale_bytes=(low[0] + 2 * high[0], low[1] + 2 * high[1]),
            scale_rows=(_named(modifiers, "matrix_a_scale"), _named(modifiers, "matrix_b_scale")),
            scale_formats=(_named(modifiers, "matrix_a_scale_fmt"), _named(modifiers, "matrix_b_scale_fmt")),
            half=low[2],
            clamp="clamp" in modifiers,
            inline_c=inline_c,
        )

    @property
    def suffix(self) -> str:
        """Distinguishes the functions of one instruction's variants."""
        values = (getattr(self, name) for name in self.__slots__)
        return re.sub(r"\W+", "_", "_".join(map(str, values)))

    def formats(self, record: Matrix) -> tuple[str, str]:
        """Number formats of A and B."""
        return _format(record.a, self.cbsz, self.neg[0]), _format(record.b, self.blgp, self.neg[1])


def _format(name: str, selector: int, signed: int) -> str:
    if name == "f8f6f4":
        return F8F6F4[selector]
    return f"{'i' if signed else 'u'}{name[2:]}" if name.startswith("iu") else name


def _number(modifiers: Mapping[str, object], name: str) -> int:
    value = modifiers.get(name, 0)
    return value if isinstance(value, int) else 0


def _bits(modifiers: Mapping[str, object], name: str) -> tuple[int, ...]:
    value = modifiers.get(name)
    return value if isinstance(value, tuple) else (0, 0, 0)


def _named(modifiers: Mapping[str, object], name: str) -> int:
    """The value of a modifier that may be a number or a name such as MATRIX_FMT_FP8."""
    value = modifiers.get(name, 0)
    if isinstance(value, str):
        return _NAMED[name.replace("_b_", "_a_")].index(value.rsplit("_", 1)[-1])
    return int(value) if isinstance(value, int) else 0

"""Modifiers after the operands (`offset:16`, `sc0`, `quad_perm:[1,0,3,2]`): known names, reading and writing.

Names are those of LLVM's AMDGPUModifierSyntax for gfx9 to gfx12, and of gfx1250's assembler text.
"""

from __future__ import annotations

import re
from collections.abc import Container

from antiphase.asm._operands import parse_int

ModifierValue = bool | int | str | tuple[int, ...]

_FLAG_NAMES = (
    "glc slc dlc scc sc0 sc1 nt nv lds offen idxen addr64 tfe lwe gds d16 a16 r128 da unorm high clamp done "
    "row_mirror row_half_mirror scale_offset matrix_a_reuse matrix_b_reuse"
)
_VALUED_NAMES = (
    "offset offset0 offset1 op_sel op_sel_hi neg_lo neg_hi neg abs mul div quad_perm dpp8 row_shl row_shr "
    "row_ror row_share row_xmask row_bcast row_newbcast wave_shl wave_shr wave_rol wave_ror row_mask "
    "bank_mask bound_ctrl fi dst_sel dst_unused src0_sel src1_sel cbsz abid blgp byte_sel bitop3 index_key "
    "th scope dmask dim format dfmt nfmt wait_vdst wait_exp wait_va_vdst wait_vm_vsrc matrix_a_fmt "
    "matrix_b_fmt scale_sel "
    "matrix_a_scale matrix_b_scale matrix_a_scale_fmt matrix_b_scale_fmt"
)
FLAGS = frozenset(_FLAG_NAMES.split())
VALUED = frozenset(_VALUED_NAMES.split())
# Flags of instructions without operands, as in `buffer_wbl2 sc1`. Not all flags: a16 is a register, too.
_LEADING = frozenset(("glc", "slc", "dlc", "sc0", "sc1", "nt", "nv", "gds"))
_HEX = frozenset(("row_mask", "bank_mask", "bitop3", "dmask"))  # LLVM prints these in hex

_DPP_NAMES = (
    "quad_perm dpp8 row_shl row_shr row_ror row_share row_xmask row_bcast row_newbcast wave_shl wave_shr wave_rol "
    "wave_ror row_mirror row_half_mirror"
)
DPP_CONTROLS = frozenset(_DPP_NAMES.split())
"""Modifiers that say which lane each lane reads."""

_SELECTIONS = ("BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD")
_BITS, _LANES = range(2), range(16)
# What a modifier's value may be, and each element of a list; where targets differ the instruction's forms say more.
_VALUES: dict[str, Container[object]] = {
    **dict.fromkeys(("row_shl", "row_shr", "row_ror"), range(1, 16)),
    **dict.fromkeys(("row_share", "row_xmask", "row_newbcast", "row_mask", "bank_mask"), _LANES),
    **dict.fromkeys(("wave_shl", "wave_shr", "wave_rol", "wave_ror"), (1,)),
    "row_bcast": (15, 31), "quad_perm": range(4), "dpp8": range(8), "bound_ctrl": _BITS, "fi": _BITS,
    **dict.fromkeys(("op_sel", "op_sel_hi", "neg_lo", "neg_hi"), _BITS),
    "mul": (2, 4), "div": (2,), "cbsz": range(8), "abid": range(16), "blgp": range(8), "byte_sel": range(4),
    "bitop3": range(256),
    **dict.fromkeys(("dst_sel", "src0_sel", "src1_sel"), _SELECTIONS),
    "dst_unused": ("UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"),
    "wait_exp": range(8), "wait_vdst": range(16), "wait_va_vdst": range(16), "wait_vm_vsrc": _BITS,
}  # fmt: skip
_LENGTHS = {"quad_perm": (4,), "dpp8": (8,), **dict.fromkeys(("op_sel", "op_sel_hi", "neg_lo", "neg_hi"), range(1, 5))}

_VALUED = re.compile(r"(\w+):(.+)", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_]\w*(?:\([^()]*\))?|\[[\w\s,]*\]")


def is_modifier(token: str, first: bool) -> bool:
    """Whether a token where an operand could stand is a modifier. first: no operand came before it."""
    return (first and token in _LEADING) or _VALUED.fullmatch(token) is not None


def parse_modifier(token: str) -> tuple[str, ModifierValue]:
    """(name, value) of one modifier token. ValueError for a name not known or a value not readable."""
    if token in FLAGS:
        return token, True
    match = _VALUED.fullmatch(token)
    if match is None or match[1] not in VALUED:
        raise ValueError(f"unknown modifier '{token}'")
    name, text = match[1], match[2].strip()
    value = _value(token, text)
    elements = value if isinstance(value, tuple) else (value,)
    lengths = _LENGTHS.get(name)
    if (lengths and not (isinstance(value, tuple) and len(value) in lengths)) or (
        name in _VALUES and not all(element in _VALUES[name] for element in elements)
    ):
        raise ValueError(f"the modifier '{token}' has no such value")
    return name, value


def _value(token: str, text: str) -> ModifierValue:
    try:
        if text.startswith("[") and text.endswith("]"):
            return tuple(parse_int(part.strip()) for part in text[1:-1].split(","))
        return parse_int(text)
    except ValueError:
        if _WORD.fullmatch(text) is None:
            raise ValueError(f"cannot read the modifier '{token}'") from None
        return re.sub(r"\s+", "", text)


LEGACY_FORMAT = frozenset(("format", "dfmt", "nfmt"))
"""Modifiers that older text of tbuffer instructions has before the last operand, as LLVM still reads it."""


def with_format(modifiers: list[tuple[str, ModifierValue]]) -> tuple[tuple[str, ModifierValue], ...]:
    """Modifiers with `dfmt` and `nfmt`, which LLVM reads in the old place only, as one `format`."""
    split = {name: value for name, value in modifiers if name in ("dfmt", "nfmt")}
    if not split:
        return tuple(modifiers)
    data, numeric = split.get("dfmt", 1), split.get("nfmt", 0)
    if not (isinstance(data, int) and isinstance(numeric, int)):
        raise ValueError("dfmt and nfmt are numbers")
    rest = [one for one in modifiers if one[0] not in split]
    return (("format", data | numeric << 4), *rest)


def modifier_text(name: str, value: ModifierValue) -> str:
    """One modifier as the assembler reads it."""
    if value is True:
        return name
    if isinstance(value, tuple):
        return f"{name}:[{','.join(map(str, value))}]"
    return f"{name}:{value:#x}" if name in _HEX and isinstance(value, int) else f"{name}:{value}"

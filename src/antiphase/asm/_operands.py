"""Operands of an AMDGPU instruction line: one dataclass a kind, `parse_operand` to read, `str()` to write.

Spellings follow LLVM's AMDGPU operand syntax (llvm/docs/AMDGPUOperandSyntax, AMDGPUModifierSyntax).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Reg:
    """`count` consecutive 32-bit registers of a bank ('v', 's', 'a', 'ttmp') from `index` on.

    half: 'l' or 'h' for a true16 half of one VGPR (`v3.h`), else None.
    """

    bank: str
    index: int
    count: int = 1
    half: str | None = None

    def __str__(self) -> str:
        if self.count > 1:
            return f"{self.bank}[{self.index}:{self.index + self.count - 1}]"
        return f"{self.bank}{self.index}" if self.half is None else f"{self.bank}{self.index}.{self.half}"


@dataclass(frozen=True, slots=True)
class Special:
    """A register or constant with a name of its own: vcc, exec_lo, m0, null, off, src_shared_base, ..."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Imm:
    """An integer literal; `text` keeps its spelling (decimal, 0x, 0b, octal, lit(), lit64())."""

    value: int
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class FloatImm:
    """A floating-point literal such as 0.5 or -4.0; `text` keeps its spelling."""

    value: float
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Label:
    """A symbol by its bare name: a branch target, or a `.set` name."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Symbol:
    """An address expression kept as text: `lds@abs32@lo`, `f@rel32@hi+12`, `(.LBB0_3-.Lpost_getpc0)>>32`."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Waits:
    """The counters of an s_waitcnt, in the order written: (('vmcnt', 0), ('lgkmcnt', 3))."""

    counts: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        return " ".join(f"{name}({count})" for name, count in self.counts)


@dataclass(frozen=True, slots=True)
class Call:
    """A call-like operand: hwreg(HW_REG_MODE, 4, 2), sendmsg(...), depctr_va_vdst(0), instid0(VALU_DEP_1)."""

    name: str
    args: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name}({', '.join(self.args)})"


@dataclass(frozen=True, slots=True)
class RegList:
    """Registers in brackets that need not be consecutive: `[v1, v5, v9]` of an image address."""

    regs: tuple[Reg, ...]

    def __str__(self) -> str:
        return f"[{', '.join(map(str, self.regs))}]"


@dataclass(frozen=True, slots=True)
class Modified:
    """A source with an input modifier: -x (neg), |x| (abs), -|x| (both, abs first), sext(x)."""

    operand: Reg | Special | Imm | FloatImm
    neg: bool = False
    abs: bool = False
    sext: bool = False

    def __str__(self) -> str:
        text = f"sext({self.operand})" if self.sext else str(self.operand)
        if self.abs:
            return f"-|{text}|" if self.neg else f"|{text}|"
        if self.neg:  # '-1' would read back as the literal -1, which is another operand
            return f"neg({text})" if isinstance(self.operand, Imm | FloatImm) else f"-{text}"
        return text


Operand = Reg | Special | Imm | FloatImm | Label | Symbol | Waits | Call | RegList | Modified

_SPECIAL_NAMES = (
    "vcc vcc_lo vcc_hi exec exec_lo exec_hi m0 scc vccz execz null off flat_scratch flat_scratch_lo "
    "flat_scratch_hi xnack_mask xnack_mask_lo xnack_mask_hi tba tba_lo tba_hi tma tma_lo tma_hi lds_direct "
    "src_shared_base src_shared_limit src_private_base src_private_limit src_pops_exiting_wave_id "
    "src_flat_scratch_base_lo src_flat_scratch_base_hi"
)
SPECIALS = frozenset(_SPECIAL_NAMES.split())
# LLVM accepts both spellings; one of them becomes the name.
_ALIASES = {
    "src_vccz": "vccz",
    "src_execz": "execz",
    "src_scc": "scc",
    "src_lds_direct": "lds_direct",
    "sgpr_null": "null",
    "shared_base": "src_shared_base",
    "shared_limit": "src_shared_limit",
    "private_base": "src_private_base",
    "private_limit": "src_private_limit",
    "pops_exiting_wave_id": "src_pops_exiting_wave_id",
}

_REG = re.compile(r"(v|s|acc|a|ttmp)(?:(\d+)|\[(\d+)(?::(\d+))?\])(?:\.([lh]))?")
_FLOAT = re.compile(r"-?(?:\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+)")
_INT = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[0-7]*|[1-9]\d*)")
_LIT = re.compile(r"lit(?:64)?\((.*)\)")
_NAME = re.compile(r"[A-Za-z_.$][\w.$]*")
_EXPRESSION = re.compile(r"[A-Za-z_.$][\w.$]*(?:[@+\-*/][\w.$()]+)+")
_DIFFERENCE = re.compile(r"\([\w.$]+-[\w.$]+\)(?:&|>>)\d+")  # half of the distance to a far branch target
_CALL = re.compile(r"([A-Za-z_]\w*)\((.*)\)")


def parse_int(text: str) -> int:
    """The value of an integer literal in LLVM's spelling; ValueError otherwise."""
    if _INT.fullmatch(text) is None:
        raise ValueError(f"cannot read the number '{text}'")
    digits = text.lstrip("-")
    octal = len(digits) > 1 and digits[0] == "0" and digits[1] in "01234567"
    value = int(digits, 8 if octal else 0)
    return -value if text[0] == "-" else value


def _register(match: re.Match[str]) -> Reg | None:
    bank, single, first, last, half = match.groups()
    bank = "a" if bank == "acc" else bank
    if single is not None:
        return Reg(bank, int(single), 1, half)
    count = 1 if last is None else int(last) - int(first) + 1
    return Reg(bank, int(first), count, half) if count >= 1 and not (half and count > 1) else None


def _modified(text: str) -> Modified | None:
    """An operand under input modifiers, outermost first; None if `text` is not one."""
    neg = absolute = sext = False
    while not (_INT.fullmatch(text) or _FLOAT.fullmatch(text)):
        call = _CALL.fullmatch(text)
        if text.startswith("-") and not (neg or absolute or sext):
            neg, text = True, text[1:]
        elif call and call[1] == "neg" and not (neg or absolute or sext):
            neg, text = True, call[2].strip()
        elif text.startswith("|") and text.endswith("|") and len(text) > 2 and not (absolute or sext):
            absolute, text = True, text[1:-1].strip()
        elif call and call[1] == "abs" and not (absolute or sext):
            absolute, text = True, call[2].strip()
        elif call and call[1] == "sext" and not sext:
            sext, text = True, call[2].strip()
        else:
            break
    inner = parse_operand(text)
    if isinstance(inner, Reg | Special | Imm | FloatImm):
        return Modified(inner, neg, absolute, sext)
    return None


@lru_cache(maxsize=65536)
def parse_operand(text: str) -> Operand:
    """One operand from its text, without surrounding blanks. ValueError says what could not be read."""
    if match := _REG.fullmatch(text):
        if (reg := _register(match)) is not None:
            return reg
    elif text in SPECIALS:
        return Special(text)
    elif text in _ALIASES:
        return Special(_ALIASES[text])
    elif _INT.fullmatch(text):
        return Imm(parse_int(text), text)
    elif _FLOAT.fullmatch(text):
        return FloatImm(float(text), text)
    elif _NAME.fullmatch(text):
        return Label(text)
    elif match := _LIT.fullmatch(text):
        return Imm(parse_int(match[1].strip()), text)
    elif text.startswith(("-", "|", "neg(", "abs(", "sext(")):
        if (modified := _modified(text)) is not None:
            return modified
    elif _DIFFERENCE.fullmatch(text):
        return Symbol(text)
    elif match := _CALL.fullmatch(text):
        return Call(match[1], tuple(arg.strip() for arg in match[2].split(",")) if match[2].strip() else ())
    elif text.startswith("[") and text.endswith("]"):
        regs = tuple(parse_operand(part.strip()) for part in text[1:-1].split(","))
        if all(isinstance(reg, Reg) for reg in regs):
            return RegList(tuple(reg for reg in regs if isinstance(reg, Reg)))
    elif _EXPRESSION.fullmatch(text):
        return Symbol(text)
    raise ValueError(f"cannot read the operand '{text}'")

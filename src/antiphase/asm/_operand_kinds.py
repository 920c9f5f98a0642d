"""Operands and modifiers in the words of arch's table of operand forms: what an assembler tells apart about them.

v1 s2 a4 ttmp2     so many consecutive registers of a bank; V1 a VGPR from v128 on; v2o a tuple with an odd start
v.l V.h            a half of a VGPR
vcc m0 off ...     a register or word by its name
i                  an integer that fits an inline constant; n16 u16 ... one that takes so many bits
x16 x32 x64        an unsigned number that is a small negative one in so many bits
h16 b16 h32 h64    the bits of an inline float constant: f16, bf16, f32, f64
f g                a float that is an inline constant, or not
label              a symbol or an expression
hwreg:HW_REG_MODE  a call by its name, and what it names; hwreg:number where that is a number
waits:vmcnt        the counters of a wait, each by its name; list for registers in brackets
neg abs sext       input modifiers, beside the kind of what they modify
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

from antiphase.asm._modifiers import DPP_CONTROLS, ModifierValue
from antiphase.asm._operands import Call, FloatImm, Imm, Modified, Operand, Reg, RegList, Special, Waits

_INVERSE_TAU = 0.15915494309189532
_INLINE_FLOATS = (0.5, 1.0, 2.0, 4.0)
_UPPER_VGPRS = 128  # 16-bit instructions in the short encoding reach no further
_NAMING = ("hwreg", "sendmsg", "instid0", "instid1", "instskip")
_UNSIGNED, _SIGNED = (8, 16, 20, 23, 32), (16, 20, 23, 32)


def _bits(code: str, size: str) -> frozenset[int]:
    numbers = [struct.unpack(size, struct.pack(code, value))[0] for value in (*_INLINE_FLOATS, _INVERSE_TAU)]
    sign = 1 << (8 * struct.calcsize(size) - 1)
    return frozenset((*numbers, *(number | sign for number in numbers[:-1])))


_FLOAT_BITS = {
    "h16": _bits("<e", "<H"),
    "b16": frozenset(number >> 16 for number in _bits("<f", "<I")),
    "h32": _bits("<f", "<I"),
    "h64": _bits("<d", "<Q"),
}


def kinds(operand: Operand) -> frozenset[str]:
    """The kind of an operand, with its input modifiers; of a wait the kinds of all its counters."""
    if isinstance(operand, Modified):
        flags = {"neg": operand.neg, "abs": operand.abs, "sext": operand.sext}
        return frozenset((_kind(operand.operand), *(name for name, on in flags.items() if on)))
    if isinstance(operand, Waits):
        return frozenset(f"waits:{name}" for name, _ in operand.counts)
    return frozenset((_kind(operand),))


def _kind(operand: Operand) -> str:
    if isinstance(operand, Reg):
        return _register(operand)
    if isinstance(operand, Special):
        return operand.name
    if isinstance(operand, Imm):
        return _integer(operand)
    if isinstance(operand, FloatImm):
        inline = abs(operand.value) in (0.0, *_INLINE_FLOATS) or abs(operand.value - _INVERSE_TAU) < 1e-8
        return "f" if inline else "g"
    if isinstance(operand, Call):
        return _call(operand)
    return "list" if isinstance(operand, RegList) else "label"


def _call(operand: Call) -> str:
    if operand.name not in _NAMING or not operand.args:
        return operand.name
    named = operand.args[0]
    return f"{operand.name}:{named if named[:1].isalpha() else 'number'}"


def is_inline(operand: Imm | FloatImm) -> bool:
    """Whether an instruction holds a constant in place of a register; where types differ, if one of them has it so."""
    return _kind(operand) in ("i", "f", "x16", "x32", "x64", *_FLOAT_BITS)


def _register(reg: Reg) -> str:
    upper = reg.bank == "v" and reg.count == 1 and reg.index >= _UPPER_VGPRS
    bank = reg.bank.upper() if upper else reg.bank
    if reg.half is not None:
        return f"{bank}.{reg.half}"
    odd = reg.bank in "va" and reg.count > 1 and reg.index % 2
    return f"{bank}{reg.count}{'o' if odd else ''}"


def _integer(imm: Imm) -> str:
    value = imm.value
    if -16 <= value <= 64:
        return "i"
    if value < 0:
        return next((f"n{bits}" for bits in _SIGNED if value >= -(1 << (bits - 1))), "n64")
    for bits in (16, 32, 64):
        if (1 << bits) - 16 <= value < 1 << bits:
            return f"x{bits}"
    if (bits := next((name for name, values in _FLOAT_BITS.items() if value in values), "")) != "":
        return bits
    return next((f"u{bits}" for bits in _UNSIGNED if value < 1 << bits), "u64")


_BY_LENGTH = ("op_sel", "op_sel_hi", "neg_lo", "neg_hi")
_BY_VALUE = ("th", "scope")


def modifier_kind(name: str, value: ModifierValue) -> str:
    """A modifier as the table has it: `op_sel:3` for one of three bits, `th:TH_LOAD_NT`, else its name.

    A hint or scope by its number is no more than its name: which numbers there are, the names say.
    """
    if name in _BY_LENGTH and isinstance(value, tuple):
        return f"{name}:{len(value)}"
    return f"{name}:{value}" if name in _BY_VALUE and isinstance(value, str) else name


def satisfies(kind: str, needed: str) -> bool:
    """Whether a modifier is one that a form needs: 'dpp' is any that says which lanes are read, 'th' any hint."""
    if needed == "dpp":
        return kind in DPP_CONTROLS
    return kind.startswith("th:") if needed == "th" else kind == needed


_BANKS = {"v": "VGPR", "a": "AGPR", "s": "SGPR", "ttmp": "trap register"}
_REGISTERS = re.compile(r"(v|a|s|ttmp)(\d+)")
_FEW = 6
"""Names that a description lists; more are told by the first ones."""

NUMBERS = frozenset(f"{sign}{bits}" for sign in "nu" for bits in (8, 16, 20, 23, 32, 64))
"""The kinds of integers that are no inline constants."""


def described(taken: frozenset[str]) -> str:
    """A set of kinds in words: 'a VGPR, an SGPR, an inline constant'."""
    return ", ".join([*_registers(taken), *_constants(taken), *_others(taken)]) or "nothing"


def _registers(taken: frozenset[str]) -> Iterator[str]:
    widths: dict[str, list[int]] = {}
    for match in filter(None, map(_REGISTERS.fullmatch, taken)):
        widths.setdefault(match[1], []).append(int(match[2]))
    for bank, name in _BANKS.items():
        for width in sorted(widths.get(bank, ())):
            article = "an" if bank in "as" else "a"
            text = f"{article} {name}" if width == 1 else f"{width} {name}s"
            if bank == "v" and width == 1 and "V1" not in taken:
                text += " below v128"
            even = bank in "va" and width > 1 and f"{bank}{width}o" not in taken
            yield f"{text} from an even one on" if even else text
    if "v.l" in taken:
        yield "half a VGPR" if "V.l" in taken else "half a VGPR below v128"


def _constants(taken: frozenset[str]) -> Iterator[str]:
    if "u32" in taken or "g" in taken:
        yield "a constant"
    elif "u8" in taken:
        yield "a number"
    elif "i" in taken:
        yield "an inline constant"
    elif "f" in taken:
        yield "an inline float constant"
    if "label" in taken:
        yield "a label"


def _others(taken: frozenset[str]) -> Iterator[str]:
    calls = sorted({kind.partition(":")[0] for kind in taken if ":" in kind and not kind.startswith("waits")})
    yield from (f"{name}(...)" for name in calls)
    counters = sorted(kind.removeprefix("waits:") for kind in taken if kind.startswith("waits:"))
    yield from (f"{name}(n)" for name in counters if not name.endswith("_sat"))
    named = [name for name in _NAMES if name in taken]
    yield from named[:_FEW]


_NAMES = ("off", "vcc", "vcc_lo", "vcc_hi", "exec", "exec_lo", "exec_hi", "m0", "null", "scc", "lds_direct")

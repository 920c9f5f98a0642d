"""Whether an assembler takes an instruction as it is written: operands, registers and modifiers, not their meaning."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from functools import lru_cache

from antiphase.arch import ENCODINGS, OperandForm, assembler_inventory, operand_forms, targets
from antiphase.arch import target as target_of
from antiphase.asm._instruction import Instruction
from antiphase.asm._modifiers import modifier_text
from antiphase.asm._operand_kinds import NUMBERS, described, kinds, modifier_kind, satisfies
from antiphase.asm._operands import Imm, Modified, Operand, Reg, RegList

_ANY_NUMBER = ("s_delay_alu", "s_waitcnt_depctr", "s_wait_alu")
"""Their operands are fields of one immediate."""
_KNOWN = frozenset(each.name for each in targets())
_VGPRS = 256
_NEEDED = {"dpp": "a modifier that says which lanes it reads", "th": "a temporal hint that returns the old value"}
_SIGNS = frozenset(("neg", "abs", "sext"))

Complaint = tuple[str, str]
"""What is wrong with a line, and what to do."""


def complaint(instruction: Instruction, target: str) -> Complaint | None:
    """Why the assembler refuses an instruction for a target; None where it takes it, or its answer is not known."""
    if target not in _KNOWN:
        return None
    halves = (instruction,) if instruction.pair is None else (instruction, instruction.pair)
    found = (_judged(half.mnemonic, half.operands, half.modifiers, target) for half in halves)
    return next((each for each in found if each is not None), None)


@lru_cache(maxsize=65536)
def _judged(mnemonic: str, operands: tuple[Operand, ...], modifiers: tuple, target: str) -> Complaint | None:
    one = Instruction(mnemonic, operands, modifiers)
    if (register := next(_registers(one, target), None)) is not None:
        return register
    forms = operand_forms(mnemonic, target)
    given = tuple(map(kinds, operands))
    fitting = [form for form in forms if _places(form, mnemonic, len(given)) == len(given)]
    if not forms and (absent := _absent(mnemonic, target)) is not None:
        return absent
    if not forms or any(isinstance(operand, RegList) for operand in operands):
        return None
    if not fitting:
        counts = sorted({len(form.operands) for form in forms})
        return f"'{one.text()}' has {_number(len(given))}", f"{mnemonic} takes {_or(map(str, counts))}"
    # the form that fits best says what is wrong; operands that fit say which form is meant
    wrong = [(list(_operands(form, one, given, target)), list(_modifiers(form, one, target))) for form in fitting]
    operands_wrong, modifiers_wrong = min(wrong, key=lambda both: (len(both[0]) + len(both[1]), len(both[0])))
    return next(iter((*operands_wrong, *modifiers_wrong)), None)


def fits(form: OperandForm, one: Instruction, target: str) -> bool:
    """Whether an instruction is written in a form, its register numbers aside."""
    given = tuple(map(kinds, one.operands))
    if _places(form, one.mnemonic, len(given)) != len(given):
        return False
    complaints = itertools.chain(_operands(form, one, given, target), _modifiers(form, one, target))
    return next(complaints, None) is None


def _absent(mnemonic: str, target: str) -> Complaint | None:
    """Why an instruction has no form: it is one of other targets. None for one that the table has no line of."""
    base = next((mnemonic.removesuffix(end) for end in reversed(ENCODINGS) if mnemonic.endswith(end)), mnemonic)
    known = assembler_inventory().mnemonics.get(base)
    others = known.forms if known else [each for each in sorted(_KNOWN) if operand_forms(mnemonic, each)]
    if not others or target in others:
        return None
    return f"{target} has no '{mnemonic}'", f"it is an instruction of {next(iter(others))}"


def _places(form: OperandForm, mnemonic: str, given: int) -> int:
    return given if mnemonic in _ANY_NUMBER and given else len(form.operands)


def _operands(
    form: OperandForm, one: Instruction, given: tuple[frozenset[str], ...], target: str
) -> Iterator[Complaint]:
    """The operands that are not those of a form."""
    for place, kinds_given in enumerate(given):
        taken = form.operands[min(place, len(form.operands) - 1)]
        if kinds_given <= taken:
            continue
        where = f"operand {place + 1} of '{one.text()}'"
        if kinds_given - taken <= _SIGNS:
            yield f"{where} takes no input modifier", f"write {_plain(one.operands[place])}"
        elif isinstance(one.operands[place], Imm) and taken & NUMBERS:
            yield f"{one.operands[place]} does not fit its field in '{one.text()}'", "the field has fewer bits"
        else:
            yield (
                f"{where} cannot be {one.operands[place]}",
                f"{target} takes {described(taken)} there" + _longer(one, target),
            )


def _modifiers(form: OperandForm, one: Instruction, target: str) -> Iterator[Complaint]:
    """The modifiers that a form does not have, and those that it cannot do without."""
    present = {modifier_kind(*each) for each in one.modifiers}
    for name, value in one.modifiers:
        if not _has(form, modifier_kind(name, value)):
            rest = sorted({kind.partition(":")[0] for kind in form.modifiers})
            remedy = f"{target} takes {', '.join(rest)} there" if rest else "it takes no modifiers"
            yield f"'{modifier_text(name, value)}' does not belong to '{one.text()}'", remedy
    for needed in form.needed:
        if not any(satisfies(kind, needed) for kind in present):
            what = _NEEDED.get(needed, f"'{needed}'")
            yield f"'{one.text()}' lacks {what}", f"add {what}"


def _has(form: OperandForm, kind: str) -> bool:
    """A hint by its number is taken where one by its name is."""
    by_number = kind in ("th", "scope")
    return any(each.startswith(f"{kind}:") for each in form.modifiers) if by_number else kind in form.modifiers


def _longer(one: Instruction, target: str) -> str:
    """A hint where another encoding of the instruction takes the operands."""
    if not one.mnemonic.endswith("_e32"):
        return ""
    longer = one.mnemonic.removesuffix("_e32") + "_e64"
    if operand_forms(longer, target) and _judged(longer, one.operands, one.modifiers, target) is None:
        return f"; {longer} takes this"
    return ""


def _registers(one: Instruction, name: str) -> Iterator[Complaint]:
    for operand in one.operands:
        inner = operand.operand if isinstance(operand, Modified) else operand
        for reg in inner.regs if isinstance(inner, RegList) else (inner,):
            if isinstance(reg, Reg):
                yield from _register(reg, one, name)


def _register(reg: Reg, one: Instruction, name: str) -> Iterator[Complaint]:
    limit = {"v": _VGPRS, "a": _VGPRS, "s": target_of(name).max_sgprs}.get(reg.bank, 16)
    # where s_set_vgpr_msb adds to a number, only its start is in the instruction
    end = reg.index + (1 if reg.bank == "v" and target_of(name).max_vgprs > _VGPRS else reg.count)
    if end > limit:
        yield f"no register {reg} in '{one.text()}'", f"the last one of {name} is {reg.bank}{limit - 1}"
    # LLVM AMDGPUAsmParser.cpp, getRegularReg: scalar registers are aligned to their number, at most 4
    alignment = min(4, 1 << (reg.count - 1).bit_length())
    if reg.bank in ("s", "ttmp") and reg.index % alignment:
        yield f"{reg} in '{one.text()}' begins at no multiple of {alignment}", "scalar registers are aligned so"


def _plain(operand: Operand) -> Operand:
    return operand.operand if isinstance(operand, Modified) else operand


def _number(count: int) -> str:
    return f"{count or 'no'} operand{'' if count == 1 else 's'}"


def _or(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last

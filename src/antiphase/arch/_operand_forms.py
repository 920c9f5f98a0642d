"""What operands and modifiers LLVM's assembler takes, by instruction and target, in kinds that asm knows."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import msgspec

from antiphase.arch._assembler import expanded, table

ENCODINGS = ("_e32", "_e64", "_dpp", "_e64_dpp", "_sdwa")
"""What a vector instruction's name may end in; without it the assembler takes the first that fits."""


class OperandForm(msgspec.Struct, frozen=True):
    """One way to write an instruction.

    operands: the kinds that may stand in each place, any with any. modifiers: those it may have. needed: those it must
    have; 'dpp' for any that says which lanes are read, 'th' for any temporal hint.
    """

    operands: tuple[frozenset[str], ...]
    modifiers: frozenset[str]
    needed: frozenset[str]


def operand_forms(mnemonic: str, target: str) -> tuple[OperandForm, ...]:
    """The ways to write an instruction for a target; none where the assembler's answer is not known."""
    forms = _of_target(target)
    if mnemonic in forms:
        return forms[mnemonic]
    return tuple(form for ending in ENCODINGS for form in forms.get(mnemonic + ending, ()))


@cache
def _of_target(target: str) -> Mapping[str, tuple[OperandForm, ...]]:
    sets, rows = _table()
    found: dict[str, tuple[OperandForm, ...]] = {}
    for numbers, needed, where, names in rows:
        if target in _targets(where):
            *operands, modifiers = (sets[number] for number in numbers.split())
            form = OperandForm(tuple(operands), modifiers, frozenset(needed.split()))
            for name in names.split():
                found[name] = (*found.get(name, ()), form)
    return found


@cache
def _targets(where: str) -> frozenset[str]:
    return frozenset(expanded(where))


@cache
def _table() -> tuple[dict[str, frozenset[str]], list[list[str]]]:
    """The sets by number, and the rows of data/operands.tsv, which tools/operand_forms.py remakes."""
    _, rows = table("operands.tsv")
    sets = {row[0]: frozenset(row[1].split()) for row in rows if len(row) == 2}
    return sets, [row for row in rows if len(row) == 4]

"""Checks that a compiler answers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from antiphase.arch._check_specs import Emits, Spacing
from antiphase.verify._answers import Found
from antiphase.verify._dependent import builtin_of, dependent_calls
from antiphase.verify._llvm import Crash, Llvm, Refused

_NOT_CODE = re.compile(r"\s*(?:[.;@]|[\w.$]+:|$)")
_HINT = "s_delay_alu"  # takes no issue slot that separates


def spacing(spec: Spacing, target: str, llvm: Llvm) -> Found:
    """Expected and got: how many of the mnemonic, or wait states of s_nop, stand between the two instructions."""
    asked = f"{spec.intrinsic}, result to {spec.overlap}"
    called = builtin_of(spec.intrinsic, target, spec.wave)
    ir = None if called is None else dependent_calls(called, spec.overlap)
    if called is None or ir is None:
        return Found(None, asked, spec.count, None, f"no such builtin or operand on {target}")
    try:
        rows = _code(llvm.compiled(target, f"+wavefrontsize{called.wave}", ir))
    except (Crash, Refused) as error:
        return Found(None, asked, spec.count, None, str(error) or "the compiler aborted")
    places = [place for place, row in enumerate(rows) if row.split()[0] == called.mnemonic]
    if len(places) != 2:
        return Found(None, asked, spec.count, None, f"{len(places)} instructions {called.mnemonic} in the code")
    between = rows[places[0] + 1 : places[1]]
    got = _separators(spec, between)
    return Found(got == spec.count, asked, spec.count, got, "; ".join(between))


def emits(spec: Emits, target: str, llvm: Llvm) -> Found:
    """Expected: the lines in order. Got: those found before one was missing, or the first line that may not be."""
    try:
        rows = _code(llvm.compiled(target, "", spec.ir))
    except (Crash, Refused) as error:
        return Found(None, spec.ir, list(spec.order), None, str(error) or "the compiler aborted")
    extra = [row for row in rows if row.startswith(spec.lacks)] if spec.lacks else []
    got = _in_order(spec.order, rows)
    agrees = not extra and got == list(spec.order)
    return Found(agrees, spec.ir, list(spec.order), got + extra[:1], "" if agrees else "; ".join(rows))


def _separators(spec: Spacing, between: Sequence[str]) -> int:
    named = [row for row in between if row.split()[0] == spec.inserts]
    if spec.inserts != "s_nop" or spec.count == 0:
        return len(named)
    return sum(int(row.split()[1]) + 1 if row in named else row.split()[0] != _HINT for row in between)


def _in_order(wanted: Iterable[str], rows: Iterable[str]) -> list[str]:
    left = iter(rows)
    found: list[str] = []
    for each in wanted:
        if not any(row.startswith(each) for row in left):
            return found
        found.append(each)
    return found


def _code(text: str) -> list[str]:
    """The instructions, comments and spacing cut off, up to the end of the function."""
    rows = text.partition(".Lfunc_end0")[0].splitlines()
    return [" ".join(row.partition(";")[0].split()) for row in rows if not _NOT_CODE.match(row)]

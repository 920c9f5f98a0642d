"""`stage` on a program: stages that somebody marked and that no rendezvous separates (hole H6 of Triton 3.9).

Two kinds of mark: borders that Triton's compiler left in its IR, which come with the text as comments, and comments
`; antiphase: stage NAME` of an author.
"""

from __future__ import annotations

from antiphase.asm import Kernel, Program
from antiphase.checks._finding import Finding, Site
from antiphase.checks._loops import loops
from antiphase.isa import Control, find

_UNUSED, _STAGE = "unused stage ", "stage "


def check_stage_marks(program: Program, kernel: Kernel) -> list[Finding]:
    """One finding for the borders that the compiler left, and one for each loop whose stages nothing separates."""
    left = _marks(kernel, _UNUSED)
    found = [_finding("unused_borders", left)] if left else []
    for loop in loops(kernel):
        marks = [(at, label) for at, label in _marks(kernel, _STAGE) if at in loop.instructions]
        separate = any(_is_barrier(program, kernel, i) for i in loop.instructions)
        if len({label for _, label in marks}) > 1 and not separate:
            found.append(_finding("stages_not_separate", marks))
    return found


def _marks(kernel: Kernel, kind: str) -> list[tuple[int, str]]:
    """Instruction and label of each mark of a kind; one behind the last instruction marks nothing."""
    end = len(kernel.instructions)
    return [(at, text.removeprefix(kind)) for at, text in kernel.markers if text.startswith(kind) and at < end]


def _finding(rule: str, marks: list[tuple[int, str]]) -> Finding:
    labels = tuple(dict.fromkeys(label for _, label in marks))
    places = sorted({at for at, _ in marks})
    sites = tuple(Site(at, "stage") for at in dict.fromkeys((places[0], places[-1])))
    return Finding("stage", rule, "warning", sites, {"labels": labels}, None, len(marks))


def _is_barrier(program: Program, kernel: Kernel, index: int) -> bool:
    record = find(kernel.instructions[index].mnemonic, program.target)
    return isinstance(record, Control) and record.action in ("barrier", "barrier_signal", "barrier_wait")

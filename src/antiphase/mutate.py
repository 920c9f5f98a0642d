"""Mutants of a kernel: one wait, barrier or nop deleted or loosened at a time, and which of them the checks catch.

Also a measure of a test suite: run it on the programs that `mutants` makes, and see which it lets pass.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from antiphase import arch
from antiphase.asm import Imm, Instruction, Kernel, Program, parse_instruction
from antiphase.checks import CheckedKernel, Finding, check_execution, check_program, chosen
from antiphase.errors import AntiphaseError, Deadlock, Incomplete, Unsupported
from antiphase.frontends import LaunchSpec, launch_asm
from antiphase.isa import Control, find, generation
from antiphase.machine import Execution, waits

Kind = Literal["wait", "barrier", "nop"]
Status = Literal["caught", "redundant", "survived", "unjudged"]
Step = Callable[[str], None]

_HAZARD_WAITS = ("s_wait_alu", "s_waitcnt_depctr")
_ABOUT_REGISTERS, _ABOUT_ORDER = ("wait", "spacing"), ("race", "stage", "sync", "init", "mem")
_RUNAWAY = 4


@dataclass(frozen=True, slots=True)
class Mutant:
    """instruction: index in the kernel of what is changed. before, after: its text and what replaces it, () if nothing.

    changes: for `Program.edit`.
    """

    kind: Kind
    instruction: int
    before: str
    after: tuple[str, ...]
    changes: dict[int, tuple[Instruction, ...]]


@dataclass(frozen=True, slots=True)
class Judged:
    """by: the finding that catches the mutant, or proves it redundant. note: what is known without one."""

    mutant: Mutant
    status: Status
    by: Finding | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """baseline: of the kernel as it is; its findings catch no mutant. launched: whether mutants were run."""

    program: Program
    kernel: Kernel
    judged: tuple[Judged, ...]
    baseline: tuple[Finding, ...]
    launched: bool

    def count(self, status: Status) -> int:
        return sum(one.status == status for one in self.judged)

    @property
    def ok(self) -> bool:
        """Every mutant is caught, or proved to be as good as the kernel."""
        return all(one.status in ("caught", "redundant") for one in self.judged)


def mutants(program: Program, kernel: str | None = None) -> Iterator[Mutant]:
    """The mutants of one kernel, in the order of its instructions; those in code that no path reaches are left out.

    Waits on counters that are not modelled, xcnt and the like, are left alone.
    """
    one = program.kernel(kernel)
    for start, end in _reachable(one):
        for index in range(start, end):
            record = find(one.instructions[index].mnemonic, program.target)
            if isinstance(record, Control):
                yield from _of_control(one, index, end, record, program.target)
            elif one.instructions[index].mnemonic.removesuffix("_e32") == "v_nop":
                yield _mutant("nop", one, index)


def _of_control(kernel: Kernel, index: int, end: int, record: Control, target: str) -> Iterator[Mutant]:
    instruction = kernel.instructions[index]
    if record.action == "wait":
        yield from _waits(kernel, index, target)
    elif record.action == "barrier":
        yield _mutant("barrier", kernel, index)
    elif record.action == "barrier_signal":
        yield _mutant("barrier", kernel, index, also=_paired(kernel, index, end, target))
    elif instruction.mnemonic == "s_nop":
        yield _mutant("nop", kernel, index)
        count = instruction.operands[0]
        if isinstance(count, Imm) and count.value > 0:
            yield _mutant("nop", kernel, index, (f"s_nop {count.value - 1}",))
    elif instruction.mnemonic in _HAZARD_WAITS:
        yield _mutant("nop", kernel, index)


def _waits(kernel: Kernel, index: int, target: str) -> Iterator[Mutant]:
    try:
        conditions = waits(kernel.instructions[index], target)
    except Unsupported:
        return
    largest = {c.name: c.largest or 63 for c in arch.target(target).counters}
    asked = [(name, n) for name, n in conditions if n < largest[name]]
    if not asked:
        return
    yield _mutant("wait", kernel, index)
    for position, (name, n) in enumerate(asked):
        looser = [*asked[:position], (name, n + 1), *asked[position + 1 :]]
        if n + 1 < largest[name]:
            yield _mutant("wait", kernel, index, tuple(_wait_lines(looser, target)))


def _wait_lines(conditions: Sequence[tuple[str, int]], target: str) -> Iterator[str]:
    if generation(target) in ("gfx12", "gfx1250"):
        yield from (f"s_wait_{name} {n}" for name, n in conditions)
        return
    packed = [f"{name}({n})" for name, n in conditions if name != "vscnt"]
    if packed:
        yield f"s_waitcnt {' '.join(packed)}"
    yield from (f"s_waitcnt_vscnt null, {n}" for name, n in conditions if name == "vscnt")


def _paired(kernel: Kernel, index: int, end: int, target: str) -> int | None:
    """The wait of a split barrier that follows its signal in the same block."""
    for later in range(index + 1, end):
        record = find(kernel.instructions[later].mnemonic, target)
        if isinstance(record, Control) and record.action == "barrier_wait":
            return later
    return None


def _mutant(kind: Kind, kernel: Kernel, index: int, after: tuple[str, ...] = (), also: int | None = None) -> Mutant:
    changes = {index: tuple(parse_instruction(line) for line in after)}
    if also is not None:
        changes[also] = ()
    before = "; ".join(kernel.instructions[i].text() for i in changes)
    return Mutant(kind, index, before, after, changes)


def _reachable(kernel: Kernel) -> list[tuple[int, int]]:
    seen, work = {0}, [0]
    while work:
        new = set(kernel.blocks[work.pop()].successors) - seen
        seen |= new
        work += new
    return [(kernel.blocks[number].start, kernel.blocks[number].end) for number in sorted(seen)]


def mutate(
    program: Program,
    spec: LaunchSpec | None = None,
    kernel: str | None = None,
    checks: Collection[str] | None = None,
    step: Step = lambda text: None,
) -> Outcome:
    """Judge every mutant of a kernel: by the static checks and, with a launch, by the dynamic ones.

    Without a launch, waits and barriers that order LDS or memory between waves are left unjudged where they survive.
    UserError where the launch does not fit the kernel.
    """
    step("checking the kernel")
    names = chosen(checks)
    judge = _Judge(program, program.kernel(kernel), spec, names)
    todo = list(mutants(program, kernel))
    judged = []
    for number, mutant in enumerate(todo, 1):
        step(f"mutant {number} of {len(todo)}")
        judged.append(judge(mutant))
    return Outcome(program, judge.kernel, tuple(judged), judge.baseline, spec is not None)


class _Judge:
    """Compares a mutant's findings with those of the kernel as it is."""

    def __init__(self, program: Program, kernel: Kernel, spec: LaunchSpec | None, names: tuple[str, ...]) -> None:
        self.program, self.kernel, self.spec, self.names = program, kernel, spec, names
        self.known = self._static(program)
        self.useless: tuple[Finding, ...] = ()
        self.results: list[bytes] = []
        self.limit = None
        if spec is not None:
            execution, self.results = self._launch(program, spec)
            dynamic = check_execution(execution, self._named((*_ABOUT_ORDER, "useless")))
            self.known |= _keys(dynamic)
            self.useless = tuple(f for f in dynamic.checked.findings if f.check == "useless")
            self.limit = _RUNAWAY * execution.instructions + 10_000
        self.baseline = tuple(self.known.values())

    def __call__(self, mutant: Mutant) -> Judged:
        changed = self.program.edit(mutant.changes, self.kernel.name)
        if by := self._new(self._static(changed)):
            return Judged(mutant, "caught", by)
        if mutant.kind == "nop" and "spacing" in self.names:
            return Judged(mutant, "redundant", note="no spacing rule asks for it on any path")
        if self.spec is None:
            return Judged(mutant, "unjudged", note="no path needs it for registers; give --args to see what it orders")
        return self._by_launch(mutant, changed, self.spec)

    def _by_launch(self, mutant: Mutant, changed: Program, spec: LaunchSpec) -> Judged:
        try:
            execution, results = self._launch(changed, spec)
        except Deadlock as error:
            return Judged(mutant, "caught", Finding("sync", "deadlock", "error", (), {"text": str(error)}))
        except Incomplete as error:
            return Judged(mutant, "caught", note=f"it runs on and on: {error}")
        except AntiphaseError as error:
            return Judged(mutant, "unjudged", note=str(error))
        if by := self._new(_keys(check_execution(execution, self._named(_ABOUT_ORDER)))):
            return Judged(mutant, "caught", by)
        if proof := self._proof(mutant):
            return Judged(mutant, "redundant", proof)
        differs = "; the result is another, though" if results != self.results else ""
        return Judged(mutant, "survived", note=f"no check sees it, and nothing proves it redundant{differs}")

    def _named(self, names: Sequence[str]) -> list[str]:
        return [name for name in names if name in self.names]

    def _static(self, program: Program) -> dict[object, Finding]:
        return _keys(check_program(program, self._named(_ABOUT_REGISTERS), kernel=self.kernel.name))

    def _new(self, found: dict[object, Finding]) -> Finding | None:
        return next((finding for key, finding in found.items() if key not in self.known), None)

    def _launch(self, program: Program, spec: LaunchSpec) -> tuple[Execution, list[bytes]]:
        values = spec.fresh()
        execution = launch_asm(
            program, grid=spec.grid or 1, args=values, threads=spec.threads, lds_bytes=spec.lds_bytes,
            kernel=self.kernel.name, record=True, max_instructions=self.limit,
        )  # fmt: skip
        return execution, [value.tobytes() for value in values if isinstance(value, np.ndarray)]

    def _proof(self, mutant: Mutant) -> Finding | None:
        """The finding of `useless` that allows this change or a larger one."""
        return next((finding for finding in self.useless if self._allows(finding, mutant)), None)

    def _allows(self, finding: Finding, mutant: Mutant) -> bool:
        fix = finding.fix
        if fix is None:  # of half a split barrier: a mutant takes both halves
            return len(mutant.changes) > 1 and finding.sites[0].instruction in mutant.changes
        if fix.instruction not in mutant.changes:
            return False
        return fix.action == "delete" or (fix.action == "replace" and self._as_strict(mutant.after, fix.text))

    def _as_strict(self, lines: Sequence[str], allowed: Sequence[str]) -> bool:
        """Whether these waits hold back at least what the allowed ones do."""
        target = self.program.target
        here, needed = (
            dict(c for line in ls for c in waits(parse_instruction(line), target)) for ls in (lines, allowed)
        )
        return all(name in here and here[name] <= n for name, n in needed.items())


def _keys(part: CheckedKernel) -> dict[object, Finding]:
    """Findings by rule and by the lines of their sites, which stay what they are when instructions are deleted."""
    lines = [instruction.line for instruction in part.kernel.instructions]
    return {
        (f.check, f.rule, tuple((lines[site.instruction], site.role) for site in f.sites)): f
        for f in part.checked.findings
        if f.severity != "info"
    }

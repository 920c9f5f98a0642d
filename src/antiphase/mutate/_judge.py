"""Which mutants the checks catch, which are proved redundant, and why the others are neither."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from antiphase.asm import Kernel, Program, parse_instruction
from antiphase.checks import CheckedKernel, Finding, UselessProofs, check_execution, check_program, chosen
from antiphase.checks.useless import ENOUGH
from antiphase.errors import AntiphaseError, Deadlock, Incomplete
from antiphase.frontends import LaunchSpec, launch_asm
from antiphase.machine import Execution, waits
from antiphase.mutate._mutants import Mutant, mutants

Status = Literal["caught", "redundant", "survived", "unjudged"]
Reason = Literal[
    "no_rule", "runs_on", "no_launch", "not_reached", "failed", "complete", "stages_hold", "ordered",
    "few_passes", "cache", "published", "not_in_step", "incomplete", "gap", "result_differs",
]  # fmt: skip
"""Why, where no finding says it: 'no_rule' (no static rule asks for it), 'runs_on' (the mutant never ends), 'no_launch'
(it may order what only a launch shows), 'not_reached' (the launch does not execute it), 'failed' (the mutant does not
run), 'complete' (without it all is complete in time), 'stages_hold' (a barrier orders no bytes, and the stages of the
mutant are right), 'ordered' (`race` follows atomics and caches, and has all in order without it), 'few_passes',
'cache', 'published' and 'not_in_step' (`useless` does not judge it), 'incomplete' (a check could not judge the mutant),
'gap' (no check sees it) and 'result_differs' (a gap that shows in the result)."""
Step = Callable[[str], None]

_ABOUT_REGISTERS, _ABOUT_ORDER = ("wait", "spacing"), ("race", "stage", "sync", "init", "mem")
_RUNAWAY = 4
_WAITS: dict[str, Reason | None] = {"redundant": "complete", "published": "published", "needed": None}


@dataclass(frozen=True, slots=True)
class Judged:
    """by: the finding that catches the mutant, or proves it redundant; reason: where there is none. text: what a
    reason quotes."""

    mutant: Mutant
    status: Status
    by: Finding | None = None
    reason: Reason | None = None
    text: str = ""

    def __repr__(self) -> str:
        by = f"{self.by.check}/{self.by.rule}" if self.by else self.reason
        to = f" -> {'; '.join(self.mutant.after)!r}" if self.mutant.after else ""
        return f"<Judged {self.mutant.before!r}{to} {self.status} by={by!r}>"


@dataclass(frozen=True, slots=True)
class Outcome:
    """baseline: of the kernel as it is; its findings catch no mutant. launched: whether mutants were run."""

    program: Program
    kernel: Kernel
    judged: tuple[Judged, ...]
    baseline: tuple[Finding, ...]
    launched: bool

    def __repr__(self) -> str:
        counts = " ".join(f"{status}={self.count(status)}" for status in get_args(Status))
        return f"<Outcome kernel={self.kernel.name!r} {counts} launched={self.launched}>"

    def count(self, status: Status) -> int:
        return sum(one.status == status for one in self.judged)

    @property
    def ok(self) -> bool:
        """Every mutant is caught, or proved to be as good as the kernel."""
        return all(one.status in ("caught", "redundant") for one in self.judged)


def mutate(
    program: Program,
    spec: LaunchSpec | None = None,
    kernel: str | None = None,
    checks: Collection[str] | None = None,
    recording_limit: int | None = None,
    step: Step = lambda text: None,
) -> Outcome:
    """Judge every mutant of a kernel: by the static checks and, with a launch, by the dynamic ones.

    Without a launch, waits and barriers that order LDS or memory between waves are left unjudged where they survive.
    recording_limit: bytes that a launch may record.
    UserError where the launch does not fit the kernel.
    """
    step("checking the kernel")
    names = chosen(checks)
    judge = _Judge(program, program.kernel(kernel), spec, names, recording_limit)
    todo = list(mutants(program, kernel))
    judged = []
    for number, mutant in enumerate(todo, 1):
        step(f"mutant {number} of {len(todo)}")
        judged.append(judge(mutant))
    return Outcome(program, judge.kernel, tuple(judged), judge.baseline, spec is not None)


@dataclass(frozen=True, slots=True)
class _Launched:
    """The kernel as it is, run once. useless: what could go. proofs: None if `useless` is not to be asked."""

    spec: LaunchSpec
    execution: Execution
    results: list[bytes]
    useless: tuple[Finding, ...]
    proofs: UselessProofs | None


class _Judge:
    """Compares a mutant's findings with those of the kernel as it is."""

    def __init__(
        self, program: Program, kernel: Kernel, spec: LaunchSpec | None, names: tuple[str, ...], room: int | None
    ) -> None:
        self.program, self.kernel, self.names, self.room = program, kernel, names, room
        self.known = self._static(program)
        self.limit: int | None = None
        self.launched = None if spec is None else self._launched(spec)
        self.baseline = tuple(self.known.values())

    def _launched(self, spec: LaunchSpec) -> _Launched:
        execution, results = self._launch(self.program, spec)
        dynamic = check_execution(execution, self._named((*_ABOUT_ORDER, "useless")))
        self.known |= _keys(dynamic)
        self.limit = _RUNAWAY * execution.instructions + 10_000
        useless = tuple(f for f in dynamic.checked.findings if f.check == "useless")
        proofs = UselessProofs(execution) if "useless" in self.names else None
        return _Launched(spec, execution, results, useless, proofs)

    def __call__(self, mutant: Mutant) -> Judged:
        changed = self.program.edit(mutant.changes, self.kernel.name)
        if by := self._new(self._static(changed)):
            return Judged(mutant, "caught", by)
        if mutant.static and set(_ABOUT_REGISTERS) <= set(self.names):
            return Judged(mutant, "redundant", reason="no_rule")
        if self.launched is None:
            return Judged(mutant, "unjudged", reason="no_launch")
        if not any(self.launched.execution.counts[i] for i in mutant.changes):
            return Judged(mutant, "unjudged", reason="not_reached")
        return self._by_launch(mutant, changed, self.launched)

    def _by_launch(self, mutant: Mutant, changed: Program, known: _Launched) -> Judged:
        try:
            execution, results = self._launch(changed, known.spec)
        except Deadlock as error:
            return Judged(mutant, "caught", Finding("sync", "deadlock", "error", (), {"text": str(error)}))
        except Incomplete as error:
            return Judged(mutant, "caught", reason="runs_on", text=str(error))
        except AntiphaseError as error:
            return Judged(mutant, "unjudged", reason="failed", text=str(error))
        checked = check_execution(execution, self._named(_ABOUT_ORDER))
        if by := self._new(_keys(checked)):
            return Judged(mutant, "caught", by)
        if proof := next((finding for finding in known.useless if self._allows(finding, mutant)), None):
            return Judged(mutant, "redundant", proof)
        if "stage" in self.names and any(_keeps_offset(finding, mutant) for finding in known.useless):
            return Judged(mutant, "redundant", reason="stages_hold")
        reason = self._why_open(mutant, known.proofs)
        if reason == "complete":
            return Judged(mutant, "redundant", reason=reason)
        if results != known.results:
            return Judged(mutant, "survived", reason="result_differs")
        if reason in ("cache", "published") and "race" in self.names and not checked.checked.incomplete:
            if _turns(execution, mutant.instruction) < min(ENOUGH, _turns(known.execution, mutant.instruction)):
                return Judged(mutant, "unjudged", reason="few_passes")
            return Judged(mutant, "redundant", reason="ordered")
        if reason is not None:
            return Judged(mutant, "unjudged", reason=reason)
        if incomplete := checked.checked.incomplete:
            return Judged(mutant, "unjudged", reason="incomplete", text=incomplete[0])
        return Judged(mutant, "survived", reason="gap")

    def _why_open(self, mutant: Mutant, proofs: UselessProofs | None) -> Reason | None:
        """Why `useless` does not say that a mutant needs what it lacks; None if it does, or is not to be asked."""
        if proofs is None:
            return None
        reasons: list[Reason] = [why for instruction in mutant.changes if (why := proofs.open(instruction))]
        why = reasons[0] if reasons else None
        if mutant.kind != "wait" or why == "few_passes":
            return why
        by_counters = _WAITS[proofs.wait(mutant.instruction, self._counts(mutant.after))]
        return why if why and by_counters == "complete" else by_counters

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
            kernel=self.kernel.name, record=True, max_instructions=self.limit, recording_limit=self.room,
        )  # fmt: skip
        return execution, [value.tobytes() for value in values if isinstance(value, np.ndarray)]

    def _allows(self, finding: Finding, mutant: Mutant) -> bool:
        """Whether a finding of `useless` allows this change or a larger one."""
        fix = finding.fix
        if fix is None:  # of half a split barrier: a mutant takes both halves
            nothing = finding.rule == "barrier_orders_nothing"
            return nothing and len(mutant.changes) > 1 and finding.sites[0].instruction in mutant.changes
        if fix.instruction not in mutant.changes:
            return False
        return fix.action == "delete" or (fix.action == "replace" and self._as_strict(mutant.after, fix.text))

    def _as_strict(self, lines: Sequence[str], allowed: Sequence[str]) -> bool:
        """Whether these waits hold back at least what the allowed ones do."""
        here, needed = self._counts(lines), self._counts(allowed)
        return all(name in here and here[name] <= n for name, n in needed.items())

    def _counts(self, lines: Sequence[str]) -> dict[str, int]:
        """What waits ask for together."""
        return dict(c for line in lines for c in waits(parse_instruction(line), self.program.target))


def _turns(execution: Execution, instruction: int) -> int:
    """How often the wave that came by an instruction most often did; a mutant has the blocks of its kernel."""
    recording = execution.recording
    assert recording is not None
    blocks = recording.program.kernel(recording.kernel).blocks
    here = max(block.index for block in blocks if block.start <= instruction)
    return max(int((trace.blocks() == here).sum()) for trace in recording.waves)


def _keeps_offset(finding: Finding, mutant: Mutant) -> bool:
    return finding.rule == "barrier_keeps_offset" and finding.sites[0].instruction in mutant.changes


def _keys(part: CheckedKernel) -> dict[object, Finding]:
    """Findings by rule and by the lines of their sites, which stay what they are when instructions are deleted."""
    lines = [instruction.line for instruction in part.kernel.instructions]
    return {
        (f.check, f.rule, tuple((lines[site.instruction], site.role) for site in f.sites)): f
        for f in part.checked.findings
        if f.severity != "info"
    }

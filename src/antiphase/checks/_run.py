"""Which checks there are, and running those asked for: on a program (static) and on an execution (dynamic)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from antiphase.asm import Kernel, Program
from antiphase.checks._finding import Checked, Finding, Verdict
from antiphase.checks._first_uses import first_uses
from antiphase.errors import Unsupported, UserError
from antiphase.isa import find
from antiphase.machine import Execution, Recording, check_lines, free_memory

# Check: the module that has it, and its function there. Imported when run: a static check needs none of the others.
_STATIC = {
    "wait": ("wait", "check_waits"),
    "spacing": ("spacing", "check_spacing"),
    "resources": ("_resources", "check_resources"),
    "port": ("port", "check_port"),
    "init": ("init", "check_registers"),
    "stage": ("stage", "check_stage_marks"),
}
_DYNAMIC = {
    "race": ("race", "check_races"),
    "stage": ("stage", "check_stages"),
    "sync": ("sync", "check_sync"),
    "init": ("init", "check_init"),
    "mem": ("_memory_use", "check_memory"),
    "useless": ("useless", "check_useless"),
    "bank": ("bank", "check_banks"),
}
STATIC_CHECKS = tuple(_STATIC)
"""The names of the checks of a program."""
CHECKS = tuple(dict.fromkeys((*_STATIC, *_DYNAMIC)))
"""The names of all checks: those of a program first, then those of a recording; `init` and `stage` are both."""

_OF_MEMORY = ("init", "mem", "useless")
"""Dynamic checks that look at the launch's allocations too."""
_OF_ORDER = ("race", "stage", "init", "useless")
"""Dynamic checks that put a workgroup's accesses in order, all at once."""
_ACCESS_BYTES = 110
"""Memory that those take for an access of one lane, as measured."""
_OF_WAITING = ("wait", "race", "stage", "sync")
_CALLS = ("s_swappc_", "s_swap_pc_", "s_call_")
_INDIRECT = (*_CALLS, "s_setpc_", "s_set_pc_", "s_add_pc_", "s_cbranch_g_fork", "s_cbranch_join")


@dataclass(frozen=True, slots=True)
class CheckedKernel:
    """What was found in one kernel. ran: names of the checks that ran.

    launches: launches that were checked; workgroups: how many of theirs were recorded, and how many there were.
    held_back: findings of `useless` that are not told, because an error may need what they call needless.
    """

    program: Program
    kernel: Kernel
    checked: Checked
    ran: tuple[str, ...]
    launches: int = 0
    workgroups: tuple[int, int] = (0, 0)
    held_back: tuple[Finding, ...] = ()

    def __repr__(self) -> str:
        return (
            f"<CheckedKernel {self.kernel.name!r} target={self.program.target!r} {self.checked.verdict!r} "
            f"findings={len(self.checked.findings)} launches={self.launches}>"
        )

    @property
    def disordered(self) -> tuple[str, ...]:
        """The checks with errors that a wait or a barrier mends, maybe one that `useless` finds needless."""
        found = {f.check for f in self.checked.findings if f.severity == "error"}
        return tuple(name for name in _OF_WAITING if name in found)


def chosen(names: Iterable[str] | None) -> tuple[str, ...]:
    """Check names in their order, all of them for None; a name alone is one. UserError for one that is none."""
    wanted = {names} if isinstance(names, str) else set(CHECKS if names is None else names)
    if unknown := sorted(wanted.difference(CHECKS)):
        raise UserError(f"no check is called '{unknown[0]}'", remedy=f"choose from: {', '.join(CHECKS)}")
    return tuple(name for name in CHECKS if name in wanted)


def check_program(
    program: Program,
    checks: Collection[str] | None = None,
    *,
    kernel: str | None = None,
    to: str | None = None,
    waves_per_simd: int | None = None,
    lds_bytes: int | None = None,
) -> CheckedKernel:
    """Run the static checks on one kernel, on every path, with no input.

    checks: names, None for all. kernel: which, where there are several. to: the target of `port`, which runs only with
    one. waves_per_simd: resident waves that `resources` is to hold the kernel to. lds_bytes: what
    a workgroup has in the launch that `resources` is to look at, None where that is not known.
    UserError for an unknown check, kernel or target, and for a line that no machine runs as written.
    """
    chosen_kernel = program.kernel(kernel)
    options: dict[str, dict[str, Any]] = {
        "port": {"to": to},
        "resources": {"waves_per_simd": waves_per_simd, "lds_bytes": lds_bytes},
    }
    check_lines(program, chosen_kernel)
    names = [name for name in chosen(checks) if name in _STATIC and (name != "port" or to is not None)]
    part = CheckedKernel(program, chosen_kernel, Checked((), tuple(_unjudged(program, chosen_kernel))), ())
    for name, check in _functions(names, _STATIC):
        try:
            found = check(program, chosen_kernel, **options.get(name, {}))
        except Unsupported as error:
            found = Checked((), (f"{name}: {error}",))
        if name == "wait" and not isinstance(found, Checked):
            found = first_uses(chosen_kernel, found)
        part = _with(part, name, found)
    return part


def check_execution(execution: Execution, checks: Collection[str] | None = None) -> CheckedKernel:
    """Run the dynamic checks on a launch that was recorded: for all interleavings of the control flow it took.

    UserError if the launch was not recorded, or for an unknown check.
    """
    if execution.recording is None:
        raise UserError("the launch was not recorded", file=execution.program.name, remedy="launch with record=True")
    recording = execution.recording
    x, y, z = recording.grid
    recorded = len({trace.workgroup for trace in recording.waves}), x * y * z
    part = CheckedKernel(execution.program, execution.kernel, Checked(()), (), 1, recorded)
    names = [name for name in chosen(checks) if name in _DYNAMIC]
    if too_large := _too_large(recording):
        ordering = [name for name in names if name in _OF_ORDER]
        reasons = tuple(f"{name}: {too_large}" for name in ordering)
        part = replace(part, checked=Checked((), reasons))
        names = [name for name in names if name not in ordering]
    for name, check in _functions(names, _DYNAMIC):
        try:
            found = check(execution if name in _OF_MEMORY else recording)
        except MemoryError:
            found = Checked((), (f"{name}: the recording takes more memory than there is",))
        part = _with(part, name, found)
    return part


def _too_large(recording: Recording) -> str:
    """Why a recording cannot be put in order here; empty if it can."""
    accesses: Counter[int] = Counter()
    for trace in recording.waves:
        accesses[recording.place(trace.workgroup)[0]] += len(trace.memory()) * recording.lanes
    most = max(accesses.values(), default=0)
    if most * _ACCESS_BYTES <= free_memory():
        return ""
    return f"{most:,} accesses of one workgroup are more than the memory here holds in order; launch a smaller problem"


def _with(part: CheckedKernel, name: str, found: Checked | Sequence[Finding]) -> CheckedKernel:
    new = found if isinstance(found, Checked) else Checked(tuple(found))
    old = part.checked
    checked = Checked((*old.findings, *new.findings), tuple(dict.fromkeys((*old.incomplete, *new.incomplete))))
    return replace(part, checked=checked, ran=(*part.ran, name))


def _functions(
    names: Iterable[str], table: dict[str, tuple[str, str]]
) -> Iterator[tuple[str, Callable[..., Checked | Sequence[Finding]]]]:
    for name in names:
        module, function = table[name]
        yield name, getattr(import_module(f"antiphase.checks.{module}"), function)


def together(parts: Iterable[CheckedKernel]) -> list[CheckedKernel]:
    """One result a kernel, in the order of their first appearance; equal findings become one with their sum."""
    kernels: dict[tuple[int, str], CheckedKernel] = {}
    for part in parts:
        key = id(part.program), part.kernel.name
        kernels[key] = _both(kernels[key], part) if key in kernels else part
    return list(kernels.values())


def _both(a: CheckedKernel, b: CheckedKernel) -> CheckedKernel:
    counts: dict[object, Finding] = {}
    for finding in (*a.checked.findings, *b.checked.findings):
        key = identity(finding)
        known = counts.get(key)
        counts[key] = finding if known is None else replace(known, count=known.count + finding.count)
    incomplete = dict.fromkeys((*a.checked.incomplete, *b.checked.incomplete))
    ran = chosen({*a.ran, *b.ran})
    return replace(
        a,
        checked=Checked(tuple(counts.values()), tuple(incomplete)),
        ran=ran,
        launches=a.launches + b.launches,
        workgroups=(a.workgroups[0] + b.workgroups[0], a.workgroups[1] + b.workgroups[1]),
    )


def hold_back(part: CheckedKernel) -> CheckedKernel:
    """The result without `useless` where other checks find an order missing: deleting more is no advice then."""
    held = tuple(f for f in part.checked.findings if f.check == "useless")
    if not held or not part.disordered:
        return part
    told = tuple(f for f in part.checked.findings if f.check != "useless")
    return replace(part, checked=replace(part.checked, findings=told), held_back=held)


def identity(finding: Finding) -> tuple[object, ...]:
    """What makes two findings equal: check, rule, and the instructions; not the waves or numbers seen."""
    return finding.check, finding.rule, finding.severity, tuple((s.instruction, s.role) for s in finding.sites)


def _unjudged(program: Program, kernel: Kernel) -> Iterator[str]:
    """Why a static verdict would not hold for all of the kernel."""
    unknown: dict[str, int] = {}
    for instruction in kernel.instructions:
        for one in (instruction, instruction.pair):
            if one is not None and find(one.mnemonic, program.target) is None:
                unknown.setdefault(one.mnemonic, instruction.line)
    for mnemonic, line in unknown.items():
        what = f"'{mnemonic}' is not known for {program.target}: what it reads and writes is not followed"
        yield f"{program.name}:{line}: {what}"
    for block in kernel.reachable():
        last = kernel.instructions[block.end - 1]
        known = block.calls if last.mnemonic.startswith(_CALLS) else bool(block.successors)
        if last.mnemonic.startswith(_INDIRECT) and not known:
            yield f"{program.name}:{last.line}: '{last.text()}' leaves the kernel: that code is not followed"


def verdict(parts: Sequence[CheckedKernel]) -> Verdict:
    """Of all kernels together; nothing looked at is incomplete."""
    verdicts = [part.checked.verdict for part in parts]
    if "findings" in verdicts:
        return "findings"
    return "incomplete" if "incomplete" in verdicts or not verdicts else "clean"

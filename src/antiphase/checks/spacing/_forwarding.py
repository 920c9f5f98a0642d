"""RDNA 3, wave64: a VALU instruction whose sources were written before and after a change of EXEC.

Results that are still being forwarded are then put together wrongly. Va is written, the SALU writes EXEC, Vb is
written, both are read: with at most 2 VALU instructions between the writes and at most 4 after (LLVM 21.1
GCNHazardRecognizer fixVALUPartialForwardingHazard, Mesa ACO).
"""

from __future__ import annotations

from antiphase import arch
from antiphase.asm import Block, Kernel
from antiphase.checks._finding import Finding, Fix
from antiphase.checks.spacing._found import found, on_all_paths
from antiphase.checks.spacing._kinds import Kind
from antiphase.checks.spacing._rules import rule
from antiphase.checks.spacing._separation import text

_BETWEEN, _AFTER = 2, 4
_OLDEST = _BETWEEN + _AFTER + 1

_State = dict[tuple[int, int], tuple[int, int]]
"""(VGPR unit, writer) -> VALU instructions since, writes of EXEC since."""


def partial_forwarding(target: str, kernel: Kernel, kinds: list[Kind]) -> list[Finding]:
    """Readers of such sources in a kernel of 64-lane waves; none on other targets."""
    wave64 = not kernel.descriptor.get("wavefront_size32", 1)
    if not wave64 or not arch.target(target).generation.startswith("RDNA 3"):
        return []

    def judge(state: _State, block: Block, findings: dict[int, Finding]) -> _State:
        written = dict(state)
        for index in range(block.start, block.end):
            kind = kinds[index]
            if kind.has("vmem|ds") or kind.waits.get("va_vdst") == 0:
                written.clear()
            elif kind.has("valu|matrix"):
                if hazard := _hazard(written, kind):
                    findings[index] = _finding(target, index, hazard)
                    written.clear()
                written = _after_valu(written, kind, index)
            elif kind.has("salu writes_exec"):
                written = {key: (age, min(execs + 1, _OLDEST)) for key, (age, execs) in written.items()}
        return written

    return on_all_paths(kernel, {}, judge, _join)


def _join(a: _State, b: _State) -> _State:
    return a | {key: min(since, a.get(key, since)) for key, since in b.items()}


def _hazard(written: _State, kind: Kind) -> tuple[int, frozenset[int]] | None:
    """The writer of Va, and both registers."""
    read = kind.registers.get("v_reads", frozenset())
    sources = [(key, since) for key, since in written.items() if key[0] in read]
    for (va, writer), (age_a, execs_a) in sources:
        for (vb, _), (age_b, execs_b) in sources:
            if execs_a > execs_b and age_a - age_b - 1 <= _BETWEEN and age_b <= _AFTER:
                return writer, frozenset((va, vb))
    return None


def _after_valu(written: _State, kind: Kind, index: int) -> _State:
    results = kind.registers.get("v_writes", frozenset())
    older = {key: (age + 1, execs) for key, (age, execs) in written.items() if key[0] not in results and age < _OLDEST}
    return older | {(unit, index): (0, 0) for unit in results}


def _finding(target: str, index: int, hazard: tuple[int, frozenset[int]]) -> Finding:
    broken = rule(target, "partial_forwarding")
    return found(broken, hazard[0], index, 1, 0, hazard[1], Fix("insert", index, text(broken.counts, 1, target)))

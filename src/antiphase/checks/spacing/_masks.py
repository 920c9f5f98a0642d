"""GFX11, wave64: an SGPR read as lane mask by a VALU instruction, overwritten, then read.

The reader may get the old value. Another SGPR or a literal constant read by a VALU instruction in between ends the
danger (LLVM 21.1 GCNHazardRecognizer fixVALUMaskWriteHazard, Mesa ACO).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from antiphase import arch
from antiphase.asm import Block, FloatImm, Imm, Instruction, Kernel
from antiphase.checks._finding import Finding, Fix
from antiphase.checks.spacing._found import found, on_all_paths
from antiphase.checks.spacing._kinds import Kind
from antiphase.checks.spacing._roles import M0, VCC
from antiphase.checks.spacing._rules import rule
from antiphase.checks.spacing._separation import text

_INLINE_FLOATS = (0.0, 0.5, 1.0, 2.0, 4.0)


@dataclass(frozen=True)
class _State:
    """masks: SGPRs that were lane masks. written: of these, those overwritten since -> (writer, whether by VALU)."""

    masks: frozenset[int] = frozenset()
    written: dict[int, tuple[int, bool]] = field(default_factory=dict)


def overwritten_masks(target: str, kernel: Kernel, kinds: list[Kind]) -> list[Finding]:
    """Readers of overwritten masks in a kernel of 64-lane waves; none on other targets."""
    wave64 = not kernel.descriptor.get("wavefront_size32", 1)
    if not wave64 or not arch.target(target).generation.startswith("RDNA 3"):
        return []

    def judge(state: _State, block: Block, findings: dict[int, Finding]) -> _State:
        masks, written = state.masks, dict(state.written)
        for index in range(block.start, block.end):
            kind = kinds[index]
            masks, written = _waited(masks, written, kind)
            if not kind.has("valu|salu|branch"):
                continue
            read = kind.registers.get("s_reads", frozenset()) | kind.registers.get("masks", frozenset())
            if stale := read & written.keys():
                findings[index] = _finding(target, index, stale, written)
                written = {u: w for u, w in written.items() if w[1] != written[min(stale)][1]}
            if "valu" in kind.tags:
                literal = _has_literal(kernel.instructions[index])
                if literal or read:
                    one_register = not literal and len({u >> 1 for u in read}) == 1
                    kept = read if one_register else frozenset[int]()
                    masks, written = masks & kept, {u: w for u, w in written.items() if u in kept}
                masks |= kind.registers.get("masks", frozenset())
            for unit in kind.registers.get("s_writes", frozenset()) & masks - M0:
                written[unit] = index, "valu" in kind.tags
        return _State(masks, written)

    return on_all_paths(kernel, _State(), judge, _join)


def _join(a: _State, b: _State) -> _State:
    earlier = {unit: min(writer, a.written.get(unit, writer)) for unit, writer in b.written.items()}
    return _State(a.masks | b.masks, a.written | earlier)


def _waited(
    masks: frozenset[int], written: dict[int, tuple[int, bool]], kind: Kind
) -> tuple[frozenset[int], dict[int, tuple[int, bool]]]:
    if kind.waits.get("sa_sdst") == 0:
        masks, written = frozenset(), {u: w for u, w in written.items() if w[1]}
    if kind.waits.get("va_sdst") == 0:
        written = {u: w for u, w in written.items() if not w[1] or u in VCC}
    if kind.waits.get("va_vcc") == 0:
        written = {u: w for u, w in written.items() if not w[1] or u not in VCC}
    return masks, written


def _has_literal(instruction: Instruction) -> bool:
    return any(
        (isinstance(o, Imm) and not -16 <= o.value <= 64)
        or (isinstance(o, FloatImm) and abs(o.value) not in _INLINE_FLOATS)
        for o in instruction.operands
    )


def _finding(target: str, index: int, stale: frozenset[int], written: dict[int, tuple[int, bool]]) -> Finding:
    writer, by_valu = written[min(stale)]
    broken = rule(target, "mask_overwritten_by_valu" if by_valu else "mask_overwritten")
    counts = "va_vcc" if by_valu and stale & VCC else broken.counts
    return found(broken, writer, index, 1, 0, stale, Fix("insert", index, text(counts, 1, target)))

"""RDNA 4: an SGPR that a VALU instruction has read is overwritten, then read: the reader may get the old value.

SGPRs are followed in pairs. The state and what changes it are those of LLVM's AMDGPUWaitSGPRHazards.cpp,
which leaves gfx1250 out (LLVM 21.1 did not).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from antiphase import arch
from antiphase.asm import Block, Kernel
from antiphase.checks._finding import Finding, Fix
from antiphase.checks._registers import SGPR
from antiphase.checks.spacing._found import found, on_all_paths
from antiphase.checks.spacing._kinds import Kind
from antiphase.checks.spacing._roles import M0, VCC, Units
from antiphase.checks.spacing._rules import rule
from antiphase.checks.spacing._separation import text

_DS_NOPS = {True: 4, False: 8}  # by wave32
_FADES = 11  # SALU instructions; one less for an SALU reader
_ALL_PAIRS = frozenset(range(SGPR >> 1, (SGPR >> 1) + 64))
_NOTHING: Units = frozenset()


@dataclass(frozen=True)
class _State:
    """read: pairs that a VALU instruction read. salu, valu: SGPR written since -> SALU instructions since, writer."""

    read: frozenset[int] = frozenset()
    salu: dict[int, tuple[int, int]] = field(default_factory=dict)
    valu: dict[int, tuple[int, int]] = field(default_factory=dict)


def read_sgprs(target: str, kernel: Kernel, kinds: list[Kind]) -> list[Finding]:
    """Readers of such SGPRs; none on other targets."""
    if arch.target(target).generation != "RDNA 4":
        return []
    ds_nops = _DS_NOPS[bool(kernel.descriptor.get("wavefront_size32", 1))]

    def judge(state: _State, block: Block, findings: dict[int, Finding]) -> _State:
        nops = 0
        for index in range(block.start, block.end):
            kind = kinds[index]
            nops = nops + 1 if "ds_nop" in kind.tags else 0
            if nops >= ds_nops:
                state = replace(state, read=frozenset())
            elif kind.has("smem") or kernel.instructions[index].mnemonic.startswith("buffer_"):
                state = _State(state.read)
            elif kind.waits:
                state = _waited(state, kind)
            elif kind.has("valu|matrix|salu|branch"):
                state, stale = _left(state) if "leaves" in kind.tags else _read(state, kind)
                if stale:
                    findings[index] = _finding(target, index, kind, state, stale)
                    state = _State(state.read, _without(state.salu, stale), _without(state.valu, stale))
                # where code elsewhere begins nothing is out, and all may have been read
                state = _State(_ALL_PAIRS) if "leaves" in kind.tags else _written(state, kind, index)
        return state

    return on_all_paths(kernel, _State(), judge, _join)


def _join(a: _State, b: _State) -> _State:
    return _State(a.read | b.read, _least(a.salu, b.salu), _least(a.valu, b.valu))


def _least(a: dict[int, tuple[int, int]], b: dict[int, tuple[int, int]]) -> dict[int, tuple[int, int]]:
    return a | {unit: min(since, a.get(unit, since)) for unit, since in b.items()}


def _waited(state: _State, kind: Kind) -> _State:
    salu = {} if kind.waits.get("sa_sdst") == 0 else state.salu
    vcc = {} if kind.waits.get("va_vcc") == 0 else {u: s for u, s in state.valu.items() if u in VCC}
    rest = {} if kind.waits.get("va_sdst") == 0 else {u: s for u, s in state.valu.items() if u not in VCC}
    return _State(state.read, salu, rest | vcc)


def _sources(kind: Kind) -> Units:
    return (kind.registers.get("s_reads", _NOTHING) | kind.registers.get("masks", _NOTHING)) - M0


def _left(state: _State) -> tuple[_State, Units]:
    """Code that is elsewhere may read any SGPR."""
    return state, frozenset(state.salu.keys() | state.valu.keys())


def _read(state: _State, kind: Kind) -> tuple[_State, Units]:
    """The state with what an instruction reads, and the SGPRs it may read too early."""
    sources = _sources(kind)
    tracked = frozenset(u for u in sources if u >> 1 in state.read)
    valu = state.valu
    if kind.has("valu|matrix"):
        state = replace(state, read=state.read | {u >> 1 for u in sources})
    elif tracked:
        # the SALU waits for VALU results by itself
        kinds = {u in VCC for u in tracked}
        valu = {u: s for u, s in valu.items() if (u in VCC) not in kinds}
        state = replace(state, valu=valu)
    return state, frozenset(u for u in tracked if u in state.salu or u in valu)


def _written(state: _State, kind: Kind, index: int) -> _State:
    results = frozenset(u for u in kind.registers.get("s_writes", _NOTHING) - M0 if u >> 1 in state.read)
    by_valu = kind.has("valu|matrix")
    salu, valu = dict(state.salu), dict(state.valu)
    if "salu" in kind.tags:
        pairs = {u >> 1 for u in _sources(kind)}
        salu = {u: (min(n + (u >> 1 not in pairs), _FADES), writer) for u, (n, writer) in salu.items()}
    for unit in results:
        (valu if by_valu else salu)[unit] = 0, index
        if unit in VCC:
            (salu if by_valu else valu).pop(unit, None)
    return _State(state.read, salu, valu)


def _without(written: dict[int, tuple[int, int]], stale: Units) -> dict[int, tuple[int, int]]:
    """A wait is for all results of the unit."""
    return {} if stale & written.keys() else written


def _finding(target: str, index: int, kind: Kind, state: _State, stale: Units) -> Finding:
    by_salu, by_valu = stale & state.salu.keys(), stale & state.valu.keys()
    fades = _FADES - ("salu" in kind.tags)
    old = not by_valu and all(state.salu[u][0] >= fades for u in by_salu)
    broken = rule(target, "read_sgpr_old" if old else "read_sgpr")
    counts = ["sa_sdst"] * bool(by_salu) + ["va_vcc"] * bool(by_valu & VCC) + ["va_sdst"] * bool(by_valu - VCC)
    lines = [text(name, 1, target)[0] for name in counts]
    wait = " ".join([lines[0], *(line.partition(" ")[2] for line in lines[1:])])
    unit = min(stale)
    _, writer = state.salu.get(unit) or state.valu[unit]
    return found(broken, writer, index, 1, 0, stale, Fix("insert", index, (wait,)))

"""What separates two instructions: how each kind of separation is counted, and the text that adds to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from antiphase.checks.spacing._kinds import Kind
from antiphase.checks.spacing._roles import VCC
from antiphase.isa import generation

STUCK = -1
"""A count of VALU results in flight is no use once a transcendental, which may overtake, is among them."""


@dataclass(frozen=True, slots=True)
class Separation:
    """counted: the count after an instruction. group: separations that one change adds to. unit: as a reader knows it.

    text: instructions that add that many, for a generation. linear: an instruction adds the same to every count.
    """

    counted: Callable[[int, Kind], int]
    group: str
    unit: str
    text: Callable[[int, str], tuple[str, ...]]
    linear: bool = True


def _per(words: str) -> Callable[[int, Kind], int]:
    """One for each instruction with those tags."""
    return lambda count, kind: count + kind.has(words)


def _when(fields: Mapping[str, int]) -> Callable[[int, Kind], int]:
    """One for each s_wait_alu that waits for those fields, or for all."""
    return lambda count, kind: count + all(kind.waits.get(name, 1 << 8) <= value for name, value in fields.items())


def _wait_states(count: int, kind: Kind) -> int:
    return count + (kind.length if "nop" in kind.tags else 1)


def _result_written(count: int, kind: Kind) -> int:
    return count + (kind.waits.get("va_vdst") == 0 or kind.has("vmem|ds"))


def _sources_read(count: int, kind: Kind) -> int:
    waited = kind.waits.get("vm_vsrc") == 0 or kind.has("valu|matrix|waitcnt_0")
    return count + waited


def _results_in_flight(count: int, kind: Kind) -> int:
    if kind.has("vmem|ds") or kind.waits.get("va_vdst") == 0:
        return 1 << 8
    if count == STUCK or "trans" in kind.tags:
        return STUCK
    return count + kind.has("valu|matrix")


def _idle(count: int, kind: Kind) -> int:
    names = ("sa_sdst", "va_vcc", "vm_vsrc", "va_sdst", "va_vdst")
    return count + all(kind.waits.get(name) == 0 for name in names)


def _whole_vcc(count: int, kind: Kind) -> int:
    return count + (kind.registers.get("s_writes", frozenset()) >= VCC)


def _nops(count: int, generation_: str) -> tuple[str, ...]:
    largest = 128 if generation_ in ("gfx12", "gfx1250") else 16
    full, rest = divmod(count, largest)
    return (f"s_nop {largest - 1}",) * full + ((f"s_nop {rest - 1}",) if rest else ())


def _wait(*fields: str) -> Callable[[int, str], tuple[str, ...]]:
    def text(_: int, generation_: str) -> tuple[str, ...]:
        name = "s_wait_alu" if generation_ in ("gfx12", "gfx1250") else "s_waitcnt_depctr"
        return (" ".join((name, *(f"depctr_{field}(0)" for field in fields))),)

    return text


def _same(text: str) -> Callable[[int, str], tuple[str, ...]]:
    return lambda count, _: (text,) * count


SEPARATIONS: dict[str, Separation] = {
    "wait_states": Separation(_wait_states, "wait_states", "wait states", _nops),
    "clause": Separation(_per(""), "clause", "instructions", _same("s_nop 0")),
    "nop": Separation(lambda n, k: n + k.length * ("nop" in k.tags), "wait_states", "wait states of s_nop", _nops),
    "valu": Separation(_per("valu|matrix"), "valu", "VALU instructions", _same("v_nop")),
    "real_valu": Separation(
        _per("valu|matrix !v_nop"), "valu", "VALU instructions other than v_nop", _same("v_mov_b32 {source}, {source}")
    ),
    "v_nop": Separation(_per("v_nop"), "valu", "v_nop", _same("v_nop")),
    "trans": Separation(_per("trans"), "valu", "transcendental instructions", _same("v_nop")),
    "vdst": Separation(_results_in_flight, "vdst", "VALU results", _same("v_nop"), linear=False),
    "va_vdst": Separation(_result_written, "va_vdst", "waits for VALU results", _wait("va_vdst")),
    "vm_vsrc": Separation(_sources_read, "vm_vsrc", "waits for memory sources", _wait("vm_vsrc")),
    "vm_vsrc_wait": Separation(_when({"vm_vsrc": 0}), "vm_vsrc", "waits for memory sources", _wait("vm_vsrc")),
    "sa_sdst": Separation(_when({"sa_sdst": 0}), "sa_sdst", "waits for SALU results", _wait("sa_sdst")),
    "va_sdst": Separation(_when({"va_sdst": 0}), "va_sdst", "waits for VALU results in SGPRs", _wait("va_sdst")),
    "va_vcc": Separation(_when({"va_vcc": 0}), "va_vcc", "waits for VALU results in VCC", _wait("va_vcc")),
    "alu_idle": Separation(_idle, "alu_idle", "waits for everything", _same("s_wait_alu 0")),
    "sgprs_done": Separation(
        _when({"sa_sdst": 0, "va_sdst": 0}), "sa_sdst", "waits for SGPR results", _wait("sa_sdst", "va_sdst")
    ),
    "sgpr_writes": Separation(_per("writes_sgpr"), "sgpr_writes", "SGPR writes", _same("s_nop 0")),
    "break_scalar": Separation(_per("!smem"), "wait_states", "instructions outside the clause", _nops),
    "break_vector": Separation(_per("!vmem"), "wait_states", "instructions outside the clause", _nops),
    "whole_vcc": Separation(_whole_vcc, "whole_vcc", "writes of all of VCC", _same("s_mov_b64 vcc, vcc")),
}


def separation_unit(name: str) -> str:
    """What that kind of separation is counted in, as a reader knows it."""
    return SEPARATIONS[name].unit


def text(name: str, count: int, target: str, source: str = "v0") -> tuple[str, ...]:
    """Instructions that add `count` to a separation; source: a VGPR that is safe to copy to itself."""
    return tuple(line.format(source=source) for line in SEPARATIONS[name].text(count, generation(target)))

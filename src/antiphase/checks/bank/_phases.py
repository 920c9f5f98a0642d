"""Which lanes of an LDS instruction are served together, as measured by others; nothing is assumed for the rest.

Sources: nod-ai/amd-shark-ai docs/empirical-lds and docs/amdgpu_kernel_optimization_guide.md, HazyResearch/HipKittens
analysis/paper_experiments/phases, ROCm blog "A Deep Dive into LDS Optimizations on AMD Instinct MI450 GPUs".
"""

from __future__ import annotations

from dataclasses import dataclass

from antiphase.isa import generation

_SHARK, _KITTENS, _BLOG = "amd-shark-ai empirical-lds", "HipKittens phases", "ROCm blog on MI450 LDS"


@dataclass(frozen=True, slots=True)
class Phases:
    """lanes: those of each phase. banks: 4 bytes wide each."""

    lanes: tuple[tuple[int, ...], ...]
    banks: int
    source: str


def _in_order(count: int, size: int) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(range(i * size, (i + 1) * size)) for i in range(count))


def _runs(*phases: str) -> tuple[tuple[int, ...], ...]:
    """'0-3 20-23': those lanes."""
    spans = [[part.split("-") for part in phase.split()] for phase in phases]
    return tuple(tuple(i for first, last in phase for i in range(int(first), int(last) + 1)) for phase in spans)


_EIGHT = _runs(
    "0-3 20-23", "32-35 52-55", "4-7 16-19", "36-39 48-51", "8-11 28-31", "40-43 60-63", "12-15 24-27", "44-47 56-59"
)
_SIXTEEN = _runs("0-3 12-15 20-27", "32-35 44-47 52-59", "4-11 16-19 28-31", "36-43 48-51 60-63")

_MEASURED: dict[str, dict[tuple[str, int], Phases]] = {
    "gfx942": {
        ("load", 32): Phases(_in_order(2, 32), 32, _SHARK), ("store", 32): Phases(_in_order(2, 32), 32, _SHARK),
        ("load", 64): Phases(_in_order(4, 16), 32, _SHARK), ("load", 128): Phases(_EIGHT, 32, _SHARK),
        ("store", 128): Phases(_in_order(8, 8), 32, _SHARK),
    },
    "gfx950": {
        ("load", 32): Phases(_in_order(1, 64), 64, _SHARK), ("store", 32): Phases(_in_order(1, 64), 64, _SHARK),
        ("load", 64): Phases(_in_order(2, 32), 64, _KITTENS), ("load", 96): Phases(_EIGHT, 32, _KITTENS),
        ("store", 64): Phases(_in_order(4, 16), 32, _KITTENS), ("load", 128): Phases(_SIXTEEN, 64, _KITTENS),
    },
    "gfx11": {("load", 128): Phases(_runs("0-3 20-23", "4-7 16-19", "8-11 28-31", "12-15 24-27"), 32, _SHARK)},
    "gfx12": {
        ("load", 32): Phases(_in_order(1, 32), 32, _SHARK), ("load", 64): Phases(_in_order(2, 16), 32, _SHARK),
        ("load", 128): Phases(_in_order(4, 8), 32, _SHARK),
    },
    "gfx1250": {("load", 128): Phases(_in_order(2, 16), 64, _BLOG)},
}  # fmt: skip


def phases(target: str, access: str, bits: int, lanes: int) -> Phases | None:
    """The phases of an access of so many bits a lane, None if nobody has published them. Less than a dword is one."""
    table = _MEASURED.get(target) or _MEASURED.get(generation(target), {})
    known = table.get((access, max(32, bits)))
    served = sum(map(len, known.lanes)) if known else 0
    return known if served == lanes else None

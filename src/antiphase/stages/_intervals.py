"""What one wave does between its rendezvous."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field
from typing import Literal

from antiphase.stages._loop import Segment, StagedLoop

Phase = Literal["prologue", "stage", "wait", "epilogue", "ended"]


@dataclass(frozen=True, slots=True)
class Interval:
    """What one wave does from one rendezvous to the next.

    phase: 'prologue' and 'epilogue' are before and behind the loop, 'stage' in it. 'wait': no matrix or
    memory work, and only some waves of the workgroup take the rendezvous at its end with this instruction.
    'ended': the wave has ended before.
    stage: index of the stage where phase is 'stage', else None.
    position: stages that the wave has begun; one more once it has left the loop, two more once it has ended.
    instructions, matrix, memory: wave-instructions executed; of matrix units; of vector memory and LDS.
    priority: of the wave at its first matrix or memory instruction, or at the end where there is none.
    """

    phase: Phase
    stage: int | None
    position: int
    instructions: int
    matrix: int
    memory: int
    priority: int


@dataclass(slots=True)
class _Stretch:
    """The segments executed between two rendezvous.

    start, end: the instructions of those rendezvous, None at the start and at the end of the wave.
    """

    start: int | None
    priority: int
    end: int | None = None
    segments: list[Segment] = field(default_factory=list)


def intervals(
    blocks: Iterable[int], loop: StagedLoop, stage_of_piece: tuple[int, ...], shared: Set[int]
) -> tuple[Interval, ...]:
    """The intervals of a wave that executed `blocks` (block indices in order).

    stage_of_piece: stage that each piece of the loop belongs to.
    shared: the rendezvous instructions that all waves of the workgroup execute.
    """
    stretches = list(_stretches(blocks, loop))
    pieces = [_piece(stretch, loop) for stretch in stretches]
    total = sum(piece is not None for piece in pieces)
    found: list[Interval] = []
    begun = 0
    for stretch, piece in zip(stretches, pieces, strict=True):
        begun += piece is not None
        works = any(segment.works for segment in stretch.segments)
        left = piece is None and begun == total
        phase: Phase = "stage"
        if piece is None:
            waits = not works and stretch.end is not None and stretch.end not in shared
            phase = "wait" if waits else "epilogue" if left else "prologue"
        found.append(
            Interval(
                phase,
                None if piece is None else stage_of_piece[piece],
                begun + left,
                sum(segment.instructions for segment in stretch.segments),
                sum(segment.matrix for segment in stretch.segments),
                sum(segment.memory for segment in stretch.segments),
                stretch.priority,
            )
        )
    return tuple(found)


def _stretches(blocks: Iterable[int], loop: StagedLoop) -> Iterator[_Stretch]:
    priority = 0  # waves start with the lowest: LLVM AMDGPUUsage, compute_pgm_rsrc1, PRIORITY
    stretch, works = _Stretch(None, priority), False
    for block in blocks:
        for segment in loop.segments[block]:
            stretch.segments.append(segment)
            priority = _given(segment.priority_before, priority)
            stretch.priority = stretch.priority if works else priority
            works |= segment.works
            priority = _given(segment.priority_after, priority)
            if segment.rendezvous is not None:
                stretch.end = segment.rendezvous
                yield stretch
                stretch, works = _Stretch(segment.rendezvous, priority), False
    yield stretch


def _given(value: int | None, otherwise: int) -> int:
    return otherwise if value is None else value


def _piece(stretch: _Stretch, loop: StagedLoop) -> int | None:
    """The piece of the loop that a stretch is a pass of, None if it is none.

    A stretch that enters or leaves the loop is one only if it does matrix or memory work in the loop.
    """
    inside = [segment for segment in stretch.segments if segment.piece is not None]
    whole = stretch.start in loop.rendezvous and stretch.end in loop.rendezvous
    return inside[0].piece if whole or any(segment.works for segment in inside) else None

"""How far the trailing half of a workgroup's waves is behind the leading half."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from antiphase.stages._intervals import Interval


@dataclass(frozen=True, slots=True)
class Offset:
    """The offset of the two halves, interval by interval.

    lags: stages that the trailing half is behind in each interval; 1 is what warp-pipelining wants.
    opens: the rendezvous (from 1) from which the lag is 1; None if it starts otherwise or never.
    closes: the rendezvous from which the lag is 0 to the end; None if it never is.
    active: intervals in which either half is in a stage. behind: those of them with a lag of exactly 1.
    opposed: those of them in which one half does matrix work and the other only memory work.
    alike: the waves of each half are always in the same stage.
    """

    lags: tuple[int, ...]
    opens: int | None
    closes: int | None
    active: int
    behind: int
    opposed: int
    alike: bool

    @property
    def ok(self) -> bool:
        """The offset opens, is one stage in every active interval, and closes."""
        bounded = self.opens is not None and self.closes is not None
        return self.alike and bounded and 0 < self.behind == self.active


def offset(waves: Sequence[Sequence[Interval]]) -> Offset:
    """The offset between the two halves of `waves`, whose intervals are equally many."""
    middle = len(waves) // 2
    leading, trailing = waves[0], waves[middle]
    pairs = list(zip(leading, trailing, strict=True))
    lags = [a.position - b.position for a, b in pairs]
    offset_at = [k for k, lag in enumerate(lags) if lag]
    last = offset_at[-1] + 1 if offset_at else len(lags)
    active = [k for k, pair in enumerate(pairs) if any(one.phase == "stage" for one in pair)]
    return Offset(
        tuple(lags),
        offset_at[0] if offset_at and lags[offset_at[0]] == 1 and offset_at[0] > 0 else None,
        last if last < len(lags) else None,
        len(active),
        sum(lags[k] == 1 for k in active),
        sum(_opposed(*pairs[k]) for k in active),
        all(_steps(wave) == _steps(waves[0 if n < middle else middle]) for n, wave in enumerate(waves)),
    )


def _opposed(a: Interval, b: Interval) -> bool:
    return any(x.matrix and not y.matrix and y.memory for x, y in ((a, b), (b, a)))


def _steps(wave: Sequence[Interval]) -> list[int]:
    return [interval.position for interval in wave]

"""The stage strip: two wave groups, one column an interval between two rendezvous."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from rich.console import Console
from rich.text import Text

from antiphase.stages import Interval, StageTimeline


class NamedStage(Protocol):
    """A stage as the strip shows it; kind is 'mfma' or 'memory'."""

    @property
    def label(self) -> str: ...

    @property
    def kind(self) -> str: ...


_STYLES = {"mfma": "bold white on magenta", "memory": "black on cyan", "wait": "bold yellow"}
_GLYPHS = {"mfma": "■", "memory": "□", "wait": "·"}
_PHASES = {"wait": "waits", "ended": ""}
_ASCII = str.maketrans("■□·│╲⋯", "#o.|\\~")
_PREFIX = 9
_SHOWN_AT_EACH_END = 14


def stage_name(interval: Interval, stages: Sequence[NamedStage]) -> str:
    """The label of the stage an interval belongs to, or what else the wave is at: 'prologue', 'wait', ..."""
    return interval.phase if interval.stage is None else stages[interval.stage].label


def stage_kind(interval: Interval, stages: Sequence[NamedStage]) -> str:
    """'mfma' or 'memory' in a stage, else the phase."""
    return interval.phase if interval.stage is None else stages[interval.stage].kind


def print_stage_strip(timeline: StageTimeline, stages: Sequence[NamedStage], console: Console) -> None:
    """Print the strip in rows that fit the console; it says how many intervals it leaves out."""
    cell = 2 + max(8, *(len(stage.label) for stage in stages))
    per_row = max(1, (console.width - _PREFIX) // cell)
    at_each_end = -(-_SHOWN_AT_EACH_END // per_row) * per_row
    count = len(timeline.offset.lags)
    gap = range(at_each_end, count - at_each_end)
    # A gap of less than a row is not worth its line.
    shown = range(count) if len(gap) < per_row else [*range(gap.start), *range(gap.stop, count)]
    for row in _rows(shown, per_row):
        if row[0] == gap.stop and len(shown) < count:
            _print(Text(_left_out(timeline, gap) + "\n", "dim"), console)
        for line in _row(timeline, stages, row, cell):
            _print(line, console)
    _print(_legend(), console)


def _print(line: Text, console: Console) -> None:
    if console.options.ascii_only:
        line.plain = line.plain.translate(_ASCII)
    console.print(line, highlight=False)


def _rows(shown: Sequence[int], per_row: int) -> Iterator[Sequence[int]]:
    for start in range(0, len(shown), per_row):
        yield shown[start : start + per_row]


def _row(timeline: StageTimeline, stages: Sequence[NamedStage], row: Sequence[int], cell: int) -> list[Text]:
    numbers, middle = Text(" " * _PREFIX), Text(" " * _PREFIX)
    groups = [Text.assemble((name.ljust(_PREFIX), "bold")) for name in ("Group A", "Group B")]
    turns = (timeline.offset.opens, timeline.offset.closes)
    for k in row:
        numbers.append(_number(timeline, k).ljust(cell), "bold" if k in turns else "dim")
        middle.append(("╲" if _follows(timeline, k) else " ").ljust(cell), "bold")
        for line, intervals in zip(groups, (timeline.group_a, timeline.group_b), strict=True):
            kind, name = stage_kind(intervals[k], stages), stage_name(intervals[k], stages)
            line.append("│" if k else " ", "dim")
            text = _GLYPHS.get(kind, " ") + _PHASES.get(name, name)
            line.append(text.ljust(cell - 1), _STYLES.get(kind, "dim"))
    return [numbers, groups[0], middle, groups[1], Text()]


def _number(timeline: StageTimeline, k: int) -> str:
    if k == timeline.offset.opens:
        return f"{k} opens"
    return f"{k} closes" if k == timeline.offset.closes else str(k) if k else ""


def _follows(timeline: StageTimeline, k: int) -> bool:
    """Whether the trailing group is now in the stage in which the leading one was until rendezvous k."""
    if k == 0:
        return False
    before, now = timeline.group_a[k - 1], timeline.group_b[k]
    return before.phase == now.phase == "stage" and before.position == now.position


def _left_out(timeline: StageTimeline, gap: range) -> str:
    behind = sum(timeline.offset.lags[k] == 1 for k in gap)
    return f"   ⋯ {len(gap)} intervals from {gap.start} to {gap.stop}: Group B one stage behind in {behind}"


def _legend() -> Text:
    waits = "waits at its extra rendezvous"
    meanings = {"mfma": "matrix stage", "memory": "memory stage", "wait": waits}
    return Text("   ").join(Text(f"{_GLYPHS[kind]} {meaning}") for kind, meaning in meanings.items())

"""Which stage of a warp-pipelined loop each wave is in between two rendezvous, read from a Recording."""

from antiphase.stages._intervals import Interval
from antiphase.stages._loop import StagedLoop, staged_loop
from antiphase.stages._offset import Offset
from antiphase.stages._timeline import Plan, StageTimeline, StageWork, stage_timeline

__all__ = [
    "Interval",
    "Offset",
    "Plan",
    "StageTimeline",
    "StageWork",
    "StagedLoop",
    "stage_timeline",
    "staged_loop",
]

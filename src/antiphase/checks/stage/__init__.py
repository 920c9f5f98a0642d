"""`stage`: two wave groups one stage apart: is the offset there, and does each stage keep to it?"""

from antiphase.checks.stage._groups import offset_groups
from antiphase.checks.stage._marks import check_stage_marks
from antiphase.checks.stage._rules import check_stages

__all__ = [
    "check_stage_marks",
    "check_stages",
    "offset_groups",
]

"""Every corpus kernel, compiled for every target it is for and run on the machine, agrees with NumPy."""

import pytest
from corpus import CASES, Case

from antiphase.frontends import launch_asm

RUNS = [pytest.param(case, target, id=f"{case}-{target}") for case in CASES for target in case.targets]
# the other generations share the cases that name no target of their own, one target each in turn
OTHERS = ("gfx1100", "gfx1201", "gfx1250", "gfx1151")
GENERAL = [case for case in CASES if {"gfx942", "gfx950"} <= set(case.targets)]
RUNS += [pytest.param(c, t, id=f"{c}-{t}") for i, c in enumerate(GENERAL) if (t := OTHERS[i % 4]) not in c.targets]


def test_names_are_unique():
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize(("case", "target"), RUNS)
def test_agrees_with_numpy(case: Case, target: str) -> None:
    before, after = case.inputs(), case.inputs()
    execution = launch_asm(case.compile(target), grid=case.grid, args=after, target=target)
    assert not execution.faults
    case.check(before, after)

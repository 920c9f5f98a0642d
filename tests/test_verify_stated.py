"""A check must ask for what its fact states, or both drift apart unseen."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from antiphase.arch import Fact, reference
from antiphase.verify._stated import contradictions


def fact(subject: str, target: str, value: Any) -> Fact:
    """A fact of the reference with another value."""
    return msgspec.structs.replace(reference().subjects[subject].facts[target], value=value)


def test_no_fact_contradicts_its_checks() -> None:
    assert [(each.id, answer.got) for each in reference().facts for answer in contradictions(each)] == []


@pytest.mark.parametrize(
    ("subject", "target", "value"),
    [
        ("memory.offset.flat", "gfx1151", [0, 9999]),
        ("matrix.ab_fragment", "gfx1100", {"elements": 16, "vgprs": 4, "lanes": "replicated"}),
        ("matrix.d_to_ab", "gfx942", {"required": True, "count": 6}),
        ("execution.counter.vector_load", "gfx1201", ["dscnt"]),
    ],
)
def test_a_value_that_its_check_does_not_ask_for_is_a_disagreement(subject: str, target: str, value: Any) -> None:
    found = list(contradictions(fact(subject, target, value)))
    assert found and {answer.outcome for answer in found} == {"disagree"}
    assert found[0].expected == value

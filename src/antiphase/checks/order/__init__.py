"""What the waves of a launch did and what orders it: accesses, completions, rendezvous, atomics. It judges nothing."""

from antiphase.checks.order._bytes import (
    ASYNC_LOAD,
    ATOMIC,
    DS,
    ENGINES,
    LDS_BYTES,
    PRIVATE_APERTURE,
    READ,
    WRITE,
    Touched,
)
from antiphase.checks.order._clock import clock
from antiphase.checks.order._exchange import AT_MOST, Exchanging
from antiphase.checks.order._group import Group, clusters, groups, whole
from antiphase.checks.order._marks import WORKGROUP, marks, together
from antiphase.checks.order._misuse import Misuse
from antiphase.checks.order._overlap import Pairs, distinct, grain, spread, unordered
from antiphase.checks.order._steps import Operation, Path, Rendezvous, Steps, Wait
from antiphase.checks.order._values import Values

__all__ = [
    "ASYNC_LOAD",
    "ATOMIC",
    "AT_MOST",
    "DS",
    "ENGINES",
    "LDS_BYTES",
    "PRIVATE_APERTURE",
    "READ",
    "WORKGROUP",
    "WRITE",
    "Exchanging",
    "Group",
    "Misuse",
    "Operation",
    "Pairs",
    "Path",
    "Rendezvous",
    "Steps",
    "Touched",
    "Values",
    "Wait",
    "clock",
    "clusters",
    "distinct",
    "grain",
    "groups",
    "marks",
    "spread",
    "together",
    "unordered",
    "whole",
]

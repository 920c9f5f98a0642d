"""What the waves of a launch did and what orders it: accesses, completions, rendezvous, atomics. It judges nothing."""

from antiphase.checks.order._bytes import (
    ASYNC_LOAD,
    ATOMIC,
    DMA,
    DS,
    ENGINES,
    LDS_BYTES,
    PRIVATE_APERTURE,
    READ,
    VECTOR,
    WRITE,
    Touched,
)
from antiphase.checks.order._caches import Cache, CacheModel, cache_model, caches
from antiphase.checks.order._clock import Clock, clock
from antiphase.checks.order._exchange import AT_MOST, Exchange, Exchanging
from antiphase.checks.order._group import Group, clusters, groups, viewed, whole
from antiphase.checks.order._host import of_host, without_host
from antiphase.checks.order._marks import WORKGROUP, marks, together
from antiphase.checks.order._misuse import Misuse
from antiphase.checks.order._overlap import Pairs, distinct, grain, spread, unordered
from antiphase.checks.order._steps import Operation, Path, Rendezvous, Steps, Wait
from antiphase.checks.order._values import Values
from antiphase.checks.order._views import Leniency

__all__ = [
    "ASYNC_LOAD",
    "ATOMIC",
    "AT_MOST",
    "DMA",
    "DS",
    "ENGINES",
    "LDS_BYTES",
    "PRIVATE_APERTURE",
    "READ",
    "VECTOR",
    "WORKGROUP",
    "WRITE",
    "Cache",
    "CacheModel",
    "Clock",
    "Exchange",
    "Exchanging",
    "Group",
    "Leniency",
    "Misuse",
    "Operation",
    "Pairs",
    "Path",
    "Rendezvous",
    "Steps",
    "Touched",
    "Values",
    "Wait",
    "cache_model",
    "caches",
    "clock",
    "clusters",
    "distinct",
    "grain",
    "groups",
    "marks",
    "of_host",
    "spread",
    "together",
    "unordered",
    "viewed",
    "whole",
    "without_host",
]

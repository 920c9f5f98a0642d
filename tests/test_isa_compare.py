"""Comparisons: every predicate of every type, unordered ones with NaN, classes, and EXEC of v_cmpx."""

from __future__ import annotations

import operator

import numpy as np
import pytest
from isa_harness import DTYPES, Machine, record, run

from antiphase.machine.llvm._lower import FloatMode

np.seterr(all="ignore")
RNG = np.random.default_rng(23)
ORDER = {"lt": operator.lt, "eq": operator.eq, "le": operator.le, "gt": operator.gt, "ge": operator.ge}
INTEGER = {"f": lambda a, b: a != a, **ORDER, "ne": operator.ne, "t": lambda a, b: a == a}
FLOAT = {
    "f": lambda a, b: np.zeros(len(a), bool), **ORDER, "lg": lambda a, b: (a < b) | (a > b),
    "o": lambda a, b: ~(np.isnan(a) | np.isnan(b)), "u": lambda a, b: np.isnan(a) | np.isnan(b),
    "nge": lambda a, b: ~(a >= b), "nlg": lambda a, b: ~((a < b) | (a > b)), "ngt": lambda a, b: ~(a > b),
    "nle": lambda a, b: ~(a <= b), "neq": lambda a, b: ~(a == b), "nlt": lambda a, b: ~(a < b),
    "tru": lambda a, b: np.ones(len(a), bool),
}  # fmt: skip


def values(t: str) -> tuple[np.ndarray, np.ndarray]:
    dtype = DTYPES[t]
    few = RNG.integers(0, 256, 12 * dtype.itemsize).astype(np.uint8).view(dtype)
    edges = [0, 1] if t[0] in "iu" else [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan]
    some = np.concatenate([few, np.array(edges, dtype)])
    a, b = (x.ravel() for x in np.meshgrid(some, some))
    return a, b


@pytest.mark.parametrize("t", ["f16", "f32", "f64", "i16", "u16", "i32", "u32", "i64", "u64"])
def test_predicates(t: str) -> None:
    machine = Machine()
    predicates = FLOAT if t[0] == "f" else INTEGER
    keys = {name: machine.add_record(record(f"v_cmp_{name}_{t}")) for name in predicates}
    a, b = values(t)
    for name, predicate in predicates.items():
        (mask,) = machine(keys[name], a, b)
        np.testing.assert_array_equal(mask.astype(bool), predicate(a, b), err_msg=name)


def test_cmpx_writes_exec_for_active_lanes() -> None:
    machine = Machine()
    key = machine.add_record(record("v_cmpx_lt_u32"))
    lanes = np.arange(64)
    mask, exec_ = machine(key, lanes, np.full(64, 10), exec_=0xFF0F)
    assert mask.sum() == 10
    assert exec_[0] == 0x30F


CLASSES = {
    "f32": [
        0x7F800001,
        0x7FC00000,
        0xFF800000,
        0xBF800000,
        0x80000001,
        0x80000000,
        0,
        1,
        0x3F800000,
        0x7F800000,
    ],
    "f16": [0x7C01, 0x7E00, 0xFC00, 0xBC00, 0x8001, 0x8000, 0, 1, 0x3C00, 0x7C00],
    "f64": [x << 32 for x in (0x7FF00001, 0x7FF80000, 0xFFF00000, 0xBFF00000, 0x80000001, 0x80000000, 0, 1, 0x3FF00000)]
    + [0x7FF00000 << 32],
}


@pytest.mark.parametrize("t", CLASSES)
def test_classes(t: str) -> None:
    word = np.dtype(f"u{DTYPES[t].itemsize}")
    x = np.array(CLASSES[t], word).view(DTYPES[t])
    for bit in range(10):
        (mask,) = run(f"v_cmp_class_{t}", x, np.array([1 << bit]))
        assert mask.tolist() == [int(i == bit) for i in range(10)]
    assert run(f"v_cmp_class_{t}", x, np.array([0x3FF]))[0].all()


def test_denormals_compare_as_mode_says() -> None:
    tiny, zero = np.array([2**-140], np.float32), np.zeros(1, np.float32)
    assert run("v_cmp_gt_f32", tiny, zero)[0][0] == 1
    assert run("v_cmp_gt_f32", tiny, zero, mode=FloatMode(denormal32=0))[0][0] == 0

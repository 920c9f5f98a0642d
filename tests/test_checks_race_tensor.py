"""Bytes that a tensor descriptor names: the same that the machine moves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from test_machine_memory_transfers import Descriptor, issue, kernel, loaded

from antiphase.checks.order._tensor import barrier_of, tiles
from antiphase.checks.race import check_races

DESCRIPTORS = {
    "one row": Descriptor(tensor=(32,), tile=(32,)),
    "rows": Descriptor(lds=64, tensor=(20, 6), tile=(8, 4), strides=(20,)),
    "over the edge": Descriptor(tensor=(6, 3), tile=(8, 4), strides=(6,), scale=1),
    "five dimensions": Descriptor(tensor=(4, 3, 2, 2, 2), tile=(4, 2, 2, 2, 2), strides=(4, 12, 24, 48)),
    "padding": Descriptor(tensor=(24, 4), tile=(24, 4), strides=(24,), pad=(1, 2)),
    "gather": Descriptor(tensor=(8, 16), tile=(8, 4), strides=(8,), rows=(3, 1, 9, 4)),
    "wide gather": Descriptor(tensor=(8, 16), tile=(8, 3), strides=(8,), rows=(5, 20, 2), wide_rows=True),
    "repeated": Descriptor(tensor=(8,), tile=(8,), repeat=(3, 32, 16)),
    "null": Descriptor(count=0),
}


@pytest.mark.parametrize("d", DESCRIPTORS.values(), ids=list(DESCRIPTORS))
def test_the_bytes_of_a_tile_are_those_that_the_machine_moves(d: Descriptor) -> None:
    lds = loaded(replace(d, words=[0] * 20), np.full(1024, 0x11111111, np.uint32))
    tile = tiles(d.encode(), load=True)
    named = np.zeros(len(lds), bool)
    for start, size in zip(tile.lds.tolist(), tile.lds_sizes.tolist(), strict=True):
        named[start : start + size] = True
    assert (named == (lds != 0xEE)).all()
    assert tile.memory_sizes.sum() == (lds == 0x11).sum(), "what does not exist in memory arrives as zeros"
    assert barrier_of(d.encode()) is None


def stored(d: Descriptor, data: np.ndarray) -> np.ndarray:
    """Memory, 4 KiB of bytes that were 0, after a tensor store from LDS that holds the 4 KiB of `data`."""
    k = kernel()
    k("v_lshlrev_b32 v3, 4, v0")
    for part in range(8):
        k(f"global_load_b128 v[4:7], v3, s[10:11] offset:{512 * part}\ns_wait_loadcnt 0")
        k(f"ds_store_b128 v3, v[4:7] offset:{512 * part}\ns_wait_dscnt 0")
    issue(k, d, "tensor_store_from_lds", 12)
    k("s_wait_tensorcnt 0")
    out = np.zeros(4096, np.uint8)
    assert not k.run(data, out).execution.faults
    return out


@pytest.mark.parametrize("d", DESCRIPTORS.values(), ids=list(DESCRIPTORS))
def test_the_bytes_that_a_store_takes_from_lds(d: Descriptor) -> None:
    data = np.random.default_rng(0).integers(1, 256, 4096, np.uint8)
    tile, expected = tiles(replace(d, words=[0] * 20).encode(), load=False), np.zeros(4096, np.uint8)
    assert (tile.lds_sizes == tile.memory_sizes).all()
    for start, to, size in zip(tile.lds.tolist(), tile.memory.tolist(), tile.lds_sizes.tolist(), strict=True):
        expected[to : to + size] = data[start : start + size]
    assert (stored(replace(d, words=[0] * 20), data) == expected).all()


def test_the_barrier_that_a_tile_signals() -> None:
    assert barrier_of(Descriptor(barrier=0x400).encode()) == 0x400


@pytest.mark.parametrize(
    ("wait", "rules"), [("s_wait_tensorcnt 0", []), ("s_wait_asynccnt 0", ["missing_completion", "missing_wait"])]
)
def test_a_tile_is_complete_by_tensorcnt(wait: str, rules: list[str]) -> None:
    k = kernel(1)
    k.threads = 64
    issue(k, Descriptor(tensor=(64,), tile=(64,)), "tensor_load_to_lds", 10, 2)
    k(wait + "\ns_barrier_signal -1\ns_barrier_wait -1\nds_load_b32 v2, v1\ns_wait_dscnt 0")
    recording = k.run(np.zeros(4096, np.uint32), record=True).execution.recording
    assert recording is not None
    assert sorted(f.rule for f in check_races(recording).findings if f.severity == "error") == rules

"""Recordings: what the events say, how they are saved, and what happens to files that are not recordings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _asm import Snippet

from antiphase.errors import UserError
from antiphase.machine import Recording
from antiphase.machine.recording import BLOCK, EVENT_TYPE, MEMORY, MEMORY_WIDE, SYNC

LANES = np.arange(64, dtype=np.uint64)


def recorded(k: Snippet, *arrays: np.ndarray, **options: Any) -> Recording:
    recording = k.run(*arrays, record=True, **options).execution.recording
    assert recording is not None
    return recording


def index_of(recording: Recording, text: str) -> int:
    """Number of the only instruction whose text starts so."""
    instructions = recording.program.kernel().instructions
    (found,) = [i for i, one in enumerate(instructions) if one.text().startswith(text)]
    return found


def two_paths() -> Snippet:
    k = Snippet(threads=128, lds=1024)
    k("""v_lshlrev_b32 v2, 3, v0
         v_readfirstlane_b32 s16, v0
         s_mov_b32 s17, 3
         s_cmp_eq_u32 s16, 0
         s_cbranch_scc1 .Lfirst""")
    k(""".Lsecond:
         s_sub_u32 s17, s17, 1
         s_cmp_eq_u32 s17, 0
         s_cbranch_scc0 .Lsecond
         .Lfirst:
         s_mov_b32 exec_lo, 0xff""")
    k("ds_write2_b32 v2, v0, v0 offset0:0 offset1:1\ns_waitcnt lgkmcnt(0)\ns_barrier")
    return k


def test_blocks_come_in_the_order_they_ran_in() -> None:
    recording = recorded(two_paths(), grid=(2,))
    blocks = recording.program.kernel().blocks
    loop = next(b.index for b in blocks if b.label == ".Lsecond")
    assert [(w.workgroup, w.wave) for w in recording.waves] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    for trace in recording.waves:
        expected = [0, loop + 1] if trace.wave == 0 else [0, loop, loop, loop, loop + 1]
        assert trace.blocks().tolist() == expected
        ranges = list(recording.instructions(trace))
        assert ranges == [(blocks[b].start, blocks[b].end) for b in expected]
    assert recording.of(1) == recording.waves[2:] and recording.waves_per_workgroup == 2


def test_memory_waits_and_barriers_have_their_lanes_and_addresses() -> None:
    recording = recorded(two_paths())
    trace = recording.waves[1]
    write, barrier = index_of(recording, "ds_write2_b32"), index_of(recording, "s_barrier")
    events = trace.events[trace.events["number"] == write]
    events = events[events["kind"] == MEMORY]
    mask = 0xFFFFFFFF_000000FF
    assert events["exec"].tolist() == [mask, mask]
    active = (np.uint64(mask) >> LANES & np.uint64(1)).astype(bool)
    addresses = trace.addresses(events)
    assert addresses.shape == (2, 64)
    for place, row in enumerate(addresses):
        assert (row[active] == 8 * (LANES[active] + np.uint64(64)) + np.uint64(4 * place)).all()
    after = trace.events[np.flatnonzero((trace.events["kind"] == MEMORY) & (trace.events["number"] == write))[-1] + 1 :]
    assert after["kind"][:2].tolist() == [SYNC, SYNC] and after["number"][:2].tolist() == [write + 1, barrier]
    assert (trace.events["kind"] == BLOCK).sum() == len(trace.blocks())


def test_addresses_far_apart_and_scalar_loads() -> None:
    k = Snippet(inputs=1)
    k("""v_lshlrev_b32 v2, 3, v0
         global_load_dwordx2 v[4:5], v2, s[10:11]
         s_waitcnt vmcnt(0)
         global_load_dword v6, v[4:5], off
         s_waitcnt vmcnt(0)""")
    data = np.zeros(64, np.uint64)
    base = data.ctypes.data
    steps = np.array(
        [0, 1 << 31, (1 << 31) - 1, 1 << 33, 1 << 47, (1 << 64) - (1 << 31), (1 << 64) - (1 << 31) - 1],
        np.uint64,
    )
    data[:] = np.resize(steps, 64) + np.uint64(base)
    recording = recorded(k, data)
    (trace,) = recording.waves
    wide = trace.events[trace.events["kind"] == MEMORY_WIDE]
    assert wide["number"].tolist() == [index_of(recording, "global_load_dword v6")]
    assert (trace.addresses(wide)[0] == data).all()
    narrow = trace.memory()[trace.memory()["kind"] == MEMORY]
    assert (trace.addresses(narrow)[0] == np.uint64(base) + 8 * LANES).all(), "before a wide row"
    stores = trace.addresses(trace.memory())
    assert len(stores) == len(narrow) + 1
    scalar = trace.events[trace.events["number"] == 0]
    assert SYNC in scalar["kind"] and int(scalar["base"][scalar["kind"] == SYNC][0]) != 0


def test_a_load_to_lds_has_an_event_for_each_side() -> None:
    k = Snippet(inputs=1, lds=1024)
    k("s_movk_i32 m0, 0x100\nglobal_load_lds_dword v1, s[10:11] offset:8\ns_waitcnt vmcnt(0)")
    data = np.zeros(128, np.uint32)
    recording = recorded(k, data)
    (trace,) = recording.waves
    events = trace.memory()[:2]
    assert events["number"].tolist() == [index_of(recording, "global_load_lds_dword")] * 2
    source, target = trace.addresses(events)
    assert (source == np.uint64(data.ctypes.data + 8) + 4 * LANES).all()
    assert (target == np.uint64(0x108) + 4 * LANES).all()


def test_a_recording_outgrows_the_room_it_started_with() -> None:
    k = Snippet(threads=64, lds=256)
    k("""s_mov_b32 s16, 0
         .Lloop:
         ds_write_b32 v1, v0
         s_waitcnt lgkmcnt(0)
         s_add_u32 s16, s16, 1
         s_cmp_lt_u32 s16, 5000
         s_cbranch_scc1 .Lloop""")
    (trace,) = recorded(k).waves
    assert len(trace.memory()) == 5000 and len(trace.blocks()) == 5002
    assert (trace.addresses(trace.memory()) == 4 * LANES).all()
    per_iteration = (trace.events.nbytes + trace.rows.nbytes) / 5000
    assert per_iteration < 3 * EVENT_TYPE.itemsize + 2, "a block, an access, a wait; the pattern is kept once"


def test_a_pattern_that_changes_is_recorded_each_time() -> None:
    k = Snippet(threads=64, lds=512)
    k("""s_mov_b32 s16, 0
         .Lloop:
         s_bfe_u32 s17, s16, 0x10001
         v_lshlrev_b32 v2, s17, v1
         ds_write_b32 v2, v0
         s_waitcnt lgkmcnt(0)
         s_add_u32 s16, s16, 1
         s_cmp_lt_u32 s16, 8
         s_cbranch_scc1 .Lloop""")
    (trace,) = recorded(k).waves
    expected = [4 * LANES << (i >> 1 & 1) for i in range(8)]
    assert (trace.addresses(trace.memory()) == np.array(expected, np.uint64)).all()
    assert len(trace.rows) == 4


def same(a: Recording, b: Recording) -> bool:
    heads = [(x.kernel, x.grid, x.waves_per_workgroup, x.lanes, x.program.text()) for x in (a, b)]
    return heads[0] == heads[1] and all(
        (x.workgroup, x.wave) == (y.workgroup, y.wave)
        and np.array_equal(x.events, y.events)
        and np.array_equal(x.rows, y.rows)
        for x, y in zip(a.waves, b.waves, strict=True)
    )


def test_saved_and_loaded_again(tmp_path: Path) -> None:
    recording = recorded(two_paths(), grid=(2, 2))
    recording.save(tmp_path / "r.npz")
    loaded = Recording.load(tmp_path / "r.npz")
    assert same(recording, loaded) and loaded.program.name == recording.program.name
    assert list(loaded.instructions(loaded.waves[1])) == list(recording.instructions(recording.waves[1]))
    assert not same(recording, recorded(two_paths(), grid=(2,)))


def test_files_that_are_not_recordings(tmp_path: Path) -> None:
    good = tmp_path / "good"
    recorded(two_paths()).save(good)
    content = good.read_bytes()
    np.save(tmp_path / "array.npy", np.zeros(3))
    np.savez(tmp_path / "other.npz", x=np.zeros(3))
    bad = {
        "empty": b"",
        "text": b"no recording at all",
        "half": content[: len(content) // 2],
        "cut": content[:-1],
    }
    damaged = bytearray(content)
    damaged[len(content) // 2 : len(content) // 2 + 64] = bytes(64)
    for name, data in {**bad, "damaged": bytes(damaged)}.items():
        (tmp_path / name).write_bytes(data)
    for name in (*bad, "damaged", "array.npy", "other.npz"):
        with pytest.raises(UserError, match=r"not a recording: .*; record the launch again") as caught:
            Recording.load(tmp_path / name)
        assert caught.value.file == str(tmp_path / name) and "\n" not in str(caught.value)
    for name, why in (("missing", "No such file or directory"), (".", "Is a directory")):
        with pytest.raises(UserError, match=f"cannot read: {why}; check the path"):
            Recording.load(tmp_path / name)


def test_places_where_nothing_can_be_written(tmp_path: Path) -> None:
    recording = recorded(two_paths())
    (tmp_path / "file").write_text("")
    for place in (tmp_path, tmp_path / "no" / "such", tmp_path / "file" / "r"):
        with pytest.raises(UserError, match=r"cannot write the recording: .*; choose another place"):
            recording.save(place)

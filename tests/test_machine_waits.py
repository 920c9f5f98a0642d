"""Recording mode: what destinations hold before and after each wait, by the order rules of the counters."""

from __future__ import annotations

import numpy as np
import pytest
from _asm import Snippet

from antiphase.errors import UserError
from antiphase.machine._layout import POISON

LANES = np.arange(64, dtype=np.uint32)
DATA = LANES * 3 + 1000


def data() -> np.ndarray:
    return np.tile(DATA, 16).copy()


def holds(values: np.ndarray, expected: object) -> bool:
    return bool((values == expected).all())


def test_a_load_arrives_with_its_wait_and_at_once_in_fast_mode() -> None:
    k = Snippet(inputs=1)
    k("global_load_dword v2, v1, s[10:11]")
    k.keep("v2")
    k("s_waitcnt vmcnt(1)")
    k.keep("v2")
    k("s_waitcnt vmcnt(0)")
    k.keep("v2")
    recorded = k.run(data(), record=True)
    assert [holds(recorded[i], POISON) for i in range(3)] == [True, True, False]
    assert holds(recorded[2], DATA)
    fast = k.run(data())
    assert all(holds(fast[i], DATA) for i in range(3))


@pytest.mark.parametrize(
    ("wait", "arrived"), [("vmcnt_sat(1)", False), ("vmcnt_sat(99)", False), ("vmcnt_sat(0)", True)]
)
def test_a_saturating_count_waits_as_the_plain_one(wait: str, arrived: bool) -> None:
    k = Snippet(inputs=1)
    k(f"global_load_dword v2, v1, s[10:11]\ns_waitcnt {wait}")
    k.keep("v2")
    assert holds(k.run(data(), record=True)[0], DATA if arrived else POISON)


@pytest.mark.parametrize("wait", ["vmcnt(64)", "lgkmcnt(16)", "expcnt(8)", "vmcnt(-1)"])
def test_a_count_beyond_its_field_is_refused(wait: str) -> None:
    """What LLVM's assembler says too: "too large value"."""
    k = Snippet()
    k(f"s_waitcnt {wait}")
    with pytest.raises(UserError, match="does not fit its field"):
        k.run()


def test_vmcnt_retires_loads_and_stores_together_in_issue_order() -> None:
    k = Snippet(inputs=2)
    k("""global_load_dword v2, v1, s[10:11]
         global_store_dword v1, v0, s[12:13]
         global_load_dword v3, v1, s[10:11]
         s_waitcnt vmcnt(2)""")
    k.keep("v2", "v3")
    k("s_waitcnt vmcnt(1)")
    k.keep("v3")
    k("s_waitcnt vmcnt(0)")
    k.keep("v3")
    kept = k.run(data(), np.zeros(64, np.uint32), record=True)
    assert holds(kept[0], DATA)
    assert holds(kept[1], POISON) and holds(kept[2], POISON)
    assert holds(kept[3], DATA)


def test_lgkmcnt_keeps_lds_in_order_and_proves_scalar_loads_only_at_zero() -> None:
    k = Snippet(inputs=1, lds=256)
    k("""ds_write_b32 v1, v0
         s_waitcnt lgkmcnt(0)
         ds_read_b32 v2, v1
         s_load_dword s16, s[10:11], 0x0
         s_waitcnt lgkmcnt(1)""")
    k.keep("v2", "s16")
    k("ds_read_b32 v3, v1\ns_waitcnt lgkmcnt(1)")
    k.keep("v2", "s16", "v3")
    k("s_waitcnt lgkmcnt(0)")
    k.keep("s16", "v3")
    kept = k.run(data(), record=True)
    # at most one of two is outstanding, and it may be either
    assert holds(kept[0], POISON) and holds(kept[1], POISON)
    # of three at most one is, and a younger LDS read would be if the first were
    assert holds(kept[2], LANES)
    assert holds(kept[3], POISON) and holds(kept[4], POISON)
    assert holds(kept[5], 1000) and holds(kept[6], LANES)


def test_a_full_counter_completes_its_oldest_operation() -> None:
    k = Snippet(inputs=2, lds=256)
    k("ds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)")
    for i in range(15):
        k(f"ds_read_b32 v{2 + i}, v1")
    k.keep("v2")
    k("ds_read_b32 v17, v1")
    k.keep("v2", "v3")
    k("s_waitcnt lgkmcnt(0)\nglobal_load_dword v2, v1, s[10:11]\nglobal_load_dword v3, v1, s[10:11]")
    k("\n".join(["global_store_dword v1, v0, s[12:13]"] * 61))
    k.keep("v2")
    k("global_store_dword v1, v0, s[12:13]")
    k.keep("v2", "v3")
    kept = k.run(data(), np.zeros(64, np.uint32), record=True)
    assert holds(kept[0], POISON) and holds(kept[1], LANES) and holds(kept[2], POISON)
    assert holds(kept[3], POISON) and holds(kept[4], DATA) and holds(kept[5], POISON)


def test_waits_that_wait_for_nothing_and_packed_immediates() -> None:
    k = Snippet(inputs=2, lds=256)
    k("ds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)")
    k("global_load_dword v2, v1, s[10:11]\nds_read_b32 v3, v1")
    k("s_waitcnt vmcnt(63) expcnt(7) lgkmcnt(15)\ns_waitcnt 0xcf7f")
    k.keep("v2", "v3")
    k("s_waitcnt 0xf70")
    k.keep("v2", "v3")
    k("s_waitcnt 0xc07f")
    k.keep("v3")
    k("global_load_dword v4, v1, s[10:11]")
    k("\n".join(["global_store_dword v1, v0, s[12:13]"] * 15))
    k("s_waitcnt 0x4f70")
    k.keep("v4")
    k("global_store_dword v1, v0, s[12:13]\ns_waitcnt 0x4f70")
    k.keep("v4")
    k("global_load_dword v5, v1, s[10:11]")
    k("\n".join(["global_store_dword v1, v0, s[12:13]"] * 31) + "\ns_waitcnt 0x8f70")
    k("\n".join(f"ds_read_b32 v{6 + i}, v1" for i in range(8)) + "\ns_waitcnt 0xc87f")
    k.keep("v5", "v6")
    kept = k.run(data(), np.zeros(64, np.uint32), record=True)
    assert holds(kept[0], POISON) and holds(kept[1], POISON), "all-ones fields"
    assert holds(kept[2], DATA) and holds(kept[3], POISON), "0xf70 is vmcnt(0) alone"
    assert holds(kept[4], LANES), "0xc07f is lgkmcnt(0) alone"
    assert holds(kept[5], POISON) and holds(kept[6], DATA), "0x4f70 is vmcnt(16)"
    assert holds(kept[7], POISON) and holds(kept[8], POISON), "0x8f70 is vmcnt(32), 0xc87f is lgkmcnt(8)"


def test_a_pending_load_overwrites_what_is_written_meanwhile() -> None:
    k = Snippet(inputs=1)
    k("global_load_dword v2, v1, s[10:11]\nv_mov_b32 v2, 5")
    k.keep("v2")
    k("s_waitcnt vmcnt(0)")
    k.keep("v2")
    kept = k.run(data(), record=True)
    assert holds(kept[0], 5) and holds(kept[1], DATA)


def test_half_register_loads_keep_the_other_half() -> None:
    k = Snippet(inputs=1)
    k("v_mov_b32 v2, 0x1234abcd\nv_mov_b32 v3, v2\nglobal_load_short_d16 v2, v1, s[10:11]")
    k("global_load_ubyte_d16_hi v3, v1, s[10:11]")
    k.keep("v2", "v3")
    k("s_waitcnt vmcnt(0)")
    k.keep("v2", "v3")
    kept = k.run(data(), record=True)
    assert holds(kept[0], 0x12340000 | POISON & 0xFFFF)
    assert holds(kept[1], POISON & 0xFFFF0000 | 0xABCD)
    assert holds(kept[2], 0x12340000 | DATA)
    assert holds(kept[3], (DATA & 0xFF) << 16 | 0xABCD)


@pytest.mark.parametrize("record", [False, True])
def test_only_active_lanes_are_loaded(record: bool) -> None:
    k = Snippet(inputs=1)
    k("v_mov_b32 v2, 7\ns_mov_b64 exec, 0x0f\nglobal_load_dword v2, v1, s[10:11]\ns_mov_b64 exec, -1")
    k.keep("v2")
    # EXEC at the wait does not matter
    k("s_mov_b64 exec, 0\ns_waitcnt vmcnt(0)\ns_mov_b64 exec, -1")
    k.keep("v2")
    kept = k.run(data(), record=record)
    assert holds(kept[0][:4], POISON if record else DATA[:4]) and holds(kept[0][4:], 7)
    assert holds(kept[1], np.where(LANES < 4, DATA, 7))


def test_a_load_to_lds_is_in_lds_when_vmcnt_says_so() -> None:
    k = Snippet(inputs=1, lds=1024)
    k("s_movk_i32 m0, 512\nglobal_load_lds_dword v1, s[10:11] offset:4\nds_read_b32 v2, v1 offset:516")
    k("s_waitcnt lgkmcnt(0)")
    k.keep("v2")
    k("s_waitcnt vmcnt(0)\nds_read_b32 v2, v1 offset:516\ns_waitcnt lgkmcnt(0)")
    k.keep("v2")
    kept = k.run(data(), record=True)
    assert holds(kept[0], POISON) and holds(kept[1], np.roll(DATA, -1))
    assert holds(k.run(data())[0], np.roll(DATA, -1))


def test_scalar_loads_clocks_permutes_and_atomics_are_pending_too() -> None:
    k = Snippet(inputs=2)
    k("""s_load_dwordx2 s[16:17], s[10:11], 0x10
         s_memtime s[18:19]
         v_lshlrev_b32 v4, 2, v0
         v_xor_b32 v4, 4, v4
         ds_bpermute_b32 v2, v4, v0
         global_atomic_add v3, v1, v0, s[12:13] sc0""")
    k.keep("s16", "s17", "s18", "v2", "v3")
    k("s_waitcnt lgkmcnt(0)")
    k.keep("s16", "s17", "v2", "v3", "s19")
    k("s_waitcnt vmcnt(0)")
    k.keep("v3")
    counters = np.full(64, 50, np.uint32)
    kept = k.run(data(), counters, record=True)
    assert all(holds(kept[i], POISON) for i in range(5))
    assert holds(kept[5], DATA[4]) and holds(kept[6], DATA[5])
    assert holds(kept[7], LANES ^ 1) and holds(kept[8], POISON) and holds(kept[9], 0)
    assert holds(kept[10], 50) and holds(counters, 50 + LANES)


def exchange(wait: str, *, store: str = "ds_write_b32", load: str = "ds_read_b32", scale: int = 2) -> np.ndarray:
    """Two waves give each other their work-item numbers through LDS, with `wait` before the barrier."""
    k = Snippet(threads=128, lds=1024)
    k(f"v_lshlrev_b32 v2, {scale}, v0\nv_xor_b32 v3, {64 << scale}, v2\n{store} v2, v0\n{wait}\ns_barrier")
    k(f"{load} v4, v3\ns_waitcnt lgkmcnt(0)")
    k.keep("v4")
    return k.run(record=True)[0]


def test_a_store_in_flight_at_a_barrier_is_not_there_for_other_waves() -> None:
    partner = np.arange(128, dtype=np.uint32) ^ 64
    assert holds(exchange("s_waitcnt lgkmcnt(0)"), partner)
    assert (exchange("") == POISON).sum() == 64
    assert holds(exchange("s_waitcnt lgkmcnt(0)", store="ds_write_b8", load="ds_read_u8", scale=0), partner)
    without = exchange("", store="ds_write_b8", load="ds_read_u8", scale=0)
    assert (without == POISON & 0xFF).sum() == 64


def overwritten(wait: str, between: str = "s_barrier") -> np.ndarray:
    """Two waves read each other's LDS, and write their own after a barrier."""
    k = Snippet(threads=128, lds=512)
    k("v_xor_b32 v2, 0x100, v1\nds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)\ns_barrier")
    k(f"ds_read_b32 v3, v2\n{wait}\n{between}\nds_write_b32 v1, 77\ns_waitcnt lgkmcnt(0)".replace("77", "v5"))
    k.keep("v3")
    return k.run(record=True)[0]


def test_a_load_in_flight_at_a_barrier_may_read_what_other_waves_write_after_it() -> None:
    partner = np.arange(128, dtype=np.uint32) ^ 64
    assert holds(overwritten("s_waitcnt lgkmcnt(0)"), partner)
    late = overwritten("")
    assert (late == POISON).sum() == 64 and (late == partner).sum() == 64


def test_operations_in_flight_at_a_barrier_are_fine_where_nobody_interferes() -> None:
    k = Snippet(threads=128, lds=1024)
    k("v_add_u32 v4, 1, v0\nds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)\ns_barrier")
    # read own data, barrier, write over it: a wave's own LDS operations execute in order
    k("""ds_read_b32 v2, v1
         ds_write_b32 v1, v4 offset:512
         s_barrier
         ds_write_b32 v1, v4
         ds_read_b32 v3, v1 offset:512""")
    k("""s_waitcnt lgkmcnt(0)
         s_barrier
         v_xor_b32 v5, 0x100, v1
         ds_read_b32 v6, v5
         ds_read_b32 v7, v5 offset:512""")
    k("s_waitcnt lgkmcnt(0)")
    k.keep("v2", "v3", "v6", "v7")
    kept = k.run(record=True)
    items = np.arange(128, dtype=np.uint32)
    for row, expected in enumerate((items, items + 1, (items ^ 64) + 1, (items ^ 64) + 1)):
        assert holds(kept[row], expected), row

"""CDNA scalar stores, scalar atomics and 64-byte scratch offsets, against what their manual entries compute."""

from __future__ import annotations

import numpy as np
import pytest
from _asm import Snippet

from antiphase.checks import check_waits
from antiphase.isa import Memory, counters, find

BOTH_MODES = pytest.mark.parametrize("record", [False, True], ids=["fast", "recording"])
TARGETS = pytest.mark.parametrize("target", ["gfx942", "gfx950"])
WORDS = np.arange(64, dtype=np.uint32) + 1000
M32, M64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> bits - 1 else value


@BOTH_MODES
@TARGETS
def test_stores_of_every_width_and_address_form(target: str, record: bool) -> None:
    k = Snippet(inputs=1, target=target)
    for i in range(4):
        k(f"s_mov_b32 s{20 + i}, {0x11 * (i + 1):#x}")
    k("""s_mov_b32 s24, 0x22
         s_mov_b32 m0, 0x40
         s_store_dword s20, s[10:11], 0x7
         s_store_dwordx2 s[20:21], s[10:11], s24 offset:0x2
         s_store_dwordx4 s[20:23], s[10:11], m0
         s_waitcnt lgkmcnt(0)
         s_dcache_wb""")
    out = WORDS.copy()
    assert not k.run(out, record=record).execution.faults
    expected = WORDS.copy()
    expected[1] = 0x11  # the two lowest bits of a sum are dropped
    expected[9:11] = 0x11, 0x22
    expected[16:20] = 0x11, 0x22, 0x33, 0x44
    assert out.tolist() == expected.tolist()


@BOTH_MODES
def test_a_scratch_offset_in_a_register_counts_64_bytes(record: bool) -> None:
    k = Snippet(inputs=1)
    k("""s_mov_b32 s20, 2
         s_mov_b32 s24, 77
         s_scratch_load_dwordx2 s[22:23], s[10:11], s20 offset:4
         s_waitcnt lgkmcnt(0)
         s_scratch_store_dword s24, s[10:11], s20
         s_scratch_store_dword s24, s[10:11], 0x8""")
    k.keep("s22", "s23")
    out = WORDS.copy()
    kept = k.run(out, record=record)
    assert (kept[0][0], kept[1][0]) == (WORDS[33], WORDS[34])
    assert np.flatnonzero(out != WORDS).tolist() == [2, 32] and out[2] == out[32] == 77


def buffer(k: Snippet, records: int, stride: int = 0) -> str:
    k(f"s_mov_b32 s12, s10\ns_or_b32 s13, s11, {stride << 16:#x}\ns_mov_b32 s14, {records}\ns_mov_b32 s15, 0")
    return "s[12:15]"


@BOTH_MODES
def test_what_lies_behind_a_buffer_is_not_written(record: bool) -> None:
    k = Snippet(inputs=1)
    where = buffer(k, records=24)
    for i in range(4):
        k(f"s_mov_b32 s{20 + i}, {i + 1}")
    k(f"s_buffer_store_dwordx4 s[20:23], {where}, 0x10\ns_buffer_store_dword s20, {where}, 0x18")
    k(f"s_buffer_atomic_add s21, {where}, 0x14 glc\ns_buffer_atomic_add s22, {where}, 0x18 glc\ns_waitcnt lgkmcnt(0)")
    k.keep("s21", "s22")
    out = WORDS.copy()
    kept = k.run(out, record=record)
    assert np.flatnonzero(out != WORDS).tolist() == [4, 5] and out[4:6].tolist() == [1, 2 + 2]
    assert (kept[0][0], kept[1][0]) == (2, 0)


ATOMICS = {
    "swap": lambda old, data: data,
    "add": lambda old, data: old + data,
    "sub": lambda old, data: old - data,
    "umin": min,
    "umax": max,
    "and": lambda old, data: old & data,
    "or": lambda old, data: old | data,
    "xor": lambda old, data: old ^ data,
    "inc": lambda old, data: 0 if old >= data else old + 1,
    "dec": lambda old, data: data if old == 0 or old > data else old - 1,
}
CASES = [(0, 0), (0, 5), (5, 5), (6, 5), (4, 5), (M32, 1), (0x80000000, 0x7FFFFFFF), (M64, M64 - 1), (1 << 63, 1)]


@BOTH_MODES
@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("operation", [*ATOMICS, "smin", "smax"])
def test_atomics_change_memory_and_return_what_was_there(operation: str, bits: int, record: bool) -> None:
    mask, size = (1 << bits) - 1, bits // 8
    function = ATOMICS.get(operation) or (
        lambda old, data: (min if operation == "smin" else max)(old, data, key=lambda v: signed(v, bits))
    )
    cases = [(old & mask, data & mask) for old, data in CASES]
    memory = np.array([old for old, _ in cases] * 2, f"u{size}")
    k = Snippet(inputs=1)
    suffix = "_x2" if bits == 64 else ""
    for half, glc in enumerate((" glc", "")):
        for i, (_, data) in enumerate(cases):
            place = (half * len(cases) + i) * size
            k(f"s_mov_b32 s20, {data & M32:#x}\ns_mov_b32 s21, {data >> 32:#x}")
            register = "s[20:21]" if bits == 64 else "s20"
            k(f"s_atomic_{operation}{suffix} {register}, s[10:11], {place:#x}{glc}\ns_waitcnt lgkmcnt(0)")
            k.keep("s20", "s21")
    kept = k.run(memory, record=record)
    after = [function(old, data) & mask for old, data in cases]
    assert memory.tolist() == after * 2
    returned = [int(kept[2 * i][0]) | int(kept[2 * i + 1][0]) << 32 for i in range(2 * len(cases))]
    assert [value & mask for value in returned[: len(cases)]] == [old for old, _ in cases]
    assert [value & mask for value in returned[len(cases) :]] == [data for _, data in cases]


@BOTH_MODES
def test_compare_and_swap_takes_the_new_value_first(record: bool) -> None:
    memory = np.array([5, 6, 1 << 40, 1 << 41], np.uint64)
    k = Snippet(inputs=1)
    k("""s_mov_b64 s[20:21], 9
         s_mov_b64 s[22:23], 5
         s_atomic_cmpswap_x2 s[20:23], s[10:11], 0x0 glc
         s_waitcnt lgkmcnt(0)""")
    k.keep("s20", "s21", "s22")
    k("""s_mov_b64 s[24:25], 9
         s_mov_b64 s[26:27], 5
         s_atomic_cmpswap_x2 s[24:27], s[10:11], 0x8 glc
         s_mov_b32 s28, 7
         s_mov_b32 s29, 0
         s_atomic_cmpswap s[28:29], s[10:11], 0x10 glc
         s_waitcnt lgkmcnt(0)""")
    k.keep("s24", "s28", "s29")
    kept = k.run(memory, record=record)
    assert memory.tolist() == [9, 6, 1 << 40 | 7, 1 << 41]
    assert [int(kept[i][0]) for i in range(6)] == [5, 0, 5, 6, 0, 0]


def test_an_address_outside_all_allocations_is_a_fault_and_changes_nothing() -> None:
    k = Snippet(inputs=1)
    k("s_mov_b32 s20, 3\ns_mov_b32 s21, 0x100000\ns_store_dword s20, s[10:11], s21\ns_atomic_add s20, s[10:11], s21")
    out = WORDS.copy()
    faults = k.run(out).execution.faults
    assert [fault.kind for fault in faults] == ["write", "write"] and (out == WORDS).all()


def test_an_atomic_result_arrives_with_the_wait() -> None:
    k = Snippet(inputs=1)
    k("s_mov_b32 s20, 3\ns_atomic_add s20, s[10:11], 0x0 glc\ns_mov_b32 s21, s20\ns_waitcnt lgkmcnt(0)")
    k.keep("s20", "s21")
    kept = k.run(WORDS.copy(), record=True)
    assert kept[0][0] == WORDS[0] and kept[1][0] != WORDS[0]
    program = k.program()
    (finding,) = check_waits(program, program.kernel())
    assert finding.facts["counter"] == "lgkmcnt" and finding.facts["registers"] == ("s20",)


@TARGETS
def test_discarding_cache_lines_counts_and_leaves_the_data(target: str) -> None:
    for name in ("s_dcache_discard", "s_dcache_discard_x2"):
        record = find(name, target)
        assert isinstance(record, Memory) and counters(record, target) == ("lgkmcnt",)
    k = Snippet(inputs=1, target=target)
    k("s_dcache_discard s[10:11], 0x0\ns_dcache_discard_x2 s[10:11], 0x40\ns_waitcnt lgkmcnt(0)")
    out = WORDS.copy()
    assert not k.run(out, record=True).execution.faults and (out == WORDS).all()

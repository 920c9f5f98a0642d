"""Buffer accesses of several dwords at the end of their buffer: each dword by itself (CDNA3 9.1.5.1, CDNA5 9.4.1)."""

from __future__ import annotations

import numpy as np
import pytest
from _asm import Snippet
from _memory_kernels import Kernel, Result

from antiphase.checks.race import check_races
from antiphase.machine import Execution

TARGETS = ("gfx942", "gfx1100", "gfx1201", "gfx1250")
WIDTHS = pytest.mark.parametrize("dwords", [2, 3, 4])
BOTH_MODES = pytest.mark.parametrize("record", [False, True], ids=["fast", "recording"])
END = 89
"""Bytes of the buffer: 22 dwords and a part of one. The allocation goes on."""


def kernel(target: str, end: int = END) -> Kernel | Snippet:
    """The resource of a raw buffer of input 0 in s[20:23]; v1 is 4 times the lane."""
    k = Snippet(inputs=1) if target == "gfx942" else Kernel(target, inputs=1)
    if target == "gfx1250":
        k(f"s_mov_b32 s20, s10\ns_or_b32 s21, s11, {(end & 127) << 25:#x}\ns_mov_b64 s[22:23], {end >> 7}")
    else:
        word = 0x20000 if target == "gfx942" else 0x31027000
        k(f"s_mov_b64 s[20:21], s[10:11]\ns_movk_i32 s22, {end}\ns_mov_b32 s23, {word:#x}")
    return k


def run(k: Kernel | Snippet, data: np.ndarray, record: bool) -> tuple[list[np.ndarray], Execution]:
    """The rows that were kept, of as many lanes as a wave has."""
    kept = k.run(data, record=record)
    rows = kept.rows if isinstance(kept, Result) else [kept[i] for i in range(k.kept)]
    return list(rows), kept.execution


def access(target: str, kind: str, dwords: int, data: int, address: str, more: str = "") -> str:
    old = target == "gfx942"
    name = f"buffer_{kind}_dwordx{dwords}" if old else f"buffer_{kind}_b{32 * dwords}"
    zero = "null" if target in ("gfx1201", "gfx1250") else "0"
    return f"{name} v[{data}:{data + dwords - 1}], {address}, s[20:23], {zero} offen {more}"


@BOTH_MODES
@WIDTHS
@pytest.mark.parametrize("target", TARGETS)
def test_loads_give_zero_for_the_dwords_beyond(target: str, dwords: int, record: bool) -> None:
    k = kernel(target)
    # v8 and on: into the register of the address itself
    k("v_mov_b32 v8, v1" + "".join(f"\nv_mov_b32 v{4 + i}, -1" for i in range(4)))
    k(access(target, "load", dwords, 4, "v1", "offset:4"))
    k(access(target, "load", dwords, 8, "v8") + "\ns_waitcnt vmcnt(0)" * (target == "gfx942"))
    if isinstance(k, Kernel):
        k(k.wait)
    k.keep(*(f"v{first + i}" for first in (4, 8) for i in range(dwords)))
    data = np.arange(1000, 1128, dtype=np.uint32)
    rows, execution = run(k, data, record)
    for first, offset in ((0, 1), (dwords, 0)):
        for i in range(dwords):
            number = np.arange(rows[0].size) + i + offset
            assert (rows[first + i] == np.where(number < 22, number + 1000, 0)).all()
    assert not execution.faults


@BOTH_MODES
@WIDTHS
@pytest.mark.parametrize("target", TARGETS)
def test_stores_drop_the_dwords_beyond(target: str, dwords: int, record: bool) -> None:
    k = kernel(target)
    k(f"v_mul_u32_u24 v2, {4 * dwords}, v0" + "".join(f"\nv_add_u32 v{4 + i}, {i + 1}, v2" for i in range(4)))
    if target != "gfx942":
        k.lines = [line.replace("v_add_u32", "v_add_nc_u32") for line in k.lines]
    k(access(target, "store", dwords, 4, "v2"))
    data = np.zeros(256, np.uint32)
    _, execution = run(k, data, record)
    n = np.arange(256)
    assert (data == np.where(n < 22, 4 * dwords * (n // dwords) + 1 + n % dwords, 0)).all() and not execution.faults


@BOTH_MODES
def test_a_dword_within_the_buffer_and_outside_memory_is_a_fault(record: bool) -> None:
    k = kernel("gfx1201", 4 * 34)
    k("v_mov_b32 v4, 5\nv_mov_b32 v5, 5\ns_mov_b32 exec_lo, 0x80000000\nv_mov_b32 v6, 7\nv_mov_b32 v7, 7")
    k(access("gfx1201", "load", 4, 4, "v1", "offset:8") + "\ns_wait_loadcnt 0\ns_mov_b32 exec_lo, -1")
    k.keep("v4", "v5")
    data = np.arange(33, dtype=np.uint32)
    rows, execution = run(k, data, record)
    (fault,) = execution.faults
    assert (fault.kind, fault.lane, fault.address, fault.size) == ("read", 31, data.ctypes.data + 4 * 33, 4)
    assert (rows[0] == 5).all() and rows[1].tolist() == [5] * 31 + [0]


@pytest.mark.parametrize(("end", "races"), [(4 * 101, True), (4 * 100, False)])
def test_the_dwords_of_a_lane_partly_in_range_are_recorded(end: int, races: bool) -> None:
    """One wave stores dwords up to 100, the last by the first half of lane 50; the other wave loads dword 100."""
    k = kernel("gfx942", end)
    assert isinstance(k, Snippet)
    k.threads = 128
    k("v_lshlrev_b32 v2, 3, v0\nv_mov_b32 v3, 0x190\nv_cmp_gt_u32 vcc, 64, v0\ns_mov_b64 exec, vcc")
    k(access("gfx942", "store", 2, 2, "v2") + "\ns_mov_b64 exec, -1\nv_cmp_eq_u32 vcc, 64, v0\ns_mov_b64 exec, vcc")
    k("global_load_dword v6, v3, s[10:11]\ns_waitcnt vmcnt(0)")
    recording = k.run(np.zeros(256, np.uint32), record=True).execution.recording
    assert recording is not None
    assert bool(check_races(recording).findings) == races

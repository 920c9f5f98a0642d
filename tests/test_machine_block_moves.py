"""Block loads and stores of gfx12 and gfx1250: 32 registers, those whose bit in M0 is set."""

from __future__ import annotations

import numpy as np
import pytest
from _memory_kernels import Kernel

from antiphase import asm
from antiphase.checks import check_execution, check_waits
from antiphase.isa import Memory, counters, find

BOTH_MODES = pytest.mark.parametrize("record", [False, True], ids=["fast", "recording"])
TARGETS = pytest.mark.parametrize("target", ["gfx1200", "gfx1250"])
MASKS = pytest.mark.parametrize("mask", [0, 1, 0x80000000, 0x80000005, 0xFFFFFFFF, 0x0F0F0F0F])
ROW = 40
"""Dwords that a work-item has in memory."""
DATA = (np.arange(64 * ROW, dtype=np.uint32) * 0x01030507 + 11).reshape(64, ROW)


def chosen(mask: int) -> list[int]:
    return [n for n in range(32) if mask >> n & 1]


def kernel(target: str, mask: int, *, scratch: int = 0, threads: int = 32, lanes: int = 32) -> Kernel:
    k = Kernel(target, inputs=2, scratch=scratch, threads=threads, lanes=lanes)
    k(f"v_mul_u32_u24 v2, v0, {4 * ROW}\ns_mov_b32 m0, {mask:#x}")
    for n in range(32):
        k(f"v_mov_b32 v{40 + n}, {n}")
    return k


@BOTH_MODES
@TARGETS
@MASKS
def test_a_load_leaves_out_what_m0_leaves_out(target: str, mask: int, record: bool) -> None:
    k = kernel(target, mask)("global_load_block v[40:71], v2, s[10:11] offset:8\ns_mov_b32 m0, 0")
    k(k.wait).keep(*(f"v{40 + n}" for n in range(32)))
    result = k.run(DATA, DATA, record=record)
    assert not result.execution.faults
    for n in range(32):
        expected = DATA[:32, 2 + n] if n in chosen(mask) else np.full(32, n)
        assert result.rows[n].tolist() == expected.tolist(), n


@BOTH_MODES
@TARGETS
@MASKS
def test_a_store_leaves_holes_in_memory(target: str, mask: int, record: bool) -> None:
    out = np.zeros((64, ROW), np.uint32)
    k = kernel(target, mask)("s_mov_b32 exec_lo, 0xffff\nglobal_store_block v2, v[40:71], s[10:11] offset:4")
    k(k.wait)
    assert not k.run(out, out, record=record).execution.faults
    expected = np.zeros((64, ROW), np.uint32)
    for n in chosen(mask):
        expected[:16, 1 + n] = n
    assert (out == expected).all()


@BOTH_MODES
@TARGETS
@pytest.mark.parametrize("lanes", [32, 64])
def test_spills_come_back(target: str, lanes: int, record: bool) -> None:
    if target == "gfx1250" and lanes == 64:
        pytest.skip("gfx1250 has waves of 32 lanes only")
    k = kernel(target, 0xF, scratch=256, lanes=lanes, threads=lanes)
    k("v_lshlrev_b32 v3, 2, v0\nv_mov_b32 v40, v0\nv_mov_b32 v4, 16\ns_mov_b32 s20, 16")
    k(f"scratch_store_block off, v[40:71], s20\ns_mov_b32 m0, 0x5\n{k.wait}")
    k(f"scratch_load_block v[80:111], v4, off\nscratch_load_b32 v5, off, off offset:28\n{k.wait}")
    k.keep("v80", "v82", "v5")
    result = k.run(DATA, DATA, record=record)
    assert not result.execution.faults
    assert result.rows[0].tolist() == list(range(lanes)) and (result.rows[1] == 2).all() and (result.rows[2] == 3).all()
    if record:
        assert not [f for f in check_execution(result.execution).checked.findings if f.check == "init"]


def test_every_dword_is_checked_against_the_allocations() -> None:
    k = kernel("gfx1201", 0x3)("global_load_block v[40:71], v2, s[10:11] offset:156")
    k(k.wait).keep("v40", "v41")
    result = k.run(DATA[:32].copy(), DATA)
    # the second dword of the last work-item lies behind the array
    assert result.execution.fault_count == 1 and result.execution.faults[0].lane == 31
    assert result.rows[0].tolist() == DATA[:32, 39].tolist()


def test_registers_beyond_those_allocated_are_not_loaded_and_v0_is_stored_for_them() -> None:
    k = kernel("gfx1201", 0x3)("v_mov_b32 v127, 9\nglobal_store_block v2, v[127:158], s[12:13]")
    k(f"{k.wait}\nglobal_load_block v[127:158], v2, s[10:11]\n{k.wait}").keep("v127")
    # what keeps a register works with v127 itself
    renamed = (("v_add_nc_u32 v127", "v_add_nc_u32 v126"), ("b32 v127, v127", "b32 v126, v127"))
    for old, new in renamed:
        k.lines = [line.replace(old, new) for line in k.lines]
    out = np.zeros((64, ROW), np.uint32)
    result = k.run(DATA, out)
    assert (out[:32, 0] == 9).all() and out[:32, 1].tolist() == list(range(32))
    assert result.rows[0].tolist() == DATA[:32, 0].tolist()


@TARGETS
def test_one_operation_on_its_counter(target: str) -> None:
    for name, counter in (("global_load_block", "loadcnt"), ("scratch_store_block", "storecnt")):
        record = find(name, target)
        assert isinstance(record, Memory) and counters(record, target) == (counter,)
    k = kernel(target, 1)("global_load_block v[40:71], v2, s[10:11]\nglobal_load_b32 v5, v1, s[10:11]")
    program = asm.parse(k("v_mov_b32 v6, v40").text(), "k.s")
    (finding,) = check_waits(program, program.kernel())
    assert finding.fix is not None and finding.fix.text == ("s_wait_loadcnt 1",)
    early = kernel(target, 1)("global_store_block v2, v[40:71], s[10:11]\ns_mov_b32 m0, 0\nv_mov_b32 v40, 1")
    assert not early.run(DATA.copy(), DATA, record=True).execution.faults


def test_a_race_between_a_block_store_and_a_load_is_found() -> None:
    """The dwords behind the first count as well: another wave reads the third."""
    k = kernel("gfx1201", 0x7, threads=64)
    k("v_cmp_gt_u32 vcc_lo, 32, v0\ns_cbranch_vccz .Lother\nglobal_store_block v2, v[40:71], s[10:11]\n.Lother:")
    k("v_and_b32 v5, 31, v0\nv_mul_u32_u24 v5, v5, 160\nglobal_load_b32 v6, v5, s[10:11] offset:8\ns_nop 0")
    k(k.wait).keep("v6")
    findings = check_execution(k.run(DATA.copy(), DATA, record=True).execution).checked.findings
    assert [f.rule for f in findings if f.check == "race"]

"""Arrays in registers with an index known at run time, as LLVM compiles them for every target."""

from __future__ import annotations

import functools
import subprocess

import numpy as np
import pytest

import antiphase
from antiphase import asm
from antiphase._llvm_tools import find_tool

LLC = find_tool("llc")
pytestmark = pytest.mark.skipif(not LLC.usable, reason="no llc of LLVM 22 or newer on PATH: apt install llvm-22")

TARGETS = ("gfx942", "gfx950", "gfx1100", "gfx1151", "gfx1201", "gfx1250")
SELECTORS = ("dag", "global")
WORK_ITEMS = 64
RANDOM = np.random.default_rng(11)

READ = """
define amdgpu_kernel void @k(ptr addrspace(1) inreg %in, ptr addrspace(1) inreg %out, {index_type} inreg %given) {{
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  {index}
  %p = getelementptr <{n} x i32>, ptr addrspace(1) %in, i32 %lane
  %v = load <{n} x i32>, ptr addrspace(1) %p
  %w = mul <{n} x i32> %v, %v
  %e = extractelement <{n} x i32> %w, i32 %i
  %q = getelementptr i32, ptr addrspace(1) %out, i32 %lane
  store i32 %e, ptr addrspace(1) %q
  ret void
}}
declare i32 @llvm.amdgcn.workitem.id.x()
"""
WRITE = """
define amdgpu_kernel void @k(ptr addrspace(1) inreg %in, ptr addrspace(1) inreg %out, {index_type} inreg %given) {{
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  {index}
  %p = getelementptr <{n} x i32>, ptr addrspace(1) %in, i32 %lane
  %v = load <{n} x i32>, ptr addrspace(1) %p
  %w = insertelement <{n} x i32> %v, i32 %lane, i32 %i
  %q = getelementptr <{n} x i32>, ptr addrspace(1) %out, i32 %lane
  store <{n} x i32> %w, ptr addrspace(1) %q
  ret void
}}
declare i32 @llvm.amdgcn.workitem.id.x()
"""
SCALAR_READ = """
define amdgpu_kernel void @k(ptr addrspace(1) inreg %in, ptr addrspace(1) inreg %out, i32 inreg %given) {
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %v = load <16 x i32>, ptr addrspace(1) %in
  %w = xor <16 x i32> %v, splat (i32 5)
  %e = extractelement <16 x i32> %w, i32 %given
  %s = add i32 %e, %lane
  %q = getelementptr i32, ptr addrspace(1) %out, i32 %lane
  store i32 %s, ptr addrspace(1) %q
  ret void
}
declare i32 @llvm.amdgcn.workitem.id.x()
"""
SCALAR_WRITE = """
define amdgpu_kernel void @k(ptr addrspace(1) inreg %in, ptr addrspace(1) inreg %out, i32 inreg %given) {
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %v = load <16 x i32>, ptr addrspace(1) %in
  %w = insertelement <16 x i32> %v, i32 77, i32 %given
  %q = getelementptr <16 x i32>, ptr addrspace(1) %out, i32 %lane
  store <16 x i32> %w, ptr addrspace(1) %q
  ret void
}
declare i32 @llvm.amdgcn.workitem.id.x()
"""
UNIFORM = {"index_type": "i32", "index": "%i = add i32 %given, 0"}
DIVERGENT = {
    "index_type": "ptr addrspace(1)",
    "index": "%ip = getelementptr i32, ptr addrspace(1) %given, i32 %lane\n  %i = load i32, ptr addrspace(1) %ip",
}


@functools.cache
def compiled(ir: str, target: str, selector: str) -> asm.Program:
    # the flag asks for a loop over the distinct indices where LLVM may prefer a chain of selects
    options = [
        f"-mcpu={target}",
        f"-global-isel={int(selector == 'global')}",
        "-amdgpu-use-divergent-register-indexing",
    ]
    given = 'target triple = "amdgcn-amd-amdhsa"\n' + ir
    done = subprocess.run([LLC.path, *options, "-o", "-"], input=given, capture_output=True, text=True, check=True)
    return asm.parse(done.stdout, "k.s")


def relative(program: asm.Program) -> set[str]:
    names = {i.mnemonic.removesuffix("_e32") for i in program.kernels[0].instructions}
    return {name for name in names if "movrel" in name or "gpr_idx" in name}


def numbers(*shape: int) -> np.ndarray:
    return RANDOM.integers(-(1 << 31), 1 << 31, shape, dtype=np.int32)


each = pytest.mark.parametrize(("target", "selector"), [(t, s) for t in TARGETS for s in SELECTORS])


def clean(program: asm.Program, args: list[object]) -> None:
    """No check of any kind has more than a note to say of what a compiler made."""
    (part,) = antiphase.check(program, args=args, threads=WORK_ITEMS).kept
    assert part.launches == 1 and not [f for f in part.checked.findings if f.severity != "info"]


@each
def test_an_index_for_all_lanes(target: str, selector: str) -> None:
    read, write = (compiled(ir.format(n=16, **UNIFORM), target, selector) for ir in (READ, WRITE))
    moves = {"s_set_gpr_idx_on", "s_set_gpr_idx_off"}
    assert relative(read) == (moves if target.startswith("gfx9") else {"v_movrels_b32"})
    assert relative(write) == (moves if target.startswith("gfx9") else {"v_movreld_b32"})
    values = numbers(WORK_ITEMS, 16)
    for record, index in ((False, 0), (True, 7), (False, 15)):
        one, all_ = np.zeros(WORK_ITEMS, np.int32), np.zeros_like(values)
        antiphase.launch(read, grid=1, args=[values, one, index], threads=WORK_ITEMS, record=record)
        antiphase.launch(write, grid=1, args=[values, all_, index], threads=WORK_ITEMS, record=record)
        expected = values.copy()
        expected[:, index] = np.arange(WORK_ITEMS)
        assert np.array_equal(one, (values * values)[:, index]) and np.array_equal(all_, expected)
    clean(read, [values, one, 3])
    clean(write, [values, all_, 3])


@each
def test_an_index_of_each_lane(target: str, selector: str) -> None:
    read, write = (compiled(ir.format(n=32, **DIVERGENT), target, selector) for ir in (READ, WRITE))
    assert relative(read) and relative(write)
    values, index, lane = (
        numbers(WORK_ITEMS, 32),
        RANDOM.integers(0, 32, WORK_ITEMS, dtype=np.int32),
        np.arange(WORK_ITEMS),
    )
    expected = values.copy()
    expected[lane, index] = lane
    for record in (False, True):
        one, all_ = np.zeros(WORK_ITEMS, np.int32), np.zeros_like(values)
        antiphase.launch(read, grid=1, args=[values, one, index], threads=WORK_ITEMS, record=record)
        antiphase.launch(write, grid=1, args=[values, all_, index], threads=WORK_ITEMS, record=record)
        assert np.array_equal(one, (values * values)[lane, index]) and np.array_equal(all_, expected)
    clean(read, [values, one, index])
    clean(write, [values, all_, index])


@each
def test_an_array_in_scalar_registers(target: str, selector: str) -> None:
    read, write = (compiled(ir, target, selector) for ir in (SCALAR_READ, SCALAR_WRITE))
    if selector == "global":
        assert relative(read) == {"s_movrels_b32"} and relative(write) == {"s_movreld_b32"}
    values = numbers(16)
    for record, index in ((False, 0), (True, 9), (False, 15)):
        one, all_ = np.zeros(WORK_ITEMS, np.int32), np.zeros((WORK_ITEMS, 16), np.int32)
        antiphase.launch(read, grid=1, args=[values, one, index], threads=WORK_ITEMS, record=record)
        antiphase.launch(write, grid=1, args=[values, all_, index], threads=WORK_ITEMS, record=record)
        expected = np.tile(values, (WORK_ITEMS, 1))
        expected[:, index] = 77
        assert np.array_equal(one, (values[index] ^ 5) + np.arange(WORK_ITEMS, dtype=np.int32))
        assert np.array_equal(all_, expected)
    clean(read, [values, one, 3])
    clean(write, [values, all_, 3])

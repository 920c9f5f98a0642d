"""Linked code objects: the addresses that code computes become symbols again, with the functions and data there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from triton._C.libtriton import amd
from triton.backends.amd.compiler import assemble_amdgcn

import antiphase
from antiphase import asm
from antiphase._llvm_tools import find_objdump
from antiphase.frontends.code_object._addresses import computed_addresses, with_symbol
from antiphase.frontends.code_object._disassembly import Row

pytestmark = pytest.mark.skipif(
    not find_objdump().usable, reason="code objects are read by llvm-objdump 22 or newer, which is not on PATH"
)

WIDE = "s_get_pc_i64 s[{0}:{1}]\ns_add_nc_u64 s[{0}:{1}], s[{0}:{1}], {2}@rel64+4"
SPLIT = "s_getpc_b64 s[{0}:{1}]\ns_add_u32 s{0}, s{0}, {2}@rel32@lo+4\ns_addc_u32 s{1}, s{1}, {2}@rel32@hi+12"
SEXT = (
    "s_getpc_b64 s[{0}:{1}]\ns_sext_i32_i16 s{1}, s{1}\ns_add_co_u32 s{0}, s{0}, {2}@rel32@lo+8\n"
    "s_add_co_ci_u32 s{1}, s{1}, {2}@rel32@hi+16"
)
TEXT = """.amdgcn_target "amdgcn-amd-amdhsa--{target}"
.text
.globl twice
.hidden twice
.type twice,@function
twice:
v_add_nc_u32 v2, v2, v2
{ret} s[30:31]
.Lend_twice:
.size twice, .Lend_twice-twice
.type hidden,@function
hidden:
v_add_nc_u32 v2, 5, v2
{ret} s[30:31]
.Lend_hidden:
.size hidden, .Lend_hidden-hidden
.globl k
.p2align 8
.type k,@function
k:
{load} s[8:9], s[0:1], 0x0
v_lshlrev_b32 v1, 2, v0
v_mov_b32 v2, v0
{twice}
{call} s[30:31], s[20:21]
{pointers}
{load} s[22:23], s[20:21], 0x8
{wait}
{call} s[30:31], s[22:23]
{number}
{load32} s24, s[20:21], 0x4
{wait}
v_add_nc_u32 v2, s24, v2
global_store_b32 v1, v2, s[8:9]
s_endpgm
.Lend_k:
.size k, .Lend_k-k
.section .rodata,"a",@progbits
.p2align 6
.amdhsa_kernel k
.amdhsa_user_sgpr_count 2
.amdhsa_user_sgpr_kernarg_segment_ptr 1
.amdhsa_next_free_vgpr 8
.amdhsa_next_free_sgpr 48
.amdhsa_wavefront_size32 1
.end_amdhsa_kernel
.p2align 2
number:
.long 11, 1000
.size number, 8
.type number,@object
.section .data.rel.ro,"aw",@progbits
.p2align 3
pointers:
.quad number
.quad hidden
.size pointers, 16
.type pointers,@object
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .args:
      - {{.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}}
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .max_flat_workgroup_size: 32
    .wavefront_size: 32
    .vgpr_count: 8
    .sgpr_count: 48
...
.end_amdgpu_metadata
"""
SPELLINGS = {
    "gfx1100": (SPLIT, "s_setpc_b64", "s_swappc_b64", "s_waitcnt lgkmcnt(0)"),
    "gfx1201": (SEXT, "s_setpc_b64", "s_swappc_b64", "s_wait_kmcnt 0x0"),
    "gfx1250": (WIDE, "s_set_pc_i64", "s_swap_pc_i64", "s_wait_kmcnt 0x0"),
}


def text(target: str) -> str:
    address, ret, call, wait = SPELLINGS[target]
    names = {name: address.format(20, 21, name) for name in ("twice", "pointers", "number")}
    return TEXT.format(
        target=target, ret=ret, call=call, wait=wait, load="s_load_b64", load32="s_load_b32", **names
    )  # fmt: skip


@pytest.mark.parametrize("target", SPELLINGS)
def test_a_linked_file_runs_as_its_text(target: str, tmp_path: Path) -> None:
    (tmp_path / "k.o").write_bytes(assemble_amdgcn(text(target), target, ""))
    amd.link_hsaco(str(tmp_path / "k.o"), str(tmp_path / "k.co"))
    wanted = 2 * np.arange(32) + 5 + 1000
    for source in (asm.parse(text(target)), antiphase.load(tmp_path / "k.co")):
        out = np.zeros(32, np.uint32)
        execution = antiphase.launch(source, grid=1, args=[out])
        assert not execution.faults and (out == wanted).all()
        assert {one.name for one in source.kernel().functions} >= {"k", "twice"}


def test_numbers_count_from_the_instruction_behind_s_getpc() -> None:
    rows = [
        Row(0x100, "s_getpc_b64 s[4:5]"),
        Row(0x104, "s_nop 0"),
        Row(0x108, "s_add_u32 s4, s4, 0xfffffff0"),
        Row(0x110, "s_addc_u32 s5, s5, -1"),
        Row(0x114, "s_getpc_b64 s[6:7]"),
        Row(0x118, "s_add_u32 s4, s4, 0x10"),
    ]
    (one,) = computed_addresses(rows)
    assert (one.row, one.target) == (0, 0x104 - 16)
    texts = [with_symbol(rows[part.row].text, part, "f", 3) for part in one.parts]
    assert texts == ["s_add_u32 s4, s4, f@rel32@lo+11", "s_addc_u32 s5, s5, f@rel32@hi+19"]

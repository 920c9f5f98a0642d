"""Small kernels for tests of the machine: a body of instructions, then stores of what it kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from antiphase import asm
from antiphase.asm import Program
from antiphase.frontends import launch_asm
from antiphase.machine import Execution

FIRST_KEPT, MOST_KEPT = 64, 192
DESCRIPTOR = {
    "user_sgpr_count": 2, "user_sgpr_kernarg_segment_ptr": 1, "system_sgpr_workgroup_id_x": 1,
    "system_sgpr_workgroup_id_y": 1, "system_sgpr_workgroup_id_z": 1, "next_free_vgpr": 512,
    "next_free_sgpr": 96, "accum_offset": 256, "float_denorm_mode_32": 3, "float_denorm_mode_16_64": 3,
}  # fmt: skip

FILE = """\
.amdgcn_target "amdgcn-amd-amdhsa--{target}"
.text
.globl k
.p2align 8
.type k,@function
k:
{body}
.Lfunc_end0:
.size k, .Lfunc_end0-k
.section .rodata,"a",@progbits
.p2align 6
.amdhsa_kernel k
{descriptor}
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version:
  - 1
  - 2
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .args:
{args}
    .group_segment_fixed_size: {lds}
    .private_segment_fixed_size: {scratch}
    .kernarg_segment_size: {size}
    .kernarg_segment_align: 8
    .max_flat_workgroup_size: 1024
    .wavefront_size: 64
    .vgpr_count: 512
    .agpr_count: 256
    .sgpr_count: 96
    .vgpr_spill_count: 0
    .sgpr_spill_count: 0
...
.end_amdgpu_metadata
"""
ARGUMENT = """\
      - .offset: {offset}
        .size: 8
        .value_kind: global_buffer
        .address_space: global"""


@dataclass
class Snippet:
    """A kernel of one-dimensional workgroups. Call it with text to append instructions.

    At the start of the body: v0 work-item, v1 four times that, s[2:4] workgroup ids, s[8:9] a private
    pointer, from s[10:11] on the pointers of the input arrays, from s16 on `preload` dwords of arguments
    that the descriptor asks for. The body may use v2-v63, s16-s89, AGPRs, VCC, SCC, M0 and EXEC.
    """

    inputs: int = 0
    target: str = "gfx942"
    threads: int = 64
    lds: int = 0
    scratch: int = 0
    preload: int = 0
    descriptor: dict[str, int] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    kept: int = 0

    def __call__(self, text: str) -> None:
        self.lines += [line.strip() for line in text.strip().splitlines()]

    def keep(self, *operands: str) -> int:
        """Copy registers of all lanes, whatever EXEC is; the number of the first one's row in the result."""
        first = self.kept
        for operand in operands:
            assert self.kept < MOST_KEPT
            move = "v_accvgpr_read_b32" if operand.startswith("a") else "v_mov_b32"
            self("s_mov_b64 s[90:91], exec\ns_mov_b64 exec, -1")
            self(f"{move} v{FIRST_KEPT + self.kept}, {operand}\ns_mov_b64 exec, s[90:91]")
            self.kept += 1
        return first

    def text(self) -> str:
        loads = [f"s_load_dwordx2 s[{8 + 2 * i}:{9 + 2 * i}], s[0:1], {8 * i:#x}" for i in range(self.inputs + 1)]
        row = 4 * self.threads
        stores = [f"s_mul_i32 s94, s2, {self.kept * row}"]
        for i in range(self.kept):
            stores += ["s_add_u32 s8, s8, s94", "s_addc_u32 s9, s9, 0", f"s_movk_i32 s94, {row}"]
            stores.append(f"global_store_dword v1, v{FIRST_KEPT + i}, s[8:9]")
        ids = 2 + self.preload
        moved = [f"s_mov_b32 s{16 + i}, s{2 + i}" for i in range(self.preload)]
        moved += [f"s_mov_b32 s{2 + i}, s{ids + i}" for i in range(3)] if self.preload else []
        body = [
            *moved, *loads, "v_lshlrev_b32 v1, 2, v0", "s_mov_b64 s[92:93], exec", "s_waitcnt lgkmcnt(0)",
            *self.lines, "s_mov_b64 exec, s[92:93]", *stores, "s_endpgm",
        ]  # fmt: skip
        return self._file(body)

    def _file(self, body: list[str]) -> str:
        descriptor = DESCRIPTOR | self.descriptor
        if self.preload:
            descriptor |= {
                "user_sgpr_count": 2 + self.preload,
                "user_sgpr_kernarg_preload_length": self.preload,
            }
        descriptor |= {"group_segment_fixed_size": self.lds, "private_segment_fixed_size": self.scratch}
        count = self.inputs + 1
        return FILE.format(
            target=self.target,
            body="\n".join(body),
            descriptor="\n".join(f".amdhsa_{name} {value}" for name, value in descriptor.items()),
            args="\n".join(ARGUMENT.format(offset=8 * i) for i in range(count)),
            size=8 * count,
            lds=self.lds,
            scratch=self.scratch,
        )

    def program(self, name: str = "k.s") -> Program:
        return asm.parse(self.text(), name)

    def run(
        self,
        *arrays: np.ndarray,
        record: bool = False,
        grid: tuple[int, ...] = (1,),
        program: Program | None = None,
        **options: Any,
    ) -> Kept:
        """Launch, and with it `program` instead of one made now; input arrays are used in place."""
        out = np.zeros((int(np.prod(grid)), self.kept, self.threads), np.uint32)
        args = [out, *arrays]
        execution = launch_asm(
            program or self.program(), grid=grid, args=args, threads=self.threads, record=record, **options
        )
        return Kept(out, execution)


@dataclass(frozen=True)
class Kept:
    """What a launch left: rows[workgroup, number, work-item] as u32, and the execution."""

    rows: np.ndarray
    execution: Execution

    def __getitem__(self, number: int) -> np.ndarray:
        """One kept register of workgroup 0, a u32 for each work-item."""
        return self.rows[0, number]

    def as_(self, number: int, dtype: Any) -> np.ndarray:
        return self.rows[0, number].view(dtype)

"""Wave32 kernels of one workgroup for tests of memory instructions: pointers in s[8:9] on, results in numbered rows."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from antiphase import asm
from antiphase.frontends import launch_asm
from antiphase.machine import Execution

GFX12 = ("gfx1200", "gfx1201", "gfx1250")


@dataclass
class Kernel:
    """v0 is the work-item and v1 four times that. s[8:9] points to rows of results, s[10:11] and on to the inputs.

    A body uses v2-v99 and s20-s60. `keep` appends the store of a register as a row of u32, one a work-item.
    """

    target: str
    inputs: int = 0
    lds: int = 4096
    scratch: int = 0
    threads: int = 32
    lanes: int = 32
    descriptor: dict[str, int] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    kept: int = 0

    @property
    def is_gfx12(self) -> bool:
        return self.target in GFX12

    @property
    def wait(self) -> str:
        """Everything loaded has arrived."""
        extra = "\ns_wait_asynccnt 0\ns_wait_tensorcnt 0" if self.target == "gfx1250" else ""
        if self.is_gfx12:
            return "s_wait_loadcnt 0\ns_wait_storecnt 0\ns_wait_dscnt 0\ns_wait_kmcnt 0" + extra
        return "s_waitcnt vmcnt(0) lgkmcnt(0)\ns_waitcnt_vscnt null, 0"

    def __call__(self, text: str) -> Kernel:
        self.lines += [line.strip() for line in text.strip().splitlines()]
        return self

    def keep(self, *names: str) -> Kernel:
        """Store VGPRs of all lanes, whatever EXEC is."""
        for name in names:
            self("s_mov_b32 s62, exec_lo\ns_mov_b32 exec_lo, -1")
            if self.lanes == 64:
                self("s_mov_b32 s63, exec_hi\ns_mov_b32 exec_hi, -1")
            self(f"v_add_nc_u32 v127, {self.kept * self.threads * 4}, v1\nglobal_store_b32 v127, {name}, s[8:9]")
            self("s_mov_b32 exec_lo, s62")
            if self.lanes == 64:
                self("s_mov_b32 exec_hi, s63")
            self.kept += 1
        return self

    def text(self) -> str:
        loads = [f"s_load_b64 s[{8 + 2 * i}:{9 + 2 * i}], s[0:1], {8 * i:#x}" for i in range(self.inputs + 1)]
        body = [*loads, "v_lshlrev_b32 v1, 2, v0", *self.wait.splitlines(), *self.lines, "s_endpgm"]
        fields = {
            "group_segment_fixed_size": self.lds, "private_segment_fixed_size": self.scratch, "user_sgpr_count": 2,
            "user_sgpr_kernarg_segment_ptr": 1, "next_free_vgpr": 128, "next_free_sgpr": 96,
            "wavefront_size32": int(self.lanes == 32), "float_denorm_mode_32": 3, "float_denorm_mode_16_64": 3,
            **({"named_barrier_count": 4} if self.target == "gfx1250" else {}), **self.descriptor,
        }  # fmt: skip
        args = [
            f"      - .offset: {8 * i}\n        .size: 8\n"
            "        .value_kind: global_buffer\n        .address_space: global"
            for i in range(self.inputs + 1)
        ]
        return "\n".join([
            f'.amdgcn_target "amdgcn-amd-amdhsa--{self.target}"', ".text", ".globl k", ".p2align 8",
            ".type k,@function", "k:", *body, ".Lfunc_end0:", ".size k, .Lfunc_end0-k",
            '.section .rodata,"a",@progbits', ".p2align 6",
            ".amdhsa_kernel k", *(f".amdhsa_{name} {value}" for name, value in fields.items()), ".end_amdhsa_kernel",
            ".amdgpu_metadata", "---", "amdhsa.version:", "  - 1", "  - 2", "amdhsa.kernels:", "  - .name: k",
            "    .symbol: k.kd", "    .args:", *args, f"    .group_segment_fixed_size: {self.lds}",
            f"    .private_segment_fixed_size: {self.scratch}", f"    .kernarg_segment_size: {8 * len(args)}",
            "    .kernarg_segment_align: 8", "    .max_flat_workgroup_size: 1024", f"    .wavefront_size: {self.lanes}",
            "    .vgpr_count: 128", "    .sgpr_count: 96", "    .vgpr_spill_count: 0", "    .sgpr_spill_count: 0",
            "...", ".end_amdgpu_metadata", "",
        ])  # fmt: skip

    def run(self, *arrays: np.ndarray, record: bool = False) -> Result:
        """Launch one workgroup; input arrays are used in place."""
        rows = np.zeros((max(1, self.kept), self.threads), np.uint32)
        program = asm.parse(self.text(), "k.s")
        execution = launch_asm(program, grid=1, args=[rows, *arrays], threads=self.threads, record=record)
        return Result(rows, execution)


@dataclass(frozen=True)
class Result:
    rows: np.ndarray
    execution: Execution

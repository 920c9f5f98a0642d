"""Assembly files of one kernel around given lines, for every target."""

from __future__ import annotations

from collections.abc import Sequence

from antiphase import arch, asm
from antiphase.isa import generation

LDS_BYTES = 4096
VGPRS = 256
"""Registers a kernel has; as many AGPRs on targets that have some."""

_FILE = """\
.amdgcn_target "amdgcn-amd-amdhsa--{target}"
.text
.globl k
.p2align 8
.type k,@function
k:
{body}
s_endpgm
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
    .args:{arguments}
    .group_segment_fixed_size: {lds}
    .private_segment_fixed_size: 0
    .kernarg_segment_size: {size}
    .kernarg_segment_align: 8
    .max_flat_workgroup_size: {wave}
    .wavefront_size: {wave}
    .vgpr_count: {vgprs}
    .agpr_count: {agprs}
    .sgpr_count: 100
    .vgpr_spill_count: 0
    .sgpr_spill_count: 0
...
.end_amdgpu_metadata
"""
_ARGUMENT = """
      - .offset: {offset}
        .size: 8
        .value_kind: global_buffer
        .address_space: global"""


def kernel(target: str, wave: int, body: Sequence[str], pointers: int = 0) -> asm.Program:
    """A kernel of one wave; s[0:1] point to its arguments, which are that many pointers. gfx9 has wave64 alone."""
    wave = 64 if generation(target) == "gfx9" else wave
    agprs = VGPRS if arch.target(target).has_agprs else 0
    descriptor = {
        "group_segment_fixed_size": LDS_BYTES,
        "user_sgpr_count": 2,
        "user_sgpr_kernarg_segment_ptr": 1,
        "next_free_vgpr": VGPRS + agprs,
        "next_free_sgpr": 100,
        "float_denorm_mode_32": 3,
        "float_denorm_mode_16_64": 3,
    }
    if generation(target) == "gfx9":
        descriptor["accum_offset"] = VGPRS
    else:
        descriptor["wavefront_size32"] = int(wave == 32)
    text = _FILE.format(
        target=target,
        body="\n".join(body),
        descriptor="\n".join(f".amdhsa_{name} {value}" for name, value in descriptor.items()),
        arguments="".join(_ARGUMENT.format(offset=8 * n) for n in range(pointers)) or " []",
        size=8 * pointers,
        lds=LDS_BYTES,
        wave=wave,
        vgprs=VGPRS + agprs,
        agprs=agprs,
    )
    return asm.parse(text, "check.s")

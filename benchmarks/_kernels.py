"""The kernels that are measured, compiled by Triton into a folder. Imported only to compile: needs Triton."""

# Triton's annotations do not say that constexpr parameters take plain values.
# pyright: reportArgumentType=false

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from antiphase import arch
from antiphase.frontends import compile_kernel
from antiphase.kernels import MI300X
from benchmarks._job import Job

TILE = (128, 128, 64)


@dataclass(frozen=True)
class _Options:
    """How the Triton GEMM is compiled for a target."""

    num_warps: int
    others: Mapping[str, Any] = field(default_factory=dict)


# On gfx942 tinygrad's emulator gets the 16x16 matrix instructions right and the default 32x32 ones wrong.
GEMM_TARGETS = {"gfx1100": _Options(8), "gfx942": _Options(4, {"matrix_instr_nonkdim": 16})}


@triton.jit
def gemm(a, b, c, M, N, K, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr):
    """C[M, N] = A[M, K] @ B[K, N], all sizes multiples of the tile."""
    rows = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    columns = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)
    steps = tl.arange(0, TILE_K)
    a += rows[:, None] * K + steps[None, :]
    b += steps[:, None] * N + columns[None, :]
    total = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for _ in range(0, K, TILE_K):
        total = tl.dot(tl.load(a), tl.load(b), total)
        a += TILE_K
        b += TILE_K * N
    tl.store(c + rows[:, None] * N + columns[None, :], total.to(c.dtype.element_ty))


@triton.jit
def tail_gemm(a, b, c, M, N, K, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr):
    """C[M, N] = A[M, K] @ B[K, N] for any K: the kernel of the cold start, longer than `gemm`."""
    rows = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    columns = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)
    steps = tl.arange(0, TILE_K)
    a += rows[:, None] * K + steps[None, :]
    b += steps[:, None] * N + columns[None, :]
    total = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for k in range(0, K, TILE_K):
        x = tl.load(a, mask=steps[None, :] < K - k, other=0.0)
        y = tl.load(b, mask=steps[:, None] < K - k, other=0.0)
        total = tl.dot(x, y, total)
        a += TILE_K
        b += TILE_K * N
    tl.store(c + rows[:, None] * N + columns[None, :], total.to(c.dtype.element_ty))


@triton.jit
def nothing():
    """Ends at once: launching it compiles what every kernel needs and nothing else."""


def triton_gemm(target: str, size: int, folder: Path, function: Any = gemm) -> Job:
    """A plain Triton f16 GEMM of size^3, which must be a multiple of the tile's 128."""
    tile_m, tile_n, tile_k = TILE
    options = GEMM_TARGETS[target]
    signature = {"a": "*fp16", "b": "*fp16", "c": "*fp16", "M": "i32", "N": "i32", "K": "i32"}
    constants = {"TILE_M": tile_m, "TILE_N": tile_n, "TILE_K": tile_k}
    names = list(function.arg_names)
    # Aligned pointers, sizes that are multiples of 16: what Triton finds out for itself at a launch on a GPU.
    source = ASTSource(
        function,
        {name: signature.get(name, "constexpr") for name in names},
        {(names.index(name),): value for name, value in constants.items()},
        {(names.index(name),): [["tt.divisibility", 16]] for name in signature},
    )
    fused = {"enable_fp_fusion": True, "num_warps": options.num_warps, "num_stages": 2, **options.others}
    gpu = GPUTarget("hip", target, arch.target(target).default_wave_size)
    kernel = triton.compile(source, target=gpu, options=fused)
    text, code_object = folder / f"{kernel.name}.s", folder / f"{kernel.name}.hsaco"
    text.write_text(kernel.asm["amdgcn"])
    code_object.write_bytes(kernel.asm["hsaco"])
    metadata = kernel.metadata
    return Job(
        target=target,
        text=str(text),
        code_object=str(code_object),
        kernel=kernel.name,
        threads=metadata.num_warps * metadata.warp_size,
        lds_bytes=metadata.shared,
        grid=(size // tile_m, size // tile_n, 1),
        m=size,
        n=size,
        k=size,
        dtype="fp16",
        out_dtype="fp16",
        b_by_columns=False,
    )


def mi300x_gemm(m: int, n: int, k: int, folder: Path) -> Job:
    """The project's staged MI300X GEMM, bf16 to fp32. UserError for sizes it does not take."""
    MI300X.check(m, n, k)
    compiled = MI300X.compile("bf16", "fp32")
    text = folder / f"{compiled.name}.s"
    text.write_text(compiled.asm)
    return Job(
        target=compiled.target,
        text=str(text),
        code_object="",
        kernel=compiled.name,
        threads=compiled.threads_per_workgroup,
        lds_bytes=compiled.shared,
        grid=MI300X.grid(m, n),
        m=m,
        n=n,
        k=k,
        dtype="bf16",
        out_dtype="fp32",
        b_by_columns=True,
    )


def empty_kernel(target: str, folder: Path) -> Path:
    """Text of a kernel that only ends."""
    text = folder / "nothing.s"
    text.write_text(compile_kernel(nothing, {}, target=target).asm)
    return text

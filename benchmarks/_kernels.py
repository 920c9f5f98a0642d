"""The kernels that are measured, compiled by Triton into a folder. Imported only to compile: needs Triton."""

# Triton's annotations do not say that constexpr parameters take plain values.
# pyright: reportArgumentType=false

from __future__ import annotations

from collections.abc import Collection, Mapping
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
from benchmarks._job import Job, Softmax


@dataclass(frozen=True)
class Shape:
    """How a Triton GEMM is compiled: its tile (M, N, K), waves of a workgroup, element types, further options."""

    tile: tuple[int, int, int] = (128, 128, 64)
    num_warps: int = 8
    dtype: str = "fp16"
    out_dtype: str = "fp16"
    others: Mapping[str, Any] = field(default_factory=dict)


# On gfx942 tinygrad's emulator gets the 16x16 matrix instructions right and the default 32x32 ones wrong.
_WAVE64 = Shape(num_warps=4, others={"matrix_instr_nonkdim": 16})
# RDNA 3 has no fp8: every element is converted bit by bit.
LARGE = Shape((64, 64, 128), 4, "fp8e4nv", "fp32")
_SOFTMAX_WAVES = 4


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


@triton.jit
def softmax(x, y, columns, SIZE: tl.constexpr):
    """Y[r, :] = softmax(X[r, :]), a program a row of at most SIZE columns."""
    steps = tl.arange(0, SIZE)
    row = tl.program_id(0) * columns
    values = tl.load(x + row + steps, mask=steps < columns, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row + steps, powers / tl.sum(powers, axis=0), mask=steps < columns)


def triton_gemm(target: str, size: int, folder: Path, function: Any = gemm, shape: Shape | None = None) -> Job:
    """A plain Triton GEMM of size^3, which must be a multiple of the tile's sides; f16 with 128x128x64 tiles."""
    if shape is None:
        shape = _WAVE64 if arch.target(target).default_wave_size == 64 else Shape()
    tile_m, tile_n, tile_k = shape.tile
    signature = {"a": f"*{shape.dtype}", "b": f"*{shape.dtype}", "c": f"*{shape.out_dtype}"}
    signature |= {"M": "i32", "N": "i32", "K": "i32"}
    constants = {"TILE_M": tile_m, "TILE_N": tile_n, "TILE_K": tile_k}
    # Aligned pointers, sizes that are multiples of 16: what Triton finds out for itself at a launch on a GPU.
    launch = _compiled(target, function, signature, constants, signature, folder, shape.num_warps, shape.others)
    return Job(
        **launch,
        grid=(size // tile_m, size // tile_n, 1),
        m=size,
        n=size,
        k=size,
        dtype=shape.dtype,
        out_dtype=shape.out_dtype,
        b_by_columns=False,
    )


def triton_softmax(target: str, rows: int, columns: int, folder: Path) -> Softmax:
    """Softmax of `rows` rows."""
    signature = {"x": "*fp32", "y": "*fp32", "columns": "i32"}
    constants = {"SIZE": triton.next_power_of_2(columns)}
    launch = _compiled(target, softmax, signature, constants, ("x", "y"), folder, _SOFTMAX_WAVES, {})
    return Softmax(**launch, grid=(rows, 1, 1), columns=columns)


def _compiled(
    target: str,
    function: Any,
    signature: Mapping[str, str],
    constants: Mapping[str, int],
    aligned: Collection[str],
    folder: Path,
    num_warps: int,
    others: Mapping[str, Any],
) -> dict[str, Any]:
    """Compile into the folder; what a launch needs to know. aligned: arguments that are multiples of 16."""
    names = list(function.arg_names)
    source = ASTSource(
        function,
        {name: signature.get(name, "constexpr") for name in names},
        {(names.index(name),): value for name, value in constants.items()},
        {(names.index(name),): [["tt.divisibility", 16]] for name in aligned},
    )
    options = {"enable_fp_fusion": True, "num_warps": num_warps, "num_stages": 2, **others}
    gpu = GPUTarget("hip", target, arch.target(target).default_wave_size)
    kernel = triton.compile(source, target=gpu, options=options)
    text, code_object = folder / f"{kernel.name}.s", folder / f"{kernel.name}.hsaco"
    text.write_text(kernel.asm["amdgcn"])
    code_object.write_bytes(kernel.asm["hsaco"])
    metadata = kernel.metadata
    return {
        "target": target,
        "text": str(text),
        "code_object": str(code_object),
        "kernel": kernel.name,
        "threads": metadata.num_warps * metadata.warp_size,
        "lds_bytes": metadata.shared,
    }


def mi300x_gemm(m: int, n: int, k: int, folder: Path) -> Job:
    """The project's staged MI300X GEMM, bf16 to fp32. UserError for sizes it does not take."""
    MI300X.check(m, n, k)
    compiled = MI300X.compile("bf16", "fp32")
    text = folder / f"{compiled.name}.s"
    text.write_text(compiled.asm)
    return Job(
        target=compiled.target,
        text=str(text),
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

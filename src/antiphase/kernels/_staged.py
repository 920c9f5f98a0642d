"""What the host knows about a staged GEMM: sizes it takes, how it is launched, which stages its loop has."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from antiphase.errors import UserError

if TYPE_CHECKING:
    from antiphase.frontends import Compiled

_OPERAND_TYPES = {"float16": "fp16", "bfloat16": "bf16"}
_OFFSET_BYTES = 2**31  # buffer instructions take 32-bit offsets, and Triton bounds a buffer at 2 GiB
_XCDS = 8  # accelerator dies of MI300X and of MI350: AMD's CDNA 3 and CDNA 4 white papers


@dataclass(frozen=True)
class Stage:
    """One stage of the loop, as the kernel's `warp_pipeline_stage` declares it."""

    label: str
    kind: Literal["mfma", "memory"]
    priority: int


def _mfma(label: str) -> Stage:
    return Stage(label, "mfma", 0)


def _memory(label: str) -> Stage:
    """Priority above matrix stages: their instructions are few and should be issued at once."""
    return Stage(label, "memory", 1)


@dataclass(frozen=True)
class StagedGemm:
    """A warp-pipelined C = A @ B.T for one target: A is M x K, B is N x K, C is M x N, row-major and dense.

    A and B are fp16 or bf16, both alike; C has their type or fp32. Sums are fp32, rounded once.

    name: of the kernel and of its module.  tile: M, N and K of one workgroup's K-step.
    num_warps: waves of a workgroup; the first half leads, the second half trails by a stage.
    stages: of one iteration of the loop, in the order of the code.
    entered_first: index of the stage that the first rendezvous in the loop body leads into.
    k_steps_per_iteration: K-steps that one loop iteration computes.
    peeled_k_steps: K-steps computed behind the loop.
    k_multiple: K must be a positive multiple of it.  copied_rows: rows that one copy to LDS spans.
    """

    name: str
    target: str
    tile: tuple[int, int, int]
    num_warps: int
    waves_per_simd: int
    stages: tuple[Stage, ...] = field(repr=False)
    entered_first: int
    k_steps_per_iteration: int
    peeled_k_steps: int
    k_multiple: int
    copied_rows: int

    def check(self, m: int, n: int, k: int) -> None:
        """UserError, naming the nearest size that fits, for sizes that the kernel does not take."""
        tile_m, tile_n, _ = self.tile
        for name, size, multiple in (("M", m, tile_m), ("N", n, tile_n), ("K", k, self.k_multiple)):
            if size <= 0 or size % multiple:
                nearest = max(1, -(-size // multiple)) * multiple
                raise UserError(
                    f"{self.name} needs {name} to be a positive multiple of {multiple}, not {size}",
                    remedy=f"pad {name} to {nearest}",
                )
        for name, size, row_bytes in (("K", k, self.copied_rows * 2), ("N", n, tile_m // 2 * 4)):
            if size * row_bytes >= _OFFSET_BYTES:
                raise UserError(
                    f"{self.name} addresses {row_bytes} * {name} bytes with 32 bits, too few for {size}",
                    remedy=f"split {name} into parts below {_OFFSET_BYTES // row_bytes}",
                )

    def grid(self, m: int, n: int) -> tuple[int, int, int]:
        """Workgroups of a launch: one an output tile."""
        return (m // self.tile[0]) * (n // self.tile[1]), 1, 1

    def loop_iterations(self, k: int) -> int:
        """Iterations of the staged loop that every wave runs."""
        return (k // self.tile[2] - self.peeled_k_steps) // self.k_steps_per_iteration

    def stage_after(self, rendezvous: int) -> int:
        """Index of the stage that a wave enters at the given rendezvous of the loop body (counted from 0)."""
        return (self.entered_first + rendezvous) % len(self.stages)

    def compile(
        self, dtype: str = "bf16", out_dtype: str | None = None, *, num_xcds: int = _XCDS, group_m: int = 4
    ) -> Compiled:
        """The kernel for operands of `dtype` ('fp16', 'bf16') and a C of `out_dtype` ('fp32', else `dtype`).

        num_xcds: dies that workgroups are dealt to in turn, 1 to leave tiles in launch order.
        group_m: rows of tiles that are walked together. Both only change which workgroup computes which tile.
        """
        out_dtype = out_dtype or dtype
        if dtype not in _OPERAND_TYPES.values() or out_dtype not in (dtype, "fp32"):
            raise UserError(
                f"{self.name} has no kernel for {dtype} operands and {out_dtype} results",
                remedy="use fp16 or bf16 operands and the same type or fp32 for C",
            )
        if num_xcds < 1 or group_m < 1:
            raise UserError(f"num_xcds = {num_xcds} and group_m = {group_m} must both be at least 1")
        from antiphase.frontends import compile_kernel

        pointers = {"a_ptr": f"*{dtype}", "b_ptr": f"*{dtype}", "c_ptr": f"*{out_dtype}"}
        return compile_kernel(
            self._function(),
            {**pointers, "M": "i32", "N": "i32", "K": "i32"},
            {"NUM_XCDS": num_xcds, "GROUP_M": group_m},
            self.target,
            small_tensors=False,
            num_warps=self.num_warps,
            waves_per_eu=self.waves_per_simd,
            # Left to itself the compiler keeps half the accumulators in AGPRs and moves them to and fro.
            llvm_fn_attrs=(("amdgpu-agpr-alloc", "0"),),
        )

    def _function(self) -> Any:
        """The Gluon function; its module is imported only here, because it needs Triton."""
        try:
            return getattr(import_module(f"{__package__}.{self.name}"), self.name)
        except ModuleNotFoundError as error:
            if error.name != "triton":
                raise
            raise UserError("Triton is not installed", remedy="pip install 'antiphase[triton]'") from error

    def arguments(self, a: Any, b: Any, c: Any) -> tuple[Any, Any, Any, int, int, int]:
        """Launch arguments in order, for arrays (NumPy, torch) whose shapes and types fit; else UserError."""
        for name, matrix in (("A", a), ("B", b), ("C", c)):
            if not (hasattr(matrix, "shape") and hasattr(matrix, "dtype")):
                raise UserError(
                    f"{self.name} takes matrices, and {name} is a {type(matrix).__name__}",
                    remedy="pass arrays of NumPy or tensors of torch",
                )
        if not len(a.shape) == len(b.shape) == len(c.shape) == 2:
            raise UserError(
                f"{self.name} takes matrices, not arrays of {tuple(a.shape)}, {tuple(b.shape)} and {tuple(c.shape)}",
                remedy="A is M x K, B is N x K (stored by columns of the product) and C is M x N",
            )
        (m, k), (n, k_of_b) = a.shape, b.shape
        if k != k_of_b or tuple(c.shape) != (m, n):
            raise UserError(
                f"shapes do not fit: A {m}x{k}, B {n}x{k_of_b}, C {c.shape[0]}x{c.shape[1]}",
                remedy="A is M x K, B is N x K (stored by columns of the product) and C is M x N",
            )
        types = [str(array.dtype).removeprefix("torch.") for array in (a, b, c)]
        if types[0] not in _OPERAND_TYPES or types[1] != types[0] or types[2] not in (types[0], "float32"):
            raise UserError(
                f"{self.name} has no kernel for A {types[0]}, B {types[1]} and C {types[2]}",
                remedy="use float16 or bfloat16 for both operands and the same type or float32 for C",
            )
        self.check(m, n, k)
        return a, b, c, m, n, k


MI300X = StagedGemm(
    name="gemm_mi300x",
    target="gfx942",
    tile=(256, 256, 64),
    num_warps=8,
    waves_per_simd=2,
    stages=(
        *(_memory("read 0"), _mfma("mfma 0"), _memory("read 1"), _mfma("mfma 1")),
        *(_memory("read 2"), _mfma("mfma 2"), _memory("refill"), _mfma("mfma 3")),
    ),
    entered_first=1,
    k_steps_per_iteration=1,
    peeled_k_steps=1,
    k_multiple=64,
    copied_rows=256,
)

_MI350_K_STEP = (
    *(_mfma("mfma TL"), _memory("memory R"), _mfma("mfma TR"), _memory("memory B")),
    *(_mfma("mfma BR"), _memory("memory T"), _mfma("mfma BL"), _memory("memory L")),
)
MI350 = StagedGemm(
    name="gemm_mi350",
    target="gfx950",
    tile=(256, 256, 64),
    num_warps=8,
    waves_per_simd=2,
    stages=_MI350_K_STEP * 2,
    # An asynchronous wait opens the loop body, so its rendezvous stands before the first stage.
    entered_first=0,
    k_steps_per_iteration=2,
    peeled_k_steps=2,
    k_multiple=128,
    copied_rows=128,
)


def for_target(target: str) -> StagedGemm:
    """The staged GEMM written for `target`; UserError where there is none."""
    for gemm in (MI300X, MI350):
        if gemm.target == target:
            return gemm
    raise UserError(f"no staged GEMM for target '{target}'", remedy="choose gfx942 or gfx950")

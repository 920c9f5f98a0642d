"""`tl.dot` products in every type the matrix units take, in several tile shapes and schedules."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import triton
import triton.language as tl

from ._case import BOTH, Case, Expected, exact


@triton.jit
def matmul(
    a, b, c, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ACC: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    at_a = a + rows[:, None] * stride_am + depth[None, :] * stride_ak
    at_b = b + depth[:, None] * stride_bk + columns[None, :] * stride_bn
    total = tl.zeros((BM, BN), dtype=ACC)
    for k in range(0, K, BK):
        x = tl.load(at_a, mask=depth[None, :] < K - k, other=0.0)
        y = tl.load(at_b, mask=depth[:, None] < K - k, other=0.0)
        total = tl.dot(x, y, total, input_precision=PRECISION, out_dtype=ACC)
        at_a += BK * stride_ak
        at_b += BK * stride_bk
    tl.store(c + rows[:, None] * stride_cm + columns[None, :], total.to(c.dtype.element_ty))


_DTYPES: dict[str, Any] = {
    "fp16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "fp32": np.float32,
    "fp64": np.float64,
    "fp8e4nv": ml_dtypes.float8_e4m3fn,
    "fp8e4b8": ml_dtypes.float8_e4m3fnuz,
    "fp8e5": ml_dtypes.float8_e5m2,
    "i8": np.int8,
}
# Error allowed against |a| @ |b|: of the fp32 accumulator, or of xf32, which keeps ten bits of both operands.
_ROUNDING = {"ieee": 2.0**-20, "tf32": 2.0**-9}


def _case(
    kind: str, tile: tuple[int, int, int], warps: int = 4, stages: int = 2, *, label: str = "",
    steps: int = 3, tail: int = 0, precision: str = "ieee", out: Any = None, layout: str = "nn",
    grid: tuple[int, int] = (2, 2), targets: tuple[str, ...] = BOTH, **options: Any,
) -> Case:  # fmt: skip
    BM, BN, BK = tile
    M, N, K = grid[0] * BM, grid[1] * BN, steps * BK + tail
    dtype = _DTYPES[kind]
    integer = kind == "i8"
    result = np.int32 if integer else out or np.float32

    def arguments(rng: np.random.Generator) -> tuple[object, ...]:
        draw = (lambda *s: rng.integers(-128, 128, s)) if integer else (lambda *s: rng.standard_normal(s))
        # "n" keeps an operand's rows together, "t" its columns.
        a = draw(M, K) if layout[0] == "n" else draw(K, M)
        b = draw(K, N) if layout[1] == "n" else draw(N, K)
        strides = ((K, 1) if layout[0] == "n" else (1, M)) + ((N, 1) if layout[1] == "n" else (1, K))
        return a.astype(dtype), b.astype(dtype), np.zeros((M, N), result), K, *strides, N

    def reference(a: np.ndarray, b: np.ndarray, *_: object) -> dict[int, Expected]:
        wide = np.int64 if integer else np.float64
        x = a.astype(wide) if layout[0] == "n" else a.T.astype(wide)
        y = b.astype(wide) if layout[1] == "n" else b.T.astype(wide)
        product = x @ y
        if integer:
            return {2: exact(product.astype(np.int32))}
        store = 0.0 if result == np.float32 else float(ml_dtypes.finfo(result).eps)
        return {2: Expected(product, _ROUNDING[precision] * (np.abs(x) @ np.abs(y)) + np.abs(product) * store)}

    names = [f"dot_{kind}", f"{BM}x{BN}x{BK}", f"w{warps}s{stages}", layout if layout != "nn" else "", label]
    return Case(
        "_".join(filter(None, names)),
        matmul,
        (*grid, 1),
        arguments,
        reference,
        {"BM": BM, "BN": BN, "BK": BK, "ACC": tl.int32 if integer else tl.float32, "PRECISION": precision},
        {"num_warps": warps, "num_stages": stages, **options},
        targets=targets,
    )


CASES = [
    *(_case(kind, (64, 64, 64)) for kind in ("fp16", "bf16", "i8")),
    *(_case(kind, (64, 64, 32)) for kind in ("fp32",)),
    _case("fp32", (64, 64, 32), precision="tf32", targets=("gfx942",), label="tf32"),
    _case("fp8e4b8", (64, 64, 64), targets=("gfx942",)),
    _case("fp8e4b8", (128, 128, 64), 8, targets=("gfx942",)),
    _case("fp8e4nv", (64, 64, 64)),
    _case("fp8e5", (64, 64, 64)),
    _case("fp8e4nv", (64, 64, 128), targets=("gfx950",)),
    _case("fp8e5", (128, 128, 128), 8, targets=("gfx950",)),
    _case("fp16", (16, 16, 16), 1, 1, grid=(3, 2)),
    _case("fp16", (32, 32, 32), 1, 2),
    _case("fp16", (32, 64, 32), 2, 3, tail=16),
    _case("fp16", (64, 64, 32), 4, 1, tail=8, label="tail"),
    _case("fp16", (64, 128, 64), 4, 2, layout="nt"),
    _case("fp16", (64, 64, 64), 4, 2, layout="tn"),
    _case("bf16", (64, 64, 64), 4, 2, layout="tt"),
    _case("bf16", (128, 128, 32), 4, 3),
    _case("bf16", (128, 128, 64), 8, 2, out=ml_dtypes.bfloat16, label="out"),
    _case("fp16", (64, 64, 64), 4, 2, out=np.float16, label="out"),
    _case("fp16", (64, 64, 64), 4, 2, matrix_instr_nonkdim=32, label="mfma32"),
    _case("bf16", (64, 64, 64), 4, 2, matrix_instr_nonkdim=32, label="mfma32"),
    _case("i8", (64, 64, 64), 4, 2, matrix_instr_nonkdim=32, label="mfma32"),
    _case("fp32", (64, 64, 32), 4, 2, matrix_instr_nonkdim=32, label="mfma32"),
    _case("fp8e4b8", (64, 64, 64), matrix_instr_nonkdim=32, label="mfma32", targets=("gfx942",)),
    _case("fp8e4nv", (64, 64, 128), matrix_instr_nonkdim=32, label="mfma32", targets=("gfx950",)),
    _case("fp16", (64, 64, 64), 4, 2, kpack=2, label="kpack2", targets=("gfx942",)),
    _case("i8", (128, 128, 64), 8, 2),
    _case("fp32", (128, 128, 32), 8, 2),
    _case("fp16", (256, 256, 64), 8, 2, grid=(1, 1), label="pingpong"),
    _case("bf16", (256, 128, 64), 8, 2, grid=(1, 1), waves_per_eu=2),
]

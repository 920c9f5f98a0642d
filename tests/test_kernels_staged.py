"""Host side of the staged GEMMs: sizes, launch arguments, stage tables. Nothing here needs Triton."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from antiphase.errors import UserError
from antiphase.kernels import MI300X, MI350, StagedGemm, for_target

BOTH = pytest.mark.parametrize("gemm", [MI300X, MI350], ids=lambda gemm: gemm.target)


def declared_stages(gemm: StagedGemm) -> list[tuple[str, int]]:
    """(label, priority) of every `warp_pipeline_stage` in the kernel's source, in order."""
    spec = find_spec(f"antiphase.kernels.{gemm.name}")
    assert spec is not None and spec.origin is not None
    tree = ast.parse(Path(spec.origin).read_text())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    calls = [call for call in calls if ast.unparse(call.func) == "warp_pipeline_stage"]
    calls.sort(key=lambda call: call.lineno)
    return [(ast.literal_eval(call.args[0]), ast.literal_eval(call.keywords[0].value)) for call in calls]


@BOTH
def test_the_stage_table_is_what_the_source_declares(gemm: StagedGemm) -> None:
    table = [(stage.label, stage.priority) for stage in gemm.stages]
    assert table == declared_stages(gemm) * gemm.k_steps_per_iteration


@BOTH
def test_stages_alternate_and_memory_is_favoured(gemm: StagedGemm) -> None:
    kinds = [stage.kind for stage in gemm.stages]
    assert all(kind != following for kind, following in zip(kinds, kinds[1:] + kinds[:1], strict=True))
    assert {(stage.kind, stage.priority) for stage in gemm.stages} == {("mfma", 0), ("memory", 1)}


@BOTH
def test_importing_needs_no_triton(gemm: StagedGemm) -> None:
    code = "import sys, antiphase.kernels; sys.exit('triton' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_for_target() -> None:
    assert for_target("gfx942") is MI300X
    assert for_target("gfx950") is MI350
    with pytest.raises(UserError, match=r"no staged GEMM for target 'gfx1100'; choose gfx942"):
        for_target("gfx1100")


@pytest.mark.parametrize(
    ("gemm", "k", "iterations"), [(MI300X, 64, 0), (MI300X, 192, 2), (MI350, 128, 0), (MI350, 512, 3)]
)
def test_sizes_that_fit(gemm: StagedGemm, k: int, iterations: int) -> None:
    gemm.check(512, 768, k)
    assert gemm.grid(512, 768) == (6, 1, 1)
    assert gemm.loop_iterations(k) == iterations


@pytest.mark.parametrize(
    ("gemm", "size", "message"),
    [
        (MI300X, (128, 256, 64), "M to be a positive multiple of 256, not 128; pad M to 256"),
        (MI300X, (256, 300, 64), "N to be a positive multiple of 256, not 300; pad N to 512"),
        (MI300X, (256, 256, 0), "K to be a positive multiple of 64, not 0; pad K to 64"),
        (MI350, (256, 256, 192), "K to be a positive multiple of 128, not 192; pad K to 256"),
        (MI300X, (256, 256, 2**22), "split K into parts below 4194304"),
        (MI350, (256, 2**22, 128), "split N into parts below 4194304"),
    ],
)
def test_sizes_that_do_not_fit(gemm: StagedGemm, size: tuple[int, int, int], message: str) -> None:
    with pytest.raises(UserError) as caught:
        gemm.check(*size)
    assert message in str(caught.value)


@BOTH
def test_every_rendezvous_of_the_loop_leads_into_its_own_stage(gemm: StagedGemm) -> None:
    count = len(gemm.stages)
    assert sorted(gemm.stage_after(k) for k in range(count)) == list(range(count))
    assert gemm.stage_after(0) == gemm.entered_first


def matrices(a: type, b: type, c: type) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.zeros((256, 128), a), np.zeros((512, 128), b), np.zeros((256, 512), c)


@BOTH
def test_arguments_are_the_arrays_and_the_sizes(gemm: StagedGemm) -> None:
    a, b, c = matrices(ml_dtypes.bfloat16, ml_dtypes.bfloat16, np.float32)
    arguments = gemm.arguments(a, b, c)
    assert arguments[0] is a and arguments[1] is b and arguments[2] is c
    assert arguments[3:] == (256, 512, 128)


@pytest.mark.parametrize(
    "types",
    [
        (np.float32, np.float32, np.float32),
        (np.float16, ml_dtypes.bfloat16, np.float32),
        (np.float16, np.float16, ml_dtypes.bfloat16),
    ],
)
def test_types_that_do_not_fit(types: tuple[type, type, type]) -> None:
    with pytest.raises(UserError, match="has no kernel for A"):
        MI300X.arguments(*matrices(*types))


def test_shapes_that_do_not_fit() -> None:
    a, b, c = matrices(np.float16, np.float16, np.float16)
    with pytest.raises(UserError, match=r"shapes do not fit: A 256x128, B 128x512, C 256x512"):
        MI300X.arguments(a, b.T, c)
    with pytest.raises(UserError, match=r"takes matrices, not arrays of \(128,\), "):
        MI300X.arguments(a[0], b, c)


@pytest.mark.parametrize(
    ("values", "which"), [(([1], [2], [3]), "A is a list"), ((None, None, None), "A is a NoneType")]
)
def test_what_is_no_matrix(values: tuple[object, object, object], which: str) -> None:
    with pytest.raises(UserError, match=f"gemm_mi300x takes matrices, and {which}; pass arrays of NumPy or tensors"):
        MI300X.arguments(*values)


@pytest.mark.parametrize(("dtype", "out_dtype"), [("fp32", None), ("fp16", "bf16"), ("fp8", "fp32")])
def test_types_without_a_kernel(dtype: str, out_dtype: str | None) -> None:
    with pytest.raises(UserError, match=f"no kernel for {dtype} operands"):
        MI300X.compile(dtype, out_dtype)

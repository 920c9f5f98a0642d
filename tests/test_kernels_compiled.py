"""What the compiler made of the staged GEMMs: registers, LDS, and the loop's stages, borders and waits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from math import prod

import pytest

from antiphase.frontends import Compiled
from antiphase.kernels import MI300X, MI350, StagedGemm

pytest.importorskip("triton")

MATRIX_K = {"gfx942": 16, "gfx950": 32}
LDS_LIMIT = {"gfx942": 64 * 1024, "gfx950": 160 * 1024}
VGPRS_PER_LANE, VGPR_GRANULE = 512, 8  # of one SIMD, on both targets
EVERY = pytest.mark.parametrize(
    ("gemm", "dtype", "out_dtype"),
    [(gemm, dtype, out) for gemm in (MI300X, MI350) for dtype in ("fp16", "bf16") for out in (None, "fp32")],
    ids=lambda value: value.target if isinstance(value, StagedGemm) else str(value),
)
BOTH = pytest.mark.parametrize("gemm", [MI300X, MI350], ids=lambda gemm: gemm.target)


@cache
def compiled(gemm: StagedGemm, dtype: str = "bf16", out_dtype: str | None = None) -> Compiled:
    return gemm.compile(dtype, out_dtype)


def metadata(text: str, key: str) -> int:
    found = re.search(rf"^[\s-]*\.{key}:\s*(\d+)$", text, re.MULTILINE)
    assert found is not None, key
    return int(found[1])


def instructions(text: str) -> list[str]:
    lines = (line.partition(";")[0].strip() for line in text.splitlines())
    return [line for line in lines if line and (line.startswith(".LBB") or not line.startswith("."))]


def loop_body(text: str) -> list[str]:
    """Instructions of the only block that branches back to itself."""
    lines, start, label = instructions(text), 0, ""
    for index, line in enumerate(lines):
        if line.endswith(":"):
            start, label = index + 1, line[:-1]
        elif line.startswith("s_cbranch") and line.split()[1] == label:
            return lines[start : index + 1]
    raise AssertionError("no loop")


@dataclass(frozen=True)
class Segment:
    """Instructions from one rendezvous up to the next."""

    body: list[str]

    @property
    def waits(self) -> str:
        """The waits behind the last memory or matrix instruction: what is complete at the next rendezvous."""
        work = [i for i, line in enumerate(self.body) if line.startswith(("ds_", "buffer_", "v_mfma"))]
        return " ".join(line for line in self.body[work[-1] + 1 :] if line.startswith("s_waitcnt"))

    def count(self, *prefixes: str) -> int:
        return sum(line.startswith(prefixes) for line in self.body)


def segments(gemm: StagedGemm, text: str) -> list[Segment]:
    """The loop body cut at its barriers, in stage order; the piece around the back edge is one segment."""
    pieces: list[list[str]] = [[]]
    for line in loop_body(text):
        if line == "s_barrier":
            pieces.append([])
        else:
            pieces[-1].append(line)
    pieces[-1] += pieces.pop(0)
    return [Segment(pieces[(stage - gemm.entered_first) % len(pieces)]) for stage in range(len(pieces))]


@EVERY
def test_two_waves_fit_a_simd_and_nothing_spills(gemm: StagedGemm, dtype: str, out_dtype: str | None) -> None:
    kernel = compiled(gemm, dtype, out_dtype)
    assert metadata(kernel.asm, "vgpr_spill_count") == 0
    assert metadata(kernel.asm, "sgpr_spill_count") == 0
    assert metadata(kernel.asm, "private_segment_fixed_size") == 0
    assert metadata(kernel.asm, "agpr_count") == 0
    granules = -(-metadata(kernel.asm, "vgpr_count") // VGPR_GRANULE)
    assert VGPRS_PER_LANE // (granules * VGPR_GRANULE) == gemm.waves_per_simd == 2
    assert kernel.num_warps == gemm.num_warps
    assert not any(line.startswith("scratch_") for line in instructions(kernel.asm))


@EVERY
def test_lds(gemm: StagedGemm, dtype: str, out_dtype: str | None) -> None:
    kernel = compiled(gemm, dtype, out_dtype)
    tile_m, tile_n, tile_k = gemm.tile
    slots = 1 if gemm is MI300X else 2
    assert slots * (tile_m + tile_n) * tile_k * 2 <= kernel.shared <= LDS_LIMIT[gemm.target]


@EVERY
def test_one_rendezvous_a_stage(gemm: StagedGemm, dtype: str, out_dtype: str | None) -> None:
    body = loop_body(compiled(gemm, dtype, out_dtype).asm)
    assert body.count("s_barrier") == len(gemm.stages)


@EVERY
def test_matrix_instructions(gemm: StagedGemm, dtype: str, out_dtype: str | None) -> None:
    text = compiled(gemm, dtype, out_dtype).asm
    per_k_step = prod(gemm.tile) // (16 * 16 * MATRIX_K[gemm.target]) // gemm.num_warps
    in_loop = sum(line.startswith("v_mfma") for line in loop_body(text))
    everywhere = sum(line.startswith("v_mfma") for line in instructions(text))
    assert in_loop == per_k_step * gemm.k_steps_per_iteration == 128
    assert everywhere == in_loop + per_k_step * gemm.peeled_k_steps


@EVERY
def test_each_stage_holds_its_own_kind_of_work(gemm: StagedGemm, dtype: str, out_dtype: str | None) -> None:
    for stage, segment in zip(gemm.stages, segments(gemm, compiled(gemm, dtype, out_dtype).asm), strict=True):
        matrix, memory = segment.count("v_mfma"), segment.count("ds_", "buffer_")
        assert (matrix > 0, memory > 0) == (stage.kind == "mfma", stage.kind == "memory"), stage
        if stage.kind == "mfma":
            assert matrix == 128 // (len(gemm.stages) // 2)


@BOTH
def test_priorities(gemm: StagedGemm) -> None:
    # The priority of a stage is set at the end of the one before it.
    text = compiled(gemm).asm
    found = [[int(x.split()[1]) for x in s.body if x.startswith("s_setprio")] for s in segments(gemm, text)]
    following = [*gemm.stages[1:], gemm.stages[0]]
    assert found == [[stage.priority] for stage in following]


@pytest.mark.parametrize("dtype", ["fp16", "bf16"])
def test_mi300x_drains_lds_two_borders_before_the_other_group_depends_on_it(dtype: str) -> None:
    labels = [stage.label for stage in MI300X.stages]
    loop = dict(zip(labels, segments(MI300X, compiled(MI300X, dtype).asm), strict=True))
    assert loop["read 2"].count("ds_read") == 12  # then the refill: WAR
    assert "lgkmcnt(0)" in loop["read 2"].waits
    assert loop["refill"].count("ds_write") == 8  # then the next read 0: RAW
    assert "lgkmcnt(0)" in loop["refill"].waits
    assert sum("lgkmcnt(0)" in segment.waits for segment in loop.values()) == 2
    assert loop["mfma 2"].count("s_waitcnt") == loop["mfma 3"].count("s_waitcnt") == 0


@pytest.mark.parametrize("dtype", ["fp16", "bf16"])
def test_mi350_waits_for_a_copy_one_stage_before_the_stage_that_precedes_its_read(dtype: str) -> None:
    younger_copies, loads_per_copy = 5, 2
    for stage, segment in zip(MI350.stages, segments(MI350, compiled(MI350, dtype).asm), strict=True):
        if stage.kind == "mfma":
            assert segment.waits == ""
        else:
            assert f"vmcnt({younger_copies * loads_per_copy})" in segment.waits
            assert segment.count("buffer_load") == loads_per_copy
            assert segment.count("ds_read") in (4, 8)

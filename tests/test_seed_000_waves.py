"""Seed 000, sections 2 to 4, as whole kernels of both wave sizes: WMMA fragments, masks, EXEC, lanes."""

import ml_dtypes
import numpy as np
import pytest
from _memory_kernels import Kernel
from matrix_harness import DTYPES, PLAIN, product, random_case, record_of, registers_of, result_of

RDNA3 = ("gfx1100", "gfx1101", "gfx1102", "gfx1103")
RDNA35 = ("gfx1150", "gfx1151", "gfx1152", "gfx1153")
RDNA4 = ("gfx1200", "gfx1201")
ALL = (*RDNA3, *RDNA35, *RDNA4)
BOTH_SIZES = pytest.mark.parametrize("lanes", [32, 64])
BOTH_MODES = pytest.mark.parametrize("record", [False, True], ids=["fast", "recording"])


def wmma(
    target: str, line: str, lanes: int, a: np.ndarray, b: np.ndarray, c: np.ndarray, results: int, record: bool = False
) -> np.ndarray:
    """Registers (register, lane) that a WMMA leaves in v[32:...] with A in v[8:...], B in v[16:...], C in v[24:...].

    D starts as C, whose other halves a 16-bit result keeps.
    """
    k = Kernel(target, inputs=3, lanes=lanes, threads=lanes)
    for first, values, base in ((8, a, 10), (16, b, 12), (24, c, 14), (32, c, 14)):
        for i in range(len(values)):
            k(f"global_load_b32 v{first + i}, v1, s[{base}:{base + 1}] offset:{4 * lanes * i}")
    k(f"{k.wait}\n{line}\nv_nop").keep(*(f"v{32 + i}" for i in range(results)))
    return k.run(*(np.ascontiguousarray(x) for x in (a, b, c)), record=record).rows


def span(first: int, count: int) -> str:
    return f"v[{first}:{first + count - 1}]"


def halves(values: np.ndarray) -> np.ndarray:
    """Rows of 16-bit elements as registers of two, the first element low; registers first."""
    words = values.view(np.uint16).astype(np.uint32)
    return (words[:, 0::2] | words[:, 1::2] << 16).T


def fragments(target: str, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A[16, 16] and B[16, 16] as a wave32 operand: section 3, "WMMA coordinate formulas"."""
    lane = np.arange(32)
    q, t = lane // 16, lane % 16
    if target in RDNA4:
        e = np.arange(8)
        k = 4 * q[:, None] + 8 * (e // 4) + e % 4
    else:
        k = np.broadcast_to(np.arange(16), (32, 16))
    return halves(a[t[:, None], k]), halves(b[k, t[:, None]])


def rows_of(target: str) -> np.ndarray:
    """Row of result u of each lane, [lane, u]: section 3, "WMMA coordinate formulas"."""
    q, u = np.arange(32)[:, None] // 16, np.arange(8)
    return 8 * q + u if target in RDNA4 else 2 * u + q


def matrices(kind: type) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Small integers, so that every sum is exact."""
    rng = np.random.default_rng(16)
    a, b, c = (rng.integers(-3, 4, (16, 16)).astype(kind) for _ in range(3))
    return a, b, c


@BOTH_MODES
@pytest.mark.parametrize("target", ALL)
@pytest.mark.parametrize("kind", [np.float16, ml_dtypes.bfloat16], ids=["f16", "bf16"])
def test_wmma_operands_lie_where_the_formulas_say(kind: type, target: str, record: bool) -> None:
    """Section 3: RDNA 3 ISA p. 84, AMD RDNA 3 / 3.5 layouts, RDNA 4 ISA pp. 101-102."""
    a, b, c = matrices(kind)
    left, right = fragments(target, a, b)
    row, column = rows_of(target), np.arange(32)[:, None] % 16
    start = c[row, column].astype(np.float32).T
    name = "f16" if kind is np.float16 else "bf16"
    n = len(left)
    line = f"v_wmma_f32_16x16x16_{name} v[32:39], {span(8, n)}, {span(16, n)}, v[24:31]"
    out = wmma(target, line, 32, left, right, start.view(np.uint32), 8, record).view(np.float32)
    total = a.astype(np.float32) @ b.astype(np.float32) + c.astype(np.float32)
    np.testing.assert_array_equal(out.T, total[row, column])


@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize("target", RDNA3 + RDNA35)
@pytest.mark.parametrize("kind", [np.float16, ml_dtypes.bfloat16], ids=["f16", "bf16"])
def test_opsel_chooses_the_halves_of_16_bit_results(kind: type, target: str, half: int) -> None:
    """Section 3, "FP16/BF16 accumulator and output packing": OPSEL[2], RDNA 3 ISA p. 75, RDNA 3.5 p. 77."""
    a, b, c = matrices(kind)
    left, right = fragments(target, a, b)
    row, column = rows_of(target), np.arange(32)[:, None] % 16
    held = c[row, column].view(np.uint16).astype(np.uint32).T
    start = held << 16 | 0x1234 if half else held | 0x12340000
    name = "f16" if kind is np.float16 else "bf16"
    line = f"v_wmma_{name}_16x16x16_{name} v[32:39], v[8:15], v[16:23], v[24:31] op_sel:[0,0,{half}]"
    out = wmma(target, line, 32, left, right, start, 8)
    total = (a.astype(np.float32) @ b.astype(np.float32) + c.astype(np.float32)).astype(kind)
    np.testing.assert_array_equal((out >> 16 * half & 0xFFFF).T, total[row, column].view(np.uint16))
    assert (out >> 16 * (1 - half) & 0xFFFF == 0x1234).all()


@pytest.mark.parametrize("target", RDNA4)
@pytest.mark.parametrize("kind", [np.float16, ml_dtypes.bfloat16], ids=["f16", "bf16"])
def test_16_bit_results_are_packed_pairs_on_rdna4(kind: type, target: str) -> None:
    """Section 3, "FP16/BF16 accumulator and output packing": RDNA 4 ISA pp. 102, 104."""
    a, b, c = matrices(kind)
    left, right = fragments(target, a, b)
    row, column = rows_of(target), np.arange(32)[:, None] % 16
    name = "f16" if kind is np.float16 else "bf16"
    line = f"v_wmma_{name}_16x16x16_{name} v[32:35], v[8:11], v[16:19], v[24:27]"
    out = wmma(target, line, 32, left, right, halves(c[row, column]), 4)
    total = (a.astype(np.float32) @ b.astype(np.float32) + c.astype(np.float32)).astype(kind)
    np.testing.assert_array_equal(out, halves(total[row, column]))


FORMATS = {
    "RDNA 3 / 3.5": ("f32_16x16x16_f16", "f32_16x16x16_bf16", "i32_16x16x16_iu8", "i32_16x16x16_iu4"),
    "RDNA 4": (
        "f32_16x16x16_f16", "f32_16x16x16_bf16", "i32_16x16x16_iu8", "i32_16x16x16_iu4", "i32_16x16x32_iu4",
        "f32_16x16x16_fp8_fp8", "f32_16x16x16_fp8_bf8", "f32_16x16x16_bf8_fp8", "f32_16x16x16_bf8_bf8",
    ),
}  # fmt: skip


@BOTH_SIZES
@pytest.mark.parametrize(
    ("target", "form"), [(t, f) for t in ALL for f in FORMATS["RDNA 4" if t in RDNA4 else "RDNA 3 / 3.5"]]
)
def test_every_dense_format_in_a_kernel_of_both_wave_sizes(target: str, form: str, lanes: int) -> None:
    """Section 2, "Dense input formats and shapes": RDNA 3 ISA p. 82, RDNA 3.5 p. 84, RDNA 4 p. 100."""
    record = record_of(f"v_wmma_{form}", target)
    a, b, c = random_case(record, PLAIN)
    _, left, right, start = (r[:-1] for r in registers_of(record, PLAIN, a, b, c, lanes))
    operands = (span(32, len(start)), *(_some(first, len(r)) for first, r in ((8, left), (16, right))))
    line = f"v_wmma_{form} {', '.join(operands)}, {span(24, len(start))}"
    out = wmma(target, line, lanes, left, right, start, len(start))
    expected = product(a, b, c).astype(DTYPES[record.acc])
    np.testing.assert_array_equal(result_of(record, PLAIN, np.vstack([out, out[:1]]), lanes), expected)


def _some(first: int, count: int) -> str:
    return f"v{first}" if count == 1 else span(first, count)


# -- EXEC and masks ---------------------------------------------------------------------------------------------


@BOTH_MODES
@BOTH_SIZES
@pytest.mark.parametrize("target", ALL)
def test_masks_are_as_wide_as_the_wave(target: str, lanes: int, record: bool) -> None:
    """Section 6, "Wave sizes": RDNA 3 and 3.5 ISA p. 18, RDNA 4 p. 19."""
    k = Kernel(target, lanes=lanes, threads=lanes)
    mask, exec_, not_ = ("s[20:21]", "exec", "s_not_b64") if lanes == 64 else ("s20", "exec_lo", "s_not_b32")
    k(f"v_cmp_lt_u32 {mask}, 5, v0\nv_mov_b32 v2, 1\n{not_} {exec_}, {mask}\nv_mov_b32 v2, 2\n{not_} {exec_}, {exec_}")
    k(f"v_add_nc_u32 v2, 2, v2\ns_mov_b{lanes} {exec_}, -1\nv_cndmask_b32 v3, 7, v0, {mask}")
    bits = "s_bcnt1_i32_b64" if lanes == 64 else "s_bcnt1_i32_b32"
    k(f"{bits} s22, {mask}\nv_mov_b32 v4, s22\nv_mbcnt_lo_u32_b32 v5, -1, 0\nv_mbcnt_hi_u32_b32 v5, -1, v5")
    rows = k.keep("v2", "v3", "v4", "v5").run(record=record).rows
    lane = np.arange(lanes)
    assert rows[0].tolist() == np.where(lane <= 5, 2, 3).tolist()
    assert rows[1].tolist() == np.where(lane > 5, lane, 7).tolist()
    assert (rows[2] == lanes - 6).all() and rows[3].tolist() == lane.tolist()


@BOTH_SIZES
@pytest.mark.parametrize("target", ALL)
def test_lanes_move_within_rows_in_kernels_of_both_wave_sizes(target: str, lanes: int) -> None:
    """Section 4, "Cross-lane operations": RDNA 3 ISA pp. 432-433, RDNA 3.5 pp. 458-459; the scalar forms on RDNA 4."""
    k = Kernel(target, lanes=lanes, threads=lanes)
    k("v_mov_b32 v3, -1\nv_mov_b32 v4, -1\nv_mov_b32 v5, -1\ns_mov_b32 s20, 0x33333333\ns_mov_b32 s21, 0x76543210")
    k("v_permlane16_b32 v3, v0, s20, s21\nv_permlanex16_b32 v4, v0, s20, s21\nv_mov_b32_dpp v5, v0 row_ror:1")
    k("v_permlane64_b32 v6, v0" if lanes == 64 else "v_mov_b32 v6, v0")
    rows = k.keep("v3", "v4", "v5", "v6").run().rows
    lane = np.arange(lanes)
    row, place = lane // 16, lane % 16
    chosen = np.where(place < 8, 3, place - 8)
    assert rows[0].tolist() == (16 * row + chosen).tolist()
    assert rows[1].tolist() == (16 * (row ^ 1) + chosen).tolist()
    assert rows[2].tolist() == (16 * row + (place - 1) % 16).tolist()
    assert rows[3].tolist() == ((lane ^ 32) if lanes == 64 else lane).tolist()

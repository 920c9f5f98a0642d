"""MI350 (gfx950) GEMM: four quadrants, double-buffered LDS, asynchronous copies. Imported only to compile it.

The 256x256 tile of C is four 128x128 quadrants, so a K-step of 64 needs four half-operands: top and bottom
rows of A, left and right columns of B. Walked in a ring, each quadrant replaces one half-operand only:

    mfma TL    top x left
    memory R   LDS -> VGPR: right, this K-step       copy: top, two K-steps ahead
    mfma TR    top x right
    memory B   LDS -> VGPR: bottom, this K-step      copy: left, two K-steps ahead
    mfma BR    bottom x right
    memory T   LDS -> VGPR: top, next K-step         copy: right, two K-steps ahead
    mfma BL    bottom x left
    memory L   LDS -> VGPR: left, next K-step        copy: bottom, two K-steps ahead

K-step t lives in slot t % 2 of each buffer, which is why the loop holds two K-steps. A copy refills the half
that was read two memory stages before (WAR) and is itself read six memory stages later (RAW). The wait for it
stands before the matrix stage that precedes the read: both groups copy a share, and only so has the trailing
group, a stage behind, waited for its share when the leading group reads. By then there are five younger ones.
"""

# Triton's annotations do not say that constexpr parameters take plain values and that static_range iterates.
# pyright: reportArgumentType=false, reportGeneralTypeIssues=false

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.amd import AMDMFMALayout, hint, warp_pipeline_stage
from triton.experimental.gluon.language.amd.cdna4 import buffer_store, mfma
from triton.experimental.gluon.language.amd.cdna4.async_copy import (
    buffer_load_to_shared,
    commit_group,
    load_shared_relaxed,
    wait_group,
)

from antiphase.kernels._tile_order import tile_of_program

TILE_M = gl.constexpr(256)
TILE_N = gl.constexpr(256)
TILE_K = gl.constexpr(64)
HALF = gl.constexpr(128)
YOUNGER_COPIES = gl.constexpr(5)

# Eight waves as 2 x 4; transposed, so that a lane holds, and stores together, four consecutive columns of C.
ACCUMULATOR = gl.constexpr(AMDMFMALayout(version=4, instr_shape=[16, 16, 32], transposed=True, warps_per_cta=[2, 4]))
LEFT_OPERAND = gl.constexpr(gl.DotOperandLayout(operand_index=0, parent=ACCUMULATOR.value, k_width=8))
RIGHT_OPERAND = gl.constexpr(gl.DotOperandLayout(operand_index=1, parent=ACCUMULATOR.value, k_width=8))

# Where a half-operand [128 rows, 64 of K] sits in LDS, and who copies it. A copy instruction of a wave fills
# 1 KiB of LDS: 16 bytes a lane (8 of K), 8 lanes a row, 8 rows 16 apart. Behind each such block, 32 bytes of
# padding put neighbouring rows, which one LDS read fetches together, into other banks.
_IN_LANE = [[0, 1], [0, 2], [0, 4]]
_LANES = [[0, 8], [0, 16], [0, 32], [16, 0], [32, 0], [64, 0]]
_WAVES = [[1, 0], [2, 0], [4, 0]]
_COPIES = [[8, 0]]
SHARED = gl.constexpr(
    gl.PaddedSharedLayout(
        interval_padding_pairs=[[512, 16]],
        offset_bases=[*_IN_LANE, *_LANES, *_WAVES, *_COPIES],
        cga_layout=[],
        shape=[128, 64],
    )
)
GLOBAL = gl.constexpr(
    gl.DistributedLinearLayout(
        reg_bases=[*_IN_LANE, *_COPIES], lane_bases=_LANES, warp_bases=_WAVES, block_bases=[], shape=[128, 64]
    )
)


@gluon.jit
def _copy(shared, ptr, offsets):
    buffer_load_to_shared(shared, ptr, offsets)
    commit_group()


@gluon.jit
def _read_rows(shared):
    return load_shared_relaxed(shared, LEFT_OPERAND)


@gluon.jit
def _read_columns(shared):
    return load_shared_relaxed(shared.permute([1, 0]), RIGHT_OPERAND)


@gluon.jit
def _staged_k_step(SLOT: gl.constexpr, lds, a_ptr, b_ptr, half, offsets, operands, quadrants):
    """One K-step, eight stages. a_ptr, b_ptr: two K-steps ahead. half: elements between two halves."""
    OTHER: gl.constexpr = 1 - SLOT
    lds_top, lds_bottom, lds_left, lds_right = lds
    top, left = operands
    tl, tr, br, bl = quadrants
    wait_group(YOUNGER_COPIES)
    with warp_pipeline_stage("mfma TL", priority=0):
        tl = mfma(top, left, tl)
    with warp_pipeline_stage("memory R", priority=1):
        right = _read_columns(lds_right.index(SLOT))
        _copy(lds_top.index(SLOT), a_ptr, offsets)
    wait_group(YOUNGER_COPIES)
    with warp_pipeline_stage("mfma TR", priority=0):
        tr = mfma(top, right, tr)
    with warp_pipeline_stage("memory B", priority=1):
        bottom = _read_rows(lds_bottom.index(SLOT))
        _copy(lds_left.index(SLOT), b_ptr, offsets)
    wait_group(YOUNGER_COPIES)
    with warp_pipeline_stage("mfma BR", priority=0):
        br = mfma(bottom, right, br)
    with warp_pipeline_stage("memory T", priority=1):
        top = _read_rows(lds_top.index(OTHER))
        _copy(lds_right.index(SLOT), b_ptr + half, offsets)
    wait_group(YOUNGER_COPIES)
    with warp_pipeline_stage("mfma BL", priority=0):
        bl = mfma(bottom, left, bl)
    with warp_pipeline_stage("memory L", priority=1):
        left = _read_columns(lds_left.index(OTHER))
        _copy(lds_bottom.index(SLOT), a_ptr + half, offsets)
        a_ptr += TILE_K
        b_ptr += TILE_K
    return a_ptr, b_ptr, (top, left), (tl, tr, br, bl)


@gluon.jit
def _last_k_step(SLOT: gl.constexpr, lds, operands, quadrants):
    """One K-step that is all in LDS; the walls keep operands from being read, and held, too early."""
    _, lds_bottom, _, lds_right = lds
    top, left = operands
    tl, tr, br, bl = quadrants
    tl = mfma(top, left, tl)
    hint.sched_barrier()
    right = _read_columns(lds_right.index(SLOT))
    tr = mfma(top, right, tr)
    hint.sched_barrier()
    bottom = _read_rows(lds_bottom.index(SLOT))
    br = mfma(bottom, right, br)
    bl = mfma(bottom, left, bl)
    hint.sched_barrier()
    return tl, tr, br, bl


@gluon.jit
def _store(c_ptr, offsets, accumulator):
    buffer_store(accumulator.to(c_ptr.dtype.element_ty), c_ptr, offsets)


@gluon.jit
def gemm_mi350(a_ptr, b_ptr, c_ptr, M, N, K, NUM_XCDS: gl.constexpr, GROUP_M: gl.constexpr):
    """C[M, N] = A[M, K] @ B[N, K].T, row-major and dense; M, N multiples of 256, K a multiple of 128.

    A and B have one 16-bit type; products accumulate in fp32 and are rounded once to the element type of C.
    One program a 256x256 tile of C. Offsets inside half a tile have 32 bits, so 256 * K must be below 2 Gi.
    """
    # Writing the row lengths as multiples shows their alignment to the compiler: 16-byte accesses need it.
    k_steps = K // TILE_K
    k_stride = k_steps * TILE_K
    n_tiles = N // TILE_N
    n_stride = n_tiles * TILE_N
    tile_m, tile_n = tile_of_program(M // TILE_M, n_tiles, NUM_XCDS, GROUP_M)

    a_ptr += tile_m.to(gl.int64) * TILE_M * k_stride
    b_ptr += tile_n.to(gl.int64) * TILE_N * k_stride
    half = HALF * k_stride
    row = gl.arange(0, HALF, layout=gl.SliceLayout(1, GLOBAL))
    column = gl.arange(0, TILE_K, layout=gl.SliceLayout(0, GLOBAL))
    offsets = row[:, None] * k_stride + column[None, :]

    lds_top = gl.allocate_shared_memory(a_ptr.dtype.element_ty, [2, HALF, TILE_K], SHARED)
    lds_bottom = gl.allocate_shared_memory(a_ptr.dtype.element_ty, [2, HALF, TILE_K], SHARED)
    lds_left = gl.allocate_shared_memory(b_ptr.dtype.element_ty, [2, HALF, TILE_K], SHARED)
    lds_right = gl.allocate_shared_memory(b_ptr.dtype.element_ty, [2, HALF, TILE_K], SHARED)
    for slot in gl.static_range(2):
        _copy(lds_top.index(slot), a_ptr, offsets)
        _copy(lds_left.index(slot), b_ptr, offsets)
        _copy(lds_right.index(slot), b_ptr + half, offsets)
        _copy(lds_bottom.index(slot), a_ptr + half, offsets)
        a_ptr += TILE_K
        b_ptr += TILE_K

    zero = gl.zeros([HALF, HALF], gl.float32, ACCUMULATOR)
    quadrants = (zero, zero, zero, zero)
    lds = (lds_top, lds_bottom, lds_left, lds_right)
    # Of the eight copies, the six younger ones may still be under way.
    wait_group(6)
    operands = (_read_rows(lds_top.index(0)), _read_columns(lds_left.index(0)))
    for _ in range(0, k_steps - 2, 2):
        a_ptr, b_ptr, operands, quadrants = _staged_k_step(0, lds, a_ptr, b_ptr, half, offsets, operands, quadrants)
        a_ptr, b_ptr, operands, quadrants = _staged_k_step(1, lds, a_ptr, b_ptr, half, offsets, operands, quadrants)

    # Both remaining K-steps are in LDS or on the way; the groups are together again.
    wait_group(0)
    quadrants = _last_k_step(0, lds, operands, quadrants)
    operands = (_read_rows(lds_top.index(1)), _read_columns(lds_left.index(1)))
    tl, tr, br, bl = _last_k_step(1, lds, operands, quadrants)

    c_ptr += tile_m.to(gl.int64) * TILE_M * n_stride + tile_n * TILE_N
    row = gl.arange(0, HALF, layout=gl.SliceLayout(1, ACCUMULATOR))
    column = gl.arange(0, HALF, layout=gl.SliceLayout(0, ACCUMULATOR))
    offsets = row[:, None] * n_stride + column[None, :]
    _store(c_ptr, offsets, tl)
    _store(c_ptr + HALF, offsets, tr)
    c_ptr += HALF * n_stride
    _store(c_ptr, offsets, bl)
    _store(c_ptr + HALF, offsets, br)

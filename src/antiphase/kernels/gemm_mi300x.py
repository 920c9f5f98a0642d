"""MI300X (gfx942) GEMM: one LDS buffer, the next tile held in VGPRs. Imported only to compile it.

A K-step is a 256x256x64 product cut into four: two K-halves (the first and the last 32 columns of a tile)
times two row-halves (the top and the bottom 128 rows). A memory stage prepares each matrix stage:

    read 0     LDS -> VGPR: top rows and columns of B, first K-half   next A tile: global -> VGPR
    mfma 0     top, first K-half
    read 1     LDS -> VGPR: bottom rows, first K-half                 next B tile: global -> VGPR
    mfma 1     bottom, first K-half
    read 2     LDS -> VGPR: all rows and columns of B, last K-half    (the last read of this tile)
    mfma 2     top, last K-half
    refill     VGPR -> LDS: next A and B tiles
    mfma 3     bottom, last K-half

Why one buffer is enough: with one group a stage behind, an access of that group is ordered before one of the
other if two borders lie between them and the first access is complete at the first border. `read 2` is that
far from `refill` (WAR), and `refill` that far from the next `read 0` (RAW).
"""

# Triton's annotations do not say that constexpr parameters take plain values and that static_range iterates.
# pyright: reportArgumentType=false, reportGeneralTypeIssues=false

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.amd import AMDMFMALayout, hint, warp_pipeline_stage
from triton.experimental.gluon.language.amd.cdna3 import buffer_load, buffer_store, mfma

from antiphase.kernels._tile_order import tile_of_program

TILE_M = gl.constexpr(256)
TILE_N = gl.constexpr(256)
TILE_K = gl.constexpr(64)
HALF_M = gl.constexpr(128)
HALF_K = gl.constexpr(32)

# Eight waves as 2 x 4; transposed, so that a lane holds, and stores together, four consecutive columns of C.
ACCUMULATOR = gl.constexpr(AMDMFMALayout(version=3, instr_shape=[16, 16, 16], transposed=True, warps_per_cta=[2, 4]))
LEFT = gl.constexpr(gl.DotOperandLayout(operand_index=0, parent=ACCUMULATOR.value, k_width=8))
RIGHT = gl.constexpr(gl.DotOperandLayout(operand_index=1, parent=ACCUMULATOR.value, k_width=8))
# A row is 128 bytes, all 32 LDS banks: XOR-ing its eight 16-byte chunks by row spreads a column over them.
SHARED = gl.constexpr(gl.SwizzledSharedLayout(vec=8, per_phase=1, max_phase=8, order=[1, 0]))
# 16 bytes a lane and eight lanes a row: a wave loads eight whole rows.
GLOBAL = gl.constexpr(
    gl.BlockedLayout(size_per_thread=[1, 8], threads_per_warp=[8, 8], warps_per_cta=[8, 1], order=[1, 0])
)


@gluon.jit
def _read_left(shared, row: gl.constexpr, rows: gl.constexpr, k: gl.constexpr):
    return shared.slice(row, rows, 0).slice(k, HALF_K, 1).load(LEFT)


@gluon.jit
def _read_right(shared, k: gl.constexpr):
    return shared.slice(k, HALF_K, 1).permute([1, 0]).load(RIGHT)


@gluon.jit
def _store_half(c_ptr, offsets, accumulator):
    buffer_store(accumulator.to(c_ptr.dtype.element_ty), c_ptr, offsets)


@gluon.jit
def gemm_mi300x(a_ptr, b_ptr, c_ptr, M, N, K, NUM_XCDS: gl.constexpr, GROUP_M: gl.constexpr):
    """C[M, N] = A[M, K] @ B[N, K].T, row-major and dense; M, N multiples of 256, K a positive multiple of 64.

    A and B have one 16-bit type; products accumulate in fp32 and are rounded once to the element type of C.
    One program a 256x256 tile of C. Offsets inside a tile are 32 bits: 512 * K bytes must stay below 2 GiB.
    """
    # Writing the row lengths as multiples shows their alignment to the compiler: 16-byte accesses need it.
    k_steps = K // TILE_K
    k_stride = k_steps * TILE_K
    n_tiles = N // TILE_N
    n_stride = n_tiles * TILE_N
    tile_m, tile_n = tile_of_program(M // TILE_M, n_tiles, NUM_XCDS, GROUP_M)

    a_ptr += tile_m.to(gl.int64) * TILE_M * k_stride
    b_ptr += tile_n.to(gl.int64) * TILE_N * k_stride
    row = gl.arange(0, TILE_M, layout=gl.SliceLayout(1, GLOBAL))
    column = gl.arange(0, TILE_K, layout=gl.SliceLayout(0, GLOBAL))
    offsets = row[:, None] * k_stride + column[None, :]

    a_shared = gl.allocate_shared_memory(a_ptr.dtype.element_ty, [TILE_M, TILE_K], SHARED)
    b_shared = gl.allocate_shared_memory(b_ptr.dtype.element_ty, [TILE_N, TILE_K], SHARED)
    a_next = buffer_load(a_ptr, offsets)
    b_next = buffer_load(b_ptr, offsets)
    a_shared.store(a_next)
    b_shared.store(b_next)

    top = gl.zeros([HALF_M, TILE_N], gl.float32, ACCUMULATOR)
    bottom = gl.zeros([HALF_M, TILE_N], gl.float32, ACCUMULATOR)
    for _ in range(1, k_steps):
        with warp_pipeline_stage("read 0", priority=1):
            a_ptr += TILE_K
            b_ptr += TILE_K
            b = _read_right(b_shared, 0)
            a = _read_left(a_shared, 0, HALF_M, 0)
            a_next = buffer_load(a_ptr, offsets)
        with warp_pipeline_stage("mfma 0", priority=0):
            top = mfma(a, b, top)
        with warp_pipeline_stage("read 1", priority=1):
            a = _read_left(a_shared, HALF_M, HALF_M, 0)
            b_next = buffer_load(b_ptr, offsets)
        with warp_pipeline_stage("mfma 1", priority=0):
            bottom = mfma(a, b, bottom)
        with warp_pipeline_stage("read 2", priority=1):
            b = _read_right(b_shared, HALF_K)
            a = _read_left(a_shared, 0, HALF_M, HALF_K)
            a_bottom = _read_left(a_shared, HALF_M, HALF_M, HALF_K)
        with warp_pipeline_stage("mfma 2", priority=0):
            top = mfma(a, b, top)
        with warp_pipeline_stage("refill", priority=1):
            a_shared.store(a_next)
            b_shared.store(b_next)
        with warp_pipeline_stage("mfma 3", priority=0):
            bottom = mfma(a_bottom, b, bottom)

    # The last tile is in LDS and nothing is left to fetch; the groups are together again.
    # The walls keep operands from being read, and held, too early.
    for k in gl.static_range(0, TILE_K, HALF_K):
        b = _read_right(b_shared, k)
        top = mfma(_read_left(a_shared, 0, HALF_M, k), b, top)
        bottom = mfma(_read_left(a_shared, HALF_M, HALF_M, k), b, bottom)
        hint.sched_barrier()

    c_ptr += tile_m.to(gl.int64) * TILE_M * n_stride + tile_n * TILE_N
    row = gl.arange(0, HALF_M, layout=gl.SliceLayout(1, ACCUMULATOR))
    column = gl.arange(0, TILE_N, layout=gl.SliceLayout(0, ACCUMULATOR))
    offsets = row[:, None] * n_stride + column[None, :]
    _store_half(c_ptr, offsets, top)
    _store_half(c_ptr + HALF_M * n_stride, offsets, bottom)

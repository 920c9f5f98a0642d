"""Which output tile a program computes. Imported only when compiling: needs Triton."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def tile_of_program(m_tiles, n_tiles, NUM_XCDS: gl.constexpr, GROUP_M: gl.constexpr):
    """(row, column) of this program's tile in an m_tiles x n_tiles grid of tiles; every tile exactly once.

    NUM_XCDS: accelerator dies that workgroups are dealt to in turn. Programs of one die get neighbouring
    tiles, so that they share operands in its L2 cache; 1 leaves the order as launched.
    GROUP_M: tile rows walked together, column by column, again for cache sharing; 1 is row-major order.
    """
    program = gl.program_id(0)
    if NUM_XCDS > 1:
        programs = m_tiles * n_tiles
        die = program % NUM_XCDS
        # The first `programs % NUM_XCDS` dies received one program more than the others.
        first = die * (programs // NUM_XCDS) + gl.minimum(die, programs % NUM_XCDS)
        program = first + program // NUM_XCDS
    first_row = program // (GROUP_M * n_tiles) * GROUP_M
    rows = gl.minimum(m_tiles - first_row, GROUP_M)
    within = program % (GROUP_M * n_tiles)
    return first_row + within % rows, within // rows

"""Relative moves: M0 adds to register numbers (AMD RDNA3 ISA 3.3.1.4, 3.3.2.2 and 7.8; CDNA3 ISA 3.6.1 and 12.3)."""

from __future__ import annotations

import numpy as np
import pytest
from _asm import Snippet
from _memory_kernels import Kernel

from antiphase.errors import Unsupported

VECTOR = ("gfx1100", "gfx1151", "gfx1201", "gfx1250")
on_vector_targets = pytest.mark.parametrize("target", VECTOR)
on_all_targets = pytest.mark.parametrize("target", ("gfx942", "gfx950", *VECTOR))
BOTH_MODES = pytest.mark.parametrize("record", [False, True], ids=["fast", "recording"])
EVEN = 0x55555555


def kernel(target: str) -> Kernel | Snippet:
    return Snippet(target=target) if target.startswith("gfx9") else Kernel(target)


def scalars(target: str, body: str, *kept: str) -> list[int]:
    """SGPRs that a body leaves, where s20 to s35 held 100 to 115 and s0 held 7."""
    k = kernel(target)
    k(
        "s_mov_b32 s0, 7\ns_mov_b32 s1, 8\n"
        + "\n".join(f"s_mov_b32 s{20 + i}, {100 + i}" for i in range(16))
        + "\n"
        + body
    )
    for name in kept:
        k(f"v_mov_b32 v9, {name}")
        k.keep("v9")
    rows = k.run().rows
    return rows.reshape(len(kept), -1)[:, 0].tolist()


@on_all_targets
def test_scalar_sources_and_results(target: str) -> None:
    body = """s_mov_b32 m0, 10
              s_nop 0
              s_movrels_b32 s40, s21
              s_movreld_b32 s23, s20
              s_movrels_b64 s[42:43], s[24:25]
              s_movreld_b64 s[20:21], 5"""
    kept = ("s40", "s33", "s42", "s43", "s30", "s31", "s21")
    assert scalars(target, body, *kept) == [111, 100, 114, 115, 5, 0, 101]


@on_all_targets
def test_an_index_below_zero_reaches_lower_scalars_and_pairs_ignore_its_lowest_bit(target: str) -> None:
    """The sum has 32 bits; RDNA3 ISA 3.3.1.3: "For *MOVREL*_B64, the LSB of the index is also ignored"."""
    body = """s_mov_b32 m0, -3
              s_nop 0
              s_movrels_b32 s40, s25
              s_mov_b32 m0, 3
              s_nop 0
              s_movrels_b64 s[42:43], s[20:21]
              s_movreld_b64 s[24:25], 9"""
    assert scalars(target, body, "s40", "s42", "s43", "s26", "s27", "s28") == [102, 102, 103, 9, 0, 108]


@on_all_targets
def test_scalars_out_of_range(target: str) -> None:
    """A source is s0 (s[0:1] for a pair), a result is dropped."""
    body = """s_mov_b32 m0, 1000
              s_nop 0
              s_movrels_b32 s40, s20
              s_movrels_b64 s[42:43], s[20:21]
              s_movreld_b32 s20, 1
              s_movreld_b64 s[22:23], 2"""
    assert scalars(target, body, "s40", "s42", "s43", "s20", "s22") == [7, 7, 8, 100, 102]


@pytest.mark.parametrize(("target", "found"), [("gfx942", [7, 7]), ("gfx1100", [99, 98]), ("gfx1250", [99, 98])])
def test_vcc_lies_behind_the_scalars_from_gfx11_on(target: str, found: list[int]) -> None:
    body = """s_mov_b32 vcc_lo, 99
              s_mov_b32 vcc_hi, 98
              s_mov_b32 m0, 86
              s_nop 0
              s_movrels_b32 s40, s20
              s_movrels_b32 s41, s21"""
    assert scalars(target, body, "s40", "s41") == found


@on_vector_targets
def test_vcc_as_the_first_register_has_its_upper_half_behind_it_and_nothing_else(target: str) -> None:
    body = """s_mov_b32 vcc_hi, 98
              s_mov_b32 m0, 1
              s_movrels_b32 s40, vcc_lo
              s_movrels_b32 s41, vcc_hi
              s_movreld_b32 vcc_lo, 55"""
    assert scalars(target, body, "s40", "s41", "vcc_hi") == [98, 7, 55]


@on_vector_targets
def test_two_indices_of_scalars(target: str) -> None:
    """Bits 9:0 of M0 for the source, 25:16 for the result; all other bits are ignored."""
    body = f"""s_mov_b32 m0, {0xFC00FC00 | 4 << 16 | 10:#x}
               s_movrelsd_2_b32 s22, s21"""
    assert scalars(target, body, "s26", "s22") == [111, 102]


@pytest.mark.parametrize("line", ["s_movrels_b32 s40, m0", "s_movreld_b32 exec_lo, s20", "s_movrels_b32 s40, null"])
def test_other_registers_are_not_addressed(line: str) -> None:
    """RDNA3 ISA 3.3.1.4: all others must not be indexed."""
    with pytest.raises(Unsupported, match="relative to M0"):
        scalars("gfx1100", line)


def vectors(target: str, body: str, count: int = 8, lanes: int = 32, record: bool = False) -> np.ndarray:
    """v[10:17] after a body, a row a register; they held 100 * number + lane, and EXEC has all lanes at the end."""
    k = Kernel(target, lanes=lanes, threads=lanes)
    k("\n".join(f"v_add_nc_u32 v{10 + i}, {1000 + 100 * i}, v0" for i in range(8)) + "\n" + body)
    k.keep(*(f"v{10 + i}" for i in range(count)))
    return k.run(record=record).rows


def filled(lanes: int = 32) -> np.ndarray:
    return (1000 + 100 * np.arange(8)[:, None] + np.arange(lanes)).astype(np.uint32)


@on_vector_targets
@BOTH_MODES
def test_vector_moves_in_active_lanes(target: str, record: bool) -> None:
    active = np.arange(32) % 2 == 0
    rows = vectors(
        target,
        f"""s_mov_b32 exec_lo, {EVEN:#x}
            s_mov_b32 m0, 3
            v_movrels_b32 v10, v12
            v_movreld_b32 v11, v16
            v_movrelsd_b32 v13, v14""",
        record=record,
    )
    expected = filled()
    for to, source in ((0, 5), (4, 6), (6, 7)):
        expected[to, active] = expected[source, active]
    assert np.array_equal(rows, expected)


@on_vector_targets
@pytest.mark.parametrize("upper", [0, 0xFC00FC00])
def test_a_move_and_an_exchange_with_two_indices(target: str, upper: int) -> None:
    active = np.arange(32) % 2 == 0
    rows = vectors(
        target,
        f"""s_mov_b32 exec_lo, {EVEN:#x}
            s_mov_b32 m0, {upper | 2 << 16 | 4:#x}
            v_movrelsd_2_b32 v10, v11
            v_swaprel_b32 v11, v13""",
    )
    expected = filled()
    expected[2, active] = expected[5, active]
    expected[3, active], expected[7, active] = expected[7, active], expected[3, active]
    assert np.array_equal(rows, expected)


@pytest.mark.parametrize("target", ["gfx1100", "gfx1201"])
def test_waves_of_64_lanes(target: str) -> None:
    rows = vectors(target, "s_mov_b32 m0, 5\nv_movrels_b32 v11, v12\nv_movreld_b32 v10, v16", lanes=64)
    expected = filled(64)
    expected[1], expected[5] = expected[7], expected[6]
    assert np.array_equal(rows, expected)


@on_vector_targets
def test_constants_and_scalars_go_to_addressed_registers(target: str) -> None:
    rows = vectors(target, "s_mov_b32 m0, 1\nv_movreld_b32 v10, 0x4d\ns_mov_b32 s20, 78\nv_movreld_b32 v11, s20")
    assert (rows[1] == 77).all() and (rows[2] == 78).all() and np.array_equal(rows[0], filled()[0])


@on_vector_targets
def test_lanes_move_on_the_way(target: str) -> None:
    rows = vectors(target, "s_mov_b32 m0, 4\nv_movrels_b32_dpp v10, v11 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf")
    assert np.array_equal(rows[0], filled()[5][np.arange(32) ^ 1])


@on_vector_targets
@pytest.mark.parametrize("index", [118, 250, 256, 1 << 20, 0xFFFFFFFF, -10])
def test_vectors_out_of_range(target: str, index: int) -> None:
    """Of 128 VGPRs: v0 is the source, a result is dropped; an index has no sign."""
    body = f"s_mov_b32 m0, {index & 0xFFFFFFFF:#x}\nv_movrels_b32 v10, v11\nv_movreld_b32 v12, v13"
    body += "\nv_movrelsd_b32 v14, v15"
    expected = filled()
    expected[0] = np.arange(32)
    assert np.array_equal(vectors(target, body), expected)


@on_vector_targets
def test_the_last_vgpr_is_in_range(target: str) -> None:
    rows = vectors(target, "s_mov_b32 m0, 115\nv_movreld_b32 v12, 5\ns_mov_b32 m0, 116\nv_movrels_b32 v10, v11", 1)
    assert (rows == 5).all()


@on_vector_targets
@pytest.mark.parametrize("m0", [118 << 16, 118, 1023, 1023 << 16])
def test_an_exchange_out_of_range_on_either_side_is_dropped(target: str, m0: int) -> None:
    """RDNA3 ISA 3.3.2.2: both operands of V_SWAPREL are results."""
    assert np.array_equal(vectors(target, f"s_mov_b32 m0, {m0:#x}\nv_swaprel_b32 v10, v11"), filled())


def test_the_upper_bits_of_vgpr_numbers_count_before_the_index_is_added() -> None:
    """AMD CDNA5 ISA 3.3.2.3: the MSBs apply to V_MOVREL, and sequential VGPRs may cross the 255/256 boundary."""
    k = Kernel("gfx1250", descriptor={"next_free_vgpr": 1024})
    k("s_set_vgpr_msb 0x40\nv_mov_b32 v4, 11\ns_set_vgpr_msb 0\nv_mov_b32 v20, 12\ns_mov_b32 m0, 10")
    k("v_movrels_b32 v10, v250\ns_set_vgpr_msb 0x81\nv_movreld_b32 v250, v4\ns_set_vgpr_msb 3\nv_mov_b32 v11, v4")
    k("s_mov_b32 m0, 1024\nv_movrels_b32 v12, v0\ns_set_vgpr_msb 0\ns_mov_b32 m0, 256\nv_movrels_b32 v13, v4")
    rows = k.keep("v10", "v11", "v12", "v13").run().rows
    assert (rows[[0, 1, 3]] == 11).all() and np.array_equal(rows[2], np.arange(32))

"""Lane movement on GFX11, GFX12 and gfx1250: seed 000, section 4, "Cross-lane operations"."""

from __future__ import annotations

import numpy as np
import pytest
from _wave import Wave

RNG = np.random.default_rng(11)
SELECTORS = [3, 0, 15, 7, 8, 3, 1, 2, 14, 13, 12, 5, 6, 9, 10, 11]


def pattern() -> tuple[int, int]:
    """The 64-bit selector pattern as two scalars."""
    word = sum(s << 4 * i for i, s in enumerate(SELECTORS))
    return word & 0xFFFFFFFF, word >> 32


WAVES = [(t, n) for t in ("gfx1100", "gfx1151", "gfx1201") for n in (32, 64)] + [("gfx1250", 32)]


@pytest.mark.parametrize(("target", "lanes"), WAVES)
@pytest.mark.parametrize("name", ["v_permlane16_b32", "v_permlanex16_b32"])
def test_seed_000_section_4_row_permutes(name: str, lanes: int, target: str) -> None:
    low, high = pattern()
    x = np.arange(lanes) + 100
    flip = 16 if "x16" in name else 0
    source = np.array([(i & ~15 ^ flip) + SELECTORS[i & 15] for i in range(lanes)])
    wave = Wave(target, lanes, v1=x, v2=7, s4=low, s5=high).run(f"{name} v2, v1, s4, s5")
    np.testing.assert_array_equal(wave["v2"], x[source])

    # inactive sources: kept without bound control, 0 with it, read with fetch-inactive
    off = 0b1000_1000  # lanes 3 and 7
    exec_ = 0xFFFFFFFF & ~off
    here = np.array([i >= 32 or bool(exec_ >> i & 1) for i in range(lanes)])
    active = np.array([i >= 32 or bool(exec_ >> i & 1) for i in source.tolist()])
    for controls, absent in (("", 7), (" op_sel:[0,1]", 0), (" op_sel:[1,0]", None), (" op_sel:[1,1]", None)):
        wave = Wave(target, lanes, v1=x, v2=7, s4=low, s5=high, exec_lo=exec_)
        wave.run(f"{name} v2, v1, s4, s5{controls}")
        fetched = x[source] if absent is None else np.where(active, x[source], absent)
        np.testing.assert_array_equal(wave["v2"], np.where(here, fetched, 7))


def test_seed_000_section_4_examples() -> None:
    """Selector 3 at places 5: L3 to L5 and L19 to L21 in rows, L19 to L5 and L3 to L21 across them."""
    low, high = pattern()
    wave = Wave("gfx1100", 32, v1=np.arange(32), s4=low, s5=high)
    wave.run("v_permlane16_b32 v2, v1, s4, s5\nv_permlanex16_b32 v3, v1, s4, s5")
    assert (wave["v2"][5], wave["v2"][21], wave["v3"][5], wave["v3"][21]) == (3, 19, 19, 3)
    selectors = np.zeros(32)
    selectors[5], selectors[21] = 3, 7
    wave = Wave("gfx1201", 32, v1=np.arange(32), v4=selectors).run("v_permlane16_var_b32 v2, v1, v4")
    assert (wave["v2"][5], wave["v2"][21]) == (3, 23)


@pytest.mark.parametrize("lanes", [32, 64])
def test_variable_selectors_use_their_low_four_bits(lanes: int) -> None:
    x, selector = np.arange(lanes) + 100, RNG.integers(0, 1 << 32, lanes)
    wave = Wave("gfx1200", lanes, v1=x, v4=selector)
    wave.run("v_permlane16_var_b32 v2, v1, v4\nv_permlanex16_var_b32 v3, v1, v4")
    row, pick = np.arange(lanes) & ~15, (selector & 15).astype(int)
    np.testing.assert_array_equal(wave["v2"], x[row + pick])
    np.testing.assert_array_equal(wave["v3"], x[(row ^ 16) + pick])


def test_halves_change_places_in_wave64_alone() -> None:
    x, old = np.arange(64), np.arange(64) + 100
    swap = "v_permlane64_b32 v2, v1"
    np.testing.assert_array_equal(Wave("gfx1100", 64, v1=x, v2=old).run(swap)["v2"], x ^ 32)
    np.testing.assert_array_equal(Wave("gfx1100", 32, v1=x[:32], v2=old[:32]).run(swap)["v2"], old[:32])


def test_row_swap_of_gfx1250() -> None:
    lane = np.arange(32)
    wave = Wave("gfx1250", 32, v1=lane + 100, v2=lane + 200).run("v_permlane16_swap_b32 v1, v2")
    np.testing.assert_array_equal(wave["v1"], np.where(lane < 16, lane + 100, lane + 184))
    np.testing.assert_array_equal(wave["v2"], np.where(lane < 16, lane + 116, lane + 200))


@pytest.mark.parametrize(("width", "distance"), [(32, 5), (16, 3), (8, 2), (4, 1)])
def test_group_permutes_of_gfx1250(width: int, distance: int) -> None:
    lane = np.arange(32)
    base, place = lane & -width, lane & (width - 1)
    wave = Wave("gfx1250", 32, v1=lane + 100, v3=lane * 3 + 1, s4=distance, s5=width).run(
        """v_permlane_bcast_b32 v10, v1, s4, s5
        v_permlane_up_b32 v11, v1, s4, s5
        v_permlane_down_b32 v12, v1, s4, s5
        v_permlane_xor_b32 v13, v1, s4, s5
        v_permlane_idx_gen_b32 v14, v3, s5"""
    )
    np.testing.assert_array_equal(wave["v10"], base + distance + 100)
    np.testing.assert_array_equal(wave["v11"], np.where(place < distance, lane, lane - distance) + 100)
    np.testing.assert_array_equal(wave["v12"], np.where(place + distance < width, lane + distance, lane) + 100)
    np.testing.assert_array_equal(wave["v13"], (lane ^ distance) + 100)
    np.testing.assert_array_equal(wave["v14"], (base + ((lane * 3 + 1) & (width - 1))) * 4)


@pytest.mark.parametrize("width", [4, 8, 16, 32])
@pytest.mark.parametrize("number", [0, 1, 7, 8, 20, 31, 32, 40, 1 << 31])
def test_group_permutes_of_gfx1250_at_the_ends_of_groups(width: int, number: int) -> None:
    """AMD CDNA5 ISA 15.14: who would leave its group keeps its own value, but a flipped number may reach an earlier
    one. Inactive lanes are read."""
    lane = np.arange(32)
    base, place = lane & -width, lane & (width - 1)
    wave = Wave("gfx1250", 32, v1=lane + 100, v10=7, v11=7, v12=7, v13=7, s4=number, s5=width, exec_lo=0xFFFF0FFF)
    wave.run("\n".join(f"v_permlane_{kind}_b32 v{10 + i}, v1, s4, s5" for i, kind in enumerate(KINDS)))
    flipped = lane ^ (number & 63)
    expected = {
        "bcast": base + (number & (width - 1)),
        "up": np.where(place < number, lane, lane - number),
        "down": np.where(place + number < width, lane + number, lane),
        "xor": np.where((flipped < base + width) & (number < 32), flipped, lane),
    }
    on = (0xFFFF0FFF >> lane & 1).astype(bool)
    for i, kind in enumerate(KINDS):
        np.testing.assert_array_equal(wave[f"v{10 + i}"], np.where(on, expected[kind] + 100, 7), kind)


KINDS = ("bcast", "up", "down", "xor")


def test_single_lanes_in_wave32_take_five_bits_of_their_number() -> None:
    lane = np.arange(32)
    wave = Wave("gfx1100", 32, v1=lane + 100, v2=0, s4=35, s5=9).run(
        "v_readlane_b32 s6, v1, s4\nv_writelane_b32 v2, s5, s4\nv_readfirstlane_b32 s7, v1"
    )
    assert (wave["s6"], wave["s7"]) == (103, 100)
    np.testing.assert_array_equal(wave["v2"], np.where(lane == 3, 9, 0))


def test_dpp8_reads_zero_from_inactive_lanes_unless_they_are_fetched() -> None:
    lane = np.arange(32)
    order = [3, 0, 5, 2, 7, 4, 1, 6]
    source = (lane & ~7) + np.array(order)[lane & 7]
    x, y = 1000 + 7 * lane, 50000 + lane
    on = lane % 3 != 0
    exec_ = int(sum(1 << int(i) for i in lane[on]))
    for suffix, taken in (("", np.where(on[source], x[source], 0)), (" fi:1", x[source])):
        wave = Wave("gfx1100", 32, v1=x, v2=y, v3=5, exec_lo=exec_)
        wave.run(f"v_add_nc_u32_dpp v3, v1, v2 dpp8:{order}{suffix}".replace(", ", ",").replace(",v", ", v"))
        np.testing.assert_array_equal(wave["v3"], np.where(on, taken + y, 5))


def test_row_share_and_row_xmask() -> None:
    lane = np.arange(32)
    wave = Wave("gfx1201", 32, v1=lane + 100, v2=0).run(
        """v_mov_b32_dpp v3, v1 row_share:5 row_mask:0xf bank_mask:0xf
        v_mov_b32_dpp v4, v1 row_xmask:6 row_mask:0xf bank_mask:0xf"""
    )
    np.testing.assert_array_equal(wave["v3"], (lane & ~15) + 105)
    np.testing.assert_array_equal(wave["v4"], (lane ^ 6) + 100)


def test_compare_and_mask_writes_exec_alone() -> None:
    lane = np.arange(32)
    wave = Wave("gfx1100", 32, v1=lane, v2=10, vcc_lo=0x55, exec_lo=0xFFFF00FF)
    wave.run("v_cmpx_gt_u32_e32 v2, v1")
    assert (wave["exec_lo"], wave["exec_hi"], wave["vcc_lo"]) == (0xFF, 0, 0x55)
    wave = Wave("gfx1201", 64, v1=np.arange(64), v2=40).run("v_cmpx_le_u32_e64 v2, v1")
    assert (wave["exec_lo"], wave["exec_hi"]) == (0, 0xFFFFFF00)

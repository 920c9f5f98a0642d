"""`bank`: how many accesses the phases of an LDS instruction take."""

from __future__ import annotations

import pytest
from _asm import Snippet

from antiphase.checks import Finding
from antiphase.checks.bank import check_banks
from antiphase.checks.bank._phases import phases


def banks(body: str, target: str = "gfx942") -> list[Finding]:
    k = Snippet(target=target, lds=65536)
    k(body)
    recording = k.run(record=True).execution.recording
    assert recording is not None
    return check_banks(recording)


@pytest.mark.parametrize(
    ("stride", "ways_942", "ways_950"),
    [(0, 1, 1), (4, 1, 1), (8, 2, 2), (128, 32, 32), (132, 1, 1), (256, 32, 64)],
)
@pytest.mark.parametrize("target", ["gfx942", "gfx950"])
def test_strides_of_dword_reads(target: str, stride: int, ways_942: int, ways_950: int) -> None:
    """Phases of 32 lanes on 32 banks, and of 64 lanes on 64 banks."""
    found = banks(f"v_mul_u32_u24 v2, {stride}, v0\nds_read_b32 v4, v2\n", target)
    ways = ways_942 if target == "gfx942" else ways_950
    assert [f.facts["ways"] for f in found] == ([] if ways == 1 else [ways])
    if found and target == "gfx942":
        assert found[0].count == 2 * (ways - 1) and found[0].facts["steps"] == (stride,)


def test_wide_reads_are_served_in_scattered_phases() -> None:
    """Lanes 0 to 3 and 20 to 23 of gfx942 are together, not 0 to 7."""
    rows = "v_lshrrev_b32 v2, 2, v0\nv_and_b32 v3, 3, v0\nv_lshlrev_b32 v3, 4, v3\n"
    # four lanes fill half of the banks; those served with them are five rows of 128 bytes further on
    assert not banks("v_lshlrev_b32 v2, 4, v0\nds_read_b128 v[4:7], v2\n")
    (finding,) = banks(rows + "v_lshlrev_b32 v2, 7, v2\nv_add_u32 v2, v2, v3\nds_read_b128 v[4:7], v2\n")
    assert finding.facts["ways"] == 2 and finding.facts["phases"] == 8


def test_inactive_lanes_take_no_bank() -> None:
    assert not banks("s_mov_b64 exec, 1\nv_mul_u32_u24 v2, 0x80, v0\nds_read_b32 v4, v2\n")


@pytest.mark.parametrize("target", ["gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250"])
def test_phases_serve_each_lane_once(target: str) -> None:
    lanes = 64 if target.startswith("gfx9") else 32
    found = [phases(target, access, bits, lanes) for access in ("load", "store") for bits in (8, 32, 64, 96, 128)]
    assert any(found)
    for known in filter(None, found):
        assert sorted(lane for phase in known.lanes for lane in phase) == list(range(lanes))

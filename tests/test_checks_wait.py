"""`wait`: registers used while a memory operation that writes them is outstanding, on every path of a kernel."""

from __future__ import annotations

import pytest
from _asm import FILE
from corpus import CASES

from antiphase import asm
from antiphase.checks import Finding, check_waits
from antiphase.kernels import for_target


def program(body: str, target: str = "gfx942") -> asm.Program:
    return asm.parse(
        FILE.format(target=target, body=body + "\ns_endpgm", descriptor="", args="    []", lds=0, scratch=0, size=0)
        .replace(".args:\n    []", ".args: []"),
        "k.s",
    )  # fmt: skip


def found(body: str, target: str = "gfx942") -> list[Finding]:
    p = program(body, target)
    return check_waits(p, p.kernel())


def fix(body: str, target: str = "gfx942") -> tuple[str, ...]:
    """The insertion that the one finding asks for, which must make it go away."""
    (finding,) = found(body, target)
    assert finding.fix is not None
    p = program(body, target)
    at = finding.fix.instruction
    inserted = [asm.parse_instruction(text) for text in finding.fix.text]
    mended = p.edit({at: [*inserted, p.kernel().instructions[at]]})
    assert not check_waits(mended, mended.kernel())
    return finding.fix.text


LOAD = "global_load_dword v{}, v[0:1], off\n"
DS, SMEM, B32 = "ds_read_b32 v2, v0\n", "s_load_dword s4, s[0:1], 0x0\n", "global_load_b32 v2, v[0:1], off\n"
LOADS = LOAD.format(2) + LOAD.format(3) + LOAD.format(4)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (LOADS + "v_mov_b32 v9, v2", "s_waitcnt vmcnt(2)"),
        (LOADS + "v_mov_b32 v9, v3", "s_waitcnt vmcnt(1)"),
        (LOADS + "v_mov_b32 v9, v4", "s_waitcnt vmcnt(0)"),
        (LOADS + "s_waitcnt vmcnt(1)\nv_mov_b32 v9, v4", "s_waitcnt vmcnt(0)"),
        (LOADS + "s_waitcnt lgkmcnt(0)\nv_mov_b32 v9, v4", "s_waitcnt vmcnt(0)"),
        (LOAD.format(2) + "global_store_dword v[0:1], v7, off\nv_mov_b32 v9, v2", "s_waitcnt vmcnt(1)"),
        (LOAD.format(2) + "v_mov_b32 v2, 0", "s_waitcnt vmcnt(0)"),
        (DS + SMEM + "s_waitcnt lgkmcnt(1)\ns_mov_b32 s5, s4", "s_waitcnt lgkmcnt(0)"),
        (DS + SMEM + "v_mov_b32 v9, v2", "s_waitcnt lgkmcnt(0)"),
        ("s_load_dword s4, s[0:1], 0x0\ns_add_u32 s5, s4, 1", "s_waitcnt lgkmcnt(0)"),
        ("buffer_load_dword v2, off, s[0:3], 0\nv_mfma_f32_16x16x4_f32 v[4:7], v2, v3, v[4:7]", "s_waitcnt vmcnt(0)"),
        ("global_atomic_add v2, v[0:1], v3, off sc0\nv_mov_b32 v4, v2", "s_waitcnt vmcnt(0)"),
    ],
)  # fmt: skip
def test_the_wait_that_is_missing(body: str, expected: str) -> None:
    assert fix(body) == (expected,)


@pytest.mark.parametrize(
    "body",
    [
        LOADS + "s_waitcnt vmcnt(2)\nv_mov_b32 v9, v2\ns_waitcnt vmcnt(0)\nv_mov_b32 v9, v4",
        LOADS + "s_waitcnt 0x0f70\nv_mov_b32 v9, v4",
        # the same vector memory unit writes its registers in order
        LOAD.format(2) + LOAD.format(2) + "s_waitcnt vmcnt(0)\nv_mov_b32 v9, v2",
        # what a store reads may be overwritten at once
        "global_store_dword v[0:1], v7, off\nv_mov_b32 v7, 0",
        # sixteen LDS operations: the counter holds fifteen, so that the first is done
        "".join(f"ds_read_b32 v{i}, v0\n" for i in range(2, 18)) + "v_mov_b32 v30, v2",
        # a scalar load says nothing of the order of LDS operations
        "ds_read_b32 v2, v0\nds_read_b32 v3, v0\ns_waitcnt lgkmcnt(1)\nv_mov_b32 v9, v2",
        # the half of a register that a 16-bit load leaves alone
        "global_load_short_d16_hi v2, v[0:1], off\nv_cvt_f32_f16 v9, v3\ns_waitcnt vmcnt(0)\nv_mov_b32 v4, v2",
    ],
)
def test_enough_is_clean(body: str) -> None:
    assert found(body) == []


def test_one_path_without_the_wait_is_enough() -> None:
    body = LOAD.format(2) + "s_cbranch_scc1 .Lskip\ns_waitcnt vmcnt(0)\n.Lskip:\nv_mov_b32 v9, v2"
    (finding,) = found(body)
    assert finding.facts["count"] == 0 and finding.facts["registers"] == ("v2",)


def test_a_load_of_the_last_iteration_is_still_outstanding() -> None:
    body = ".Lloop:\nv_mov_b32 v9, v2\n" + LOAD.format(2) + "s_cbranch_scc1 .Lloop"
    (finding,) = found(body)
    assert [site.instruction for site in finding.sites] == [1, 0]


@pytest.mark.parametrize(
    ("target", "body", "expected"),
    [
        ("gfx1100", B32 + "global_store_b32 v[0:1], v7, off\nv_mov_b32 v9, v2", "s_waitcnt vmcnt(0)"),
        ("gfx1201", B32 + "v_mov_b32 v9, v2", "s_wait_loadcnt 0"),
        ("gfx1201", "ds_load_b32 v2, v0\nds_load_b32 v3, v0\nv_mov_b32 v9, v2", "s_wait_dscnt 1"),
        # GFX12 does not write VGPRs in order
        ("gfx1201", B32 + "global_load_b32 v2, v[0:1], off offset:4", "s_wait_loadcnt 0"),
        ("gfx1250", "s_load_b32 s4, s[0:1], 0x0\ns_add_co_u32 s5, s4, 1", "s_wait_kmcnt 0"),
    ],
)  # fmt: skip
def test_counters_of_other_targets(target: str, body: str, expected: str) -> None:
    assert fix(body, target) == (expected,)


def test_registers_are_those_that_s_set_vgpr_msb_selects() -> None:
    other_bank = "s_set_vgpr_msb 0x40\nv_mov_b32 v2, 0\ns_set_vgpr_msb 0\n"
    assert found(B32 + other_bank + "s_wait_loadcnt 0\nv_mov_b32 v9, v2", "gfx1250") == []
    assert found(B32 + other_bank.replace("0x40", "0"), "gfx1250")[0].facts["registers"] == ("v2",)


@pytest.mark.parametrize("target", ["gfx942", "gfx950"])
def test_every_register_wait_of_the_staged_gemm_is_needed_and_there(target: str) -> None:
    p = for_target(target).compile().program
    assert check_waits(p, p.kernel()) == []
    waits = [i for i, one in enumerate(p.kernel().instructions) if one.mnemonic == "s_waitcnt"]
    caught = sum(bool(check_waits(q := p.without(i), q.kernel())) for i in waits)
    # the others order LDS, which a recording shows
    assert caught >= 0.75 * len(waits)


@pytest.mark.parametrize("target", ["gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250"])
def test_compiled_kernels_are_clean(target: str) -> None:
    for case in CASES[:: 12 if target.startswith("gfx9") else 24]:
        if target not in case.targets and case.targets != ("gfx942", "gfx950"):
            continue
        p = case.compile(target).program
        assert check_waits(p, p.kernel()) == [], str(case)


@pytest.mark.parametrize(
    ("mode", "expert"),
    [
        ("hwreg(HW_REG_WAVE_SCHED_MODE, 0, 2), 2", True),
        ("hwreg(26, 0, 2), 2", True),
        ("0x81a, 2", True),
        ("hwreg(26, 1, 1), 1", True),
        ("hwreg(26, 0, 2), 0", False),
        ("hwreg(26, 0, 1), 1", False),
    ],
)
def test_expert_mode_is_known_however_its_register_is_written(mode: str, expert: bool) -> None:
    body = f"s_setreg_imm32_b32 {mode}\nv_add_nc_u32 v6, v1, v1\nglobal_store_b32 v[0:1], v6, off"
    assert [f.rule for f in found(body, "gfx1201")] == ["result_not_written"] * expert


def test_what_a_called_function_may_have_waited_for_is_no_finding() -> None:
    call = "s_swappc_b64 s[30:31], s[20:21]\n"
    assert not found(LOAD.format(2) + call + "v_mov_b32 v9, v2")
    assert found(call + LOAD.format(2) + "v_mov_b32 v9, v2")


@pytest.mark.parametrize("waits", [True, False])
def test_a_called_function_is_followed(waits: bool) -> None:
    wait = "s_waitcnt vmcnt(0)\n" * waits
    there = f"s_branch .Lend\n.Lthere:\n{wait}s_setpc_b64 s[30:31]\n.Lend:"
    calls = f"s_call_b64 s[30:31], .Lthere\nv_mov_b32 v9, v2\n{there}"
    assert bool(found(LOAD.format(2) + calls)) is not waits


@pytest.mark.parametrize("target", ["gfx1100", "gfx1151"])
def test_a_flat_load_and_a_younger_global_load_write_one_register_in_order(target: str) -> None:
    body = "flat_load_b32 v2, v[0:1]\ns_waitcnt lgkmcnt(0)\nglobal_load_b32 v2, v[0:1], off"
    assert not found(body, target)
    # without the wait what may come from LDS is still on its way
    assert found(body.replace("s_waitcnt lgkmcnt(0)\n", ""), target)


def test_behind_the_wait_at_a_barrier_its_signal_has_told_who_was_first() -> None:
    signal, wait, use = "s_barrier_signal_isfirst -1", "s_barrier_wait -1", "s_cselect_b32 s2, 1, 0"
    assert found(f"{signal}\n{use}", "gfx1201")
    assert not found(f"{signal}\n{wait}\n{use}", "gfx1201")

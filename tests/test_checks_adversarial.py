"""Correct kernels changed as people's kernels went wrong: each change is found. And kernels written to defeat checks.

The numbers S1-S24 and the controls C1-C8 are those of the project's collection of field reports.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from _asm import Snippet
from test_checks_planted import checked, found
from test_machine_memory_transfers import Descriptor, issue
from test_machine_memory_transfers import kernel as tensor_kernel

from antiphase import asm
from antiphase.checks import check_execution, check_program
from antiphase.errors import UserError

DONE, BARRIER, USE = "s_waitcnt lgkmcnt(0)\n", "s_barrier\n", "v_add_u32 v5, v4, v4\n"
WRITE, READ_OTHER = "ds_write_b32 v1, v0\n", "ds_read_b32 v4, v2\n"
EXCHANGE = WRITE + "{}" + READ_OTHER + DONE + USE
MEET = "s_barrier_signal -1\ns_barrier_wait -1\n"
EXCHANGE12 = "{}" + MEET + "ds_load_b32 v4, v2\ns_wait_dscnt 0x0\nv_add_nc_u32 v5, v4, v4\n"
STORE12, ASYNC = "ds_store_b32 v1, v0\n", "global_load_async_to_lds_b32 v1, v1, s[10:11]\n"
PUBLISH = "global_store_b32 v1, v0, s[10:11]\n{}global_load_b32 v4, v2, s[10:11]\n"
TO_LDS = "s_mov_b32 m0, s17\nv_and_b32 v7, 0xff, v1\ns_nop 0\nglobal_load_lds_dword v7, s[10:11]\n"
LOAD = "global_load_dword v4, v1, s[10:11]\n"
SCALARS = "s_load_dword s20, s[10:11], 0x0\ns_load_dword s21, s[10:11], 0x4\n{}s_add_u32 s22, s20, 1\n"
SCALARS12 = "s_load_b32 s20, s[10:11], 0x0\ns_load_b32 s21, s[10:11], 0x4\n{}s_add_co_u32 s22, s20, 1\n"
FLAT = "v_mov_b32 v6, s10\nv_mov_b32 v7, s11\nflat_load_dword v4, v[6:7]\n{}" + USE
STEP = "ds_write_b32 v1, v0 offset:{0}\n" + DONE + BARRIER + "ds_read_b32 v4, v2 offset:{0}\n" + DONE
ROLE = "s_cmp_eq_u32 s16, 0\ns_cbranch_scc0 .Lother\n{}s_branch .Lend\n.Lother:\n{}.Lend:\n"
XDL4 = "v_mfma_f32_4x4x4_16b_f16 v[20:23], v[40:41], v[42:43], v[20:23]\n"
XDL16 = "v_mfma_f32_16x16x16_f16 v[20:23], v[40:41], v[42:43], v[20:23]\n"
FP4 = "v_mfma_f32_16x16x128_f8f6f4 v[20:23], v[40:43], v[48:51], v[20:23] cbsz:4 blgp:4\n{}v_add_f32 v5, v20, v21\n"
FP8 = "v_mfma_f32_16x16x128_f8f6f4 v[20:23], v[40:47], v[48:55], v[20:23]\n{}v_add_f32 v5, v20, v21\n"
SLOW = "v_mfma_f32_32x32x4_2b_f16 v[20:51], v[52:53], v[54:55], 0\ns_nop 15\n{}v_add_f32 v5, v20, v21\n"
WMMA = "v_wmma_f32_16x16x32_f16 v[16:23], v[40:47], v[48:55], v[16:23]\n{}v_add_f32 v5, v16, v17\n"
WMMA11 = "v_wmma_f32_16x16x16_f16 v[10:17], v[40:47], v[48:55], v[10:17]\n{}"
WMMA11 += "v_wmma_f32_16x16x16_f16 v[60:67], v[10:17], v[48:55], v[60:67]\n"
WMMA_C = "v_wmma_bf16f32_16x16x32_bf16 v[16:19], v[40:47], v[48:55], v[60:67]\n{}v_mov_b32 v60, v90\n"
MSB = "v_nop\nv_nop\ns_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 0, 4), 0\n{}s_set_vgpr_msb 0\n"
EXPERT = "s_setreg_imm32_b32 hwreg(HW_REG_WAVE_SCHED_MODE, 0, 2), 2\n"
EXPERT_RESULT = EXPERT + "v_add_nc_u32 v6, v1, v1\n{}global_store_b32 v6, v0, s[10:11]\n"
EXPERT_SOURCE = EXPERT + "global_store_b32 v1, v0, s[10:11]\n{}v_mov_b32 v1, 0\n"
EXPERT_LOADED = EXPERT + "v_add_nc_u32 v6, v4, v1\n{}global_load_b32 v4, v1, s[10:11]\ns_wait_loadcnt 0x0\n"
EXPERT_MATRIX = EXPERT + "v_wmma_f32_16x16x32_f16 v[16:23], v[40:47], v[56:63], v[16:23]\n{}"
EXPERT_MATRIX += "global_load_b32 v56, v1, s[10:11]\ns_wait_loadcnt 0x0"
REPLAY = "v_mov_b32 v6, v1\ns_cmp_eq_u32 s16, 7\nglobal_load_b32 v4, v6, s[10:11]\n{}v_mov_b32 v6, 0\n"
REPLAY += "s_wait_loadcnt 0x0\n.Lelse:\n"
B32_TWICE = "global_load_b32 v4, v1, s[10:11]\nglobal_load_b32 v4, v1, s[10:11] offset:4\n"


@dataclass(frozen=True)
class Change:
    """clean, then what it became; found: the finding it must give at least."""

    target: str
    clean: str
    changed: str
    found: tuple[str, str]


COMPLETION, RENDEZVOUS = ("race", "missing_completion"), ("race", "missing_rendezvous")
EARLY = ("wait", "read_before_wait")
CHANGES = {
    "S1 LDS-DMA": Change(
        "gfx950", TO_LDS + "s_waitcnt vmcnt(0)\n" + BARRIER + READ_OTHER + DONE + USE,
        TO_LDS + BARRIER + "s_waitcnt vmcnt(0)\n" + READ_OTHER + DONE + USE, COMPLETION,
    ),
    "S1 async": Change(
        "gfx1250", EXCHANGE12.format(ASYNC + "s_wait_asynccnt 0x0\n"),
        EXCHANGE12.format(ASYNC).replace("ds_load", "s_wait_asynccnt 0x0\nds_load"), COMPLETION,
    ),
    "S2": Change(
        "gfx942", STEP.format(0) + BARRIER + WRITE, STEP.format(0).removesuffix(DONE) + BARRIER + DONE + WRITE,
        COMPLETION,
    ),
    "S3 vmcnt for lgkmcnt": Change(
        "gfx942", EXCHANGE.format(DONE + BARRIER), EXCHANGE.format("s_waitcnt vmcnt(0)\n" + BARRIER), COMPLETION,
    ),
    "S3 asynccnt for dscnt": Change(
        "gfx1250", EXCHANGE12.format(STORE12 + "s_wait_dscnt 0x0\n"),
        EXCHANGE12.format(STORE12 + "s_wait_asynccnt 0x0\n"), COMPLETION,
    ),
    "S3 loadcnt for storecnt": Change(
        "gfx1201", PUBLISH.format("s_wait_storecnt 0x0\n" + MEET), PUBLISH.format("s_wait_loadcnt 0x0\n" + MEET),
        COMPLETION,
    ),
    "S4": Change(
        "gfx942", STEP.format(0) + STEP.format(512) + STEP.format(0), STEP.format(0) * 3, RENDEZVOUS,
    ),
    "S5": Change(
        "gfx942", ROLE.format(BARRIER * 2, BARRIER * 2), ROLE.format(BARRIER * 2, BARRIER), ("sync", "uneven_arrivals"),
    ),
    "S6": Change("gfx942", EXCHANGE.format(DONE + BARRIER), EXCHANGE.format(DONE), RENDEZVOUS),
    "S7": Change("gfx1201", MEET, "s_barrier_signal -1\n" + MEET, ("sync", "signal_without_wait")),
    "S8 of a register": Change(
        "gfx942", LOAD + LOAD.replace("v4", "v6") + "s_waitcnt vmcnt(1)\n" + USE,
        LOAD + LOAD.replace("v4", "v6") + "s_waitcnt vmcnt(2)\n" + USE, EARLY,
    ),
    "S8 of a copy": Change(
        "gfx950", TO_LDS + LOAD.replace("v4", "v8") + "s_waitcnt vmcnt(1)\n" + BARRIER + READ_OTHER + DONE,
        TO_LDS + LOAD.replace("v4", "v8") + "s_waitcnt vmcnt(2)\n" + BARRIER + READ_OTHER + DONE, COMPLETION,
    ),
    "S9 va_vdst": Change(
        "gfx1250", EXPERT_RESULT.format("s_wait_alu depctr_va_vdst(0)\n"), EXPERT_RESULT.format(""),
        ("wait", "result_not_written"),
    ),
    "S9 va_vdst of a source": Change(
        "gfx1250", EXPERT_LOADED.format("s_wait_alu depctr_va_vdst(0)\n"), EXPERT_LOADED.format(""),
        ("wait", "source_not_read"),
    ),
    "S9 va_vdst of a matrix source": Change(
        "gfx1250", EXPERT_MATRIX.format("s_wait_alu depctr_va_vdst(0)\n"), EXPERT_MATRIX.format(""),
        ("wait", "source_not_read"),
    ),
    "S9 vm_vsrc": Change(
        "gfx1201", EXPERT_SOURCE.format("s_wait_alu depctr_vm_vsrc(0)\n"), EXPERT_SOURCE.format(""),
        ("wait", "source_not_read"),
    ),
    "S10": Change(
        "gfx942", XDL4 + "s_nop 1\n" + XDL4, XDL4 + "s_nop 1\n" + XDL16, ("spacing", "xdl_to_xdl_c_other_passes"),
    ),
    "S11": Change("gfx950", FP4.format("s_nop 7\n"), FP8.format("s_nop 7\n"), ("spacing", "xdl_to_valu")),
    "S12": Change("gfx950", SLOW.format("s_nop 3\n"), SLOW.format("s_nop 2\n"), ("spacing", "xdl_to_valu")),
    "S13": Change(
        "gfx1250", WMMA.format("v_nop\n" * 4), WMMA.format("v_nop\n" * 3), ("spacing", "wmma_registers_to_valu"),
    ),
    "S14": Change("gfx1100", WMMA11.format("v_nop\n"), WMMA11.format("s_nop 15\n"), ("spacing", "wmma_to_wmma_ab")),
    "S15": Change(
        "gfx1250", WMMA_C.format("v_nop\n" * 4), WMMA_C.format(""), ("spacing", "wmma_c_overwritten_by_valu"),
    ),
    "S16": Change("gfx942", LOAD + "s_waitcnt vmcnt(0)\n" + USE, LOAD + USE + "s_waitcnt vmcnt(0)\n", EARLY),
    "S17": Change("gfx942", SCALARS.format(DONE), SCALARS.format("s_waitcnt lgkmcnt(1)\n"), EARLY),
    "S17 kmcnt": Change(
        "gfx1201", SCALARS12.format("s_wait_kmcnt 0x0\n"), SCALARS12.format("s_wait_kmcnt 0x1\n"), EARLY,
    ),
    "S18 vmcnt": Change("gfx942", FLAT.format("s_waitcnt vmcnt(0) lgkmcnt(0)\n"), FLAT.format(DONE), EARLY),
    "S18 lgkmcnt": Change(
        "gfx942", FLAT.format("s_waitcnt vmcnt(0) lgkmcnt(0)\n"), FLAT.format("s_waitcnt vmcnt(0)\n"), EARLY,
    ),
    "S20": Change(
        "gfx942", LOAD + "s_waitcnt 0x0f70\n" + USE, LOAD + "s_waitcnt 0xcf7f\n" + USE, EARLY,
    ),
    "S21": Change("gfx1250", MSB.format("s_nop 0\n"), MSB.format(""), ("spacing", "vgpr_msb_after_setreg_mode")),
    "S22": Change(
        "gfx1250", REPLAY.format("s_wait_xcnt 0x0\n"), REPLAY.format("s_cbranch_scc1 .Lelse\n"),
        ("wait", "source_not_translated"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_turns_clean_into_a_finding(name: str) -> None:
    change = CHANGES[name]
    assert found(change.target, change.clean) == set()
    assert change.found in found(change.target, change.changed)


@pytest.mark.parametrize(("left", "rules"), [(0, set()), (1, {"missing_completion", "missing_wait"})])
def test_s19_a_read_across_the_border_of_two_tensor_loads(left: int, rules: set[str]) -> None:
    k = tensor_kernel(1)
    k.threads = 64
    for first in (0, 32):
        k("s_mov_b32 exec_lo, -1")
        issue(k, Descriptor(lds=4 * first, tensor=(32,), tile=(32,)), "tensor_load_to_lds", 10, 2)
    k(f"s_wait_tensorcnt {left}\n" + MEET + "v_lshlrev_b32 v3, 1, v1\nv_and_b32 v3, 0xf8, v3\n")
    k("ds_load_b64 v[4:5], v3\ns_wait_dscnt 0x0")
    recording = k.run(np.zeros(4096, np.uint32), record=True).execution
    found = [f for f in check_execution(recording, ["race"]).checked.findings if f.severity == "error"]
    assert {f.rule for f in found} == rules
    assert all(f.facts["bytes"] == (128, 136) or f.facts["bytes"][0] >= 128 for f in found)  # type: ignore[index]


def test_s23_registers_of_two_loads_are_written_in_order_up_to_gfx11_only() -> None:
    assert found("gfx1100", B32_TWICE + "s_waitcnt vmcnt(0)") == set()
    assert found("gfx1201", B32_TWICE + "s_wait_loadcnt 0x0") == {("wait", "overwritten_before_wait")}


def test_s24_a_copy_that_is_larger_than_the_lds() -> None:
    body = TO_LDS + "s_waitcnt vmcnt(0)"
    assert found("gfx950", body, lds=512) == set()
    assert found("gfx950", body, lds=384) == {("mem", "outside_lds")}


CONTROLS = {
    "C1 a full counter": (
        "gfx942", WRITE + "ds_read_b32 v4, v1\n" + "ds_read_b32 v6, v1\n" * 15 + "s_waitcnt lgkmcnt(15)\n" + USE,
    ),
    "C2 LDS of one wave is in order": ("gfx942", WRITE + "ds_read_b32 v4, v1\n" + DONE + USE),
    "C3 storecnt": ("gfx1250", EXPERT_SOURCE.format("s_wait_storecnt 0x0\n")),
    "C3 xcnt": ("gfx1250", EXPERT_SOURCE.format("s_wait_xcnt 0x0\n")),
    "C4 partial vm_vsrc": (
        "gfx1201", EXPERT + "ds_bpermute_b32 v4, v1, v0\nds_bpermute_b32 v5, v2, v0\n"
        "s_wait_alu depctr_vm_vsrc(1)\nv_mov_b32 v1, 0\ns_wait_dscnt 0x0",
    ),
    "C5 D to C of one type": (
        "gfx1250", "v_wmma_f32_16x16x32_f16 v[16:23], v[40:47], v[48:55], v[16:23]\n" * 2,
    ),
    "C6 SMEM and LDS": (
        "gfx942",
        WRITE + "ds_read_b32 v4, v1\n" + SCALARS.format("ds_read_b32 v6, v1\ns_waitcnt lgkmcnt(1)\n" + USE + DONE),
    ),
    "C7 own data at the barrier": ("gfx950", LOAD + BARRIER + "s_waitcnt vmcnt(0)\n" + USE),
    "C8 no bytes in common": (
        "gfx942",
        EXCHANGE.format(DONE + BARRIER) + "ds_write_b32 v1, v0 offset:512\nds_read_b32 v4, v1 offset:512\n" + DONE,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTROLS)
def test_controls_stay_clean(name: str) -> None:
    assert found(*CONTROLS[name]) == set()


BOTH_SIDES = LOAD + "s_cmp_eq_u32 s16, 0\ns_cbranch_scc1 .Lone\n{}s_branch .Lboth\n.Lone:\n{}.Lboth:\n" + USE
VM0 = "s_waitcnt vmcnt(0)\n"
CARRIED = (
    LOAD + "s_mov_b32 s18, 3\n.Lagain:\n{}v_add_u32 v5, v4, v4\n" + LOAD
    + "s_sub_u32 s18, s18, 1\ns_cmp_lg_u32 s18, 0\ns_cbranch_scc1 .Lagain\n" + VM0
)  # fmt: skip


def many(count: int, load: str) -> str:
    return WRITE + "ds_read_b32 v4, v1\n" + load * count + USE


def leaving(rest: str, before: str = "") -> str:
    """The first wave ends here."""
    return before + "s_cmp_eq_u32 s16, 0\ns_cbranch_scc0 .Lstay\ns_endpgm\n.Lstay:\n" + rest


DEFEATS: dict[str, tuple[str, set[tuple[str, str]]]] = {
    "a wait on both sides of a branch": (BOTH_SIDES.format(VM0, VM0), set()),
    "a wait on one side": (BOTH_SIDES.format(VM0, ""), {EARLY}),
    "a wait for something else on the other": (BOTH_SIDES.format(VM0, DONE), {EARLY}),
    "a load of the last iteration, waited for": (CARRIED.format(VM0), set()),
    "a load of the last iteration": (CARRIED.format(""), {EARLY}),
    "a count that holds in the first iteration only": (CARRIED.format("s_waitcnt vmcnt(1)\n"), {EARLY}),
    "a counter one short of full": (many(14, "ds_read_b32 v6, v1\n"), {EARLY}),
    "a full counter": (many(15, "ds_read_b32 v6, v1\n"), set()),
    "EXEC zero touches nothing": ("s_mov_b64 exec, 0\nv_mov_b32 v2, -1\n" + WRITE + READ_OTHER + DONE, set()),
    "EXEC zero waits for its registers all the same": ("s_mov_b64 exec, 0\n" + LOAD + USE, {EARLY}),
    "a wave that leaves early needs no order": (leaving(WRITE + "ds_read_b32 v4, v1\n" + DONE + USE), set()),
    "a wave that leaves early misses a barrier": (leaving(BARRIER), {("sync", "uneven_arrivals")}),
    "what a wave that left has read": (
        leaving("ds_write_b32 v2, v0\n", WRITE + "ds_read_b32 v4, v1\n" + DONE), {RENDEZVOUS},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DEFEATS)
def test_kernels_written_to_defeat_the_checks(name: str) -> None:
    body, expected = DEFEATS[name]
    assert found("gfx942", body) == expected


def test_a_counter_of_memory_that_is_full() -> None:
    use = "v_mov_b32 v70, v4"
    loads = "".join(f"global_load_dword v{i}, v1, s[10:11]\n" for i in range(4, 63))
    again = "".join(f"global_load_dword v{i}, v1, s[10:11]\n" for i in range(59, 63))
    assert found("gfx942", loads + again + use) == {EARLY}, "62 younger"
    assert found("gfx942", loads + again + "global_load_dword v62, v1, s[10:11]\n" + use) == set(), "63 younger"


def test_a_called_function_leaves_the_verdict_open() -> None:
    k = Snippet()
    k("s_getpc_b64 s[20:21]\ns_add_u32 s20, s20, 16\ns_addc_u32 s21, s21, 0\ns_swappc_b64 s[30:31], s[20:21]")
    part = check_program(k.program(), ["wait", "spacing"])
    assert not part.checked.findings and part.checked.verdict == "incomplete"
    assert "'s_swappc_b64 s[30:31], s[20:21]' leaves the kernel" in part.checked.incomplete[0]


def test_sixteen_waves() -> None:
    other = "v_xor_b32 v3, 0xf00, v1\n"
    exchange = other + EXCHANGE.replace("v2", "v3")
    assert found("gfx942", exchange.format(DONE + BARRIER), threads=1024) == set()
    findings = [f for f in checked("gfx942", exchange.format(DONE), 1024).checked.findings if f.check == "race"]
    assert [f.rule for f in findings] == ["missing_rendezvous"] and findings[0].count == 16
    assert set(findings[0].sites[0].waves) | set(findings[0].sites[1].waves) == set(range(16))


@pytest.mark.parametrize(("target", "size"), [("gfx942", 65536), ("gfx950", 163840)])
def test_all_of_the_lds(target: str, size: int) -> None:
    last = f"v_add_u32 v3, {size - 512:#x}, v1\nds_write_b32 v3, v0 offset:{{0}}\nds_read_b32 v4, v3 offset:{{0}}\n"
    last += DONE + USE
    assert found(target, last.format(0), lds=size) == set()
    assert ("mem", "outside_lds") in found(target, last.format(4), lds=size)


def test_a_text_cut_in_the_middle_is_refused() -> None:
    k = Snippet(inputs=1)
    k(LOAD + VM0 + USE)
    text = k.text()
    for cut in range(7, text.index(".end_amdgpu_metadata"), 53):
        with pytest.raises(UserError) as error:
            asm.parse(text[:cut], "cut.s")
        assert error.value.file == "cut.s"

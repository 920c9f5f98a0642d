"""Program flow, waits, barriers, hints and hardware registers: SOPP and the non-arithmetic SOP1 and SOPK."""

from __future__ import annotations

import functools

from antiphase.isa._families import GFX9, GFX11, GFX12, GFX1250, WAVE32
from antiphase.isa._record import control

CITE = "AMD Instinct MI300 CDNA3 ISA, chapter 12.5 (SOPP), 12.2 (SOPK), 12.3 (SOP1)"
RDNA3 = "AMD RDNA3 ISA (15-Aug-2023), chapter 5 and 16.5 (SOPP)"
RDNA4 = "AMD RDNA4 ISA (7-Apr-2025), chapter 5 and 16.5 (SOPP)"
CDNA5 = "AMD CDNA5 ISA (27-Jul-2026), 5.6 and 15.3, 15.5"
LLVM = "LLVM AMDGPUUsage and AMDGPUExecutionSynchronization, SOPInstructions.td (gfx1250)"
op = functools.partial(control, cite=CITE)
gfx11 = functools.partial(control, cite=RDNA3, targets=GFX11)
gfx12 = functools.partial(control, cite=RDNA4, targets=GFX12)
gfx1250 = functools.partial(control, cite=LLVM, targets=GFX1250)
newer = functools.partial(control, cite=RDNA3, targets=WAVE32)

op("s_branch", "branch")
for condition in ("scc0", "scc1", "vccz", "vccnz", "execz", "execnz"):
    op(f"s_cbranch_{condition}", "branch", condition)
# what these branch on belongs to a debugger and is clear without one
for condition in ("sys", "user", "sys_or_user", "sys_and_user"):
    op(f"s_cbranch_cdbg{condition}", "hint")
op("s_endpgm s_endpgm_saved s_endpgm_ordered_ps_done", "end")
op("s_setprio", "priority")
gfx1250("s_setprio_inc_wg", "priority")
op(
    "s_trap", "trap", status="modelled", cite=f"{CITE}; LLVM AMDGPUUsage, Trap Handler ABI",
    note="3 does nothing, as without a debugger; 2, and every other number, ends the launch with an error",
)  # fmt: skip
op(
    "s_sendmsg s_sendmsghalt", "message", status="modelled",
    note="MSG_INTERRUPT reaches the host, which answers at once; others have no effect",
)  # fmt: skip
newer(
    "s_sendmsg_rtn_b32 s_sendmsg_rtn_b64", "message_return", status="modelled",
    note="the clock counts executed instructions; ids and addresses of trap handlers are 0",
)  # fmt: skip

op("s_setreg_imm32_b32", "setreg")
op(
    "s_setreg_b32", "setreg", status="modelled",
    note="MODE from a register: a value that follows from the text, or the one the kernel began with, which is checked",
)  # fmt: skip
op(
    "s_getreg_b32", "getreg", status="modelled",
    note="clocks count executed instructions; where a wave runs is the first place of all that there are",
)  # fmt: skip
op("s_setvskip", "vskip", targets=GFX9, cite="AMD CDNA3 ISA 12.4 and CDNA4 ISA 12.4, S_SETVSKIP")
newer("s_round_mode s_denorm_mode", "mode")
newer("s_version", "hint")
gfx1250("s_set_vgpr_msb", "vgpr_msb")
gfx1250("s_get_shader_cycles_u64", "cycles", status="modelled", note="counts executed instructions", cite=CDNA5)
gfx12("s_alloc_vgpr", "alloc_vgpr")

op("s_getpc_b64 s_get_pc_i64", "getpc")
op("s_setpc_b64 s_set_pc_i64", "setpc")
op("s_swappc_b64 s_swap_pc_i64", "swappc")
op("s_call_b64 s_call_i64", "call")
op("s_rfe_b64 s_rfe_i64", "return_from_exception")
gfx1250("s_add_pc_i64", "addpc")
gfx11("s_subvector_loop_begin s_subvector_loop_end", "subvector_loop")

# -- waits: a count per counter, the wave goes on when at most that many operations are out
op("s_waitcnt", "wait")
newer("s_waitcnt_vscnt s_waitcnt_vmcnt s_waitcnt_expcnt s_waitcnt_lgkmcnt s_wait_idle", "wait")
gfx12(
    "s_wait_loadcnt s_wait_storecnt s_wait_dscnt s_wait_kmcnt s_wait_samplecnt s_wait_bvhcnt s_wait_expcnt "
    "s_wait_loadcnt_dscnt s_wait_storecnt_dscnt",
    "wait",
)
gfx1250("s_wait_asynccnt s_wait_tensorcnt s_wait_xcnt", "wait")

op("s_barrier", "barrier")
gfx12("s_barrier_signal", "barrier_signal")
gfx12("s_barrier_signal_isfirst", "barrier_signal_isfirst")
gfx12("s_barrier_wait", "barrier_wait")
gfx12("s_barrier_init", "barrier_init")
gfx12("s_barrier_join", "barrier_join")
gfx12("s_barrier_leave", "barrier_leave", cite=CDNA5)
gfx12("s_get_barrier_state", "barrier_state")
gfx1250("s_wakeup_barrier", "hint")

HINTS = (
    "s_nop s_sleep s_wakeup s_sethalt s_setkill s_icache_inv s_gl1_inv s_incperflevel s_decperflevel "
    "s_ttracedata s_ttracedata_imm s_code_end s_inst_prefetch s_atc_probe s_atc_probe_buffer"
)
op(HINTS, "hint")
op("ds_nop", "hint")
op("v_clrexcp", "hint", targets=GFX9, note="clears exception state, of which the machine keeps none on these targets")
newer("v_illegal", "illegal", cite="LLVM VOP1Instructions.td: the encoding 0")
newer("s_set_inst_prefetch_distance s_clause s_delay_alu s_wait_alu s_waitcnt_depctr s_wait_event", "hint")
newer("s_singleuse_vdst s_sleep_var s_monitor_sleep", "hint")
gfx12(
    "s_prefetch_inst s_prefetch_inst_pc_rel s_prefetch_data s_prefetch_data_pc_rel s_buffer_prefetch_data",
    "hint",
)

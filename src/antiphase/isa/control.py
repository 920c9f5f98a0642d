"""Program flow, waits, barriers, hints and hardware registers: SOPP and the non-arithmetic SOP1 and SOPK."""

from __future__ import annotations

import functools

from antiphase.isa._record import control

CITE = "AMD Instinct MI300 CDNA3 ISA, chapter 12.5 (SOPP), 12.2 (SOPK), 12.3 (SOP1)"
op = functools.partial(control, cite=CITE)

op("s_branch", "branch")
for condition in ("scc0", "scc1", "vccz", "vccnz", "execz", "execnz"):
    op(f"s_cbranch_{condition}", "branch", condition)
op("s_endpgm s_endpgm_saved", "end")
op("s_barrier", "barrier")
op("s_waitcnt", "wait")
op("s_setprio", "priority")
op("s_trap", "trap")
op("s_sendmsg s_sendmsghalt", "message")

op("s_setreg_b32 s_setreg_imm32_b32", "setreg")
op("s_getreg_b32", "getreg")
op("s_getpc_b64", "getpc")
op("s_setpc_b64", "setpc")
op("s_swappc_b64", "swappc")
op("s_call_b64", "call")

HINTS = (
    "s_nop s_sleep s_wakeup s_sethalt s_icache_inv s_incperflevel s_decperflevel s_ttracedata s_code_end "
    "s_inst_prefetch s_set_inst_prefetch_distance s_clause s_delay_alu"
)
op(HINTS, "hint")

"""The words of the rules about a program: `wait`, `spacing`, `resources`, `port`."""

from __future__ import annotations

from collections.abc import Iterable

from antiphase.checks import Finding
from antiphase.report._words import Facts, Wording, counted, registers, times
from antiphase.report.spacing import source_text

_COUNTERS = (
    "AMD RDNA 3 ISA 5.6; AMD RDNA 3.5 ISA 5.6; AMD RDNA 4 ISA 5.7; AMD CDNA 3 ISA 4.4; AMD CDNA 4 ISA 4.4; "
    "AMD CDNA 5 ISA 5.7; LLVM SIInsertWaitcnts.cpp, AMDGPUUsage memory model"
)
_EXPERT = "In expert scheduling mode the hardware does not keep vector and memory instructions apart."
_EXPERT_SOURCE = "LLVM SIInsertWaitcnts.cpp, expert scheduling mode (SCHED_MODE 2)"
_REGISTERS = "AMDGPUUsage, Code Object Metadata; LLVM AMDGPUBaseInfo.cpp, getNumWavesPerEUWithNumVGPRs"
_ASSEMBLER = "acceptance by the assembler of LLVM, as `antiphase isa show` lists it"


def spacing(finding: Finding) -> Wording:
    """All rules of spacing read alike: the table has what is particular."""
    cite = source_text(str(finding.facts.get("source", "")))
    name = finding.rule.replace("_", " ")

    def details(f: Facts) -> Iterable[str]:
        on = f" on {registers(f['registers'])}" if f.get("registers") else ""
        yield f"{name}{on}: {counted(f['required'], f['unit'])} needed, {f['have']} on the path that has the fewest"
        if f.get("note"):
            yield f"authorities disagree: {f['note']}" if finding.severity == "warning" else str(f["note"])

    meaning = "The hardware does not hold back (2): it may see the registers as they were, or change them too early."
    return Wording(lambda f: f"{counted(f['missing'], f['unit'])} missing between (1) and (2)", meaning, cite, details)


def _pending(facts: Facts) -> Iterable[str]:
    counter, n = facts["counter"], facts["count"]
    if not facts["ordered"]:
        yield f"{counter}: operations like (1) complete in any order, so only {counter} 0 proves it complete"
    elif n == 0:
        yield f"{counter}: on the shortest path nothing younger is outstanding, so {counter} must reach 0"
    else:
        yield f"{counter}: {times(n, 'younger operation')} at least; (1) is complete when at most {n} are left"


def _behind(facts: Facts) -> Iterable[str]:
    yield f"{facts['counter']}: (1) is done with it when at most {facts['count']} are left on the shortest path"


def _waves(f: Facts) -> Iterable[str]:
    agprs = f" and {f['agprs']} AGPRs" if f["agprs"] else ""
    yield f"{f['vgprs']} VGPRs{agprs} allow {f['by_registers']} of {f['most']}"
    known = "" if f["launched"] else " by the text; what a launch adds is not known"
    waves = times(f["waves_per_workgroup"], "wave")
    yield f"{times(f['lds'], 'byte')} of LDS a workgroup of {waves} allow {f['by_lds']}{known}"
    if not f["workgroup_stated"]:
        yield "there is no .amdgpu_metadata to tell how large a workgroup is: one wave is assumed"


_MOST_FORMS = 12


def _wide(f: Facts) -> Iterable[str]:
    if f["masks"]:
        yield f"{times(f['masks'], 'instruction')} on 64-lane masks in vcc, exec or an SGPR pair"
    if f["upper"]:
        yield f"{times(f['upper'], 'instruction')} that count in lanes 32 to 63"


def _forms(f: Facts) -> Iterable[str]:
    """Each old text with its new one, the commonest first."""
    forms = sorted(f["forms"], key=lambda form: -len(form[2]))
    for old, new, where in forms[:_MOST_FORMS]:
        becomes = "" if new is None else f" -> {'; '.join(new) or 'nothing'}"
        yield f"{old}{becomes}" + (f"  x{len(where):,}" if len(where) > 1 else "")
    if left := forms[_MOST_FORMS:]:
        yield f"and {times(len(left), 'other form')}, {sum(len(where) for _, _, where in left):,} instructions"


def _advice(f: Facts) -> Iterable[str]:
    if f.get("advice"):
        yield f"instead: {f['advice']}"


RULES: dict[str, Wording] = {
    "wait/read_before_wait": Wording(
        lambda f: f"{registers(f['registers'])} read at (2) while (1) may not have written it yet",
        "The hardware does not hold back a reader of a register that memory still has to write.",
        _COUNTERS,
        _pending,
    ),
    "wait/overwritten_before_wait": Wording(
        lambda f: f"{registers(f['registers'])} overwritten at (2) while (1) may still write it",
        "The late result of the memory operation replaces the newer value.",
        _COUNTERS,
        _pending,
    ),
    "wait/freed_before_wait": Wording(
        lambda f: f"{registers(f['registers'])} given back at (2) while (1) may not be done",
        "Another wave may own the registers by then, and a wave that has released its VGPRs has no private memory.",
        "LLVM SIInsertWaitcnts.cpp; Mesa aco_assembler.cpp, dealloc_vgprs; AMD RDNA 4 ISA 3.3.3",
        _pending,
    ),
    "wait/source_not_translated": Wording(
        lambda f: f"{registers(f['registers'])} overwritten at (2) while a replay of (1) may need the old value",
        "Until its addresses are translated a memory operation may be issued again, with what its registers hold then.",
        "LLVM AMDGPUUsage, memory model of gfx1250 (XCNT); SIInsertWaitcnts.cpp",
        _behind,
    ),
    "wait/source_not_read": Wording(
        lambda f: f"{registers(f['registers'])} overwritten at (2) while (1) may not have read it yet",
        _EXPERT,
        _EXPERT_SOURCE,
        _behind,
    ),
    "wait/result_not_written": Wording(
        lambda f: f"{registers(f['registers'])} used at (2) while (1) may not have written it yet",
        _EXPERT,
        _EXPERT_SOURCE,
        _behind,
    ),
    "init/register_never_written": Wording(
        lambda f: f"{registers(f['registers'])} read that no path from the entry writes",
        "A register holds what the last wave there left in it; only user SGPRs, workgroup ids and v0 are set.",
        "LLVM AMDGPUUsage, 'Initial Kernel Execution State'",
    ),
    "resources/scratch_in_loop": Wording(
        lambda f: f"{times(f['accesses'], 'scratch access')} in a loop, {f['stores']} of them stores",
        "Spilled registers travel through memory in every iteration; fewer live values or a smaller tile avoid it.",
        _REGISTERS,
        lambda f: (f"{f['bytes']:,} bytes a lane and iteration",),
    ),
    "resources/accumulator_moves_in_loop": Wording(
        lambda f: f"{times(f['moves'], 'move')} between VGPRs and AGPRs in a loop of {f['instructions']} instructions",
        "Each takes an issue slot of the VALU; accumulators that stay in one kind of register need none.",
        _REGISTERS,
        lambda f: (f"the loop has {times(f['matrix'], 'matrix instruction')}",),
    ),
    "resources/spills": Wording(
        lambda f: f"{f['vgprs']} VGPRs and {f['sgprs']} SGPRs spilled, none of them in a loop",
        "Paid once a wave.",
        _REGISTERS,
    ),
    "resources/does_not_fit": Wording(
        lambda f: f"a workgroup of {times(f['waves_per_workgroup'], 'wave')} does not fit a compute unit",
        "Its waves must be resident together, and their registers or LDS are more than there are.",
        _REGISTERS,
        _waves,
    ),
    "resources/fewer_waves": Wording(
        lambda f: f"{times(f['waves'], 'wave')} a SIMD, {f['wanted']} wanted",
        "The schedule counts on more resident waves than registers and LDS allow.",
        _REGISTERS,
        _waves,
    ),
    "resources/waves_per_simd": Wording(
        lambda f: f"{times(f['waves'], 'wave')} a SIMD",
        "Dynamic LDS, as Triton's, is not in the text: without a launch it is not counted, and may allow fewer.",
        _REGISTERS,
        _waves,
    ),
    "port/wave_size": Wording(
        lambda f: f"waves of {f['from']} lanes; {f['to']} has {' or '.join(map(str, f['sizes']))}",
        "Lane masks, lane numbers and matrix layouts of this text are made for the other wave size.",
        "AMDGPUUsage, Processors; LLVM GCNSubtarget.h",
        _wide,
    ),
    "port/lds_size": Wording(
        lambda f: f"{f['bytes']:,} bytes of LDS; a workgroup of {f['to']} has at most {f['largest']:,}",
        "The launch is refused.",
        "`antiphase arch show`, max_lds_bytes",
    ),
    "port/registers": Wording(
        lambda f: (
            f"{f['used']} {'AGPRs' if f['bank'] == 'a' else 'VGPRs'}; {f['to']} has "
            + (f"at most {f['largest']}" if f["largest"] else "none")
        ),
        "The registers cannot be named there.",
        "`antiphase arch show`, max_vgprs and max_agprs",
    ),
    "port/number_format": Wording(
        lambda f: f"{times(f['uses'], 'instruction')} on 8-bit floats: {f['from']} here, {f['now']} on {f['to']}",
        "The same byte is another number: biases differ by one, and 0x80 is NaN in FNUZ and -0 in OCP.",
        "AMD CDNA 3 ISA 7.2; AMD CDNA 4 ISA 7.3",
    ),
    "port/split_counter": Wording(
        lambda f: f"waits that hold back less on {f['to']}",
        "What one counter counts here is on two there, such as stores on vscnt: the text assembles and misses some.",
        _COUNTERS,
        _forms,
    ),
    "port/entry_registers": Wording(
        lambda f: f"{f['here']} holds a workgroup id here; on {f['to']} that is elsewhere",
        "RDNA 4 and CDNA 5 give x in ttmp9, y and z in the halves of ttmp7, the wave in ttmp8; others in SGPRs.",
        "LLVM AMDGPUUsage, 'Initial Kernel Execution State'",
        lambda f: (f"workgroup ids of this text: {', '.join(f['ids'])}",),
    ),
    "port/kernarg_preload": Wording(
        lambda f: f"{times(f['dwords'], 'dword')} of arguments in SGPRs at the start; {f['to']} loads none",
        "The kernel must load its arguments itself, as its first 256 bytes do.",
        "LLVM AMDGPUUsage, 'Preloaded Kernel Arguments'",
    ),
    "port/legacy_wait": Wording(
        lambda f: f"waits that {f['to']} does not have",
        "Counters differ between generations. Each count completes there what it completes here, on every path; RDNA 4 "
        "takes s_waitcnt itself as a wait for everything.",
        _COUNTERS,
        _forms,
    ),
    "port/packed_wait": Wording(
        lambda f: f"numbers that are another wait on {f['to']}",
        "The counters' fields have other places in s_waitcnt of each generation.",
        "LLVM AMDGPUBaseInfo.cpp, decodeWaitcnt",
        _forms,
    ),
    "port/missing_instruction": Wording(
        lambda f: f"{f['to']} has no {f['forms'][0][0]}",
        "The assembler refuses it.",
        _ASSEMBLER,
        _advice,
    ),
    "port/missing_matrix": Wording(
        lambda f: f"{f['to']} has no {f['forms'][0][0]}",
        "Another shape has other operand layouts: `antiphase layout` shows which lane holds what.",
        _ASSEMBLER,
        lambda f: (f"on the same types there: {', '.join(f['alike']) or 'none'}",),
    ),
    "port/matrix_layout": Wording(
        lambda f: f"{f['forms'][0][0]} has other operand layouts on {f['to']}",
        "The name is the same, the registers that hold an operand are not: `antiphase layout` shows both.",
        "AMD ISA manuals of both, matrix chapters",
    ),
    "port/renamed_instruction": Wording(
        lambda f: f"instructions that {f['to']} knows by another name or form only",
        "The assembler refuses the old one.",
        _ASSEMBLER,
        lambda f: (*_advice(f), *_forms(f)),
    ),
    "port/other_name": Wording(
        lambda f: f"instructions with another name on {f['to']}, where the old one still assembles",
        "",
        _ASSEMBLER,
        _forms,
    ),
    "port/missing_encoding": Wording(
        lambda f: f"{f['to']} has no {f['advice']} encoding",
        "Select the byte or half before: v_bfe_u32, v_perm_b32, op_sel, or 16-bit halves (v0.l, v0.h) on RDNA.",
        "LLVM AMDGPUModifierSyntax",
        _forms,
    ),
    "port/operand": Wording(
        lambda f: f"operands that {f['to']} does not take: {f['forms'][0][0]}",
        "Vector instructions of CDNA 3 and 4 take one scalar, no literal in a long encoding, no null and whole VGPRs.",
        "AMD CDNA 3 ISA 6.2; AMD CDNA 4 ISA 6.2; LLVM AMDGPUOperandSyntax",
        lambda f: (f"instead: {f['advice']}",),
    ),
    "port/missing_modifier": Wording(
        lambda f: f"{f['to']} has no {f['forms'][0][0]}",
        "The assembler refuses it.",
        "LLVM AMDGPUModifierSyntax",
        _advice,
    ),
    "port/cache_policy": Wording(
        lambda f: f"cache modifiers that {f['to']} does not have",
        "CDNA writes sc0, sc1 and nt, RDNA 3 glc, slc and dlc, later ones th and scope; for atomics they also ask for "
        "the old value.",
        "LLVM AMDGPUUsage, memory models; AMDGPUModifierSyntax",
        _forms,
    ),
    "port/scalar_offset": Wording(
        lambda f: f"scalar offsets of buffer instructions that {f['to']} does not take",
        "RDNA 4 and CDNA 5 take an SGPR or null there, CDNA 3 and 4 have no null.",
        "LLVM AMDGPUOperandSyntax, soffset",
        _forms,
    ),
    "port/register_alignment": Wording(
        lambda f: f"VGPR tuples that begin at an odd register, which {f['to']} does not take",
        "Operands of 64 bits and more begin at an even register there.",
        "LLVM AMDGPU.td, FeatureRequiresAlignedVGPRs",
        _forms,
    ),
    "port/offset_range": Wording(
        lambda f: f"offset {f['offset']:,} does not fit {f['to']}: {f['least']:,} to {f['largest']:,}",
        "Some assemblers cut such an offset without a word: 4096 becomes 0. Add the rest to the address.",
        "LLVM AMDGPUModifierSyntax, 'Offset modifiers'",
        _forms,
    ),
}  # fmt: skip
"""By 'check/rule'."""

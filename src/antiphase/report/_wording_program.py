"""The words of the rules about a program: `wait`, `spacing`, `resources`, `port`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from antiphase.checks import Finding
from antiphase.report._words import Facts, Wording, registers, times

_COUNTERS = "AMD CDNA 3 ISA 4.4; LLVM SIInsertWaitcnts.cpp, AMDGPUUsage memory model"
_EXPERT = "In expert scheduling mode the hardware does not keep vector and memory instructions apart."
_EXPERT_SOURCE = "LLVM SIInsertWaitcnts.cpp, expert scheduling mode (SCHED_MODE 2)"
_REGISTERS = "AMDGPUUsage, Code Object Metadata; LLVM AMDGPUBaseInfo.cpp, getNumWavesPerEUWithNumVGPRs"
_ASSEMBLER = "acceptance by the assembler of LLVM, as `antiphase isa show` lists it"


_SOURCES = {
    "HR main": "LLVM main GCNHazardRecognizer.cpp",
    "HR": "LLVM 21.1 GCNHazardRecognizer.cpp",
    "C3": "AMD CDNA 3 ISA 4.5 and 7.5",
    "C4": "AMD CDNA 4 ISA 4.5 and 7.6",
    "ACO": "Mesa aco_insert_NOPs.cpp",
}
"""What the sources of the spacing tables are short for."""


def spacing(finding: Finding) -> Wording:
    """All rules of spacing read alike: the table has what is particular."""
    cite = re.sub(r"\b(HR main|HR|C3|C4|ACO)\b", lambda m: _SOURCES[m[1]], str(finding.facts.get("source", "")))
    name = finding.rule.replace("_", " ")

    def details(f: Facts) -> Iterable[str]:
        on = f" on {registers(f['registers'])}" if f.get("registers") else ""
        yield f"{name}{on}: {_units(f['required'], f['unit'])} needed, {f['have']} on the path that has the fewest"
        if f.get("note"):
            yield f"authorities disagree: {f['note']}" if finding.severity == "warning" else str(f["note"])

    meaning = "The hardware does not hold back (2): it may see the registers as they were, or change them too early."
    return Wording(lambda f: f"{_units(f['missing'], f['unit'])} missing between (1) and (2)", meaning, cite, details)


def _units(count: int, unit: str) -> str:
    if count == 1:
        unit = re.sub(r"\b(state|instruction|wait|write|result)s\b", r"\1", unit, count=1)
    return f"{count:,} {unit}"


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
    yield f"{f['lds']:,} bytes of LDS a workgroup of {times(f['waves_per_workgroup'], 'wave')} allow {f['by_lds']}"


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
        "Dynamic LDS, as Triton's, is not in the text and may allow fewer.",
        _REGISTERS,
        _waves,
    ),
    "port/wave_size": Wording(
        lambda f: f"waves of {f['from']} lanes; {f['to']} has {' or '.join(map(str, f['sizes']))}",
        "Lane masks, lane numbers and matrix layouts of this text are made for the other wave size.",
        "AMDGPUUsage, Processors; LLVM GCNSubtarget.h",
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
    "port/vgpr_banks": Wording(
        lambda f: f"{f['used']} VGPRs: {f['to']} names those above v255 through s_set_vgpr_msb",
        "The text keeps eight bits of a register number, and the bank must be set before each use.",
        "LLVM AMDGPULowerVGPREncoding.cpp",
    ),
    "port/number_format": Wording(
        lambda f: f"{times(f['uses'], 'instruction')} on 8-bit floats: {f['from']} here, {f['now']} on {f['to']}",
        "The same byte is another number: biases differ by one, and 0x80 is NaN in FNUZ and -0 in OCP.",
        "AMD CDNA 3 ISA and CDNA 4 ISA, 'FP8 and BF8'",
    ),
    "port/store_counter": Wording(
        lambda f: f"waits for vmcnt cover stores here and not on {f['to']}",
        "Stores count on vscnt there: a wait that a store needs becomes s_waitcnt_vscnt null, n.",
        _COUNTERS,
    ),
    "port/legacy_wait": Wording(
        lambda f: f"{f['mnemonic']} is not a wait that {f['to']} has",
        "Counters split between generations; where one became several, only 0 on each is known to be enough.",
        _COUNTERS,
    ),
    "port/packed_wait": Wording(
        lambda f: f"the immediate is {' '.join(f'{c}({n})' for c, n in f['counters'])} here, another wait on {f['to']}",
        "The counters' fields have other places in s_waitcnt of each generation.",
        "LLVM AMDGPUBaseInfo.cpp, decodeWaitcnt",
    ),
    "port/missing_instruction": Wording(
        lambda f: f"{f['to']} has no {f['mnemonic']}",
        "The assembler refuses it.",
        _ASSEMBLER,
    ),
    "port/offset_range": Wording(
        lambda f: f"offset {f['offset']:,} does not fit {f['to']}: {f['least']:,} to {f['largest']:,}",
        "Some assemblers cut such an offset without a word: 4096 becomes 0.",
        "LLVM AMDGPUModifierSyntax, 'Offset modifiers'",
    ),
}  # fmt: skip
"""By 'check/rule'."""

"""The rows of the spacing tables in words: which two instructions, and what must stand between them."""

from __future__ import annotations

import re

from antiphase.checks import SpacingRule, separation_unit
from antiphase.report._words import counted

_TAGS = {
    "arrive": "barrier arrival",
    "barrier": "barrier",
    "branch": "branch",
    "clause": "s_clause",
    "cmpx": "v_cmpx",
    "dealloc": "release of VGPRs",
    "dgemm": "F64 MFMA",
    "dgemm16": "16x16 F64 MFMA",
    "dgemm4": "4x4 F64 MFMA",
    "div_fmas": "v_div_fmas",
    "dot": "dot product",
    "dpp": "DPP",
    "ds": "LDS",
    "dst_sel": "SDWA or byte-select result",
    "f64_fma": "F64 FMA",
    "getreg": "s_getreg",
    "getreg_mode": "s_getreg of MODE",
    "getreg_state": "s_getreg of state",
    "lds_direct": "LDS direct load",
    "lds_dma": "load to LDS",
    "matrix": "matrix instruction",
    "nop": "s_nop",
    "permlane": "v_permlane",
    "permlane_swap": "v_permlane swap",
    "readfirstlane": "v_readfirstlane",
    "readlane": "v_readlane",
    "reads_m0_late": "late reader of M0",
    "reads_scratch_base": "reader of the scratch base",
    "rfe": "s_rfe",
    "salu": "SALU",
    "set_vgpr_msb": "s_set_vgpr_msb",
    "setreg": "s_setreg",
    "setreg_imm": "s_setreg_imm32",
    "setreg_mode": "s_setreg of MODE",
    "setreg_trapsts": "s_setreg of TRAPSTS",
    "setreg_vskip": "s_setreg of VSKIP",
    "setvskip": "s_setvskip",
    "sgemm": "F32 (SGEMM) MFMA",
    "smem": "SMEM",
    "split_convert": "split conversion",
    "trans": "transcendental",
    "v_nop": "v_nop",
    "valu": "VALU",
    "vccz_branch": "branch on VCCZ or EXECZ",
    "vmem": "vector memory",
    "writelane": "v_writelane",
    "writes_exec": "writer of EXEC",
    "writes_half_vcc": "writer of half of VCC",
    "writes_m0": "writer of M0",
    "writes_scratch_base": "writer of the scratch base",
    "xdl": "XDL matrix instruction",
}
_ROLES = {
    "ab": "A or B",
    "c": "C",
    "c_apart": "C apart from D",
    "d": "D",
    "exec_reads": "EXEC read",
    "exec_writes": "EXEC written",
    "hwreg": "hardware register",
    "lane": "lane select",
    "masks": "mask read",
    "s_reads": "SGPRs read",
    "s_writes": "SGPRs written",
    "scales": "scales",
    "v_reads": "VGPRs read",
    "v_writes": "VGPRs written",
    "wide_data": "store data of more than 64 bits",
    "zero_flags": "VCCZ or EXECZ",
}
_SOURCES = {
    "HR main": "LLVM main GCNHazardRecognizer.cpp",
    "HR": "LLVM 21.1 GCNHazardRecognizer.cpp",
    "C3": "AMD CDNA 3 ISA",
    "C4": "AMD CDNA 4 ISA",
    "ACO": "Mesa aco_insert_NOPs.cpp",
}
_SECTIONS = {"C3": "4.5 and 7.5", "C4": "4.5 and 7.6"}
"""Where the manuals have their tables of required separation."""
_PASSES = re.compile(r"p(\d+)|(dense|sparse)(\d+)")


def source_text(source: str) -> str:
    """A row's sources in full; a manual without a place in it stands for its tables of separation."""
    placed = re.sub(r"\b(C3|C4)(?=$|;| as )", lambda found: f"{found[1]} {_SECTIONS[found[1]]}", source)
    return re.sub(r"\b(HR main|HR|C3|C4|ACO)\b", lambda found: _SOURCES[found[1]], placed)


def pair_text(rule: SpacingRule) -> str:
    """ "XDL matrix instruction, then VALU (D with VGPRs read)": the registers in brackets overlap."""
    if not rule.producer:
        return rule.id.replace("_", " ")
    overlap = "; ".join(f"{_ROLES[first]} with {_ROLES[second]}" for first, second in rule.pairs)
    pair = f"{_tags(rule.producer)}, then {_tags(rule.consumer)}"
    return f"{pair} ({overlap})" if overlap else pair


def needed_text(rule: SpacingRule) -> str:
    """ "2 wait states", or one number a cost of the producer."""
    unit = separation_unit(rule.counts)
    required = rule.required
    if isinstance(required, dict):
        return ", ".join(f"{count} ({_cost(cost)})" for cost, count in required.items()) + f" {unit}"
    if isinstance(required, int):
        return counted(required, unit)
    return "as many as the clause is long" if required == "length" else f"the consumer's own {required} 0"


def _tags(expression: str) -> str:
    """An expression of `Rule`: words joined by a space all hold, `|` is or, `!` not."""
    words = [" or ".join(_TAGS[tag] for tag in word.lstrip("!").split("|")) for word in expression.split()]
    negated = [word.startswith("!") for word in expression.split()]
    plain = [word for word, no in zip(words, negated, strict=True) if not no]
    other = [f"not {word}" for word, no in zip(words, negated, strict=True) if no]
    return ", ".join([" ".join(plain) or "any instruction", *other])


def _cost(cost: str) -> str:
    found = _PASSES.fullmatch(cost)
    if found is None:
        return cost
    return f"{found[1]} passes" if found[1] else f"{found[2]}, {found[3]} cycles"

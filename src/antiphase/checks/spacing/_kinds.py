"""What the spacing rules ask of an instruction: tags, and its registers by their roles."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from antiphase.asm import Call, Imm, Instruction, Kernel, Modified, Special, Waits
from antiphase.checks._registers import Uses, uses_of
from antiphase.checks.spacing._roles import M0, SCRATCH_BASE, VCC, Units, hardware_register, registers_of
from antiphase.checks.spacing._rules import cost
from antiphase.isa import Alu, Control, Matrix, Memory, Record, find

_TRANS = re.compile(r"v_(s_)?(exp|log|rcp|rcp_iflag|rsq|sqrt|sin|cos|tanh|exp_legacy|log_legacy)_b?f(16|32|64)")
_SPLIT_CONVERT = re.compile(r"v_cvt_(scalef32_)?(pk|sr|sr_pk)_(fp8|bf8|fp4)_f32")
_NAMED = (
    (re.compile(r"v_dot\d"), "dot"),
    (_TRANS, "trans"),
    (_SPLIT_CONVERT, "split_convert"),
    (re.compile(r"v_cmpx_"), "cmpx"),
    (re.compile(r"v_div_fmas_"), "div_fmas"),
    (re.compile(r"v_fmac?_f64"), "f64_fma"),
    (re.compile(r"v_permlane(16|32)_swap_"), "permlane_swap"),
    (re.compile(r"v_permlane(?!32_swap)"), "permlane"),
    (re.compile(r"v_readlane_"), "readlane"),
    (re.compile(r"v_readfirstlane_"), "readfirstlane"),
    (re.compile(r"v_writelane_"), "writelane"),
    (re.compile(r"v_nop"), "v_nop"),
    (re.compile(r"s_nop"), "nop"),
    (re.compile(r"ds_nop"), "ds_nop"),
    (re.compile(r"s_setvskip"), "setvskip"),
    (re.compile(r"s_rfe_"), "rfe"),
    (re.compile(r"s_set_vgpr_msb"), "set_vgpr_msb"),
    (re.compile(r"s_clause"), "clause"),
    (re.compile(r"s_barrier"), "barrier"),
    (re.compile(r"s_c?branch|s_(set|swap)_?pc|s_call"), "branch"),
    (re.compile(r"s_(set|swap)_?pc|s_call"), "leaves"),
    (re.compile(r"s_swap_?pc|s_call"), "calls"),
    (re.compile(r"s_cbranch_vccn?z"), "vccz_branch"),
    (re.compile(r"(ds|lds)_(direct|param)_load"), "lds_direct"),
    (re.compile(r"ds_atomic_async_barrier_arrive"), "arrive"),
    (re.compile(r"s_setreg_imm32"), "setreg_imm"),
    (re.compile(r"s_sendmsg|s_ttracedata|s_movrel|ds_gws_|\w+_addtid|s_sendmsghalt"), "reads_m0_late"),
)
_DPP = ("quad_perm", "dpp8", "row_shl", "row_shr", "row_ror", "row_share", "row_xmask", "row_bcast", "row_newbcast",
        "row_mirror", "row_half_mirror", "wave_shl", "wave_shr", "wave_rol", "wave_ror")  # fmt: skip
_VSKIP = 28  # bit of MODE: AMD CDNA3 ISA 3.8
_STATE = ("STATUS", "STATE_PRIV", "EXCP_FLAG_PRIV", "EXCP_FLAG_USER")

# fields of s_waitcnt_depctr and s_wait_alu: (lowest bit, width); LLVM AMDGPUBaseInfo.cpp, DepCtr
_DEPCTR = {"sa_sdst": (0, 1), "va_vcc": (1, 1), "vm_vsrc": (2, 3), "hold_cnt": (7, 1), "va_ssrc": (8, 1),
           "va_sdst": (9, 3), "va_vdst": (12, 4)}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Kind:
    """An instruction as rules see it.

    registers: units by role: reads and writes of vectors (v_), of scalars other than EXEC (s_) as constants, of lane
    masks, and the roles of matrix operands. hwreg is the hardware register, as a unit of its own.
    opcode: the name without the suffix of its encoding. cost: of a matrix instruction. length: of a clause, or the wait
    states of s_nop. waits: fields of s_wait_alu and what they wait for.
    """

    tags: frozenset[str]
    registers: Mapping[str, Units]
    opcode: str
    cost: str = ""
    length: int = 1
    waits: Mapping[str, int] = field(default_factory=dict)

    def has(self, expression: str) -> bool:
        """Whether the tags fit an expression of `Rule`."""
        return _fits(self.tags, expression)


@functools.lru_cache(maxsize=1 << 16)
def _fits(tags: frozenset[str], expression: str) -> bool:
    return all(
        word[1:] not in tags if word[0] == "!" else not tags.isdisjoint(word.split("|")) for word in expression.split()
    )


def kinds_of(kernel: Kernel, target: str) -> list[Kind]:
    """One for each instruction; both halves of a dual-issue instruction together."""
    return [_whole(i, target, uses) for i, uses in zip(kernel.instructions, uses_of(kernel, target), strict=True)]


def _whole(instruction: Instruction, target: str, uses: Uses) -> Kind:
    record = find(instruction.mnemonic, target)
    opcode = record.name if record is not None else instruction.mnemonic
    registers = registers_of(instruction, record, uses)
    tags = _tags(instruction, record, opcode, registers)
    if instruction.pair is not None:
        second = _whole(instruction.pair, target, uses)
        tags |= second.tags
        for role, found in second.registers.items():
            registers[role] = registers.get(role, frozenset()) | found
    return Kind(
        frozenset(tags),
        {role: found for role, found in registers.items() if found},
        opcode,
        cost(instruction, record, target) if isinstance(record, Matrix) else "",
        _length(instruction),
        depctr_waits(instruction),
    )


def _length(instruction: Instruction) -> int:
    operand = instruction.operands[0] if instruction.operands else None
    if instruction.mnemonic not in ("s_nop", "s_clause") or not isinstance(operand, Imm):
        return 1
    return (operand.value & (63 if instruction.mnemonic == "s_clause" else 127)) + 1


def depctr_waits(instruction: Instruction) -> dict[str, int]:
    """The fields of s_wait_alu and its kin with what they wait for."""
    if instruction.mnemonic not in ("s_waitcnt_depctr", "s_wait_alu"):
        return {}
    values: dict[str, int] = {}
    for operand in instruction.operands:
        if isinstance(operand, Call) and operand.name.startswith("depctr_") and operand.args[0].isdigit():
            values[operand.name.removeprefix("depctr_")] = int(operand.args[0])
        elif isinstance(operand, Imm):
            values = {name: operand.value >> bit & (1 << width) - 1 for name, (bit, width) in _DEPCTR.items()}
    return values


def _tags(instruction: Instruction, record: Record | None, opcode: str, registers: Mapping[str, Units]) -> set[str]:
    tags = {tag for pattern, tag in _NAMED if pattern.match(opcode)}
    tags.add(_unit(instruction, record))
    if isinstance(record, Matrix):
        tags |= _matrix_tags(record)
    if isinstance(record, Memory) and (record.to_lds or instruction.modifier("lds")) and not record.asynchronous:
        tags |= {"lds_dma", "reads_m0_late"}
    if instruction.modifier("gds") or Special("lds_direct") in instruction.operands:
        tags.add("reads_m0_late")
    if (opcode != instruction.mnemonic and "dpp" in instruction.mnemonic) or any(map(instruction.modifier, _DPP)):
        tags.add("dpp")
    if _writes_part(instruction, record, opcode):
        tags.add("dst_sel")
    if opcode.startswith("s_sendmsg") and any("DEALLOC_VGPRS" in str(o) for o in instruction.operands):
        tags.add("dealloc")
    return tags | _mode_tags(instruction) | _wait_tags(instruction) | _scalar_tags(instruction, registers)


def _unit(instruction: Instruction, record: Record | None) -> str:
    if isinstance(record, Matrix):
        return "matrix"
    if isinstance(record, Memory):
        vector = record.space in ("buffer", "global", "flat", "scratch")
        return "cache" if record.access == "cache" else "vmem" if vector else record.space
    if isinstance(record, Control) and record.action not in ("getpc", "getreg", "setreg"):
        return "control"
    prefix = instruction.mnemonic.split("_")[0]
    return {"v": "valu", "s": "salu", "ds": "ds"}.get(prefix, "vmem")


def _matrix_tags(record: Matrix) -> set[str]:
    if record.family != "mfma":
        return {"wmma"}
    if record.a == "f64":
        return {"dgemm", f"dgemm{record.m}"}
    return {"sgemm"} if record.a == "f32" else {"xdl"}


def _writes_part(instruction: Instruction, record: Record | None, opcode: str) -> bool:
    """Whether it forwards a VGPR of which it writes a part (LLVM getDstSelForwardingOperand)."""
    if not isinstance(record, Alu) or record.unit != "valu":
        return False
    if instruction.modifier("dst_sel", "DWORD") != "DWORD":
        return True
    if opcode.startswith("v_cvt_scalef32_sr") and "fp4" in opcode:
        return True
    select = instruction.modifier("op_sel")
    if not isinstance(select, tuple) or record.packed or opcode.startswith(("v_dot", "v_mad_mix", "v_fma_mix")):
        return False
    byte = opcode.startswith(("v_cvt_sr_fp8", "v_cvt_sr_bf8"))
    return (len(select) == 4 and any(select[2:] if byte else select[3:])) or (len(select) == 3 and bool(select[2]))


def _mode_tags(instruction: Instruction) -> set[str]:
    if not instruction.mnemonic.startswith(("s_setreg", "s_getreg")):
        return set()
    _, name, bits = hardware_register(instruction)
    if instruction.mnemonic.startswith("s_getreg"):
        return {"getreg"} | ({"getreg_mode"} if name == "MODE" else {"getreg_state"} if name in _STATE else set())
    tags = {"setreg"} | ({"setreg_trapsts"} if name == "TRAPSTS" else set())
    if name == "MODE":
        tags |= {"setreg_mode"} | ({"setreg_vskip"} if _VSKIP in bits else set())
    return tags


def _wait_tags(instruction: Instruction) -> set[str]:
    if instruction.mnemonic == "s_wait_idle":
        return {"waitcnt_0"}
    operand = instruction.operands[0] if instruction.operands else None
    if instruction.mnemonic != "s_waitcnt":
        return set()
    names = ("vmcnt", "expcnt", "lgkmcnt")
    all_zero = isinstance(operand, Waits) and all(dict(operand.counts).get(name) == 0 for name in names)
    return {"waitcnt_0"} if all_zero or (isinstance(operand, Imm) and operand.value == 0) else set()


def _scalar_tags(instruction: Instruction, registers: Mapping[str, Units]) -> set[str]:
    written = registers["s_writes"]
    half = len(written & VCC) == 1
    bases = [
        o.operand if isinstance(o, Modified) else o for o in instruction.operands
        if "src_flat_scratch_base" in str(o)
    ]  # fmt: skip
    tags = {
        "writes_exec": registers["exec_writes"], "writes_m0": written & M0, "writes_vcc": written & VCC,
        "writes_half_vcc": half, "writes_sgpr": written, "writes_scratch_base": written & SCRATCH_BASE,
        "reads_scratch_base": bases,
    }  # fmt: skip
    return {tag for tag, found in tags.items() if found}

"""`port`: what a move to another target means for a kernel as a whole.

Entry registers: LLVM AMDGPUUsage, "Initial Kernel Execution State" and "Preloaded Kernel Arguments".
"""

from __future__ import annotations

from collections.abc import Iterator

from antiphase import arch
from antiphase.asm import Instruction, Kernel, Program
from antiphase.checks._finding import Finding, Severity, Site
from antiphase.checks._registers import SGPR, uses_of
from antiphase.checks.port._operands import names_wide_mask, registers
from antiphase.isa import Matrix, Record, find, generation

_FLOAT8 = ("fp8", "bf8")
_UPPER_LANES = ("v_mbcnt_hi",)
_TTMP = SGPR + 108
_IDS_IN_TTMP = ("gfx12", "gfx1250")
_PRELOADS = ("gfx9", "gfx1250")


def kernel_findings(program: Program, kernel: Kernel, new: arch.Target) -> Iterator[Finding]:
    """Findings that no single instruction is to blame for; site (1) is the first that shows it."""
    yield from _wave_size(program, kernel, new)
    if kernel.metadata.group_segment_fixed_size > new.max_lds_bytes:
        lds = {"bytes": kernel.metadata.group_segment_fixed_size, "largest": new.max_lds_bytes}
        yield _finding("lds_size", "error", 0, new, **lds)
    yield from _registers(program, kernel, new)
    yield from _entry(program, kernel, new)
    old = arch.target(program.target)
    small = [i for i, one in enumerate(kernel.instructions) if _is_float8(find(one.mnemonic, program.target), one)]
    if small and old.fp8 != new.fp8:
        formats = {"from": old.fp8, "now": new.fp8, "uses": len(small)}
        yield _finding("number_format", "warning", small[0], new, **formats)


def _finding(rule: str, severity: Severity, index: int, new: arch.Target, **facts: object) -> Finding:
    return Finding("port", rule, severity, (Site(index, "instruction"),), {"to": new.name, **facts})


def _wave_size(program: Program, kernel: Kernel, new: arch.Target) -> Iterator[Finding]:
    size = kernel.metadata.wavefront_size
    if size in new.wave_sizes:
        return
    masks = [i for i, one in enumerate(kernel.instructions) if names_wide_mask(one)]
    upper = [i for i, one in enumerate(kernel.instructions) if one.mnemonic.startswith(_UPPER_LANES)]
    first = min([*masks, *upper], default=0)
    facts = {"from": size, "sizes": new.wave_sizes, "masks": len(masks), "upper": len(upper)}
    yield _finding("wave_size", "error", first, new, **facts)


def _registers(program: Program, kernel: Kernel, new: arch.Target) -> Iterator[Finding]:
    for bank, largest in (("v", new.max_vgprs), ("a", new.max_agprs)):
        index, count = _highest(kernel, bank)
        if count > largest:
            yield _finding("registers", "error", index, new, bank=bank, used=count, largest=largest)


def _highest(kernel: Kernel, bank: str) -> tuple[int, int]:
    """The instruction that names the highest register of a bank, and how many registers that makes."""
    best = (0, 0)
    for index, instruction in enumerate(kernel.instructions):
        for reg in registers(instruction.operands):
            if reg.bank == bank and reg.index + reg.count > best[1]:
                best = (index, reg.index + reg.count)
    return best


def _entry(program: Program, kernel: Kernel, new: arch.Target) -> Iterator[Finding]:
    """What a wave finds in its scalar registers."""
    before, after = generation(program.target), generation(new.name)
    if (before in _IDS_IN_TTMP) != (after in _IDS_IN_TTMP):
        ids = _TTMP_IDS if before in _IDS_IN_TTMP else _sgpr_ids(kernel)
        reads = uses_of(kernel, program.target)
        for index, uses in enumerate(reads):
            if read := [name for unit, name in ids.items() if unit in uses.reads]:
                yield _finding("entry_registers", "error", index, new, here=read[0], ids=tuple(ids.values()))
                break
            ids = {unit: name for unit, name in ids.items() if unit not in uses.writes}
    length = kernel.descriptor.get("user_sgpr_kernarg_preload_length", 0)
    if length and after not in _PRELOADS:
        yield _finding("kernarg_preload", "error", 0, new, dwords=length)


_TTMP_IDS = {_TTMP + 9: "ttmp9", _TTMP + 7: "ttmp7", _TTMP + 8: "ttmp8"}


def _sgpr_ids(kernel: Kernel) -> dict[int, str]:
    first = kernel.descriptor.get("user_sgpr_count", 0)
    enabled = [axis for axis in "xyz" if kernel.descriptor.get(f"system_sgpr_workgroup_id_{axis}", int(axis == "x"))]
    return {SGPR + first + k: f"s{first + k}" for k in range(len(enabled))}


def _is_float8(record: Record | None, instruction: Instruction) -> bool:
    if isinstance(record, Matrix) and (record.a + record.b).startswith(_FLOAT8):
        return True
    return "cvt" in instruction.mnemonic and any(name in instruction.mnemonic for name in _FLOAT8)

"""`resources`: what a kernel's registers and LDS cost it: scratch and accumulator moves in loops, waves per SIMD.

Scratch is where spilled registers go (AMDGPUUsage, "Private" address space); AGPR moves are how LLVM spills or copies
on CDNA. Both are cheap once and dear in a loop, so a loop is what makes them a warning.
"""

from __future__ import annotations

from antiphase import arch
from antiphase.asm import Kernel, Program
from antiphase.checks._finding import Finding, Site
from antiphase.checks._loops import Loop, loops
from antiphase.isa import Matrix, Memory, Record, find

_AGPR_MOVES = ("v_accvgpr_read", "v_accvgpr_write", "v_accvgpr_mov")


def check_resources(
    program: Program, kernel: Kernel, waves_per_simd: int | None = None, lds_bytes: int | None = None
) -> list[Finding]:
    """Findings about one kernel's registers and LDS.

    waves_per_simd: resident waves the author counts on (`amdgpu-waves-per-eu`); None for no such wish.
    lds_bytes: what a workgroup has in a launch; None where that is not known: then what the text declares counts.
    """
    records = [find(i.mnemonic, program.target) for i in kernel.instructions]
    found = [f for loop in loops(kernel) for f in _in_loop(kernel, records, loop)]
    found += _spills(kernel, records, bool(found))
    return found + _occupancy(program, kernel, waves_per_simd, lds_bytes)


def _in_loop(kernel: Kernel, records: list[Record | None], loop: Loop) -> list[Finding]:
    found = []
    scratch = [i for i in loop.instructions if _is_scratch(records[i])]
    if scratch:
        stores = [i for i in scratch if getattr(records[i], "access", "") == "store"]
        facts = {"accesses": len(scratch), "stores": len(stores), "bytes": sum(_bytes(records[i]) for i in scratch)}
        sites = (Site(scratch[0], "scratch"), Site(loop.branch, "loop"))
        found.append(Finding("resources", "scratch_in_loop", "warning", sites, facts))
    moves = [i for i in loop.instructions if kernel.instructions[i].mnemonic.startswith(_AGPR_MOVES)]
    if moves:
        matrix = sum(isinstance(records[i], Matrix) for i in loop.instructions)
        facts = {"moves": len(moves), "matrix": matrix, "instructions": len(loop.instructions)}
        # Fewer moves than matrix instructions hide in the passes that those take.
        severity = "warning" if matrix and len(moves) >= matrix else "info"
        sites = (Site(moves[0], "move"), Site(loop.branch, "loop"))
        found.append(Finding("resources", "accumulator_moves_in_loop", severity, sites, facts))
    return found


def _is_scratch(record: Record | None) -> bool:
    return isinstance(record, Memory) and record.space == "scratch" and record.access in ("load", "store")


def _bytes(record: Record | None) -> int:
    return record.bits * record.count // 8 if isinstance(record, Memory) else 0


def _spills(kernel: Kernel, records: list[Record | None], in_loop: bool) -> list[Finding]:
    """Spilled registers that no loop touches: a note."""
    metadata = kernel.metadata
    spilled = metadata.vgpr_spill_count + metadata.sgpr_spill_count
    if not spilled or in_loop:
        return []
    first = next((i for i, record in enumerate(records) if _is_scratch(record)), 0)
    facts = {"vgprs": metadata.vgpr_spill_count, "sgprs": metadata.sgpr_spill_count}
    return [Finding("resources", "spills", "info", (Site(first, "scratch"),), facts)]


def _occupancy(program: Program, kernel: Kernel, wanted: int | None, launched: int | None) -> list[Finding]:
    target, metadata = arch.target(program.target), kernel.metadata
    agprs = metadata.agpr_count or 0
    # With AGPRs, LLVM's .vgpr_count is of both kinds together (AMDGPUAsmPrinter.cpp, getTotalNumVGPRs).
    vgprs = metadata.vgpr_count - agprs
    waves = -(-(metadata.max_flat_workgroup_size or 1) // metadata.wavefront_size)
    lds = metadata.group_segment_fixed_size if launched is None else launched
    real = target.waves_per_simd(vgprs, agprs, lds, waves)
    facts = {
        "waves": real, "wanted": wanted, "vgprs": vgprs, "agprs": agprs, "lds": lds, "waves_per_workgroup": waves,
        "by_registers": target.waves_per_simd(vgprs, agprs, 0, 1), "by_lds": target.waves_per_simd(0, 0, lds, waves),
        "most": target.max_waves_per_simd, "workgroup_stated": metadata.stated,
        "launched": launched is not None,
    }  # fmt: skip
    site = (Site(0, "kernel"),)
    if real == 0:
        return [Finding("resources", "does_not_fit", "error", site, facts)]
    if wanted is not None and real < wanted:
        return [Finding("resources", "fewer_waves", "warning", site, facts)]
    return [Finding("resources", "waves_per_simd", "info", site, facts)]

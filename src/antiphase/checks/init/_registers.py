"""`init`: a register read that nothing can have written, on no path from the entry.

What a wave starts with: LLVM AMDGPUUsage, "Initial Kernel Execution State" (facts: entry-state). A write under any EXEC
counts as one, and so does one of half a register or of a single lane: what is told is certain. Of an operand in several
registers some may be left open, as LLVM does where that part of the result is never used; none of an address, and none
of what a matrix instruction multiplies and adds, where every register goes into results of many lanes.
"""

from __future__ import annotations

from collections.abc import Iterator

from antiphase.asm import Block, Instruction, Kernel, Operand, Program, Special
from antiphase.checks._finding import Finding, Site
from antiphase.checks._flow import forward
from antiphase.checks._registers import SGPR, Uses, name, units, uses_of
from antiphase.isa import Matrix, Memory, Record, find
from antiphase.machine import with_full_numbers

Units = frozenset[int]
_UPPER_MASKS = frozenset((SGPR + 107, SGPR + 127))
_ALWAYS = frozenset((*range(SGPR + 102, SGPR + 106), *range(SGPR + 108, SGPR + 124))) | units(Special("exec"))
"""FLAT_SCRATCH, XNACK_MASK, the registers of the trap handler, and EXEC."""
_CALLS = ("s_swappc_", "s_call_", "s_swap_pc_")
"""What may write all registers: also where the function is known, since functions save those of their callers."""
_KEEP_SOME = (
    "v_writelane_", "v_permlane16_b32", "v_permlanex16_b32", "v_permlane16_var", "v_permlanex16_var", "s_set_gpr_idx_",
)  # fmt: skip
"""What leaves some lanes or bits of its result as they were: that is no read of them."""
_M0 = units(Special("m0"))


def check_registers(program: Program, kernel: Kernel) -> list[Finding]:
    """Findings of one kernel, the first reads of each register on some path, in text order.

    Raises Unsupported where paths disagree about the upper bits of VGPR numbers (gfx1250).
    """
    kernel = with_full_numbers(program, kernel)
    records = [find(i.mnemonic, program.target) for i in kernel.instructions]
    uses = uses_of(kernel, program.target)
    everything = Units().union(*(_whole(u.reads) for u in uses))
    each = zip(kernel.instructions, records, uses, strict=True)
    gains = [everything if _hides_writes(i, r) else _whole(u.writes | u.may_write) for i, r, u in each]

    def through(state: Units, block: Block) -> Units:
        return state.union(*gains[block.start : block.end])

    entry = forward(kernel, entry_registers(kernel), through, frozenset.union)
    findings: list[Finding] = []
    for block in kernel.blocks:
        written = set(entry.get(block.index, everything))
        for index in range(block.start, block.end):
            if not uses[index].reads <= written:
                read = _read(kernel, index, records[index], uses[index])
                if missing := frozenset(_missing(kernel.instructions[index], records[index], read, written)):
                    findings.append(_finding(index, missing))
                    written |= missing
            written |= gains[index]
    return findings


def entry_registers(kernel: Kernel) -> Units:
    """What holds something when a wave starts: user SGPRs, workgroup ids, v0, EXEC and what is no use of the kernel's.

    Without a descriptor nothing is known of the SGPRs: all count as written.
    """
    descriptor = kernel.descriptor
    count = descriptor.get("user_sgpr_count")
    if count is None:
        return _ALWAYS | {0, 1} | frozenset(range(SGPR, SGPR + 102))
    ids = ("workgroup_id_x", "workgroup_id_y", "workgroup_id_z", "workgroup_info")
    count += sum(bool(descriptor.get(f"system_sgpr_{one}", int(one == "workgroup_id_x"))) for one in ids)
    count += bool(descriptor.get("enable_private_segment"))
    return _ALWAYS | {0, 1} | frozenset(range(SGPR, SGPR + count))


def _hides_writes(instruction: Instruction, record: Record | None) -> bool:
    """Whether an instruction may write what its text does not say: one not known, and a call."""
    return record is None or instruction.mnemonic.startswith(_CALLS)


def _read(kernel: Kernel, index: int, record: Record | None, uses: Uses) -> Units:
    """Registers whose value matters to an instruction."""
    # where M0 adds to a number, the register in the text need not be the one that is read
    instruction, read = kernel.instructions[index], uses.reads - uses.may_read
    if kernel.metadata.wavefront_size == 32:
        read -= _UPPER_MASKS
    if isinstance(record, Memory) and record.asynchronous and not record.multicast:
        read -= _M0
    if _is_zero(instruction):
        return Units()
    if instruction.mnemonic.startswith(_KEEP_SOME):
        read -= uses.writes - _all(instruction.operands[1:])
    return _whole(read)


def _missing(instruction: Instruction, record: Record | None, read: Units, written: set[int]) -> Iterator[int]:
    """Units read that nothing has written: implicit ones, of addresses and matrices, of operands none of which is."""
    named = Units()
    for position, operand in enumerate(instruction.operands):
        of_operand = _whole(units(operand))
        if not of_operand <= read:
            continue  # a result, whatever it shares with a source
        named |= of_operand
        lacking = of_operand - written
        if lacking == of_operand or _needs_all(instruction, record, position):
            yield from lacking
    if instruction.pair is None:
        yield from read - named - written


def _needs_all(instruction: Instruction, record: Record | None, position: int) -> bool:
    """Whether every register of an operand matters: of a matrix, and of an address.

    A store's data comes second, that of a scalar, buffer or scratch store elsewhere.
    """
    if not isinstance(record, Memory):
        return isinstance(record, Matrix)
    if record.space == "buffer":
        return position > 0
    data = int(record.space != "smem") if record.access in ("store", "atomic") else None
    return record.space in ("global", "flat", "smem") and position != data and not record.asynchronous


def _is_zero(instruction: Instruction) -> bool:
    """Whether the result is 0 whatever the register holds: `v_xor_b32 v1, v1, v1`."""
    sources = instruction.operands[1:]
    same = len(sources) == 2 and sources[0] == sources[1]
    return same and instruction.mnemonic.startswith(("v_xor_b32", "s_xor_b", "v_sub_u32", "v_sub_nc_u32", "s_sub_u32"))


def _all(operands: tuple[Operand, ...]) -> Units:
    return Units().union(*map(units, operands))


def _whole(found: Units) -> Units:
    """Both halves of a vector register for one of them."""
    return frozenset(half for u in found for half in ((u | 1, u & ~1) if u < SGPR else (u,)))


def _finding(index: int, missing: Units) -> Finding:
    registers = sorted({name(u) for u in missing}, key=lambda r: (r[0], len(r), r))
    facts = {"registers": tuple(registers)}
    return Finding("init", "register_never_written", "error", (Site(index, "read"),), facts)

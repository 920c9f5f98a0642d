"""`port`: what a kernel's text will not survive on another target.

The instructions that a target has are those its assembler accepts (arch) or that have a record of their meaning (isa).
Offsets: LLVM AMDGPUModifierSyntax and the assembler; an offset that does not fit is cut without a word by some of them.
Counter splits and legacy waits: LLVM SIInsertWaitcnts, AMD RDNA 4 ISA 4.4.
"""

from __future__ import annotations

from collections.abc import Iterator

from antiphase import arch
from antiphase.asm import Imm, Instruction, Kernel, Modified, Operand, Program, Reg, RegList
from antiphase.checks._finding import Finding, Fix, Severity, Site
from antiphase.checks._wait import wait_text
from antiphase.errors import Unsupported
from antiphase.isa import COUNTERS, Matrix, Memory, Record, find, generation
from antiphase.machine import waits

_SUFFIXES = ("_e64_dpp", "_e32", "_e64", "_sdwa", "_dpp")
_SIGNED, _UNSIGNED = True, False
# Bits of the offset field by address space and generation.
_OFFSET_BITS = {
    "buffer": {"gfx9": (12, _UNSIGNED), "gfx11": (12, _UNSIGNED), "gfx12": (23, _UNSIGNED), "gfx1250": (23, _UNSIGNED)},
    "global": {"gfx9": (13, _SIGNED), "gfx11": (13, _SIGNED), "gfx12": (24, _SIGNED), "gfx1250": (24, _SIGNED)},
    "scratch": {"gfx9": (13, _SIGNED), "gfx11": (13, _SIGNED), "gfx12": (24, _SIGNED), "gfx1250": (24, _SIGNED)},
    "flat": {"gfx9": (12, _UNSIGNED), "gfx11": (12, _UNSIGNED), "gfx12": (24, _SIGNED), "gfx1250": (24, _SIGNED)},
}
_FLOAT8 = ("fp8", "bf8")

Conditions = tuple[tuple[str, int], ...]
"""(counter, largest value left) of a wait."""


def check_port(program: Program, kernel: Kernel, to: str) -> list[Finding]:
    """Findings of one kernel about a move to the target `to`, in text order; those of the whole kernel first.

    Raises UserError for an unknown target.
    """
    new = arch.target(to)
    found = list(_whole(program, kernel, new))
    for index, instruction in enumerate(kernel.instructions):
        found += _one(index, instruction, program.target, new)
    return found


def _finding(rule: str, severity: Severity, index: int, fix: Fix | None = None, **facts: object) -> Finding:
    return Finding("port", rule, severity, (Site(index, "instruction"),), facts, fix)


def _whole(program: Program, kernel: Kernel, new: arch.Target) -> Iterator[Finding]:
    old, metadata = arch.target(program.target), kernel.metadata
    if metadata.wavefront_size not in new.wave_sizes:
        sizes = {"from": metadata.wavefront_size, "to": new.name, "sizes": new.wave_sizes}
        yield _finding("wave_size", "error", 0, **sizes)
    if metadata.group_segment_fixed_size > new.max_lds_bytes:
        lds = {"bytes": metadata.group_segment_fixed_size, "largest": new.max_lds_bytes, "to": new.name}
        yield _finding("lds_size", "error", 0, **lds)
    registers = {bank: _highest(kernel, bank) for bank in "va"}
    for bank, largest in (("v", new.max_vgprs), ("a", new.max_agprs)):
        index, count = registers[bank]
        if count > largest:
            yield _finding("registers", "error", index, bank=bank, used=count, largest=largest, to=new.name)
    addressed = registers["v"][1]
    if addressed > 256 and generation(program.target) != "gfx1250" == generation(new.name):
        yield _finding("vgpr_banks", "error", registers["v"][0], used=addressed, to=new.name)
    wait = _store_wait(program, kernel)
    if wait is not None and generation(new.name) == "gfx11":  # later ones have no vmcnt: see legacy_wait
        yield _finding("store_counter", "warning", wait, to=new.name)
    small = [i for i, one in enumerate(kernel.instructions) if _is_float8(find(one.mnemonic, program.target), one)]
    if small and old.fp8 != new.fp8:
        formats = {"from": old.fp8, "now": new.fp8, "uses": len(small), "to": new.name}
        yield _finding("number_format", "warning", small[0], **formats)


def _store_wait(program: Program, kernel: Kernel) -> int | None:
    """The first wait for vmcnt with a store before it in the text, on targets whose stores count on vmcnt."""
    if generation(program.target) != "gfx9":
        return None
    stored = False
    for index, instruction in enumerate(kernel.instructions):
        record = find(instruction.mnemonic, program.target)
        stored |= isinstance(record, Memory) and record.access == "store" and record.space != "ds"
        if stored and instruction.mnemonic == "s_waitcnt" and "vmcnt" in instruction.text():
            return index
    return None


def _is_float8(record: Record | None, instruction: Instruction) -> bool:
    if isinstance(record, Matrix) and (record.a + record.b).startswith(_FLOAT8):
        return True
    return "cvt" in instruction.mnemonic and any(name in instruction.mnemonic for name in _FLOAT8)


def _highest(kernel: Kernel, bank: str) -> tuple[int, int]:
    """The instruction that names the highest register of a bank, and how many registers that makes."""
    best = (0, 0)
    for index, instruction in enumerate(kernel.instructions):
        for reg in _registers(instruction.operands):
            if reg.bank == bank and reg.index + reg.count > best[1]:
                best = (index, reg.index + reg.count)
    return best


def _registers(operands: tuple[Operand, ...]) -> Iterator[Reg]:
    for operand in operands:
        inner = operand.operand if isinstance(operand, Modified) else operand
        if isinstance(inner, Reg):
            yield inner
        elif isinstance(inner, RegList):
            yield from inner.regs


def _one(index: int, instruction: Instruction, old: str, new: arch.Target) -> Iterator[Finding]:
    if instruction.mnemonic.startswith(("s_waitcnt", "s_wait_")):
        yield from _wait(index, instruction, old, new)
        return
    if not _exists(instruction.mnemonic, new.name):
        fix = _barrier(index, instruction.mnemonic, new)
        yield _finding("missing_instruction", "error", index, fix, mnemonic=instruction.mnemonic, to=new.name)
        return
    record, offset = find(instruction.mnemonic, old), instruction.modifier("offset")
    fields = _OFFSET_BITS.get(record.space) if isinstance(record, Memory) else None
    if fields is not None and isinstance(offset, int):
        bits, signed = fields[generation(new.name)]
        least, largest = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        if not least <= offset <= largest:
            span = {"offset": offset, "least": least, "largest": largest, "to": new.name}
            yield _finding("offset_range", "error", index, **span)


def _barrier(index: int, mnemonic: str, new: arch.Target) -> Fix | None:
    if mnemonic != "s_barrier" or new.barrier != "split":
        return None
    return Fix("replace", index, ("s_barrier_signal -1", "s_barrier_wait -1"))


def _exists(mnemonic: str, target: str) -> bool:
    """By the assembler where it knows the name at all; spellings that it leaves out are looked up as records."""
    accepted = arch.assembler_inventory().mnemonics
    spellings = [mnemonic, *(mnemonic.removesuffix(s) for s in _SUFFIXES if mnemonic.endswith(s))]
    known = [accepted[s] for s in spellings if s in accepted]
    return any(target in one.forms for one in known) if known else find(mnemonic, target) is not None


def _wait(index: int, instruction: Instruction, old: str, new: arch.Target) -> Iterator[Finding]:
    before, after = generation(old), generation(new.name)
    try:
        conditions = waits(instruction, old)
    except Unsupported:
        conditions = ()
    kept = _exists(instruction.mnemonic, new.name) and all(counter in COUNTERS[after] for counter, _ in conditions)
    facts = {"to": new.name, "counters": conditions, "mnemonic": instruction.mnemonic}
    if kept and before != after and _is_packed(instruction):
        text = f"s_waitcnt {' '.join(f'{c}({n})' for c, n in _asked(conditions, old))}"
        yield _finding("packed_wait", "error", index, Fix("replace", index, (text,)), **facts)
    if not kept:
        text = tuple(wait_text(c, n, after) for c, n in _translated(conditions, old, new.name))
        fix = Fix("replace", index, text) if text else None
        yield _finding("legacy_wait", "error", index, fix, **facts)


def _is_packed(instruction: Instruction) -> bool:
    return instruction.mnemonic == "s_waitcnt" and isinstance(instruction.operands[-1], Imm)


def _asked(conditions: Conditions, old: str) -> Conditions:
    """Without the all-ones counts, which ask for nothing."""
    largest = {c.name: c.largest for c in arch.target(old).counters}
    return tuple((counter, n) for counter, n in conditions if n != largest.get(counter))


def _translated(conditions: Conditions, old: str, new: str) -> Iterator[tuple[str, int]]:
    """The waits on another generation's counters that hold at least as much back.

    Where several counters become one, the number stays: it then bounds them all. Where one becomes several it is no
    longer known to be small enough for any, since the text does not tell which operations it left; all must reach 0.
    """
    for counter, n in _asked(conditions, old):
        names = _successors(counter, generation(old), COUNTERS[generation(new)])
        yield from ((name, n if len(names) == 1 else 0) for name in names)


def _successors(counter: str, before: str, there: tuple[str, ...]) -> tuple[str, ...]:
    """The counters that operations of one are on in another generation."""
    if counter in ("storecnt", "vscnt"):
        names = ("storecnt", "vscnt") if {"storecnt", "vscnt"} & set(there) else ("vmcnt",)
    elif counter == "vmcnt" and before == "gfx9":
        names = ("vmcnt", "loadcnt", "vscnt", "storecnt")  # stores are counted with loads on CDNA 3 and 4 only
    elif counter in ("vmcnt", "loadcnt"):
        names = ("vmcnt", "loadcnt")
    elif counter in ("lgkmcnt", "dscnt", "kmcnt"):
        names = ("lgkmcnt", "dscnt", "kmcnt") if counter == "lgkmcnt" else ("lgkmcnt", counter)
    else:
        names = (counter,)
    return tuple(name for name in names if name in there)

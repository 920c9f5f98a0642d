"""What makes a kernel wrong however it runs: lines that a manual forbids and an assembler may let through."""

from __future__ import annotations

from collections.abc import Iterator

from antiphase import arch
from antiphase.asm import (
    Call,
    FloatImm,
    Imm,
    Instruction,
    Kernel,
    Modified,
    Operand,
    Program,
    Reg,
    Special,
    Waits,
    is_inline,
)
from antiphase.errors import UserError
from antiphase.isa import Alu, Control, Memory, Record, Slot, find, generation

# first and last immediate offset: what LLVM's assembler accepts. RDNA3 ISA p. 121, RDNA3.5 p. 123, RDNA4 p. 146
_SIGNED_13, _UNSIGNED_12, _SIGNED_24, _UNSIGNED_16 = (-4096, 4095), (0, 4095), (-(1 << 23), (1 << 23) - 1), (0, 65535)
_SIGNED_21 = (-(1 << 20), (1 << 20) - 1)
_OLDER = {
    "global": _SIGNED_13, "scratch": _SIGNED_13, "flat": _UNSIGNED_12, "smem": _SIGNED_21, "ds": _UNSIGNED_16,
}  # fmt: skip
_GFX12 = {
    "global": _SIGNED_24, "scratch": _SIGNED_24, "flat": _SIGNED_24, "smem": _SIGNED_24, "ds": _UNSIGNED_16,
    "buffer": (0, (1 << 23) - 1),
}  # fmt: skip

Complaint = tuple[str, str]
"""What is wrong with a line, and what to do."""


def check_lines(program: Program, kernel: Kernel) -> None:
    """UserError for the first line that no machine runs as written; those without a record are not judged."""
    records = {one.mnemonic: find(one.mnemonic, program.target) for one in _halves(kernel)}
    for index, instruction in enumerate(kernel.instructions):
        record = records[instruction.mnemonic]
        if record is not None:
            pair = records[instruction.pair.mnemonic] if instruction.pair is not None else None
            for what, remedy in _complaints(program.target, kernel, index, record, pair):
                raise UserError(what, file=program.name, line=instruction.line, remedy=remedy)


def _halves(kernel: Kernel) -> Iterator[Instruction]:
    for instruction in kernel.instructions:
        yield instruction
        if instruction.pair is not None:
            yield instruction.pair


def _complaints(target: str, kernel: Kernel, index: int, record: Record, pair: Record | None) -> Iterator[Complaint]:
    instruction = kernel.instructions[index]
    wide = kernel.metadata.wavefront_size == 64
    if isinstance(pair, Alu):
        yield from _dual_issue(target, instruction, pair, wide)
    if isinstance(record, Memory):
        yield from _offsets(target, instruction, record)
    if isinstance(record, Alu) and record.unit == "valu":
        yield from _masks(instruction, record, wide)
        yield from _scalars(target, instruction, record)
    if isinstance(record, Alu):
        yield from _literals(instruction)
    yield from _counts(target, instruction)
    if instruction.mnemonic.startswith("s_") and any(isinstance(o, Modified) for o in instruction.operands):
        yield f"'{instruction.text()}': scalar instructions take no input modifiers", "negate in a step of its own"
    if isinstance(record, Control) and record.action == "alloc_vgpr" and wide:
        yield "s_alloc_vgpr in a wave of 64 lanes", "VGPRs are allocated dynamically in wave32 alone (RDNA4 ISA p. 28)"
    if _releases_vgprs(instruction):
        yield from _after_release(kernel, index)


def _named(record: Alu) -> tuple[int, list[Slot]]:
    """How many operands are results, and the slots of all operands in the order of the text."""
    named = ("operand", "mask", "constant")
    results = [slot for slot in record.signature.results if slot.role in named]
    return len(results), [*results, *(slot for slot in record.signature.sources if slot.role in named)]


_NAMED_MASKS = {"vcc": 2, "exec": 2, "vcc_lo": 1, "vcc_hi": 1, "exec_lo": 1, "exec_hi": 1}


def _masks(instruction: Instruction, record: Alu, wide: bool) -> Iterator[Complaint]:
    """A lane mask is one SGPR in wave32 and two in wave64."""
    _, slots = _named(record)
    if len(slots) != len(instruction.operands):
        return
    for operand, slot in zip(instruction.operands, slots, strict=True):
        width = operand.count if isinstance(operand, Reg) else _NAMED_MASKS.get(str(operand))
        if slot.role == "mask" and width not in (None, 1 + wide):
            lanes, needed = (64, "two SGPRs") if wide else (32, "one SGPR")
            yield f"{operand} in '{instruction.text()}' is no mask of {lanes} lanes", f"name {needed}"


_ONE_SCALAR = ("v_lshlrev_b64", "v_lshrrev_b64", "v_ashrrev_i64")


def _scalars(target: str, instruction: Instruction, record: Alu) -> Iterator[Complaint]:
    """LLVM, SISubtarget getConstantBusLimit: one scalar value a vector instruction on gfx9, two from gfx10 on, where
    64-bit shifts keep one."""
    results, _ = _named(record)
    shift = any(instruction.mnemonic.startswith(name) for name in _ONE_SCALAR)
    limit = 1 if generation(target) == "gfx9" or shift else 2
    read = {_scalar(_plain(operand)) for operand in instruction.operands[results:]} - {None}
    if instruction.mnemonic.startswith("v_writelane"):
        read -= {"m0"}  # which lane it writes, not a value
    read |= {"vcc"} if any(slot.role == "vcc" for slot in record.signature.sources) else set()
    if len(read) > limit:
        values = " and ".join(sorted(str(value) for value in read))
        one = "one scalar value" if limit == 1 else "two scalar values"
        yield f"'{instruction.text()}' reads {values}", f"{target} reads {one} there; move the rest to VGPRs first"


def _literals(instruction: Instruction) -> Iterator[Complaint]:
    """An instruction has room for one constant behind it."""
    plain = [_plain(operand) for half in (instruction, instruction.pair) if half for operand in half.operands]
    values = {o.value for o in plain if isinstance(o, Imm | FloatImm) and not is_inline(o)}
    if len(values) > 1:
        two = " and ".join(str(o) for o in dict.fromkeys(plain) if isinstance(o, Imm | FloatImm) and not is_inline(o))
        yield f"'{instruction.text()}' has two constants, {two}", "move one to a register first"


def _scalar(operand: Operand) -> str | None:
    """What an operand takes of the constant bus; nothing for a VGPR or a constant of the encoding."""
    if isinstance(operand, Reg):
        return str(operand) if operand.bank in ("s", "ttmp") else None
    if isinstance(operand, Special):
        return operand.name.removesuffix("_lo") if operand.name not in ("null", "off") else None
    return operand.text if isinstance(operand, Imm | FloatImm) and not is_inline(operand) else None


def _dual_issue(target: str, instruction: Instruction, pair: Alu, wide: bool) -> Iterator[Complaint]:
    """VOPD: wave32 only on all targets. On RDNA 4 the first half must leave a second one that shares a source alone.

    The manual forbids writing any source of the second half; AMD's compiler does it for gfx12 unless the pair takes two
    cycles, as one with a VGPR in the same place of both halves does (llvm-project pull requests 178772 and 191264).
    Refusing more would refuse what Triton 3.9 compiles for gfx1201.
    """
    y = instruction.pair
    assert y is not None
    if wide:
        yield "a dual-issue instruction in a wave of 64 lanes", "VOPD is for wave32 (RDNA4 ISA p. 93)"
    if generation(target) in ("gfx11", "gfx12"):
        yield from _banks(target, instruction, y)
    if generation(target) != "gfx12":
        return
    accumulates = any(slot.role == "tied" for slot in pair.signature.sources)
    read = {_plain(operand) for operand in y.operands[0 if accumulates else 1 :]}
    written = instruction.operands[0]
    same_place = zip(map(_plain, instruction.operands[1:]), map(_plain, y.operands[1:]), strict=False)
    if written in read and any(a == b and isinstance(a, Reg) and a.bank == "v" for a, b in same_place):
        yield (
            f"the first half of a dual-issue instruction writes {written}, which the second half reads",
            "RDNA 4 forbids it (ISA p. 93): exchange the halves or issue them apart",
        )


# the halves' operands in one place, and how many VGPR banks there are for it: RDNA3 ISA p. 67, RDNA4 ISA p. 93
_BANKS = (("results", 0, 2), ("first sources", 1, 4), ("second sources", 2, 4))


def _banks(target: str, x: Instruction, y: Instruction) -> Iterator[Complaint]:
    """VGPRs in the same place of both halves lie in different banks. RDNA 4 lets sources be the same VGPR, and asks
    nothing of those of two moves (as LLVM's assembler does; AMDGPUAsmParser, checkVOPDRegBankConstraints)."""
    new = generation(target) == "gfx12"
    moves = new and {x.mnemonic, y.mnemonic} == {"v_dual_mov_b32"}
    for what, place, banks in _BANKS[:1] if moves else _BANKS:
        a, b = (_plain(half.operands[place]) if len(half.operands) > place else None for half in (x, y))
        if not (isinstance(a, Reg) and isinstance(b, Reg) and a.bank == b.bank == "v"):
            continue
        if a.index % banks == b.index % banks and not (new and place and a.index == b.index):
            different = "one even and one odd" if banks == 2 else "whose numbers differ in the lowest two bits"
            yield f"the {what} {a} and {b} of a dual-issue instruction share a bank", f"take VGPRs {different}"


def _plain(operand: Operand) -> Operand:
    return operand.operand if isinstance(operand, Modified) else operand


def _offsets(target: str, instruction: Instruction, record: Memory) -> Iterator[Complaint]:
    new = generation(target) in ("gfx12", "gfx1250")
    limits = (_GFX12 if new else _OLDER).get(record.space)
    offset = instruction.modifier("offset", 0)
    if record.space == "smem" and instruction.operands and isinstance(instruction.operands[-1], Imm):
        offset = instruction.operands[-1].value
    if record.space == "smem" and instruction.mnemonic.startswith("s_buffer_") and limits is not None:
        limits = 0, limits[1]  # an offset into a buffer is unsigned
    if record.space == "ds" and record.lanes is not None and not isinstance(offset, int):
        return  # the pattern of a swizzle
    if limits is not None and isinstance(offset, int) and not limits[0] <= offset <= limits[1]:
        yield (
            f"offset {offset} of {instruction.mnemonic} does not fit its field",
            f"{target} has {limits[0]} to {limits[1]} there; add the rest to the address",
        )
    for name in ("offset0", "offset1"):
        part = instruction.modifier(name, 0)
        if isinstance(part, int) and not 0 <= part <= 255:
            yield f"{name}:{part} of {instruction.mnemonic} does not fit its field", "it holds 0 to 255"


def _counts(target: str, instruction: Instruction) -> Iterator[Complaint]:
    """The names of s_waitcnt; `_sat` asks for the largest that fits."""
    for operand in instruction.operands:
        counts = operand.counts if isinstance(operand, Waits) else ()
        largest = {counter.name: counter.largest for counter in arch.target(target).counters} if counts else {}
        for name, count in counts:
            most = largest.get(name)
            if most is not None and not 0 <= count <= most:
                remedy = f"{target} has 0 to {most} there; {name}_sat takes what is more for that"
                yield f"{name}({count}) does not fit its field", remedy


def _releases_vgprs(instruction: Instruction) -> bool:
    if instruction.mnemonic != "s_sendmsg":
        return False
    (operand,) = instruction.operands[:1] or (None,)
    return isinstance(operand, Call) and operand.args[:1] == ("MSG_DEALLOC_VGPRS",)


def _after_release(kernel: Kernel, index: int) -> Iterator[Complaint]:
    """RDNA3 and RDNA3.5 ISA p. 26: a wave that has given back its VGPRs may only end."""
    following = kernel.instructions[index + 1 : index + 2]
    harmless = ("s_nop", "s_endpgm", "s_delay_alu")
    if following and following[0].mnemonic not in harmless:
        yield (
            f"'{following[0].mnemonic}' follows the release of the wave's VGPRs",
            "after MSG_DEALLOC_VGPRS the only valid instruction is s_endpgm",
        )

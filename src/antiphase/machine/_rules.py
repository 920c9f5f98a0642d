"""What makes a kernel wrong however it runs: lines that a manual forbids and an assembler may let through."""

from __future__ import annotations

from collections.abc import Iterator

from antiphase import arch
from antiphase.asm import Call, Imm, Instruction, Kernel, Modified, Operand, Program, Reg, Waits
from antiphase.errors import UserError
from antiphase.isa import Alu, Control, Memory, Record, generation

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


def check(program: Program, kernel: Kernel, records: list[Record], pairs: dict[int, Alu]) -> None:
    """UserError for the first line that no machine runs as written."""
    for index, (instruction, record) in enumerate(zip(kernel.instructions, records, strict=True)):
        for what, remedy in _complaints(program.target, kernel, index, record, pairs.get(index)):
            raise UserError(what, file=program.name, line=instruction.line, remedy=remedy)


def _complaints(target: str, kernel: Kernel, index: int, record: Record, pair: Alu | None) -> Iterator[Complaint]:
    instruction = kernel.instructions[index]
    wide = kernel.metadata.wavefront_size == 64
    if pair is not None:
        yield from _dual_issue(target, instruction, pair, wide)
    if isinstance(record, Memory):
        yield from _offsets(target, instruction, record)
    yield from _counts(target, instruction)
    if instruction.mnemonic.startswith("s_") and any(isinstance(o, Modified) for o in instruction.operands):
        yield f"'{instruction.text()}': scalar instructions take no input modifiers", "negate in a step of its own"
    if isinstance(record, Control) and record.action == "alloc_vgpr" and wide:
        yield "s_alloc_vgpr in a wave of 64 lanes", "VGPRs are allocated dynamically in wave32 alone (RDNA4 ISA p. 28)"
    if _releases_vgprs(instruction):
        yield from _after_release(kernel, index)


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


def _plain(operand: Operand) -> Operand:
    return operand.operand if isinstance(operand, Modified) else operand


def _offsets(target: str, instruction: Instruction, record: Memory) -> Iterator[Complaint]:
    new = generation(target) in ("gfx12", "gfx1250")
    limits = (_GFX12 if new else _OLDER).get(record.space)
    offset = instruction.modifier("offset", 0)
    if record.space == "smem" and instruction.operands and isinstance(instruction.operands[-1], Imm):
        offset = instruction.operands[-1].value
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

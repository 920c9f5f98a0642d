"""Random assembly lines for instruction records: the known form of each with other registers, sources and modifiers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from antiphase import arch
from antiphase.asm import FloatImm, Imm, Instruction, Modified, Operand, Reg, Special, parse_instruction
from antiphase.isa import Alu, Matrix, Memory, Record, find, generation

ALIGNED = ("gfx942", "gfx950", "gfx1250")
"""Targets whose runs of vector registers start at an even one."""
_INLINE = (
    *(Imm(n, str(n)) for n in (0, 1, 64, -1, -16)), *(FloatImm(x, str(x)) for x in (0.5, -0.5, 1.0, -4.0)),
)  # fmt: skip
_LITERALS = tuple(Imm(n, f"{n:#x}") for n in (0x41, 0x1234, 0xFFFFFF, 0x3F800001, 0x80000000))
_FIXED = (
    "v_permlane", "v_swap", "v_readlane", "v_readfirstlane", "v_mov_b64", "v_accvgpr", "v_cvt_scale", "v_writelane",
    "s_movrel", "v_movrel", "s_cmpk", "v_div_scale",
)  # fmt: skip
_MODIFIERS = {
    "gfx9": {"load": ("nt", "sc1", "sc0"), "store": ("nt", "sc1", "sc0"), "atomic": ("nt",)},
    "gfx11": {"load": ("glc", "slc", "dlc"), "store": ("slc", "dlc"), "atomic": ("slc",)},
}
_TEMPORAL = {
    "load": ("TH_LOAD_NT", "TH_LOAD_HT", "TH_LOAD_NT_RT"), "store": ("TH_STORE_NT", "TH_STORE_HT", "TH_STORE_RT_NT"),
    "atomic": ("TH_ATOMIC_NT",),
}  # fmt: skip
_OFFSETS = {"gfx9": 4095, "gfx11": 4095, "gfx12": (1 << 23) - 1, "gfx1250": (1 << 23) - 1}


def forms(target: str) -> Iterator[tuple[Record, Instruction]]:
    """Every mnemonic of a target that has a record and a line LLVM assembles, with that line."""
    for name, line in sorted(arch.assembler_inventory().accepted(target).items()):
        record = find(name, target) if line else None
        if record is not None:
            yield record, parse_instruction(line)


def varied(record: Record, form: Instruction, target: str, random: Random) -> Instruction:
    """The form with registers renumbered, and where the format takes them other sources, signs and cache controls."""
    # a dual-issue instruction ties register banks and parities of its halves, which steps of four keep
    step = 4 if form.pair else 1
    operands = [_renumbered(operand, target, step, random, _last(form)) for operand in form.operands]
    modifiers = dict(form.modifiers)
    if isinstance(record, Matrix):
        _keep_apart(operands)
    elif isinstance(record, Alu):
        _vary_sources(record, form, operands, random)
    elif isinstance(record, Memory):
        _vary_access(record, modifiers, target, random)
    pair = form.pair and replace(
        form.pair, operands=tuple(_renumbered(o, target, step, random, 255) for o in form.pair.operands)
    )
    return replace(form, operands=tuple(operands), modifiers=tuple(modifiers.items()), pair=pair)


def _last(form: Instruction) -> int:
    """The last VGPR a form can name: short encodings of 16-bit operations tell the halves apart by the eighth bit."""
    short = form.mnemonic.endswith("_e32") or "ak_" in form.mnemonic or "mk_" in form.mnemonic
    return 127 if short and "16" in form.mnemonic else 255


def _keep_apart(operands: list[Operand]) -> None:
    """C where D is: a matrix instruction may not have the two overlap in part."""
    result = operands[0]
    for i, operand in enumerate(operands[1:], 1):
        if isinstance(result, Reg) and isinstance(operand, Reg) and operand.bank == result.bank:
            operands[i] = result if operand.count == result.count else operand


def _renumbered(operand: Operand, target: str, step: int, random: Random, end: int) -> Operand:
    if isinstance(operand, Modified):
        inner = _renumbered(operand.operand, target, step, random, end)
        assert isinstance(inner, Reg) or inner is operand.operand
        return replace(operand, operand=inner)
    if not isinstance(operand, Reg) or operand.bank == "ttmp":
        return operand
    if operand.bank == "s":
        step = 4 if operand.count > 2 else operand.count
        last = 96 - operand.count
    else:
        step = max(step, 2 if operand.count > 1 and target in ALIGNED else 1)
        last = (127 if operand.half else end) + 1 - operand.count
    first = operand.index % step
    return replace(operand, index=first + step * random.randrange((last - first) // step + 1))


def _vary_sources(record: Alu, form: Instruction, operands: list[Operand], random: Random) -> None:
    """The first source of a 32-bit operation may be a register of any kind or a number; floats may have a sign."""
    first = sum(slot.role in ("operand", "mask") for slot in record.signature.results)
    sources = [slot for slot in record.signature.sources if slot.role in ("operand", "constant", "mask")]
    if record.unit == "valu":
        _share_scalar(operands, first)
    if _is_fixed(record, form) or not sources or first >= len(operands):
        return
    slot, old = sources[0], form.operands[first]
    if slot.role != "operand" or slot.count != 1 or not isinstance(old, Reg):
        return
    if slot.type.bits == 32 and random.random() < 0.7 and (record.unit == "salu") == (old.bank == "s"):
        scalars = [Reg("s", random.randrange(90)), Special("m0"), Special("exec_lo"), Special("vcc_hi")]
        literals = _LITERALS if len(sources) == 1 and not form.mnemonic.endswith("_e64") else ()
        operands[first] = random.choice([operands[first], *scalars, *_INLINE, *literals])
    elif slot.type.is_float and record.unit == "valu" and not form.mnemonic.endswith("_e32"):
        chosen = operands[first]
        assert isinstance(chosen, Reg)
        neg, absolute = random.choice([(True, False), (False, True), (True, True)])
        operands[first] = Modified(chosen, neg, absolute)


def _is_fixed(record: Alu, form: Instruction) -> bool:
    """Whether the kind of the first source is part of the form, or another scalar one rules a second out."""
    if form.pair or record.packed or form.modifiers or form.mnemonic.endswith(("_dpp", "_sdwa")):
        return True
    if any(slot.role in ("mask", "vcc") for slot in record.signature.sources):
        return True
    return form.mnemonic.startswith(_FIXED) or any(part in form.mnemonic for part in ("ak_", "mk_"))


def _share_scalar(operands: list[Operand], first: int) -> None:
    """One scalar register for all sources: CDNA reads no two of them in a vector instruction."""
    scalars = [i for i in range(first, len(operands)) if isinstance(o := operands[i], Reg) and o.bank == "s"]
    for i in scalars[1:]:
        operands[i] = operands[scalars[0]]


def _vary_access(record: Memory, modifiers: dict, target: str, random: Random) -> None:
    access, kind = record.access, generation(target)
    if access not in ("load", "store", "atomic") or record.space in ("tensor", "direct", "smem"):
        return
    if record.space == "ds":
        if record.lanes is None:
            for name in ("offset0", "offset1") if record.count == 2 else ("offset",):
                modifiers[name] = random.randrange(256 if record.count == 2 else 65536)
        return
    modifiers["offset"] = random.randrange(1, _OFFSETS[kind])
    if kind in _MODIFIERS:
        for flag in _MODIFIERS[kind][access]:
            if random.random() < 0.3:
                modifiers[flag] = True
    elif "th" not in modifiers:
        modifiers["th"] = random.choice(_TEMPORAL[access])
        modifiers["scope"] = random.choice(("SCOPE_SE", "SCOPE_DEV", "SCOPE_SYS"))

"""An instruction record in words: what its operands are and what it does. Data for reports."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import singledispatch

from antiphase.isa._describe_memory import memory_parts, memory_words
from antiphase.isa._formula import formulas
from antiphase.isa._record import Alu, Control, Matrix, Memory, Record, Slot
from antiphase.isa._words import Description, Part, glossary

_IMPLICIT = {
    "scc": "SCC", "exec": "EXEC", "vccz": "VCCZ", "m0": "M0", "vcc": "VCC[lane]", "constant": "SIMM16",
    "bitop3": "BITOP3",
}  # fmt: skip
_ACTIONS = {
    "branch": "Continues at the label",
    "end": "Ends the wave.",
    "priority": "Sets the wave's issue priority; changes no result.",
    "trap": "Enters the trap handler.",
    "message": "Sends a message to the host or to fixed-function hardware; changes no result here.",
    "setreg": "Writes a bit field of a hardware register.",
    "getreg": "Reads a bit field of a hardware register.",
    "getpc": "D = address of the next instruction.",
    "setpc": "Continues at the address in S0.",
    "swappc": "D = address of the next instruction; continues at the address in S0.",
    "call": "D = address of the next instruction; continues at the label.",
    "wait": "Waits until the named counters are at most the given values.",
    "barrier": "Waits until all waves of the workgroup have arrived.",
    "barrier_signal": "Arrives at a barrier and does not wait.",
    "barrier_signal_isfirst": "Arrives at a barrier and does not wait; SCC = this wave was the first.",
    "barrier_wait": "Waits for the barrier that the wave has arrived at.",
    "barrier_init": "Sets how many waves a named barrier is for.",
    "barrier_join": "Joins a named barrier.",
    "barrier_leave": "Leaves the named barrier that the wave has joined.",
    "barrier_state": "D = the state of a barrier.",
    "gpr_idx_off": "Turns GPR index mode off; leaves M0.",
    "vgpr_msb": "Sets the upper bits of the VGPR numbers that follow.",
    "vskip": "From here on vector instructions are issued, or not: bit S1 of S0 says whether they are skipped.",
    "illegal": "Is no instruction: a wave that meets it goes to the trap handler, or halts where there is none.",
    "mode": "Writes the round or the denormal fields of MODE.",
    "alloc_vgpr": "Asks for another number of VGPRs; SCC = whether they were given.",
    "cycles": "D = cycles of the shader clock.",
    "message_return": "Sends a message; D = the answer.",
    "addpc": "Continues at the address of the next instruction plus S0.",
    "return_from_exception": "Returns from the trap handler.",
    "subvector_loop": "Runs a wave64 block once for each half of the wave.",
    "hint": "Changes timing only, no result.",
}
_CONDITIONS = {
    "scc0": "SCC is 0", "scc1": "SCC is 1", "vccz": "VCC is zero", "vccnz": "VCC is not zero",
    "execz": "EXEC is zero", "execnz": "EXEC is not zero",
}  # fmt: skip


@singledispatch
def describe(record: Record) -> Description:
    """What a record says, in words."""
    raise TypeError(f"no words for a {type(record).__name__}")


@describe.register
def _alu(record: Alu) -> Description:
    results = _result_names(record.signature.results)
    sources = _source_names(record.signature.sources, results)
    words = list(_alu_formulas(record, [n for n, _ in results], [n for n, _ in sources]))
    words += glossary(words)
    if record.unit == "valu":
        words.append("Every lane, active or not." if record.ignores_exec else "Active lanes only.")
    if record.packed and not record.pair:
        words.append("Packed: for the low and for the high half, as op_sel and op_sel_hi choose them.")
    if record.mixed:
        words.append(f"A source that op_sel_hi marks is one {record.mixed} half of its register, widened.")
    if record.rest != "zero":
        high = "The result goes to the upper half; the lower" if record.rest == "high" else "The rest of the register"
        words.append(f"{high} keeps its old value.")
    if record.saturated is not None:
        words.append("With clamp the integer result saturates.")
    words += _relative_words(record, [n for n, _ in results] + [n for n, slot in sources if slot.role == "operand"])
    parts = [_part(name, "result", slot) for name, slot in results]
    parts += [_part(name, "source", slot) for name, slot in sources if slot.role not in ("tied", "tied2")]
    return Description(tuple(parts), tuple(words))


def _relative_words(record: Alu, names: list[str]) -> list[str]:
    """names: of the operands in the order of the text."""
    moved = [(name, index) for name, index in zip(names, record.relative, strict=False) if index]
    words = [f"M0[{i.first + i.bits - 1}:{i.first}] adds to the register number of {name}." for name, i in moved]
    if moved:
        words.append("Out of range a source is register 0, and with a result out of range nothing happens.")
    return words


def _alu_formulas(record: Alu, results: list[str], sources: list[str]) -> tuple[str, ...]:
    numbered = [
        name if slot.count == 1 else f"{name}[{i}]"
        for name, slot in zip(sources, record.signature.sources, strict=True)
        for i in range(slot.count)
    ]
    named = [
        name if slot.count == 1 else f"{name}[{i}]"
        for name, slot in zip(results, record.signature.results, strict=True)
        for i in range(slot.count)
    ]
    if record.pair:
        numbered = [f"{name}.{half}" for half in ("lo", "hi") for name in numbered]
        named = [f"{name}.{half}" for half in ("lo", "hi") for name in named]
    return formulas(dict(zip(named, record.results, strict=True)), numbered)


def _result_names(slots: Sequence[Slot]) -> list[tuple[str, Slot]]:
    written = sum(slot.role in ("operand", "mask") for slot in slots)
    numbers = itertools.count()
    return [(_IMPLICIT.get(slot.role) or ("D" if written == 1 else f"D{next(numbers)}"), slot) for slot in slots]


def _source_names(slots: Sequence[Slot], results: Sequence[tuple[str, Slot]]) -> list[tuple[str, Slot]]:
    numbers = itertools.count()
    names = []
    for slot in slots:
        if slot.role in ("tied", "tied2"):
            names.append((f"old {results[slot.role == 'tied2'][0]}", slot))
        elif slot.role == "mask":
            names.append((f"S{next(numbers)}[lane]", slot))
        else:
            names.append((_IMPLICIT.get(slot.role) or f"S{next(numbers)}", slot))
    return names


def _part(name: str, role: str, slot: Slot) -> Part:
    type_ = "lane mask" if slot.role in ("mask", "vcc") else str(slot.type)
    written = slot.role in ("operand", "mask", "constant", "bitop3")
    amount = ", both halves" if slot.halves else f" x {slot.count}" if slot.count > 1 else ""
    return Part(name.removesuffix("[lane]"), role, type_ + amount, written)


@describe.register
def _memory(record: Memory) -> Description:
    return Description(memory_parts(record), tuple(memory_words(record)))


@describe.register
def _matrix(record: Matrix) -> Description:
    c = "D" if record.sparse else "C"
    parts = [
        Part("D", "result", f"{record.m}x{record.n} {record.acc}", True),
        Part("A", "source", f"{record.m}x{record.depth} {record.a}", True),
        Part("B", "source", f"{record.k}x{record.n} {record.b}", True),
    ]
    if record.sparse:
        parts.append(Part("index", "source", "2 bits per element of A", True))
    else:
        parts.append(Part("C", "source", f"{record.m}x{record.n} {record.start}", True))
    if record.scaled:
        parts += [Part(f"scale {side}", "source", f"e8m0 per {record.scale_block} k", True) for side in "AB"]
    words = [f"D = A x B + {'old ' if record.sparse else ''}{c}: {record.m} x {record.n} x {record.k}."]
    if record.blocks > 1:
        words.append(f"{record.blocks} independent products side by side.")
    if record.sparse:
        words.append("A holds two of every four elements along k; the index says which.")
    if record.scaled:
        words.append(f"Every {record.scale_block} elements along k of A and of B are multiplied by a power of two.")
    if "f8f6f4" in record.a:
        words.append("Modifiers of the instruction choose the 8-, 6- or 4-bit formats of A and B.")
    words.append("The whole wave takes part; EXEC is ignored.")
    return Description(tuple(parts), tuple(words))


@describe.register
def _control(record: Control) -> Description:
    words = _ACTIONS.get(record.action, f"Control: {record.action.replace('_', ' ')}.")
    if record.action == "branch":
        words += f" if {_CONDITIONS[record.condition]}." if record.condition else "."
    return Description((), (words,))

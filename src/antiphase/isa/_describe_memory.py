"""Memory records in words."""

from __future__ import annotations

from antiphase.isa._expr import U32, Expr, source
from antiphase.isa._formula import formulas
from antiphase.isa._record import Memory
from antiphase.isa._words import Part, glossary

_SPACES = {
    "global": "global memory",
    "flat": "flat memory (global, LDS or scratch by the address)",
    "scratch": "scratch",
    "buffer": "a buffer",
    "ds": "LDS",
    "smem": "global memory",
    "tensor": "a tensor in global memory",
    "direct": "LDS",
}


def memory_parts(record: Memory) -> tuple[Part, ...]:
    """Its operands, results first."""
    data = f"{record.bits} bits" + (f" x {record.count}" if record.count > 1 else "")
    address = [] if record.access == "clock" or record.by_lane else [Part("address", "source", "address", True)]
    if record.lanes is not None:
        moved = Part("S0", "source", str(U32), True)
        return (Part("D", "result", str(U32), True), *(address if record.operands else ()), moved)
    match record.access:
        case "cache":
            return ()
        case "load" | "clock" if not record.to_lds:
            return (Part("D", "result", data, True), *address)
        case "atomic":
            old = [Part("D", "result", str(record.type), True)]
            operands = [Part(f"DATA{i}", "source", str(record.type), True) for i in range(record.operands)]
            return (*old, *address, *operands)
        case "store" if not record.to_lds:
            return (*address, Part("DATA", "source", data, True))
    return tuple(address)


def memory_words(record: Memory) -> list[str]:
    """What it does, sentences and formulas."""
    space = _SPACES[record.space]
    if record.lanes is not None:
        return ["Moves data between lanes through the LDS unit; touches no memory.", *_lane_formulas(record)]
    match record.access:
        case "cache":
            return ["Writes back, invalidates or prefetches cache lines; moves no data to registers."]
        case "clock":
            return [f"D = a {record.bits}-bit time stamp."]
        case "atomic":
            words = [
                f"{'At' if record.space == 'smem' else 'For each active lane, at'} its address in {space}, as one "
                "indivisible step:",
                *_update(record),
            ]
            given = "D is always written." if record.returns else "D is written only if the text asks for it."
            return [*words, f"D = the value before. {given}"]
        case "append":
            return [f"Moves a counter in {space} by the number of active lanes; D = its value before."]
    if record.format:
        return _in_format(record)
    moves = "Loads" if record.access == "load" else "Stores"
    preposition = "from" if record.access == "load" else "to"
    amount = f"{record.bits} bits" if record.count == 1 else f"{record.count} places of {record.bits} bits"
    each = "" if record.space in ("smem", "tensor") else " for each active lane"
    return [f"{moves} {amount}{each} {preposition} {space}.", *_memory_notes(record)]


def _in_format(record: Memory) -> list[str]:
    load, letters = record.access == "load", ", ".join("xyzw"[: record.components])
    held = "in 32 bits each" if record.bits == 32 * record.components else "in 16 bits each, two to a register"
    says = {
        "resource": "The resource has the format, and DST_SEL, which says what each component is in memory.",
        "instruction": "The modifier `format` has the format.",
    }
    direction = "from the format of an element of a buffer" if load else "to the format of an element of a buffer"
    notes = [note for note in _memory_notes(record) if record.components == 1]
    if record.bits == 48 and load:
        notes.append("The upper half of the last register keeps its value.")
    return [f"Converts components {letters}, {held}, {direction} for each active lane.", says[record.format], *notes]


def _memory_notes(record: Memory) -> list[str]:
    load, notes = record.access == "load", []
    if record.chosen:
        notes.append("The places follow each other; M0 has a bit for each, lowest first: whether it is moved.")
    elif record.count > 1:
        notes.append(f"Each place has an offset of its own, in units of {record.spacing} bytes.")
    extend = {
        "zero": "Extended with zeros to 32 bits.",
        "sign": "Extended with the sign to 32 bits.",
        "low": "Goes to the lower half of the register; the upper half keeps its value.",
        "high": "Goes to the upper half of the register; the lower half keeps its value."
        if load
        else "Taken from the upper half of the register.",
    }
    if record.space == "smem" and record.spacing:
        notes.append(f"An offset in a register counts {record.spacing} bytes.")
    if record.extend:
        notes.append(extend[record.extend])
    if record.transpose is not None:
        notes.append("Elements are then exchanged between lanes so that rows become columns.")
    if record.exec_rule == "ignored":
        notes.append("EXEC is ignored: all lanes take part.")
    if record.exec_rule == "whole":
        notes.append("With some lanes inactive the result is undefined; with none active nothing happens.")
    if record.to_lds:
        notes.append("The data goes to LDS, not to registers." if load else "The data comes from LDS.")
    if record.asynchronous:
        notes.append("Asynchronous: the wave goes on, and a wait on asynccnt orders it.")
    if record.multicast:
        notes.append("M0 says which workgroups of the cluster receive the data.")
    if record.by_lane:
        notes.append("No address register: lane i accesses 4 * i bytes further on.")
    return notes


def _update(record: Memory) -> tuple[str, ...]:
    if record.update is None:
        return ()
    arguments = [source(i, record.type) for i in range(record.operands + 1)]
    names = ["MEM", *(("DATA",) if record.operands == 1 else (f"DATA{i}" for i in range(record.operands)))]
    return formulas({"MEM": record.update(*arguments)}, names)


def _lane_formulas(record: Memory) -> tuple[str, ...]:
    """A swizzle has no one formula: its offset chooses among several."""
    assert record.lanes is not None
    if record.operands == 0:
        return ("D = S0 of the lane that the offset names: bit masks, a rotation, quads or a butterfly.",)
    result: Expr = record.lanes(source(0, U32), source(1, U32), 0)
    lines = formulas({"D": result}, ["(address + offset)", "S0"])
    return (*lines, *glossary(lines))

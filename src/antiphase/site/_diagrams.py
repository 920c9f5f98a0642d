"""The live diagrams: what each shows, which chapter it belongs to, and the script that draws it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Diagram:
    """One diagram, a page of its own. short: its name in the navigation. script: module of static/ that draws it.

    facts: beginnings of the subjects that it shows. notes: what the picture does and does not claim.
    """

    title: str
    short: str
    summary: str
    chapter: str
    script: str
    facts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


DIAGRAMS: dict[str, Diagram] = {
    "explorer": Diagram(
        "Layout explorer",
        "Layout explorer",
        "Which element of a matrix each lane and register holds, for every matrix instruction of every target.",
        "layouts",
        "layouts",
        (),
        (
            "Coordinates are logical matrix indices: no memory addresses, no timing.",
            "Every layout shown is the one the CPU machine executes; its tests probe it element by element.",
        ),
    ),
    "packing": Diagram(
        "16-bit results in registers",
        "16-bit packing",
        "Where eight FP16 or BF16 results of a lane lie: one half of each register, or two in one.",
        "layouts",
        "packing",
        ("matrix.cd_16bit", "layouts.packing"),
        (
            "wave32, dense 16x16x16 WMMA; C is read and D written by the same map.",
            "High half (bits 31:16) on the left. Halves drawn empty are not results of this operation.",
        ),
    ),
    "dependency-map": Diagram(
        "Which check a dependency calls for",
        "Dependency map",
        "Registers, memory and other waves are separate questions: answer each that applies.",
        "matrix",
        "dependencies",
        (
            "matrix.map_",
            "execution.separation_",
            "matrix.s_delay_alu",
            "matrix.memory_operand",
            "execution.barrier_visibility",
        ),
        ("The map sorts requirements; it shows no cycles and no order of instructions.",),
    ),
    "overlap": Diagram(
        "Register overlap of two matrix instructions",
        "Register overlap",
        "Place the first instruction's D and the second one's operands, and see which rule applies on each generation.",
        "matrix",
        "overlap",
        ("matrix.d_to_",),
        ("The counts for CDNA are those of the instruction that the row names; the hazards chapter has all of them.",),
    ),
    "cross-lane": Diagram(
        "Cross-lane routing",
        "Cross-lane routing",
        "Who selects the source lane, and how far a value travels: row gathers, their per-lane forms, DS permutes.",
        "arithmetic",
        "routing",
        ("arithmetic.row_gather.", "arithmetic.lds_permute."),
        (
            "Arrows carry the 32-bit value of a source lane to its destination; they are no wires and no timing.",
            "Lanes that EXEC switches off are drawn hollow; what reading one gives is stated below the picture.",
        ),
    ),
    "data-paths": Diagram(
        "Paths between memory, LDS and registers",
        "Data paths",
        "Which instructions move a payload between global memory, LDS and VGPRs on each generation.",
        "memory",
        "paths",
        ("memory.path.", "memory.global_to_lds.", "memory.transpose.", "memory.lds_direct"),
        ("A path says nothing about completion or visibility: the counters do. Caches and addresses are not drawn.",),
    ),
    "counters": Diagram(
        "Counters by producer",
        "Counters",
        "Which counter an operation is on, and which wait proves it done.",
        "execution",
        "counters",
        ("execution.counter.",),
        ("Memory completion only: no counter tracks the arithmetic of a matrix instruction.",),
    ),
}


def diagrams_of(chapter: str) -> dict[str, Diagram]:
    """The diagrams of a chapter, by page name."""
    return {name: diagram for name, diagram in DIAGRAMS.items() if diagram.chapter == chapter}

"""Modifiers of a matrix instruction that say where its operands lie, checked against what the instruction has."""

from __future__ import annotations

from dataclasses import dataclass

from antiphase.errors import UserError
from antiphase.isa import Matrix
from antiphase.isa._formats import BITS, F8F6F4
from antiphase.isa.fragments import index_sets
from antiphase.isa.scale_fragments import scale_choices

CHOSEN = "f8f6f4"


@dataclass(frozen=True, slots=True)
class Modifiers:
    """formats: number formats of A and B. half: 16 bits of C and D that OPSEL[2] of RDNA 3 picks, 1 the upper.

    cbsz, abid: broadcast of a block of A. blgp: movement of lanes of B. index_set: which of the sets that a sparse
    index register holds. scale_select: for A and B, the byte or the half of the lanes that scales are read from.
    """

    formats: tuple[str, str]
    half: int = 0
    cbsz: int = 0
    abid: int = 0
    blgp: int = 0
    index_set: int = 0
    scale_select: tuple[int, int] = (0, 0)


def modifiers(
    name: str,
    record: Matrix,
    wave: int,
    *,
    formats: tuple[str, str] | None,
    opsel: tuple[int, int, int],
    cbsz: int,
    abid: int,
    blgp: int,
    index_set: int | None,
    scale_select: tuple[int, int],
) -> Modifiers:
    """As the assembler has them, sorted by what they mean for this instruction; UserError for one it does not have."""
    if record.a == CHOSEN:
        formats = _chosen(name, formats or (_by_number(name, cbsz), _by_number(name, blgp)))
        cbsz = blgp = 0
    elif formats not in (None, (record.a, record.b)):
        raise UserError(f"{name} has fixed formats", remedy=f"A is {record.a}, B is {record.b}")
    if record.sparse and record.family == "mfma":
        # CBSZ other than 0 makes hardware take set 0, whatever ABID says
        index_set, cbsz, abid = index_set if index_set is not None else (0 if cbsz else abid), 0, 0
    _check_opsel(name, record, opsel)
    _check_broadcast(name, record, cbsz, abid)
    _check_blgp(name, record, blgp)
    _check_index(name, record, wave, index_set)
    _check_scales(name, record, scale_select)
    return Modifiers(
        formats or (record.a, record.b), opsel[2], cbsz, abid, blgp, index_set or 0, (scale_select[0], scale_select[1])
    )


def _chosen(name: str, formats: tuple[str, str]) -> tuple[str, str]:
    for each in formats:
        if each not in F8F6F4:
            raise UserError(f"{name} has no format {each!r}", remedy=f"formats are {', '.join(F8F6F4)}")
    return formats


def _by_number(name: str, number: int) -> str:
    if not 0 <= number < len(F8F6F4):
        raise UserError(f"{name} has no format {number}", remedy=f"0 to {len(F8F6F4) - 1} are {', '.join(F8F6F4)}")
    return F8F6F4[number]


def _check_opsel(name: str, record: Matrix, opsel: tuple[int, int, int]) -> None:
    halves = record.family == "rdna3" and BITS[record.acc] == 16
    if any(opsel) and not halves:
        raise UserError(f"OPSEL of {name} moves no operand", remedy="only 16-bit results on RDNA 3 and 3.5 have a half")
    if opsel not in ((0, 0, 0), (0, 0, 1)):
        raise UserError(f"OPSEL {','.join(map(str, opsel))} is not one of {name}", remedy="use 0,0,0 or 0,0,1")


def _check_broadcast(name: str, record: Matrix, cbsz: int, abid: int) -> None:
    """The calculator's rule: CBSZ is for instructions of several blocks, those of f64 excepted."""
    most = record.blocks.bit_length() - 1 if record.family == "mfma" and record.acc != "f64" else 0
    if not 0 <= cbsz <= most:
        have = f"CBSZ goes from 0 to {most}" if most else "it has no CBSZ"
        raise UserError(f"CBSZ {cbsz} does not fit {name}", remedy=have)
    if not 0 <= abid < 1 << cbsz:
        raise UserError(f"ABID {abid} does not fit CBSZ {cbsz}", remedy=f"ABID goes from 0 to {(1 << cbsz) - 1}")


def _check_blgp(name: str, record: Matrix, blgp: int) -> None:
    """The calculator's rule for CDNA 3: instructions of several blocks and of f32; that of f64 negates."""
    has = record.family == "mfma" and record.acc != "f64" and (record.blocks > 1 or record.a == "f32")
    if blgp and not has:
        raise UserError(f"BLGP of {name} moves no lanes", remedy="leave it out")
    if not 0 <= blgp < 8:
        raise UserError(f"BLGP {blgp} does not exist", remedy="BLGP goes from 0 to 7")


def _check_index(name: str, record: Matrix, wave: int, index_set: int | None) -> None:
    if index_set is None:
        return
    if not record.sparse:
        raise UserError(f"{name} has no sparse index", remedy="leave the index set out")
    sets = index_sets(record, wave)
    if not 0 <= index_set < sets:
        raise UserError(f"index set {index_set} does not exist", remedy=f"{name} has sets 0 to {sets - 1}")


def _check_scales(name: str, record: Matrix, select: tuple[int, int]) -> None:
    if not record.scaled:
        if any(select):
            raise UserError(f"{name} has no scale operands", remedy="leave the scale selection out")
        return
    for side, chosen, choices in zip("AB", select, scale_choices(record), strict=True):
        if not 0 <= chosen < choices:
            raise UserError(
                f"scale selection {chosen} of {side} does not exist", remedy=f"{side} has 0 to {choices - 1}"
            )


__all__ = ["Modifiers", "modifiers"]

"""`port`: which instructions a target has, and what it calls those of another.

A target has what its assembler accepts (arch), or what has a record of its meaning (isa). Names are one instruction if
they are recorded as one.
"""

from __future__ import annotations

from functools import cache

from antiphase import arch
from antiphase.isa import REGISTRY, Control, Matrix, Memory, Record, find

_SUFFIXES = ("_e64_dpp", "_e32", "_e64", "_sdwa", "_dpp")


@cache
def parts(mnemonic: str) -> tuple[str, str]:
    """A mnemonic without the suffix of its encoding, and that suffix."""
    suffix = next((s for s in _SUFFIXES if mnemonic.endswith(s)), "")
    return mnemonic.removesuffix(suffix), suffix


@cache
def exists(mnemonic: str, target: str) -> bool:
    """By the assembler where it knows the name at all; spellings that it leaves out are looked up as records."""
    accepted = arch.assembler_inventory().mnemonics
    known = [accepted[s] for s in dict.fromkeys((mnemonic, parts(mnemonic)[0])) if s in accepted]
    return any(target in one.forms for one in known) if known else find(mnemonic, target) is not None


@cache
def new_name(mnemonic: str, old: str, new: str) -> str | None:
    """What a target calls an instruction, if that is a name which the old target does not know; suffix included."""
    name, suffix = parts(mnemonic)
    for other in _alike(name, new):
        if exists(other, new) and not (exists(name, new) and exists(other, old)):
            return other + suffix
    return None


def matrices_alike(record: Matrix, target: str) -> tuple[str, ...]:
    """Matrix instructions of a target on the same types, whatever their shape and layouts."""
    types = (record.a, record.b, record.acc, record.scaled, record.sparse)
    found = {
        other.name for other in REGISTRY.all()
        if isinstance(other, Matrix) and (other.a, other.b, other.acc, other.scaled, other.sparse) == types
        and exists(other.name, target) and find(other.name, target) == other
    }  # fmt: skip
    return tuple(sorted(found))


def _alike(name: str, target: str) -> tuple[str, ...]:
    """Other names of what this one means; of records for several targets, those for the target first."""
    records = [r for r in REGISTRY.records.get(name, ()) if not _says_too_little(r)]
    ordered = sorted(records, key=lambda r: not r.targets or target not in r.targets)
    return tuple(dict.fromkeys(other for r in ordered for other in REGISTRY.synonyms[id(r)] if other != name))


def _says_too_little(record: Record) -> bool:
    """Whether records of different instructions are alike."""
    return isinstance(record, Control) or (isinstance(record, Memory) and record.access == "cache")

"""Facts: one value, the targets it holds for, its evidence status and its citations."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Literal, TypeVar

import msgspec

Status = Literal[
    "Listed",
    "Not listed",
    "Enabled",
    "Not enabled",
    "Documented",
    "Details unspecified",
    "Mechanism equivalence unconfirmed",
    "Confirmed",
    "Support unconfirmed",
    "Source inspected",
    "CPU checked",
    "GPU tested",
    "Not executed",
]
"""How far the evidence for a fact goes.

Listed, Not listed: whether the cited manual or inventory has it; absence there says nothing about hardware.
Enabled, Not enabled: whether the cited compiler enables the feature for the target.
Documented: the cited document says so; Details unspecified: it leaves the mechanism or its conditions open.
Confirmed, Support unconfirmed: whether AMD reports the feature for the named generation or product.
Source inspected: read in the source; CPU checked: seen in a tool's output; GPU tested: measured on hardware.
"""

_DATA = files("antiphase.arch") / "data"
_Record = TypeVar("_Record")


class Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A document, file or tool that facts cite: its title, where it is, and which revision was read."""

    title: str
    where: str
    revision: str


class Citation(msgspec.Struct, frozen=True):
    """A place (section, page, function, table) inside a source."""

    source: Source
    place: str

    def __str__(self) -> str:
        return f"{self.source.title} ({self.source.revision}): {self.place}"


class Fact(msgspec.Struct, frozen=True):
    """One thing known about some targets.

    about: what the value is, a field name of `Target` where one exists.
    scope: the names of the targets it holds for.
    note: conditions and disagreements, empty if there are none.
    """

    about: str
    scope: tuple[str, ...]
    value: Any
    status: Status
    citations: tuple[Citation, ...]
    note: str


class TargetEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the list of targets says of one target."""

    generation: str


class _FactRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A fact as its file writes it: scope in targets or generations, citations as `source: place`."""

    about: str
    scope: tuple[str, ...]
    value: Any
    status: Status
    cite: tuple[str, ...]
    note: str = ""


class _FactFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    fact: tuple[_FactRecord, ...]


def read_targets() -> dict[str, TargetEntry]:
    """The list of targets by name, in the order of the file."""
    return _read(_DATA / "targets.toml", dict[str, TargetEntry])


def read_facts(entries: Mapping[str, TargetEntry]) -> tuple[Fact, ...]:
    """Every fact, scopes resolved to target names. Raises ValueError naming the file with a bad record."""
    sources = _read(_DATA / "sources.toml", dict[str, Source])
    return tuple(
        _resolve(record, entries, sources, path.name)
        for path in _fact_files()
        for record in _read(path, _FactFile).fact
    )


def _fact_files() -> Iterator[Traversable]:
    return (
        path for path in sorted((_DATA / "facts").iterdir(), key=lambda path: path.name) if path.name.endswith(".toml")
    )


def _read(path: Traversable, record: type[_Record]) -> _Record:
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), record)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise ValueError(f"{path.name}: {error}") from error


def _resolve(record: _FactRecord, entries: Mapping[str, TargetEntry], sources: Mapping[str, Source], file: str) -> Fact:
    where = f"{file}: fact about {record.about}"
    scope = tuple(name for name, entry in entries.items() if name in record.scope or entry.generation in record.scope)
    known = set(entries) | {entry.generation for entry in entries.values()}
    if unknown := set(record.scope) - known:
        raise ValueError(f"{where}: scope names no target or generation: {', '.join(sorted(unknown))}")
    if not record.cite:
        raise ValueError(f"{where}: no citation")
    citations = tuple(_citation(text, sources, where) for text in record.cite)
    return Fact(record.about, scope, record.value, record.status, citations, record.note)


def _citation(text: str, sources: Mapping[str, Source], where: str) -> Citation:
    key, separator, place = text.partition(": ")
    if not separator or key not in sources:
        raise ValueError(f"{where}: citation is not 'source: place' with a known source: {text!r}")
    return Citation(sources[key], place)

"""The fact files: one table of comparison a file, one row a subject, one cell a value and the targets it holds for."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Annotated, Any, TypeVar

import msgspec

from antiphase.arch._check_specs import CheckSpec
from antiphase.arch._evidence import Label, SomeEvidence, Source
from antiphase.errors import UserError

DATA = files("antiphase.arch") / "data"
_Record = TypeVar("_Record")
_Words = Annotated[str, msgspec.Meta(min_length=1)]
_Cites = Annotated[tuple[_Words, ...], msgspec.Meta(min_length=1)]


class TargetEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the list of targets says of one target."""

    generation: str


class Chapter(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A chapter of the reference. seed: its number in seed 000, 0 where it has none."""

    title: str
    summary: str
    seed: int = 0


class Topic(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One table of comparison. order: its place in the chapter. scope: configuration that all rows share, in words.

    notes: sentences below the table that qualify all of it.
    """

    id: _Words
    chapter: _Words
    title: _Words
    order: int = 0
    scope: str = ""
    notes: tuple[str, ...] = ()


class Cell(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One value and the targets (or generations) it holds for: sharing the value claims nothing else.

    value: for programs; says: the statement in words, where the value does not speak for itself.
    config: what the row's config does not hold for here: another wave size or shape.
    cite: `source: place`; a place for some of the targets only stands in `cite_for`, by target or generation.
    limits: conditions and what the evidence does not establish.
    check: how a machine re-checks it.
    """

    scope: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    value: Any
    evidence: SomeEvidence
    says: str = ""
    config: dict[str, str | int] = {}
    cite: _Cites = ()
    cite_for: dict[str, _Cites] = {}
    labels: tuple[Label, ...] = ()
    limits: str = ""
    check: tuple[CheckSpec, ...] = ()


_HasSource = msgspec.Meta(extra_json_schema={"anyOf": [{"required": ["cite"]}, {"required": ["cite_for"]}]})


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One subject. config: what it is stated for (wave, shape, formats, mode ...), by name.

    unit: of the value. seed: rows of seed 000's tables that it holds, as `table / row`.
    """

    subject: Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9_.]+$")]
    title: _Words
    cell: Annotated[tuple[Annotated[Cell, _HasSource], ...], msgspec.Meta(min_length=1)]
    unit: str = ""
    config: dict[str, str | int] = {}
    seed: tuple[str, ...] = ()


class FactFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file under data/facts."""

    topic: Topic
    row: Annotated[tuple[Row, ...], msgspec.Meta(min_length=1)]


def fact_schema() -> dict[str, Any]:
    """The JSON Schema of a fact file."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **msgspec.json.schema(FactFile)}


def read_targets() -> dict[str, TargetEntry]:
    """The list of targets by name, in the order of the file."""
    return read(DATA / "targets.toml", dict[str, TargetEntry])


def read_sources() -> dict[str, Source]:
    """What facts cite, by key."""
    return read(DATA / "sources.toml", dict[str, Source])


def read_chapters() -> dict[str, Chapter]:
    """The chapters of the reference by key, in their order."""
    return read(DATA / "chapters.toml", dict[str, Chapter])


def read_stamps() -> dict[str, dict[str, tuple[str, ...]]]:
    """What `arch verify` ran and found right: source key of the tool to subject to targets."""
    return read(DATA / "checked.toml", dict[str, dict[str, tuple[str, ...]]])


def fact_files(folder: str = "") -> Iterator[tuple[str, FactFile]]:
    """(name, content) of the fact files, or of one folder of them. Raises UserError naming a bad file."""
    for path in _toml_files(DATA / "facts" / folder if folder else DATA / "facts"):
        yield path.name, read(path, FactFile)


def read(path: Traversable, record: type[_Record]) -> _Record:
    """A data file as typed data. Raises UserError naming the file and the reason."""
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), record)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise UserError(f"{path.name}: {error}") from error


def _toml_files(folder: Traversable) -> Iterator[Traversable]:
    for path in sorted(folder.iterdir(), key=lambda path: path.name):
        if path.is_dir():
            yield from _toml_files(path)
        elif path.name.endswith(".toml"):
            yield path

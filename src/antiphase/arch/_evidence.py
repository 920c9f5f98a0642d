"""How far a fact is known: seed 000's vocabulary on four axes, feature reports, and what is cited."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec

Inventory = Literal["Listed", "Not listed"]
Compiler = Literal["Enabled", "Not enabled"]
Mechanism = Literal["Documented", "Details unspecified", "Mechanism equivalence unconfirmed"]
Validation = Literal["Source inspected", "CPU checked", "GPU tested", "Not executed"]
Report = Literal["Confirmed", "Support unconfirmed"]
Label = Literal["Derived", "Unmeasured"]
"""Derived: arithmetic or indexing from the cited definitions. Unmeasured: no local GPU measurement behind it."""


class Evidence(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The answers of independent checks, never folded into one; at least one is given.

    inventory: whether the cited manual or machine-readable list has it; absence there is no absence of hardware.
    llvm: whether the cited compiler enables it by default for the target.
    mechanism: what the cited source says of the behaviour. Details unspecified: it leaves mechanism or conditions
        open. Mechanism equivalence unconfirmed: two reported changes need not share an implementation.
    validation: the work that was done, with its stated coverage.
    report: whether AMD reports the feature for the named generation or product.
    """

    inventory: Inventory | None = None
    llvm: Compiler | None = None
    mechanism: Mechanism | None = None
    validation: Validation | None = None
    report: Report | None = None

    def __post_init__(self) -> None:
        if not any(True for _ in self.items()):
            raise ValueError(f"evidence names no status; give one of {', '.join(self.__struct_fields__)}")

    def items(self) -> Iterator[tuple[str, str]]:
        """(axis, status) of the axes that have one."""
        return ((axis, status) for axis in self.__struct_fields__ if (status := getattr(self, axis)) is not None)

    def __str__(self) -> str:
        return ", ".join(status for _, status in self.items())


SomeEvidence = Annotated[Evidence, msgspec.Meta(extra_json_schema={"minProperties": 1})]


class Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A document, file or tool that facts cite: its title, where it is, and which revision was read.

    url: a page to open, empty where there is none that lasts.
    """

    title: str
    where: str
    revision: str
    url: str = ""


class Citation(msgspec.Struct, frozen=True):
    """A place (section, page, function, table) inside a source. key: the source's name in sources.toml."""

    key: str
    source: Source
    place: str

    def __str__(self) -> str:
        return f"{self.source.title} ({self.source.revision}): {self.place}"

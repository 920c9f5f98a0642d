"""What `port` knows beyond records and the assembler's inventory: data/port.toml."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

import msgspec


class Policy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Cache modifiers that mean the same for one kind of access; gfx1250 writes what gfx12 does."""

    access: str
    gfx9: str
    gfx11: str
    gfx12: str

    def text(self, generation: str) -> str:
        return str(getattr(self, "gfx12" if generation == "gfx1250" else generation))


class Modifier(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Modifiers that only some generations have, and what others do instead."""

    names: tuple[str, ...]
    only: tuple[str, ...]
    instead: str


class Long(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Instructions that have no short encoding in some generations."""

    to: tuple[str, ...]
    names: tuple[str, ...]


class Instead(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What takes the place of instructions that begin with a name. text: the line, or None; advice: or this."""

    name: str
    to: tuple[str, ...]
    text: str | None = None
    advice: str = ""


class PortData(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """cache: modifiers of the cache policy, by generation."""

    cache: dict[str, tuple[str, ...]]
    policy: tuple[Policy, ...]
    modifier: tuple[Modifier, ...]
    long: tuple[Long, ...]
    instead: tuple[Instead, ...]

    def replacement(self, mnemonic: str, generation: str) -> Instead | None:
        """The first row that is about this instruction and generation."""
        return next((i for i in self.instead if mnemonic.startswith(i.name) and generation in i.to), None)


@cache
def port_data() -> PortData:
    """The whole table."""
    text = (Path(__file__).parent / "data" / "port.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), PortData)

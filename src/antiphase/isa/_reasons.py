"""Why an instruction that an assembler accepts is not executed: data/unsupported.toml."""

from __future__ import annotations

import tomllib
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files

import msgspec

_SUFFIXES = ("_e32", "_e64")


class Reason(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """names: patterns of mnemonics. targets: those it holds for, all if none is given. cite: where that stands."""

    names: tuple[str, ...]
    says: str
    cite: str
    targets: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.says} ({self.cite})"

    def holds(self, name: str, target: str) -> bool:
        return (not self.targets or target in self.targets) and any(fnmatchcase(name, each) for each in self.names)


@cache
def reasons() -> tuple[Reason, ...]:
    """All of them, in the order of the file."""
    text = (files("antiphase.isa") / "data" / "unsupported.toml").read_text(encoding="utf-8")
    return tuple(msgspec.convert(row, Reason) for row in tomllib.loads(text)["reason"])


def reason(mnemonic: str, target: str) -> Reason | None:
    """Why an instruction is not executed on a target, if that is known."""
    for suffix in _SUFFIXES:
        mnemonic = mnemonic.removesuffix(suffix)
    return next((each for each in reasons() if each.holds(mnemonic, target)), None)

"""What clang and LLVM call the matrix instructions: data/matrix_builtins.tsv, made by tools/matrix_builtins.py."""

from __future__ import annotations

from functools import cache

import msgspec

from antiphase.arch._assembler import expanded, table


class Builtin(msgspec.Struct, frozen=True):
    """One builtin that compiles to one instruction of a wave size, on some targets.

    intrinsic: the LLVM intrinsic it becomes, overload suffixes included. result, parameters: types as one lane
    has them, "8xf32" a vector of eight; "!i1" is a parameter that must be a compile-time constant.
    """

    mnemonic: str
    name: str
    targets: tuple[str, ...]
    wave: int
    intrinsic: str
    result: str
    parameters: tuple[str, ...]

    @property
    def operands(self) -> tuple[str, ...]:
        """Types of what the instruction reads from registers: A, B, C, then the sparse index or two scales."""
        return tuple(each for each in self.parameters if not each.startswith("!"))


@cache
def matrix_builtins() -> tuple[str, tuple[Builtin, ...]]:
    """The compiler that was asked, and every builtin by mnemonic and name."""
    source, rows = table("matrix_builtins.tsv")
    return source, tuple(
        Builtin(mnemonic, name, tuple(expanded(where)), int(wave), intrinsic, result, tuple(parameters.split()))
        for mnemonic, name, where, wave, intrinsic, result, parameters in rows
    )

"""What a machine can do to re-check a fact, as the fact files write it. `antiphase.verify` does it."""

from __future__ import annotations

import msgspec


class _Spec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind"):
    pass


class Assembles(_Spec, frozen=True, tag="assembles"):
    """LLVM's assembler accepts a line for the target, or refuses it.

    wave: wave size that the line is for, 0 where it does not matter.
    """

    line: str
    accepted: bool = True
    wave: int = 0


class Registers(_Spec, frozen=True, tag="registers"):
    """An operand of a matrix instruction takes this many VGPRs a lane, and the assembler takes no other count."""

    instruction: str
    operand: str
    count: int
    wave: int = 32


class Layout(_Spec, frozen=True, tag="layout"):
    """A matrix element lies where the fact says, on the machine's one-hot probe.

    element: row and column of A, B, C or D. half: 0 for bits 15:0, 1 for bits 31:16, -1 for a whole register.
    """

    instruction: str
    operand: str
    lane: int
    register: int
    element: tuple[int, int]
    half: int = -1
    wave: int = 32
    opsel: int = 0


class OffsetRange(_Spec, frozen=True, tag="offset"):
    """An immediate offset may be least to most and nothing beyond. line: has `{}` where the offset stands."""

    line: str
    least: int
    most: int


class Runs(_Spec, frozen=True, tag="runs"):
    """Instructions give the stated results on the CPU machine.

    given: register ("v0", "s2", "vcc", "exec", "scc", "m0", "mode") to its value before, one for all lanes or one a
        lane. A TOML integer is a 32-bit pattern, a TOML float a 32-bit float.
    expect: register to its value after, the same way.
    """

    lines: tuple[str, ...]
    expect: dict[str, int | float | tuple[int | float, ...]]
    given: dict[str, int | float | tuple[int | float, ...]] = {}
    wave: int = 32


class Spacing(_Spec, frozen=True, tag="spacing"):
    """What the compiler puts between two dependent matrix builtins.

    intrinsic: LLVM's name of both. overlap: the second one's operand ("A", "B", "C", "index") that is the first
    one's result. inserts: mnemonic put between, count: how many at least.
    """

    intrinsic: str
    overlap: str
    inserts: str
    count: int


class Spaced(_Spec, frozen=True, tag="spaced"):
    """The spacing check asks for this many separators between the lines, and finds nothing with them in place.

    separator: the line that separates.
    """

    lines: tuple[str, ...]
    separator: str
    count: int
    wave: int = 32


CheckSpec = Assembles | Registers | Layout | OffsetRange | Runs | Spacing | Spaced

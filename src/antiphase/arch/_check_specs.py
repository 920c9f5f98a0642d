"""What a machine can do to re-check a fact, as the fact files write it. `antiphase.verify` does it.

`by`, where a check has it, names the sources (llvm_22, llvm_triton) whose answer the fact states; empty: every LLVM's.
`aside`: the number follows from the fact and is not part of its value; elsewhere both must agree.
"""

from __future__ import annotations

import msgspec


class _Spec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind"):
    pass


class Assembles(_Spec, frozen=True, tag="assembles"):
    """LLVM's assembler accepts a line for the target, or refuses it.

    wave: wave size that the line is for, 0 where it does not matter. A branch may go to `end`.
    """

    line: str
    accepted: bool = True
    wave: int = 0
    by: tuple[str, ...] = ()


class Registers(_Spec, frozen=True, tag="registers"):
    """An operand of a matrix instruction takes this many VGPRs a lane, and the assembler takes no other count.

    operand: A, B, C, D, index, scale_a or scale_b. modifiers: of the line, such as `cbsz:4` where they choose formats.
    """

    instruction: str
    operand: str
    count: int
    wave: int = 32
    modifiers: str = ""
    by: tuple[str, ...] = ()
    aside: bool = False


class Layout(_Spec, frozen=True, tag="layout"):
    """A matrix element lies where the fact says, on the machine's one-hot probe.

    element: row and column of A, B, C or D; index: row and k of A as it stores them. half: 0 for bits 15:0, 1 for bits
    31:16, -1 for a whole register. opsel: 1 where C and D use the upper halves.
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
    by: tuple[str, ...] = ()
    aside: bool = False


class Runs(_Spec, frozen=True, tag="runs"):
    """Instructions give the stated results on the CPU machine, in a kernel of one wave.

    given: register ("v0", "a3", "s2", "vcc", "exec", "scc", "m0", "mode") to its value before, one for all lanes or one
        a lane. A TOML integer is a 32-bit pattern (64 for vcc and exec of wave64), a TOML float a 32-bit float.
    expect: register to its value after, the same way; for a vector register in every lane, whatever EXEC is.
    wave: 32, 64, or 0 for every wave size that the target has.
    The lines may use v0 to v249, s0 to s89 and 4 KiB of LDS, none of it cleared before. They need not wait at the end.
    """

    lines: tuple[str, ...]
    expect: dict[str, int | float | tuple[int | float, ...]]
    given: dict[str, int | float | tuple[int | float, ...]] = {}
    wave: int = 32


class Spacing(_Spec, frozen=True, tag="spacing"):
    """What the compiler puts between two dependent matrix builtins.

    intrinsic: LLVM's name of both, type suffixes may be left out. overlap: the second one's operand ("A", "B", "C",
    "index") that is the first one's result. inserts: mnemonic put between. count: how many, exactly, 0 for none; of
    s_nop the wait states, to which every other instruction in between adds one. wave: 0 for the target's own.
    """

    intrinsic: str
    overlap: str
    inserts: str
    count: int
    wave: int = 0
    by: tuple[str, ...] = ()


class Emits(_Spec, frozen=True, tag="emits"):
    """What the compiler makes of a kernel: lines that begin so, in this order, others between; no line of `lacks`.

    ir: LLVM IR of an amdgpu_kernel, with no triple.
    """

    ir: str
    order: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    by: tuple[str, ...] = ()


class Counts(_Spec, frozen=True, tag="counts"):
    """The counters that an instruction of antiphase's records enters: these, in any order, and no other."""

    line: str
    counters: tuple[str, ...]


class Spaced(_Spec, frozen=True, tag="spaced"):
    """The spacing check asks for this many separators before the last line, and finds nothing with them in place.

    separator: the line that separates.
    """

    lines: tuple[str, ...]
    separator: str
    count: int
    wave: int = 32
    aside: bool = False


CheckSpec = Assembles | Registers | Layout | OffsetRange | Runs | Spacing | Emits | Counts | Spaced

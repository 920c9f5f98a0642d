"""Instruction records: everything about an instruction in one place, and the registry that finds them by mnemonic.

Signatures name the operands in the order the text has them, sources before results: "u32 u32 -> u32 scc".
    u32, f16, i64 ...   an explicit operand of that type (64-bit types are register pairs)
    mask                an explicit lane mask (VCC, EXEC or an SGPR pair), one predicate per lane
    d:u32               the old value of the first result, not an operand of its own
    e:u32               the old value of the second result, likewise
    u32x6               six consecutive registers: six sources or results, a tuple for the semantics
    p:f16               both halves of one register, a tuple, as op_sel and op_sel_hi choose them, with their signs
    bitop3 neg_lo op_sel scale_sel     that modifier of the instruction, a u32 constant (lists as bits, 0 if left out)
    k16                 a signed 16-bit constant in the instruction (SOPK)
    vcc                 implicit VCC as one predicate per lane
    scc exec vccz m0    implicit scalar state (b1, u64, b1, u32)
    exec_lo             the low half of EXEC, u32: what wave32 forms of scalar instructions work on
In the text of an instruction the results stand first.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from antiphase.isa._expr import B1, I16, TYPES, U32, U64, Expr, Type, source
from antiphase.isa._transpose import Transpose

Status = Literal["exact", "modelled"]

IMPLICIT: dict[str, Type] = {"scc": B1, "exec": U64, "exec_lo": U32, "vccz": B1, "m0": U32, "vcc": B1}
"""Registers an instruction reads or writes without naming them."""

MODIFIERS = ("bitop3", "neg_lo", "op_sel", "scale_sel")
"""Modifiers that an instruction's meaning reads as a constant."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One source or result. role: 'operand' named in the text, 'mask' a lane mask named in the text, 'constant' a
    SOPK constant, 'tied' and 'tied2' the old value of the first and second result, 'bitop3' that
    modifier, else the name of an implicit register. count: values of that type in consecutive registers; halves: the
    two halves of one register instead."""

    role: str
    type: Type
    count: int = 1
    halves: bool = False

    @property
    def dwords(self) -> int:
        """Registers of an explicit operand."""
        return 1 if self.halves else self.type.dwords * self.count


@dataclass(frozen=True, slots=True)
class Signature:
    sources: tuple[Slot, ...]
    results: tuple[Slot, ...]

    @classmethod
    @functools.cache
    def parse(cls, text: str) -> Signature:
        left, _, right = text.partition("->")
        return cls(tuple(map(_slot, left.split())), tuple(map(_slot, right.split())))


def _slot(word: str) -> Slot:
    if word in IMPLICIT:
        return Slot(word, IMPLICIT[word])
    if word == "mask":
        return Slot("mask", B1)
    if word == "k16":
        return Slot("constant", I16)
    if word in MODIFIERS:
        return Slot(word, U32)
    if word[:2] in ("d:", "e:"):
        return Slot("tied" if word[0] == "d" else "tied2", TYPES[word[2:]])
    if word[:2] == "p:":
        return Slot("operand", TYPES[word[2:]], 2, halves=True)
    name, _, count = word.partition("x")
    return Slot("operand", TYPES[name], int(count or 1))


@dataclass(frozen=True, kw_only=True)
class Record:
    """What is common to all instructions.

    targets: processors that have it (None: every target antiphase knows). status: 'exact' computes what the manual
    states, 'modelled' differs from hardware in rounding or detail that the note names. cite: where its meaning stands.
    """

    name: str
    cite: str
    targets: frozenset[str] | None = None
    status: Status = "exact"
    note: str = ""


@dataclass(frozen=True, slots=True)
class Index:
    """A field of M0 that adds to the number of a register: so many bits from the first one on."""

    first: int
    bits: int


@dataclass(frozen=True, kw_only=True)
class Alu(Record):
    """A vector or scalar ALU instruction: its results as expressions over its sources.

    unit: 'valu' one result per active lane; 'salu' scalar.
    packed: the semantics describe one half of a packed pair and run for the low and the high half.
    ignores_exec: writes every lane.
    saturated: the semantics when an integer instruction has `clamp`.
    rest: what a result narrower than its register leaves in the rest of it, 'zero', or 'keep' the old value;
    'high' puts a 16-bit result in the upper half and keeps the lower one. op_sel's destination bits choose the
    half (or byte) and keep the rest in any case.
    mixed: type of the half that an f32 source is, widened, where op_sel_hi says so; '' for no such choice.
    relative: by operand in the order of the text, what M0 adds to its register number at run time; () for nothing.
    """

    unit: Literal["valu", "salu"]
    signature: Signature
    semantics: Callable[..., Expr | tuple[Expr, ...]]
    packed: bool = False
    pair: bool = False
    ignores_exec: bool = False
    saturated: Callable[..., Expr | tuple[Expr, ...]] | None = None
    rest: Literal["zero", "keep", "high"] = "zero"
    mixed: Literal["", "f16", "bf16"] = ""
    relative: tuple[Index | None, ...] = ()

    @functools.cached_property
    def results(self) -> tuple[Expr, ...]:
        """The result expressions, their sources numbered in signature order. A packed record with `pair` sees the low
        sources and then the high ones and gives both halves; other packed records are one half."""
        return self._apply(self.semantics)

    @functools.cached_property
    def saturated_results(self) -> tuple[Expr, ...]:
        """The result expressions when the instruction has `clamp`; those of `results` by default."""
        return self._apply(self.saturated or self.semantics)

    def _apply(self, semantics: Callable[..., Expr | tuple[Expr, ...]]) -> tuple[Expr, ...]:
        slots = self.signature.sources * (2 if self.pair else 1)
        numbers = itertools.count()
        given = [[source(next(numbers), slot.type) for _ in range(slot.count)] for slot in slots]
        value = semantics(*(group[0] if len(group) == 1 else tuple(group) for group in given))
        results = value if isinstance(value, tuple) else (value,)
        expected = 2 if self.pair else sum(slot.count for slot in self.signature.results)
        if len(results) != expected:
            raise TypeError(f"{self.name}: {len(results)} results for {expected}")
        return results


@dataclass(frozen=True, kw_only=True)
class Memory(Record):
    """A memory instruction.

    space: 'global', 'flat', 'scratch', 'buffer', 'ds' or 'smem'; 'tensor' for transfers by descriptor, 'direct' for LDS
    direct loads.
    access: 'load', 'store', 'atomic', 'append' (a counter that moves by the number of active lanes), 'cache' (caches,
    prefetching: no data) or 'clock' (a counter, no address).
    bits: contiguous bits moved per lane and place, 128 for dwordx4.
    count: places; ds_read2 has two, with an offset each in units of `spacing` bytes.
    spacing: bytes that an offset counts, 0 for one. chosen: the places follow each other, and M0 has a bit for each
    that says whether it is moved.
    extend: how a sub-dword load fills its (last) register: 'zero', 'sign', 'low' or 'high' half beside the old other
    half; for stores 'high' takes the upper half.
    type: element of an atomic; of a sub-dword load, its sign extends it.
    update: for atomics, (old, data...) -> new value, all of `type`, data as operands; 'append' gets the lane count.
    part: what atomics narrower than its dword are made of: any 'bits' (LLVM's AtomicExpandPass makes those of 8 and 16
    bits so), or 'halves' that are added apart. '' for neither.
    operands: data operands; a register tuple of a flat or buffer atomic splits into that many.
    returns: an atomic that always writes the old value.
    transpose: how a transposing load exchanges elements between lanes after reading.
    exec_rule: EXEC 'masks' lanes; has to be 'whole', so that with some lanes inactive the result is undefined (with
    none active nothing happens); or is 'ignored', as if all lanes were active.
    to_lds: the data goes to LDS (or comes from it, if it is a store) instead of registers.
    asynchronous: it counts on asynccnt; with to_lds each lane names its own LDS address.
    multicast: M0 holds a mask of the workgroups of the cluster that ask for the same data.
    by_lane: there is no address register; lane i accesses 4 * i bytes further on.
    components: of an element in a format, how many are converted; bits is what they take in registers. 0 for no format.
    format: who says which format, the 'resource' or the 'instruction'; bytes in memory follow from it.
    lanes: for DS instructions that move data between lanes and touch no memory: (register operands in text order as
    u32, the offset as an int) -> result.
    """

    space: str
    access: Literal["load", "store", "atomic", "append", "cache", "clock"]
    bits: int = 32
    count: int = 1
    extend: Literal["", "zero", "sign", "low", "high"] = ""
    spacing: int = 0
    type: Type = U32
    update: Callable[..., Expr] | None = None
    part: Literal["", "bits", "halves"] = ""
    operands: int = 1
    returns: bool = False
    transpose: Transpose | None = None
    exec_rule: Literal["masks", "whole", "ignored"] = "masks"
    to_lds: bool = False
    asynchronous: bool = False
    multicast: bool = False
    by_lane: bool = False
    components: int = 0
    format: Literal["", "resource", "instruction"] = ""
    chosen: bool = False
    lanes: Callable[..., Expr] | None = None

    @property
    def dwords(self) -> int:
        """Registers the data takes per lane."""
        return -(-self.bits * self.count // 32)


@dataclass(frozen=True, kw_only=True)
class Matrix(Record):
    """D = A x B + C over a whole wave: M x N x K, `blocks` independent products, element types of A, B and of C/D.

    Types are the names that isa's number formats have; 'f8f6f4' is chosen by modifiers of the instruction, and the sign
    of 'iu8' and 'iu4'. c: the type of C where it is not D's.
    family: whose operand layouts and modifiers it has, 'mfma' those of CDNA 1 to 4.
    scaled: block scales for A and B follow C, one for `scale_block` consecutive k. sparse: A holds two of every four
    k, an index operand says which in place of C, and D is also the accumulator.
    narrowed: products after which a 16-bit sum is narrowed, bf16 by truncation; 0 for once at the end, to nearest.
    """

    m: int
    n: int
    k: int
    a: str
    b: str
    acc: str
    c: str = ""
    blocks: int = 1
    family: Literal["mfma", "rdna3", "rdna4", "cdna5"] = "mfma"
    scaled: bool = False
    scale_block: int = 32
    sparse: bool = False
    narrowed: int = 0

    @property
    def start(self) -> str:
        """The type of C, or of D where that is read."""
        return self.c or self.acc

    @property
    def depth(self) -> int:
        """Elements of A that one element of D takes."""
        return self.k // 2 if self.sparse else self.k


@dataclass(frozen=True, kw_only=True)
class Control(Record):
    """Branches, waits, barriers and hints; `action` is what the machine does."""

    action: str
    condition: str = ""


@dataclass(slots=True)
class Registry:
    """synonyms: by the id of a record, all names that were registered together with its own."""

    records: dict[str, list[Record]] = field(default_factory=dict)
    synonyms: dict[int, tuple[str, ...]] = field(default_factory=dict)

    def add(self, names: str, make: Callable[..., Record], **fields: object) -> None:
        """Register one record under one or several names ("ds_read_b32 ds_load_b32")."""
        together = tuple(names.split())
        for name in together:
            record = make(name=name, **fields)
            self.synonyms[id(record)] = together
            self.records.setdefault(name, []).append(record)

    def find(self, mnemonic: str, target: str) -> Record | None:
        """The record for a mnemonic as the assembler spells it, encoding suffix included."""
        for name in _spellings(mnemonic):
            records = self.records.get(name, ())
            # a record that names the target goes before one for all of them
            own = (r for r in records if r.targets is not None and target in r.targets)
            record = next(own, None) or next((r for r in records if r.targets is None), None)
            if record is not None:
                return record
        return None

    def all(self) -> list[Record]:
        return [record for name in sorted(self.records) for record in self.records[name]]


SUFFIXES = ("_e64_dpp", "_e32", "_e64", "_sdwa", "_dpp")


def _spellings(mnemonic: str) -> Iterable[str]:
    yield mnemonic
    if mnemonic.startswith("v_dual_"):
        yield "v_" + mnemonic.removeprefix("v_dual_")
    for suffix in SUFFIXES:
        if mnemonic.endswith(suffix):
            yield mnemonic.removesuffix(suffix)


REGISTRY = Registry()

Semantics = Callable[..., "Expr | tuple[Expr, ...]"]
Pair = tuple[Expr, Expr]
"""A source of two halves, the low one first."""


def valu(names: str, signature: str, semantics: Semantics, *, cite: str, **fields: object) -> None:
    """Register a vector ALU instruction."""
    REGISTRY.add(
        names, Alu, unit="valu", signature=Signature.parse(signature), semantics=semantics, cite=cite, **fields
    )


def salu(names: str, signature: str, semantics: Semantics, *, cite: str, **fields: object) -> None:
    """Register a scalar ALU instruction."""
    REGISTRY.add(
        names, Alu, unit="salu", signature=Signature.parse(signature), semantics=semantics, cite=cite, **fields
    )


def memory(names: str, space: str, access: str, *, cite: str, **fields: object) -> None:
    """Register a memory instruction."""
    REGISTRY.add(names, Memory, space=space, access=access, cite=cite, **fields)


def matrix(names: str, shape: Sequence[int], types: str, *, cite: str, **fields: object) -> None:
    """Register a matrix instruction: shape (M, N, K) or (M, N, K, blocks), types "a b acc"."""
    a, b, acc = types.split()
    m, n, k, *blocks = shape
    REGISTRY.add(names, Matrix, m=m, n=n, k=k, blocks=(blocks or [1])[0], a=a, b=b, acc=acc, cite=cite, **fields)


def control(names: str, action: str, condition: str = "", *, cite: str, **fields: object) -> None:
    """Register a control instruction."""
    REGISTRY.add(names, Control, action=action, condition=condition, cite=cite, **fields)

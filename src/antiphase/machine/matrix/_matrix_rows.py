"""A and B of a matrix instruction widened into rows on the stack, and the choices of a sparse index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from antiphase.arch import BLGP_GROUPS, Fragment
from antiphase.isa import F32, F64, U32, U64, Expr, Matrix, Type, source
from antiphase.isa._formats import BITS, decode, decode_scale
from antiphase.isa.fragments import Operands, index_sets
from antiphase.machine.llvm._ir import Function
from antiphase.machine.llvm._lower import FloatMode, Lowering, Value
from antiphase.machine.matrix._matrix_variant import SCALE_FORMATS, Variant

CHUNK = 16  # lanes widened at a time: modifiers and layouts move lanes in groups of this many


class Words:
    """Registers of one operand as vectors of 32-bit words, from one lane on, each loaded once."""

    def __init__(self, f: Function, operand: str, lane: int, wave: int, count: int = CHUNK) -> None:
        self._f, self._base, self._lane, self._wave, self._count = f, f"%{operand}", lane, wave, count
        self._loaded: dict[int, str] = {}

    def word(self, register: int) -> str:
        if register not in self._loaded:
            place = self._f.at(self._base, 4 * (self._wave * register + self._lane))
            self._loaded[register] = self._f.load(f"<{self._count} x i32>", place, 4)
        return self._loaded[register]

    def value(self, register: int) -> Value:
        return Value(self.word(register), U32, self._count)

    def pair(self, register: int) -> str:
        """Two registers as one 64-bit integer a lane."""
        narrow, wide = f"<{self._count} x i32>", f"<{self._count} x i64>"
        low, high = (self._f.let(f"zext {narrow} {self.word(register + i)} to {wide}") for i in (0, 1))
        shifted = self._f.let(f"shl {wide} {high}, splat (i64 32)")
        return self._f.let(f"or {wide} {low}, {shifted}")


class Rows:
    """Emits the widening of one instruction.

    a, b: pointers to the rows. choices: pointer to offsets in bytes into b, one for each element of A.
    """

    def __init__(self, f: Function, record: Matrix, variant: Variant, lanes: int, operands: Operands) -> None:
        self.f, self.record, self.variant, self.lanes, self.operands = f, record, variant, lanes, operands
        self.formats = variant.formats(record)
        self.work: Type = F64 if record.acc == "f64" else F32
        self.ir = "double" if record.acc == "f64" else "float"
        self.size = self.work.bits // 8
        self.a_width, self.b_width = record.m * record.blocks, record.n * record.blocks
        self.a = f.alloca(f"[{record.depth * self.a_width} x {self.ir}]")
        self.b = f.alloca(f"[{record.k * self.b_width} x {self.ir}]")
        self.choices = f.alloca(f"[{record.depth * self.a_width} x i32]") if record.sparse else ""

    def emit(self) -> None:
        self._widen(0, self.operands.a, self.a)
        self._widen(1, self.operands.b, self.b)
        if self.operands.index is not None:
            self._read_index(self.operands.index)

    def _widen(self, side: int, fragment: Fragment, rows: str) -> None:
        """Decode every element of A (side 0) or B (side 1) and store it in row k."""
        width = (self.a_width, self.b_width)[side]
        sources = self._source_groups(side)
        words = [Words(self.f, "ab"[side], CHUNK * group, self.lanes) for group in sources]
        for group, position, k, column in _places(fragment, (self.record.m, self.record.n)[side]):
            value = self._element(words[group], fragment, position, self.formats[side])
            if self.record.scaled:
                value = self._scaled(value, side, k, column)
            if self._negated(side, position):
                value = self.f.let(f"fneg <{CHUNK} x {self.ir}> {value}")
            place = self.f.at(rows, (k * width + column) * self.size)
            self.f.store(f"<{CHUNK} x {self.ir}>", value, place, 64)

    def _source_groups(self, side: int) -> Sequence[int]:
        """For each group of 16 lanes, the one whose registers it takes."""
        plain = self.record.family != "mfma" or self.record.a == "f8f6f4" or self.work is F64
        return range(self.lanes // CHUNK) if side == 0 or plain else BLGP_GROUPS[self.variant.blgp]

    def _negated(self, side: int, position: int) -> int:
        """NEG of packed 16-bit elements has a bit for the low ones and one for the high ones."""
        if self.formats[side] in ("f16", "bf16") and position % 2:
            return self.variant.neg_hi[side]
        return self.variant.neg[side] if BITS[self.formats[side]] >= 16 else 0

    def _element(self, words: Words, fragment: Fragment, position: int, name: str) -> str:
        register, shift = fragment.start(position)
        if fragment.bits == 64:
            return self._lower(decode(source(0, U64), name), Value(words.pair(register), U64, CHUNK))
        if shift + fragment.bits <= 32:
            return self._lower(decode(source(0, U32) >> shift, name), words.value(register))
        code = (source(0, U32) >> shift) | (source(1, U32) << (32 - shift))
        return self._lower(decode(code, name), words.value(register), words.value(register + 1))

    def _scaled(self, value: str, side: int, k: int, column: int) -> str:
        """Times the block scale of these rows or columns."""
        block = k // self.record.scale_block
        if self.record.family == "mfma":  # one scale a lane, at the lane of row or column and block of k
            lane, byte = block * (self.record.m, self.record.n)[side] + column, self.variant.scale_bytes[side]
        else:  # all scales of a row or column in one lane, in order of k
            lane, byte = column + CHUNK * self.variant.scale_rows[side], block
        lane %= self.lanes
        words = Words(self.f, ("sa", "sb")[side], lane, self.lanes)
        name = SCALE_FORMATS[self.variant.scale_formats[side]]
        scale = self._lower(decode_scale(source(0, U32) >> (byte % 4 * 8), name), words.value(byte // 4))
        return self.f.let(f"fmul <{CHUNK} x float> {value}, {scale}")

    def _lower(self, expr: Expr, *sources: Value) -> str:
        """One expression over lanes, which EXEC does not touch."""
        return Lowering(self.f, CHUNK, FloatMode(), list(sources), lambda: "-1").lower(expr).text

    def _read_index(self, fragment: Fragment) -> None:
        """For every element of A, the byte offset of the row of B that its index picks."""
        words = [Words(self.f, "index", CHUNK * group, self.lanes) for group in range(self.lanes // CHUNK)]
        for group, position, k, column in _places(fragment, self.record.m):
            register, shift = fragment.start(position)
            pick = (source(0, U32) >> shift) & 3
            row = (pick + k // 2 * 4) << (self.b_width * self.size).bit_length() - 1
            place = self.f.at(self.choices, (k * self.a_width + column) * 4)
            self.f.store(f"<{CHUNK} x i32>", self._lower(row, words[group].value(register)), place, 64)


def index_set(record: Matrix, variant: Variant, lanes: int) -> int:
    """The set of indices that the modifiers pick; an MFMA's ABID counts only with CBSZ zero."""
    if not record.sparse or (record.family == "mfma" and variant.cbsz):
        return 0
    return variant.abid % index_sets(record, lanes)


def _places(fragment: Fragment, outer: int) -> Iterator[tuple[int, int, int, int]]:
    """(lane group, position, k, column) of 16 neighbours of an operand, copies and unused lanes left out."""
    layout = fragment.layout
    columns = layout.block * outer + layout.outer
    seen = set()
    for group, position in np.ndindex(fragment.lanes // CHUNK, layout.positions):
        lane = CHUNK * group
        k, column = int(layout.inner[lane, position]), int(columns[lane, position])
        if k >= 0 and (k, column) not in seen:
            seen.add((k, column))
            yield group, position, k, column

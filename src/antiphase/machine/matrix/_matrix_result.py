"""C and D of a matrix instruction: chunks of output elements, how they start and how they are stored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from antiphase.arch import Fragment
from antiphase.isa import BF16, F16, F32, F64, U16, U32, Expr, Matrix, Type, source
from antiphase.isa._formats import BITS, decode
from antiphase.isa.fragments import Operands
from antiphase.machine.llvm._ir import Function
from antiphase.machine.llvm._lower import FloatMode, Lowering, Value, constant
from antiphase.machine.llvm._native import host_vector_lanes
from antiphase.machine.matrix._matrix_rows import Words
from antiphase.machine.matrix._matrix_variant import Variant


@dataclass(frozen=True, slots=True)
class Chunk:
    """A vector of output elements: its position and first lane, and their columns in the rows of A and B."""

    position: int
    lane: int
    a: tuple[int, ...]
    b: tuple[int, ...]


class Results:
    """Emits reads of C and writes of D. count: elements of a chunk."""

    def __init__(self, f: Function, record: Matrix, variant: Variant, lanes: int, operands: Operands) -> None:
        self.f, self.record, self.variant, self.lanes, self.operands = f, record, variant, lanes, operands
        self.work: Type = F64 if record.acc == "f64" else F32
        self.ir = "double" if record.acc == "f64" else "float"
        self.count = host_vector_lanes() * 32 // self.work.bits

    def chunks(self) -> Iterator[Chunk]:
        r, layout = self.record, self.operands.d.layout
        plain = r.family != "mfma" or r.a == "f8f6f4" or r.sparse or self.work is F64
        broadcast = 0 if plain else self.variant.cbsz
        a_block = (layout.block >> broadcast << broadcast) + (self.variant.abid if broadcast else 0)
        a, b = a_block * r.m + layout.outer, layout.block * r.n + layout.inner
        for position in range(layout.positions):
            for lane in range(0, self.lanes, self.count):
                span = slice(lane, lane + self.count)
                yield Chunk(position, lane, tuple(a[span, position].tolist()), tuple(b[span, position].tolist()))

    def start(self, chunk: Chunk) -> str:
        """The value a sum starts from: C, or zero where products are summed apart from it."""
        vector = f"<{self.count} x {self.ir}>"
        if self.record.acc == "i32":
            return f"splat ({self.ir} {constant(self.work, 0.0)})"
        value = self._lower(self._decoded_c(), *self._c_words(chunk))
        if self.record.family != "mfma" and self.variant.neg_hi[2]:
            value = self.f.call(vector, f"llvm.fabs.v{self.count}f{self.work.bits}", (vector, value))
        return self.f.let(f"fneg {vector} {value}") if self.variant.neg[2] else value

    def _decoded_c(self) -> Expr:
        name = self.record.start
        return source(0, F64) if name == "f64" else decode(source(0, U32), name)

    def _c_words(self, chunk: Chunk) -> list[Value]:
        """C's bits from the low end of a word on."""
        if self.work is F64:
            return [self._double_c(chunk)]
        if self.variant.inline_c is not None and not self.record.sparse:
            return [Value(f"splat (i32 {constant(U32, self.variant.inline_c)})", U32, self.count)]
        fragment = self.operands.c
        register, shift = fragment.start(chunk.position)
        word = Words(self.f, self._accumulator, chunk.lane, self.lanes, self.count).value(register)
        return [Value(self._lower(source(0, U32) >> shift, word), U32, self.count) if shift else word]

    def _double_c(self, chunk: Chunk) -> Value:
        if self.variant.inline_c is not None:
            bits = f"splat (i64 {self.variant.inline_c})"
        else:
            words = Words(self.f, self._accumulator, chunk.lane, self.lanes, self.count)
            bits = words.pair(2 * chunk.position)
        return Value(self.f.let(f"bitcast <{self.count} x i64> {bits} to <{self.count} x double>"), F64, self.count)

    @property
    def _accumulator(self) -> str:
        return "d" if self.record.sparse else "c"

    def narrowed(self, value: str) -> str:
        """A sum in f32 cut to the 16-bit type of the result between two steps."""
        if self.record.acc == "f16":
            rounded = source(0, F32).to(F16).to(F32)
        else:
            rounded = (source(0, F32).bits(U32) & 0xFFFF0000).bits(F32)
        return self._lower(rounded, Value(value, F32, self.count))

    def store(self, chunk: Chunk, value: str) -> None:
        if self.work is F64:
            self._store_double(chunk, value)
            return
        fragment = self.operands.d
        register, shift = fragment.start(chunk.position)
        place = self.f.at("%d", 4 * (self.lanes * register + chunk.lane))
        if self.record.acc == "i32":
            value = self._integer_sum(chunk, value)
        elif BITS[self.record.acc] == 16:
            value = self._halved(fragment, value, place, shift)
        self.f.store(f"<{self.count} x {'float' if self.record.acc == 'f32' else 'i32'}>", value, place, 4)

    def _integer_sum(self, chunk: Chunk, value: str) -> str:
        """C plus the products, whose sum is exact in f32: 128 products of 8 bits stay below 2 ** 24."""
        vector = f"<{self.count} x i32>"
        total = self.f.let(f"fptosi <{self.count} x float> {value} to {vector}")
        c = self._c_words(chunk)[0].text
        if self.variant.clamp:
            return self.f.call(vector, f"llvm.sadd.sat.v{self.count}i32", (vector, total), (vector, c))
        return self.f.let(f"add {vector} {total}, {c}")

    def _halved(self, fragment: Fragment, value: str, place: str, shift: int) -> str:
        """The old word with 16 bits of it replaced."""
        vector = f"<{self.count} x i32>"
        narrow = {"f16": F16, "bf16": BF16}[self.record.acc]
        lowering = Lowering(self.f, self.count, FloatMode(), [Value(value, F32, self.count)], lambda: "-1")
        bits = lowering.to(lowering.bitcast(lowering.lower(source(0, F32).to(narrow)), U16), U32).text
        old = self.f.load(vector, place, 4)
        kept = self.f.let(f"and {vector} {old}, splat (i32 {0xFFFF0000 >> shift})")
        placed = self.f.let(f"shl {vector} {bits}, splat (i32 {shift})") if shift else bits
        return self.f.let(f"or {vector} {kept}, {placed}")

    def _store_double(self, chunk: Chunk, value: str) -> None:
        n = self.count
        bits = self.f.let(f"bitcast <{n} x double> {value} to <{n} x i64>")
        high = self.f.let(f"lshr <{n} x i64> {bits}, splat (i64 32)")
        for half, text in enumerate((bits, high)):
            word = self.f.let(f"trunc <{n} x i64> {text} to <{n} x i32>")
            place = self.f.at("%d", 4 * (self.lanes * (2 * chunk.position + half) + chunk.lane))
            self.f.store(f"<{n} x i32>", word, place, 4)

    def _lower(self, expr: Expr, *sources: Value) -> str:
        return Lowering(self.f, self.count, FloatMode(), list(sources), lambda: "-1").lower(expr).text

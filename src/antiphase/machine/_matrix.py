"""Matrix instructions as native functions.

A and B are widened once into rows on the stack, one row a k, so that a row of B is a vector and an element of
A a broadcast. Then groups of accumulators stay in registers over the whole of k. Where every element lives
comes from arch's layouts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields

from antiphase.arch import OperandLayout, input_layout, output_layout
from antiphase.isa import F32, F64, U32, U64, Expr, Matrix, Type, source
from antiphase.isa._formats import BITS, decode, decode_scale
from antiphase.machine._ir import Function, Variable
from antiphase.machine._lower import FloatMode, Lowering, Value, constant
from antiphase.machine._native import host_vector_lanes

REGISTER = 256  # bytes of one register of a wave
CHUNK = 16  # lanes widened at a time: modifiers move lanes in groups of this many
UNROLL = 4  # steps of k per loop iteration
SCALE_BLOCK = 32  # consecutive k that share a block scale

F8F6F4 = ("fp8", "bf8", "fp6", "bf6", "fp4")
"""Formats by the CBSZ or BLGP value of an F8F6F4 instruction."""

# where each group of 16 lanes of B reads from, by BLGP
BLGP_LANES = (
    (0, 1, 2, 3), (0, 1, 0, 1), (2, 3, 2, 3), (1, 2, 3, 0),
    (0, 0, 0, 0), (1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 3, 3),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Variant:
    """Modifiers of one matrix instruction.

    cbsz, abid, blgp: as in the instruction. neg: signs flipped of A, B and C (F64 only). scale_bytes:
    which byte of the scale registers of A and B. inline_c: an inline constant in place of C, whose
    pointer is not read.
    """

    cbsz: int = 0
    abid: int = 0
    blgp: int = 0
    neg: tuple[int, ...] = (0, 0, 0)
    scale_bytes: tuple[int, int] = (0, 0)
    inline_c: int | float | None = None

    @classmethod
    def of(cls, modifiers: Mapping[str, object], inline_c: int | float | None = None) -> Variant:
        """From modifiers as asm reads them, op_sel and op_sel_hi included."""
        plain = {f.name: modifiers[f.name] for f in fields(cls) if f.name in modifiers}
        low, high = (_bits(modifiers.get(name)) for name in ("op_sel", "op_sel_hi"))
        scale_bytes = (low[0] + 2 * high[0], low[1] + 2 * high[1])
        return cls(**plain, scale_bytes=scale_bytes, inline_c=inline_c)  # type: ignore[arg-type]

    @property
    def suffix(self) -> str:
        """Distinguishes the functions of one instruction's variants."""
        parts = [self.cbsz, self.abid, self.blgp, *self.neg, *self.scale_bytes]
        text = "_".join(map(str, parts))
        return text if self.inline_c is None else f"{text}_{constant(F64, float(self.inline_c))}"


def _bits(value: object) -> tuple[int, ...]:
    return value if isinstance(value, tuple) else (0, 0, 0)


def matrix_function(record: Matrix, variant: Variant = Variant()) -> Function:
    """void f(d, a, b, c): pointers to the first register of each operand, each register 64 x i32, contiguous.

    Scaled instructions take two more, the scale registers of A and B. Sparse ones take (d, a, b, index), d
    being read too. D may be C exactly, and may overlap A and B; EXEC plays no part.
    """
    return _Emitter(record, variant).function()


@dataclass(frozen=True, slots=True)
class _Chunk:
    """A vector of output elements: its register, first lane, and their columns in the rows of A and B."""

    register: int
    lane: int
    a: tuple[int, ...]
    b: tuple[int, ...]


@dataclass(slots=True)
class _Accumulator:
    chunk: _Chunk
    sum: Variable


class _Emitter:
    def __init__(self, record: Matrix, variant: Variant) -> None:
        self.record, self.variant = record, variant
        self.work: Type = F64 if record.acc == "f64" else F32
        self.ir = "double" if record.acc == "f64" else "float"
        self.size = self.work.bits // 8
        self.formats = (self._format(record.a, variant.cbsz), self._format(record.b, variant.blgp))
        self.mixed = record.a == "f8f6f4"
        scales = ["sa", "sb"] if record.scaled else []
        names = ["d", "a", "b", "index" if record.sparse else "c", *scales]
        self.f = Function(f"{record.name}_{variant.suffix}", "void", [("ptr", name) for name in names])
        self.lanes = host_vector_lanes() * 32 // self.work.bits
        # 16 vector registers on AVX2: half for sums, the rest for operands
        self.group = 8 if host_vector_lanes() == 8 else 16

    def _format(self, name: str, selector: int) -> str:
        return F8F6F4[selector] if name == "f8f6f4" else name

    def function(self) -> Function:
        r = self.record
        self.depth = r.k // 2 if r.sparse else r.k  # elements of A per output
        a_layout = input_layout(r.m, self.depth, r.blocks, self._run(0))
        b_layout = input_layout(r.n, r.k, r.blocks, self._run(1))
        self.a_width, self.b_width = r.m * r.blocks, r.n * r.blocks
        self.a_rows = self.f.alloca(f"[{self.depth * self.a_width} x {self.ir}]")
        self.b_rows = self.f.alloca(f"[{r.k * self.b_width} x {self.ir}]")
        self._widen(0, a_layout, self.a_rows, range(4))
        self._widen(1, b_layout, self.b_rows, self._b_lanes())
        if r.sparse:
            self.choices = self.f.alloca(f"[{self.depth * self.a_width} x i32]")
            self._read_index(a_layout)
        chunks = sorted(self._chunks(), key=lambda chunk: (chunk.b[0], chunk.a[0]))
        for start in range(0, len(chunks), self.group):
            self._multiply(chunks[start : start + self.group])
        self.f.ret()
        return self.f

    def _run(self, side: int) -> int:
        """Consecutive k of a lane: 8-bit operands of F8F6F4 come in halves."""
        return 16 if self.mixed and BITS[self.formats[side]] == 8 else 0

    def _b_lanes(self) -> tuple[int, ...] | range:
        permuted = not self.mixed and self.work is F32
        return BLGP_LANES[self.variant.blgp] if permuted else range(4)

    # -- operands to rows ---------------------------------------------------------------------------

    def _widen(self, side: int, layout: OperandLayout, rows: str, groups: tuple[int, ...] | range) -> None:
        """Decode every element of A (side 0) or B (side 1) and store it in row k."""
        width = (self.a_width, self.b_width)[side]
        for group in range(4):
            lane = CHUNK * group
            words = _Words(self.f, "ab"[side], CHUNK * groups[group])
            for position in range(layout.positions):
                k = int(layout.inner[lane, position])
                value = self._element(words, position, self.formats[side])
                if self.record.scaled:
                    value = self._scaled(value, side, k, lane % width)
                if self.variant.neg[side]:
                    value = self.f.let(f"fneg <{CHUNK} x {self.ir}> {value}")
                offset = (k * width + lane % width) * self.size
                self.f.store(f"<{CHUNK} x {self.ir}>", value, self.f.at(rows, offset), 64)

    def _element(self, words: _Words, position: int, format_: str) -> str:
        bits = BITS[format_]
        register, shift = divmod(position * bits, 32)
        if bits == 64:
            return self._lower(decode(source(0, U64), format_), Value(words.pair(register), U64, CHUNK))
        if shift + bits <= 32:
            return self._lower(decode(source(0, U32) >> shift, format_), words.value(register))
        code = (source(0, U32) >> shift) | (source(1, U32) << (32 - shift))
        return self._lower(decode(code, format_), words.value(register), words.value(register + 1))

    def _scaled(self, value: str, side: int, k: int, column: int) -> str:
        """Times the block scale; the lane that holds it is that of (row or column, block of k)."""
        outer = (self.record.m, self.record.n)[side]
        words = _Words(self.f, ("sa", "sb")[side], k // SCALE_BLOCK * outer + column)
        code = source(0, U32) >> (8 * self.variant.scale_bytes[side])
        scale = self._lower(decode_scale(code), words.value(0))
        return self.f.let(f"fmul <{CHUNK} x float> {value}, {scale}")

    def _lower(self, expr: Expr, *sources: Value) -> str:
        """One expression over lanes, which EXEC does not touch."""
        return Lowering(self.f, CHUNK, FloatMode(), list(sources), lambda: "-1").lower(expr).text

    def _read_index(self, layout: OperandLayout) -> None:
        """For every element of A, the byte offset of the row of B that its index picks."""
        per_lane = layout.positions
        # one index register holds several sets: ABID picks one, with CBSZ non-zero the first
        chosen = 0 if self.variant.cbsz else self.variant.abid % (16 // per_lane)
        for group in range(4):
            lane = CHUNK * group
            word = _Words(self.f, "index", lane).value(0)
            for position in range(per_lane):
                k = int(layout.inner[lane, position])
                pick = (source(0, U32) >> (2 * (per_lane * chosen + position))) & 3
                row = (pick + k // 2 * 4) << (self.b_width * self.size).bit_length() - 1
                offset = (k * self.a_width + lane % self.a_width) * 4
                self.f.store(f"<{CHUNK} x i32>", self._lower(row, word), self.f.at(self.choices, offset), 64)

    # -- products -----------------------------------------------------------------------------------

    def _chunks(self) -> Iterator[_Chunk]:
        r = self.record
        layout = output_layout(r.m, r.n, r.blocks, self.work.bits)
        broadcast = 0 if self.mixed or r.sparse or self.work is F64 else self.variant.cbsz
        a_block = (layout.block >> broadcast << broadcast) + (self.variant.abid if broadcast else 0)
        a, b = a_block * r.m + layout.outer, layout.block * r.n + layout.inner
        for register in range(layout.positions):
            for lane in range(0, 64, self.lanes):
                span = slice(lane, lane + self.lanes)
                yield _Chunk(
                    register, lane, tuple(a[span, register].tolist()), tuple(b[span, register].tolist())
                )

    def _multiply(self, chunks: list[_Chunk]) -> None:
        """Output chunks that stay in registers over all of k."""
        start = constant(self.work, 0.0)
        vector = f"<{self.lanes} x {self.ir}>"
        sums = [
            _Accumulator(
                chunk,
                self.f.variable(
                    vector, f"splat ({self.ir} {start})" if self.record.acc == "i32" else self._load_c(chunk)
                ),
            )
            for chunk in chunks
        ]
        unroll = min(UNROLL, self.depth)
        a_step, b_step = self.a_width * self.size * unroll, self.b_width * self.size * unroll
        with self.f.loop(self.depth // unroll) as i:
            a = self.f.at(self.a_rows, self.f.let(f"mul i64 {i}, {a_step}"))
            b = (
                self.b_rows
                if self.record.sparse
                else self.f.at(self.b_rows, self.f.let(f"mul i64 {i}, {b_step}"))
            )
            choices = self.f.let(f"mul i64 {i}, {self.a_width * 4 * unroll}") if self.record.sparse else ""
            for step in range(unroll):
                self._step(sums, a, b, step, choices)
        for item in sums:
            self._store_d(item.chunk, item.sum.get())

    def _step(self, sums: list[_Accumulator], a: str, b: str, step: int, choices: str) -> None:
        """Add the products of one k to every sum."""
        vector = f"<{self.lanes} x {self.ir}>"
        loaded: dict[tuple[int, ...], str] = {}
        for item in sums:
            chunk = item.chunk
            left = self._operand(a, step * self.a_width, self.a_width, chunk.a)
            if self.record.sparse:
                right = self._chosen_row(choices, step, chunk)
            else:
                right = loaded.get(chunk.b) or self._operand(b, step * self.b_width, self.b_width, chunk.b)
                loaded[chunk.b] = right
            args = [(vector, text) for text in (left, right, item.sum.get())]
            item.sum.set(self.f.call(vector, f"llvm.fma.v{self.lanes}f{self.work.bits}", *args))

    def _operand(self, rows: str, start: int, width: int, columns: tuple[int, ...]) -> str:
        """A vector of elements of one row: one element everywhere, neighbours, or any order in the row."""
        first, count = columns[0], len(columns)
        if len(set(columns)) == 1:
            value = self.f.load(self.ir, self.f.at(rows, (start + first) * self.size))
            return self._splat(value, count)
        if columns == tuple(range(first, first + count)):
            return self.f.load(
                f"<{count} x {self.ir}>", self.f.at(rows, (start + first) * self.size), self.size
            )
        window = min(columns) // count * count
        size = count if max(columns) < window + count else width
        window = window if size == count else 0
        whole = f"<{size} x {self.ir}>"
        row = self.f.load(whole, self.f.at(rows, (start + window) * self.size), self.size)
        order = ", ".join(f"i32 {column - window}" for column in columns)
        return self.f.let(f"shufflevector {whole} {row}, {whole} poison, <{count} x i32> <{order}>")

    def _splat(self, value: str, count: int) -> str:
        vector = f"<{count} x {self.ir}>"
        one = self.f.let(f"insertelement {vector} poison, {self.ir} {value}, i32 0")
        return self.f.let(f"shufflevector {vector} {one}, {vector} poison, <{count} x i32> zeroinitializer")

    def _chosen_row(self, choices: str, step: int, chunk: _Chunk) -> str:
        """The row of B that the sparse index of this row of A picks."""
        place = self.f.at(self.f.at(self.choices, choices), (step * self.a_width + chunk.a[0]) * 4)
        offset = self.f.let(f"zext i32 {self.f.load('i32', place)} to i64")
        row = self.f.at(self.b_rows, offset)
        return self._operand(row, 0, self.b_width, chunk.b)

    # -- C and D ------------------------------------------------------------------------------------

    @property
    def _accumulator(self) -> str:
        return "%d" if self.record.sparse else "%c"

    def _load_c(self, chunk: _Chunk) -> str:
        if self.variant.inline_c is not None and not self.record.sparse:
            return f"splat ({self.ir} {constant(self.work, float(self.variant.inline_c))})"
        if self.work is F64:
            words = _Words(self.f, self._accumulator[1:], chunk.lane, self.lanes)
            pair = words.pair(2 * chunk.register)
            value = self.f.let(f"bitcast <{self.lanes} x i64> {pair} to <{self.lanes} x double>")
            return self.f.let(f"fneg <{self.lanes} x double> {value}") if self.variant.neg[2] else value
        place = self.f.at(self._accumulator, REGISTER * chunk.register + 4 * chunk.lane)
        return self.f.load(f"<{self.lanes} x float>", place, 4)

    def _store_d(self, chunk: _Chunk, value: str) -> None:
        n = self.lanes
        if self.work is F64:
            bits = self.f.let(f"bitcast <{n} x double> {value} to <{n} x i64>")
            high = self.f.let(f"lshr <{n} x i64> {bits}, splat (i64 32)")
            for half, text in enumerate((bits, high)):
                word = self.f.let(f"trunc <{n} x i64> {text} to <{n} x i32>")
                place = self.f.at("%d", REGISTER * (2 * chunk.register + half) + 4 * chunk.lane)
                self.f.store(f"<{n} x i32>", word, place, 4)
            return
        place = REGISTER * chunk.register + 4 * chunk.lane
        if self.record.acc == "i32":
            # products of 8-bit integers over the deepest k stay below 2**22: their sum in f32 is exact
            total = self.f.let(f"fptosi <{n} x float> {value} to <{n} x i32>")
            value = self.f.let(f"add <{n} x i32> {total}, {self._integer_c(place)}")
        self.f.store(
            f"<{n} x {'i32' if self.record.acc == 'i32' else 'float'}>", value, self.f.at("%d", place), 4
        )

    def _integer_c(self, place: int) -> str:
        if self.variant.inline_c is not None and not self.record.sparse:
            return f"splat (i32 {constant(U32, self.variant.inline_c)})"
        return self.f.load(f"<{self.lanes} x i32>", self.f.at(self._accumulator, place), 4)


class _Words:
    """Registers of one operand as vectors of 32-bit words, from one lane on, each loaded once."""

    def __init__(self, f: Function, operand: str, lane: int, count: int = CHUNK) -> None:
        self._f, self._base, self._lane, self._count = f, f"%{operand}", lane, count
        self._loaded: dict[int, str] = {}

    def word(self, register: int) -> str:
        if register not in self._loaded:
            place = self._f.at(self._base, REGISTER * register + 4 * self._lane)
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


__all__ = ["F8F6F4", "Variant", "matrix_function"]

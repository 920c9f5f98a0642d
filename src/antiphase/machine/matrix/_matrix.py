"""Matrix instructions as native functions.

A and B are widened once into rows on the stack, one row a k, so that a row of B is a vector and an element of
A a broadcast. Then groups of accumulators stay in registers over the whole of k. Where every element lives
comes from arch's layouts.
"""

from __future__ import annotations

from dataclasses import dataclass

from antiphase.isa import Matrix
from antiphase.isa.fragments import fragments
from antiphase.machine.llvm._ir import Function, Variable
from antiphase.machine.llvm._native import host_vector_lanes
from antiphase.machine.matrix._matrix_result import Chunk, Results
from antiphase.machine.matrix._matrix_rows import Rows, index_set
from antiphase.machine.matrix._matrix_variant import Variant

UNROLL = 4  # steps of k per loop iteration
PLAIN = Variant()


def matrix_function(record: Matrix, variant: Variant = PLAIN, lanes: int = 64) -> Function:
    """void f(d, a, b, c): pointers to the first register of each operand, a register is `lanes` x i32.

    Scaled instructions take two more, the scale registers of A and B. Sparse ones take (d, a, b, index), d
    being read too. D may be C exactly, and may overlap A and B; EXEC plays no part.
    """
    return _Emitter(record, variant, lanes).function()


@dataclass(slots=True)
class _Accumulator:
    chunk: Chunk
    sum: Variable


class _Emitter:
    def __init__(self, record: Matrix, variant: Variant, lanes: int) -> None:
        self.record = record
        names = ["d", "a", "b", "index" if record.sparse else "c", *(("sa", "sb") if record.scaled else ())]
        self.f = Function(f"{record.name}_{variant.suffix}_{lanes}", "void", [("ptr", name) for name in names])
        chosen = index_set(record, variant, lanes)
        operands = fragments(record, lanes, variant.formats(record), variant.half, chosen)
        self.rows = Rows(self.f, record, variant, lanes, operands)
        self.results = Results(self.f, record, variant, lanes, operands)
        self.count, self.ir, self.size = self.results.count, self.rows.ir, self.rows.size
        # 16 vector registers on AVX2: half for sums, the rest for operands
        self.group = 8 if host_vector_lanes() == 8 else 16

    def function(self) -> Function:
        self.rows.emit()
        chunks = sorted(self.results.chunks(), key=lambda chunk: (chunk.b[0], chunk.a[0]))
        for start in range(0, len(chunks), self.group):
            self._multiply(chunks[start : start + self.group])
        self.f.ret()
        return self.f

    def _multiply(self, chunks: list[Chunk]) -> None:
        """Output chunks that stay in registers over all of k."""
        vector = f"<{self.count} x {self.ir}>"
        sums = [_Accumulator(chunk, self.f.variable(vector, self.results.start(chunk))) for chunk in chunks]
        depth, rows = self.record.depth, self.rows
        unroll = min(UNROLL, depth)
        a_step, b_step = rows.a_width * self.size * unroll, rows.b_width * self.size * unroll
        with self.f.loop(depth // unroll) as i:
            a = self.f.at(rows.a, self.f.let(f"mul i64 {i}, {a_step}"))
            b = rows.b if self.record.sparse else self.f.at(rows.b, self.f.let(f"mul i64 {i}, {b_step}"))
            choices = self.f.let(f"mul i64 {i}, {rows.a_width * 4 * unroll}") if self.record.sparse else ""
            for step in range(unroll):
                self._step(sums, a, b, step, choices)
                if self.record.narrowed and (step + 1) % self.record.narrowed == 0:
                    for item in sums:
                        item.sum.set(self.results.narrowed(item.sum.get()))
        for item in sums:
            self.results.store(item.chunk, item.sum.get())

    def _step(self, sums: list[_Accumulator], a: str, b: str, step: int, choices: str) -> None:
        """Add the products of one k to every sum."""
        vector, rows = f"<{self.count} x {self.ir}>", self.rows
        loaded: dict[tuple[int, ...], str] = {}
        for item in sums:
            chunk = item.chunk
            left = self._operand(a, step * rows.a_width, rows.a_width, chunk.a)
            if self.record.sparse:
                right = self._chosen_row(choices, step, chunk)
            else:
                right = loaded.get(chunk.b) or self._operand(b, step * rows.b_width, rows.b_width, chunk.b)
                loaded[chunk.b] = right
            args = [(vector, text) for text in (left, right, item.sum.get())]
            item.sum.set(self.f.call(vector, f"llvm.fma.v{self.count}f{8 * self.size}", *args))

    def _operand(self, rows: str, start: int, width: int, columns: tuple[int, ...]) -> str:
        """A vector of elements of one row: one element everywhere, neighbours, or any order in the row."""
        first, count = columns[0], len(columns)
        if len(set(columns)) == 1:
            value = self.f.load(self.ir, self.f.at(rows, (start + first) * self.size))
            return self._splat(value, count)
        if columns == tuple(range(first, first + count)):
            place = self.f.at(rows, (start + first) * self.size)
            return self.f.load(f"<{count} x {self.ir}>", place, self.size)
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

    def _chosen_row(self, choices: str, step: int, chunk: Chunk) -> str:
        """The row of B that the sparse index of this row of A picks."""
        place = self.f.at(self.f.at(self.rows.choices, choices), (step * self.rows.a_width + chunk.a[0]) * 4)
        offset = self.f.let(f"zext i32 {self.f.load('i32', place)} to i64")
        return self._operand(self.f.at(self.rows.b, offset), 0, self.rows.b_width, chunk.b)


__all__ = ["Variant", "matrix_function"]

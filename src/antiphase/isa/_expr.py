"""The language instruction semantics are written in: typed expressions over one lane.

An instruction's meaning is a Python function from source expressions to result expressions. The tree it returns is
data: the machine lowers it to vector code, reports print it, tests evaluate it. Nothing here knows about registers.

Integers carry their signedness in the type, so `a >> b` is arithmetic for i32 and logical for u32, and comparisons and
conversions follow it. Shift counts are taken modulo the width, as AMD shifters do. Float comparisons are ordered,
except `!=`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Type:
    """A lane's value type. kind: 'u' unsigned, 'i' signed, 'f' float, 'bf' bfloat, 'b' predicate; bits: width."""

    name: str
    kind: str
    bits: int

    @property
    def is_float(self) -> bool:
        return self.kind in ("f", "bf")

    @property
    def is_int(self) -> bool:
        return self.kind in ("u", "i")

    @property
    def dwords(self) -> int:
        """32-bit registers an operand of this type occupies."""
        return max(1, self.bits // 32)

    def __repr__(self) -> str:
        return self.name


U8, U16, U32, U64, U128 = (Type(f"u{n}", "u", n) for n in (8, 16, 32, 64, 128))
I8, I16, I32, I64, I128 = (Type(f"i{n}", "i", n) for n in (8, 16, 32, 64, 128))
F16, F32, F64 = (Type(f"f{n}", "f", n) for n in (16, 32, 64))
BF16 = Type("bf16", "bf", 16)
B1 = Type("b1", "b", 1)

TYPES: dict[str, Type] = {
    t.name: t for t in (U8, U16, U32, U64, U128, I8, I16, I32, I64, I128, F16, F32, F64, BF16, B1)
}


class Expr:
    """One node: an operation, the type of its result, its arguments and a constant attribute."""

    __slots__ = ("args", "attr", "op", "type")

    def __init__(self, op: str, type_: Type, args: tuple[Expr, ...] = (), attr: object = None) -> None:
        self.op, self.type, self.args, self.attr = op, type_, args, attr

    def __repr__(self) -> str:
        inner = ", ".join(map(repr, self.args))
        return f"{self.op}{'' if self.attr is None else f'<{self.attr}>'}:{self.type}({inner})"

    def _with(self, other: Expr | int | float) -> Expr:
        """The other operand of a binary operation; Python numbers take this expression's type."""
        if isinstance(other, Expr):
            if other.type is not self.type:
                raise TypeError(f"{self.type} and {other.type} do not mix; convert one with .to() or .bits()")
            return other
        return const(self.type, other)

    def _binary(self, op: str, other: Expr | int | float, result: Type | None = None) -> Expr:
        return Expr(op, result or self.type, (self, self._with(other)))

    def __add__(self, other: Expr | int | float) -> Expr:
        return self._binary("add", other)

    def __sub__(self, other: Expr | int | float) -> Expr:
        return self._binary("sub", other)

    def __rsub__(self, other: int | float) -> Expr:
        return const(self.type, other) - self

    def __mul__(self, other: Expr | int | float) -> Expr:
        return self._binary("mul", other)

    def __truediv__(self, other: Expr | int | float) -> Expr:
        return self._binary("div", other)

    def __and__(self, other: Expr | int) -> Expr:
        return self._binary("and", other)

    def __or__(self, other: Expr | int) -> Expr:
        return self._binary("or", other)

    def __xor__(self, other: Expr | int) -> Expr:
        return self._binary("xor", other)

    def __lshift__(self, count: Expr | int) -> Expr:
        return Expr("shl", self.type, (self, self._count(count)))

    def __rshift__(self, count: Expr | int) -> Expr:
        return Expr("ashr" if self.type.kind == "i" else "lshr", self.type, (self, self._count(count)))

    def _count(self, count: Expr | int) -> Expr:
        if not isinstance(count, Expr):
            return const(self.type, count % self.type.bits)
        return Expr("to", self.type, (count,)) & (self.type.bits - 1)

    def __invert__(self) -> Expr:
        return Expr("not", self.type, (self,))

    def __neg__(self) -> Expr:
        return Expr("neg", self.type, (self,))

    def __abs__(self) -> Expr:
        return Expr("abs", self.type, (self,))

    def __lt__(self, other: Expr | int | float) -> Expr:
        return self._binary("lt", other, B1)

    def __le__(self, other: Expr | int | float) -> Expr:
        return self._binary("le", other, B1)

    def __gt__(self, other: Expr | int | float) -> Expr:
        return self._binary("gt", other, B1)

    def __ge__(self, other: Expr | int | float) -> Expr:
        return self._binary("ge", other, B1)

    def __eq__(self, other: object) -> Expr:  # type: ignore[override]
        return self._binary("eq", other, B1)  # type: ignore[arg-type]

    def __ne__(self, other: object) -> Expr:  # type: ignore[override]
        return self._binary("ne", other, B1)  # type: ignore[arg-type]

    __hash__ = object.__hash__

    def bits(self, type_: Type) -> Expr:
        """The same bits read as another type of the same width."""
        if type_.bits != self.type.bits:
            raise TypeError(f"{self.type} has {self.type.bits} bits, {type_} has {type_.bits}")
        return self if type_ is self.type else Expr("bits", type_, (self,))

    def to(self, type_: Type) -> Expr:
        """The value converted: integers truncate or extend by their own sign, floats round to nearest even,
        float to integer truncates and saturates with NaN giving 0, a predicate gives 0 or 1."""
        return self if type_ is self.type else Expr("to", type_, (self,))


def const(type_: Type, value: int | float) -> Expr:
    return Expr("const", type_, (), value)


def source(index: int, type_: Type) -> Expr:
    """The index-th source operand of the instruction."""
    return Expr("source", type_, (), index)


def lane_id() -> Expr:
    """Index of the lane within the wave, u32."""
    return Expr("lane_id", U32)


def wave_size() -> Expr:
    """Lanes of the wave, 32 or 64, u32."""
    return Expr("wave_size", U32)


def mode(field: str) -> Expr:
    """A MODE field that changes what instructions compute ('ieee', 'dx10_clamp', 'fp16_ovfl'), as a predicate."""
    return Expr("mode", B1, (), field)


def select(condition: Expr, yes: Expr, no: Expr | int | float) -> Expr:
    return Expr("select", yes.type, (condition, yes, yes._with(no)))


def fma(a: Expr, b: Expr, c: Expr) -> Expr:
    """a * b + c, rounded once."""
    return Expr("fma", a.type, (a, a._with(b), a._with(c)))


def canonical(x: Expr) -> Expr:
    """A float with its denormals made zero where MODE says so, as arithmetic leaves it; NaNs stay."""
    return Expr("canonical", x.type, (x,))


def truth_table(a: Expr, b: Expr, c: Expr, table: Expr) -> Expr:
    """Bitwise function of three integers: bit 4a + 2b + c of the constant `table` is the result."""
    return Expr("truth_table", a.type, (a, b, c, table))


def _unary(op: str) -> Callable[[Expr], Expr]:
    return lambda x: Expr(op, x.type, (x,))


sqrt, floor, ceil, trunc, rint = map(_unary, ("sqrt", "floor", "ceil", "trunc", "rint"))
popcount, clz, ctz, bitreverse = map(_unary, ("popcount", "clz", "ctz", "bitreverse"))


def is_nan(x: Expr) -> Expr:
    return x != x


def minimum(a: Expr, b: Expr) -> Expr:
    """Smaller of two integers."""
    return select(a < b, a, b)


def maximum(a: Expr, b: Expr) -> Expr:
    """Larger of two integers."""
    return select(a > b, a, b)


def concat(low: Expr, high: Expr) -> Expr:
    """Two u32 (or two u16) as one u64 (or u32), low part first."""
    wide = {16: U32, 32: U64}[low.type.bits]
    return low.to(wide) | (high.to(wide) << low.type.bits)


def first_lane(x: Expr) -> Expr:
    """The value in the lowest active lane (lane 0 if EXEC is zero); uniform."""
    return Expr("first_lane", x.type, (x,))


def read_lane(x: Expr, lane: Expr) -> Expr:
    """The value in a given lane, active or not; uniform."""
    return Expr("read_lane", x.type, (x, lane))


def shuffle(x: Expr, lanes: Sequence[int]) -> Expr:
    """Lane i takes lane lanes[i] of x, regardless of EXEC. Smaller waves use as many entries, modulo their size."""
    return Expr("shuffle", x.type, (x,), tuple(lanes))


def gather_lanes(x: Expr, lane: Expr) -> Expr:
    """Lane i takes lane lane[i] modulo the wave size of x if that lane is active, else 0."""
    return Expr("gather_lanes", x.type, (x, lane))


def fetch_lanes(x: Expr, lane: Expr) -> Expr:
    """Lane i takes lane lane[i] modulo the wave size of x, active or not."""
    return Expr("gather_lanes", x.type, (x, lane), "inactive")


def scatter_lanes(x: Expr, lane: Expr) -> Expr:
    """Active lane i sends x to lane[i] modulo the wave size; the highest sender wins, lanes without one get 0."""
    return Expr("scatter_lanes", x.type, (x, lane))


def ballot(x: Expr) -> Expr:
    """The predicate of every active lane as a lane mask, u64, inactive lanes 0; uniform."""
    return Expr("ballot", U64, (x,))


def size(expr: Expr, seen: set[int] | None = None) -> int:
    """Distinct nodes of a tree: what it costs to emit."""
    seen = set() if seen is None else seen
    if id(expr) in seen:
        return 0
    seen.add(id(expr))
    return 1 + sum(size(a, seen) for a in expr.args)

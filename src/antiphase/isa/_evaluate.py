"""The value of an integer expression over known sources, in Python: for what is known before a kernel runs."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

from antiphase.isa._expr import Expr, Type

_BITWISE: dict[str, Callable[[int, int], int]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "and": operator.and_, "or": operator.or_,
    "xor": operator.xor, "shl": operator.lshift, "lshr": operator.rshift,
}  # fmt: skip
_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge, "eq": operator.eq, "ne": operator.ne,
}  # fmt: skip


def evaluate(expr: Expr, sources: Sequence[int | None]) -> int | None:
    """The bits of a result. sources: bits of each source, None where they are not known.

    None where the result needs one that is not, or has anything but integers and predicates in it.
    """
    try:
        return _Evaluation(sources).value(expr)
    except _Unknown:
        return None


class _Unknown(Exception):
    pass


class _Evaluation:
    def __init__(self, sources: Sequence[int | None]) -> None:
        self.sources = sources
        self.done: dict[int, int] = {}

    def value(self, e: Expr) -> int:
        """Bits as an unsigned number."""
        if id(e) not in self.done:
            if e.type.is_float:
                raise _Unknown
            self.done[id(e)] = self._value(e) & (1 << e.type.bits) - 1
        return self.done[id(e)]

    def _value(self, e: Expr) -> int:
        if e.op == "const":
            assert isinstance(e.attr, int)
            return e.attr
        if e.op == "source":
            assert isinstance(e.attr, int)
            found = self.sources[e.attr]
            if found is None:
                raise _Unknown
            return found
        if e.op == "select":
            condition, yes, no = e.args
            return self.value(yes if self.value(condition) else no)
        if e.args and e.args[0].type.is_float:
            raise _Unknown
        args = [self.value(arg) for arg in e.args]
        return self._operation(e, args)

    def _operation(self, e: Expr, args: list[int]) -> int:
        type_ = e.args[0].type if e.args else e.type
        if e.op in _BITWISE:
            return _BITWISE[e.op](*args)
        if e.op in _COMPARISONS:
            return _COMPARISONS[e.op](*(_number(a, type_) for a in args))
        match e.op:
            case "ashr":
                return _number(args[0], type_) >> args[1]
            case "not":
                return ~args[0]
            case "neg":
                return -args[0]
            case "abs":
                return abs(_number(args[0], type_))
            case "bits":
                return args[0]
            case "to":
                return int(args[0] != 0) if e.type.kind == "b" else _number(args[0], type_)
            case "popcount":
                return args[0].bit_count()
            case "clz":
                return type_.bits - args[0].bit_length()
            case "ctz":
                return (args[0] & -args[0]).bit_length() - 1 if args[0] else type_.bits
        raise _Unknown


def _number(bits: int, type_: Type) -> int:
    return bits - (1 << type_.bits) if type_.kind == "i" and bits >> type_.bits - 1 else bits

"""A semantics expression as a formula a person reads; shared and long parts get names of their own."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from antiphase.isa._expr import Expr

# Sign and binding strength; how far a strength counts is _infix's matter.
_INFIX = {
    "mul": ("*", 11), "div": ("/", 11),
    "add": ("+", 10), "sub": ("-", 10), "shl": ("<<", 9), "lshr": (">>", 9), "ashr": (">>", 9),
    "and": ("&", 8), "xor": ("^", 7), "or": ("|", 6),
    "lt": ("<", 5), "le": ("<=", 5), "gt": (">", 5), "ge": (">=", 5), "eq": ("==", 5), "ne": ("!=", 5),
}  # fmt: skip
_PREFIX = {"neg": "-", "not": "~"}
_ATOM, _UNARY, _SELECT = 20, 12, 1
_LEAVES = ("source", "const", "lane_id", "wave_size", "mode")
_FLOATS = ("f16", "f32", "f64")
_WIDTH = 60  # characters of a part before it gets a name


def formulas(results: Mapping[str, Expr], sources: Sequence[str]) -> tuple[str, ...]:
    """Lines "D = S0 * S1 + S2", one a result, after those of the named parts they use.

    results: name to expression. sources: what the numbered sources are called.
    """
    writer = _Writer(sources)
    keys = {name: writer.key(expr) for name, expr in results.items()}
    lines = [(name, writer.top(key)) for name, key in keys.items()]
    return (*writer.parts, *(f"{name} = {text}" for name, text in lines))


class _Writer:
    """Nodes are numbered by what they are, so that equal ones made apart count as one."""

    def __init__(self, sources: Sequence[str]) -> None:
        self._sources = sources
        self._numbers: dict[tuple[object, ...], int] = {}
        self._nodes: list[Expr] = []
        self._children: list[tuple[int, ...]] = []
        self._uses: list[int] = []
        self._by_id: dict[int, int] = {}
        self._texts: dict[int, tuple[str, int]] = {}
        self.parts: list[str] = []

    def key(self, expr: Expr) -> int:
        if id(expr) not in self._by_id:
            children = tuple(self.key(each) for each in expr.args)
            what = (expr.op, expr.type.name, repr(expr.attr), children)
            if what not in self._numbers:
                self._numbers[what] = len(self._nodes)
                self._nodes.append(expr)
                self._children.append(children)
                self._uses.append(0)
                for child in children:
                    self._uses[child] += 1
            self._by_id[id(expr)] = self._numbers[what]
        return self._by_id[id(expr)]

    def top(self, key: int) -> str:
        """A whole result: a product and sum rounded once is written out, and says so."""
        node = self._nodes[key]
        if node.op == "fma":
            a, b, c = (self._inside(each, 10) for each in self._children[key])
            return f"{a} * {b} + {c} ({node.type}, rounded once)"
        rounded = node.type.is_float and node.op in ("add", "sub", "mul", "div", "sqrt", "to")
        return f"{self._render(key)[0]} ({node.type}{', rounded' if rounded else ''})"

    def _inside(self, key: int, level: int) -> str:
        text, own = self._text(key)
        return text if own > level else f"({text})"

    def _text(self, key: int) -> tuple[str, int]:
        """Text and binding strength, by name where the part is used twice or is long."""
        if key not in self._texts:
            text, level = self._render(key)
            shared = self._uses[key] > 1 and self._nodes[key].op not in _LEAVES and len(text) > 8
            if shared or len(text) > _WIDTH:
                name = f"t{len(self.parts)}"
                self.parts.append(f"{name} = {text}")
                text, level = name, _ATOM
            self._texts[key] = text, level
        return self._texts[key]

    def _render(self, key: int) -> tuple[str, int]:
        node, children = self._nodes[key], self._children[key]
        if node.op in _LEAVES:
            return self._leaf(node), _ATOM
        if short := self._shortened(node, children):
            return short
        if node.op in _INFIX:
            return self._infix(node.op, *children)
        if node.op in _PREFIX:
            return _PREFIX[node.op] + self._inside(children[0], _UNARY), _UNARY
        if node.op == "select":
            condition, yes, no = (self._inside(each, _SELECT) for each in children)
            return f"{condition} ? {yes} : {no}", _SELECT
        arguments = [self._text(each)[0] for each in children]
        if node.op == "shuffle" and isinstance(node.attr, tuple):
            arguments.append(f"lanes {_lanes(node.attr)}")
        elif node.attr is not None:
            arguments.append(str(node.attr))
        name = {"to": str(node.type), "bits": f"bits_as_{node.type}"}.get(node.op, node.op)
        return f"{name}({', '.join(arguments)})", _ATOM

    def _infix(self, op: str, left: int, right: int) -> tuple[str, int]:
        """Parentheses wherever languages disagree on what binds tighter: * and / in + and - go without."""
        sign, level = _INFIX[op]
        arithmetic = op in ("add", "sub", "mul", "div")
        same = self._nodes[left].op == op and op in ("add", "mul", "and", "or", "xor")
        before = level - 1 if arithmetic or same else _UNARY - 1
        return (
            f"{self._inside(left, before)} {sign} {self._inside(right, level if arithmetic else _UNARY - 1)}",
            level,
        )

    def _shortened(self, node: Expr, children: tuple[int, ...]) -> tuple[str, int] | None:
        """Idioms and no-ops: a NaN test, a float by its bits, the same type again, zero added."""
        nodes = [self._nodes[child] for child in children]
        if node.op in ("to", "bits") and nodes[0].type is node.type:
            return self._text(children[0])
        if node.op == "bits" and nodes[0].op == "const" and node.type.name in _FLOATS:
            return _float_of(nodes[0].attr, node.type.bits), _ATOM
        if node.op == "ne" and children[0] == children[1]:
            return f"is_nan({self._text(children[0])[0]})", _ATOM
        if node.op in ("add", "sub", "shl", "lshr", "ashr", "or") and nodes[1].op == "const" and nodes[1].attr == 0:
            return None if node.type.is_float else self._text(children[0])
        return None

    def _leaf(self, node: Expr) -> str:
        match node.op, node.attr:
            case "source", int(index):
                return self._sources[index]
            case "const", int(value) if value > 9999:
                return f"{value:#x}"
            case "mode", field:
                return f"MODE.{field}"
            case "lane_id", _:
                return "lane"
            case "wave_size", _:
                return "wave_size"
        return str(node.attr)


def _float_of(bits: object, width: int) -> str:
    """The float with these bits, as 'inf', '-0.0' or 'nan'."""
    assert isinstance(bits, int)
    integer, float_ = {16: ("H", "e"), 32: ("I", "f"), 64: ("Q", "d")}[width]
    return repr(struct.unpack(float_, struct.pack(integer, bits))[0])


def _lanes(pattern: tuple[int, ...]) -> str:
    """A lane pattern in short: the difference where lane i takes i ^ n, else its first entries."""
    if len({i ^ lane for i, lane in enumerate(pattern)}) == 1:
        return f"lane ^ {pattern[0]}"
    return f"[{', '.join(map(str, pattern[:8]))}, ...]"

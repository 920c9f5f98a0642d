"""Numbers that LLVM leaves to the assembler: register counts of a kernel, computed from those of what it calls.

Functions: LLVM AMDGPUMCExpr.cpp; totalnumvgprs and extrasgprs: AMDGPUBaseInfo.cpp, getTotalNumVGPRs, getNumExtraSGPRs.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping

from antiphase.asm._operands import parse_int

_TOKEN = re.compile(r"\s*(?:(\d\w*)|([A-Za-z_.$][\w.$]*)|(<<|>>|&&|\|\||[-+*/%&|^~!(),]))")
_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,
    ast.Mod: operator.mod,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
_SPELLINGS = {"&&": " and ", "||": " or ", "!": " not "}


def evaluate(text: str, symbols: Mapping[str, str], gfx9: bool) -> int:
    """The value of an expression over symbols that are set to expressions. ValueError if it has none.

    gfx9: the target counts AGPRs on top of VGPRs, and flat scratch and XNACK among the SGPRs.
    """
    return _Evaluation(symbols, gfx9).value(text)


class _Evaluation:
    def __init__(self, symbols: Mapping[str, str], gfx9: bool) -> None:
        self.symbols, self.gfx9 = symbols, gfx9
        self.open: set[str] = set()
        self.known: dict[str, int] = {}

    def value(self, text: str) -> int:
        names: list[str] = []
        try:
            tree = ast.parse(_as_python(text, names), mode="eval")
        except SyntaxError:
            raise ValueError(f"cannot read the expression '{text}'") from None
        return self._node(tree.body, names)

    def _node(self, node: ast.AST, names: list[str]) -> int:
        match node:
            case ast.Constant(value=int(number)):
                return number
            case ast.Name(id=placeholder):
                return self._symbol(names[int(placeholder[1:])])
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                return _OPERATORS[type(op)](self._node(left, names), self._node(right, names))
            case ast.UnaryOp(op=op, operand=operand):
                one = self._node(operand, names)
                return -one if isinstance(op, ast.USub) else ~one if isinstance(op, ast.Invert) else one
            case ast.Call(func=ast.Name(id=placeholder), args=args):
                return self._call(names[int(placeholder[1:])], [self._node(one, names) for one in args])
        raise ValueError("not an expression of numbers")

    def _symbol(self, name: str) -> int:
        if name not in self.symbols or name in self.open:
            raise ValueError(f"'{name}' has no value")
        if name not in self.known:
            self.open.add(name)
            self.known[name] = self.value(self.symbols[name])
            self.open.discard(name)
        return self.known[name]

    def _call(self, name: str, args: list[int]) -> int:
        match name, args:
            case "max", [_, *_]:
                return max(args)
            case "min", [_, *_]:
                return min(args)
            case "or", [_, *_]:
                return int(any(args)) if max(args) <= 1 else _any_bit(args)
            case "alignto", [value, step] if step > 0:
                return -(-value // step) * step
            case "totalnumvgprs", [agprs, vgprs]:
                return -(-vgprs // 4) * 4 + agprs if self.gfx9 and agprs else max(agprs, vgprs)
            case "extrasgprs", [vcc, flat_scratch, xnack]:
                return (6 if flat_scratch else 4 if xnack else 2 * vcc) if self.gfx9 else 2 * vcc
        raise ValueError(f"no function '{name}' of {len(args)} numbers")


def _any_bit(args: list[int]) -> int:
    result = 0
    for one in args:
        result |= one
    return result


def _as_python(text: str, names: list[str]) -> str:
    """The expression with its names replaced by n0, n1, ..., which are appended to `names`."""
    parts: list[str] = []
    end = 0
    text = text.strip()
    while end < len(text):
        match = _TOKEN.match(text, end)
        if match is None:
            raise ValueError(f"cannot read the expression '{text}'")
        number, name, sign = match.groups()
        if name is not None:
            parts.append(f"n{len(names)}")
            names.append(name)
        else:
            parts.append(str(parse_int(number)) if number is not None else _SPELLINGS.get(sign, sign))
        end = match.end()
    return "".join(parts)

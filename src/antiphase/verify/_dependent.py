"""IR of two calls of a matrix intrinsic, the second of which reads what the first one made."""

from __future__ import annotations

import re

from antiphase.arch import Builtin, matrix_builtins
from antiphase.arch import target as target_of

_TYPE = re.compile(r"!?(?:(\d+)x)?([a-z]+)(\d+)")
_ELEMENTS = {"f16": "half", "bf16": "bfloat", "f32": "float", "f64": "double"}
_OPERANDS = ("A", "B", "C", "index")
"""In the order of a builtin's register parameters; C of a sparse one is D's old value."""


def builtin_of(intrinsic: str, target: str, wave: int) -> Builtin | None:
    """The builtin that becomes an intrinsic, named with its type suffixes or without; wave 0 is the target's own."""
    wave = wave or target_of(target).default_wave_size
    for each in matrix_builtins()[1]:
        # type suffixes begin with the result's, a vector
        if target in each.targets and each.wave == wave and f"{each.intrinsic}.v".startswith(f"{intrinsic}.v"):
            return each
    return None


def dependent_calls(called: Builtin, overlap: str) -> str | None:
    """A function whose arguments are in VGPRs; None where the builtin has no operand of that name."""
    places = [place for place, each in enumerate(called.parameters) if not each.startswith("!")]
    if _OPERANDS.index(overlap) >= len(places):
        return None
    place = places[_OPERANDS.index(overlap)]
    result, types = _ir(called.result), [_ir(each) for each in called.parameters]
    first = [_argument(kind, f"%p{n}" if n in places else "") for n, kind in enumerate(types)]
    again = [*first[:place], f"{types[place]} %x", *first[place + 1 :]]
    return "\n".join([
        f"define amdgpu_ps {result} @f({', '.join(f'{types[n]} %p{n}' for n in places)}) {{",
        f"  %d = call {result} @{called.intrinsic}({', '.join(first)})",
        *_cut(called.result, called.parameters[place]),
        f"  %e = call {result} @{called.intrinsic}({', '.join(again)})",
        f"  ret {result} %e",
        "}",
        f"declare {result} @{called.intrinsic}({', '.join(types)})",
        "",
    ])  # fmt: skip


def _argument(kind: str, value: str) -> str:
    """Constants are off."""
    return f"{kind} {value or ('false' if kind == 'i1' else '0')}"


def _cut(result: str, operand: str) -> list[str]:
    """%x: the operand, made of the first registers of %d; what it has more than those is anything."""
    have, need = _registers(result), _registers(operand)
    kept = ", ".join(f"i32 {n}" if n < have else "i32 poison" for n in range(need))
    whole = f"<{have} x i32>"
    return [
        f"  %w = bitcast {_ir(result)} %d to {whole}",
        f"  %n = shufflevector {whole} %w, {whole} poison, <{need} x i32> <{kept}>",
        f"  %x = bitcast <{need} x i32> %n to {_ir(operand)}",
    ]


def _registers(text: str) -> int:
    count, _, bits = _parsed(text)
    return count * bits // 32


def _ir(text: str) -> str:
    count, kind, bits = _parsed(text)
    element = _ELEMENTS.get(f"{kind}{bits}", f"i{bits}")
    return element if count == 1 else f"<{count} x {element}>"


def _parsed(text: str) -> tuple[int, str, int]:
    match = _TYPE.fullmatch(text)
    assert match is not None, text
    return int(match[1] or 1), match[2], int(match[3])

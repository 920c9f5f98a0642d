"""Calls of matrix functions from translated code; each variant is compiled once and shared."""

from __future__ import annotations

import hashlib

from antiphase.asm import FloatImm, Imm, Modified, Operand, Reg
from antiphase.errors import Unsupported
from antiphase.isa import Matrix
from antiphase.machine import _native
from antiphase.machine._context import Context
from antiphase.machine._ir import module
from antiphase.machine._matrix import Variant, matrix_function

_symbols: dict[tuple[str, Variant], str] = {}
_libraries: list[_native.Library] = []


def translate_matrix(c: Context, record: Matrix) -> None:
    """Emit one matrix instruction: D, A, B, C (or the sparse index), scales, as pointers to registers."""
    if c.layout.lanes != 64:
        raise Unsupported(f"{record.name} in wave32")
    operands = list(c.instruction.operands)
    inline = None
    pointers = []
    for operand in operands:
        plain = operand.operand if isinstance(operand, Modified) else operand
        if isinstance(plain, Imm | FloatImm):
            inline = plain.value
            pointers.append("null")
        else:
            pointers.append(_pointer(c, plain))
    variant = Variant.of(dict(c.instruction.modifiers), inline)
    c.f.call("void", _symbol(record, variant), *(("ptr", p) for p in pointers))


def _pointer(c: Context, operand: Operand) -> str:
    if not (isinstance(operand, Reg) and operand.bank in "va"):
        raise Unsupported(f"matrix operand {operand}")
    return c.pointer(c.layout.vector(operand))


def _symbol(record: Matrix, variant: Variant) -> str:
    key = (record.name, variant)
    if key not in _symbols:
        function = matrix_function(record, variant)
        function.name = f"matrix_{hashlib.sha256(function.text().encode()).hexdigest()[:20]}"
        library = _native.Library(module([function]), 2)
        _native.publish(function.name, library.address(function.name))
        _libraries.append(library)
        _symbols[key] = function.name
    return _symbols[key]

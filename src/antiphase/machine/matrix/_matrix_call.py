"""Calls of matrix functions from translated code; each variant is compiled once and shared."""

from __future__ import annotations

import hashlib

from antiphase.asm import FloatImm, Imm, Modified, Operand, Reg
from antiphase.errors import Unsupported
from antiphase.isa import U16, U32, U64, Matrix, source
from antiphase.machine._context import Context, immediate
from antiphase.machine.llvm import _native
from antiphase.machine.llvm._ir import module
from antiphase.machine.llvm._lower import Value
from antiphase.machine.matrix._matrix import Variant, matrix_function

_symbols: dict[tuple[Matrix, Variant, int], str] = {}
_libraries: list[_native.Library] = []

C, FIRST_SCALE = 3, 4  # positions in the text
_ONE = 0x7F  # an E8M0 scale


def translate_matrix(c: Context, record: Matrix) -> None:
    """Emit one matrix instruction: D, A, B, C (or the sparse index), scales, as pointers to registers."""
    inline = None
    pointers = []
    for number, operand in enumerate(c.instruction.operands):
        plain = operand.operand if isinstance(operand, Modified) else operand
        if number == C and isinstance(plain, Imm | FloatImm):
            inline = _inline_bits(plain, record)
            pointers.append("null")
        elif number >= FIRST_SCALE and not _is_vector(plain):
            pointers.append(_uniform(c, plain, record))
        else:
            pointers.append(_pointer(c, plain))
    variant = Variant.of(dict(c.instruction.modifiers), inline)
    c.f.call("void", _symbol(record, variant, c.layout.lanes), *(("ptr", p) for p in pointers))


def _inline_bits(operand: Imm | FloatImm, record: Matrix) -> int:
    """Bits of an inline constant as one element of C; bf16 is an f32's upper half (RDNA 3.5 ISA, 7.5.1)."""
    if record.start == "bf16":
        bits = immediate(operand, U32).text
        return int(bits) >> 16 if isinstance(operand, FloatImm) else int(bits) & 0xFFFF
    type_ = {"f16": U16, "f64": U64}.get(record.start, U32)
    return int(immediate(operand, type_).text)


def _is_zero(operand: Operand) -> bool:
    return isinstance(operand, Imm) and operand.value == 0


def _is_vector(operand: Operand) -> bool:
    return isinstance(operand, Reg) and operand.bank in "va"


def _pointer(c: Context, operand: Operand) -> str:
    if not (isinstance(operand, Reg) and operand.bank in "va"):
        raise Unsupported(f"matrix operand {operand}")
    return c.pointer(c.layout.vector(operand))


def _uniform(c: Context, operand: Operand, record: Matrix) -> str:
    """Scales that all lanes share, written out as registers. CDNA 5 takes one for all k: bits 7:0 of a scalar, 1.0 for
    the constant 0 (AMD CDNA5 ISA 7.12.6.2)."""
    count = 2 if record.scale_block == 16 else 1
    lanes = c.layout.lanes
    planes = c.f.alloca(f"[{count * lanes} x i32]")
    value = c.read(operand, U64 if count == 2 else U32)
    if record.family == "cdna5":
        ones = ((1 << value.type.bits) - 1) // 0xFF
        repeated = c.lowering([value], 1).lower((source(0, value.type) & 0xFF) * ones)
        value = Value(str(_ONE * ones), value.type, 1) if _is_zero(operand) else repeated
    for number in range(count):
        lowering = c.lowering([value], 1)
        word = lowering.lower((source(0, value.type) >> 32 * number).to(U32))
        c.f.store(f"<{lanes} x i32>", lowering.splat(word, lanes).text, c.f.at(planes, 4 * lanes * number), 4)
    return planes


def _symbol(record: Matrix, variant: Variant, lanes: int) -> str:
    key = (record, variant, lanes)
    if key not in _symbols:
        function = matrix_function(record, variant, lanes)
        function.name = f"matrix_{hashlib.sha256(function.text().encode()).hexdigest()[:20]}"
        library = _native.Library(module([function]), 2)
        _native.publish(function.name, library.address(function.name))
        _libraries.append(library)
        _symbols[key] = function.name
    return _symbols[key]

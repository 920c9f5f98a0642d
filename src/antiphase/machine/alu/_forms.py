"""Vector instructions of one form share a function: the same instruction on other registers is a call of it.

A compiler's kernel of thousands of instructions repeats a few hundred forms, and making machine code of a form costs
far more than calling it. Registers are parameters (byte offsets in the wave's state), constants are part of the form.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from antiphase.asm import FloatImm, Imm, Instruction, Modified, Operand, Reg, Special
from antiphase.isa import Alu
from antiphase.machine import _layout as at
from antiphase.machine._context import Context
from antiphase.machine.llvm._ir import Function
from antiphase.machine.llvm._lower import FloatMode

Emit = Callable[[Context, Alu, Alu | None], None]
Key = tuple[Instruction, FloatMode]
Found = tuple[Instruction, list[Reg]]
"""A form and the registers it stands for."""

SHARED_FROM = 3
"""Uses in a kernel from which a form is a function of its own."""
_VECTORS, _SCALARS = 32, 4
"""Registers between the stand-ins of two operands."""
_MOST_SCALARS = 8


class _Body(Context):
    """A form's function while it is written: stand-in registers are found through the parameters."""

    def pointer(self, offset: int) -> str:
        if offset >= at.VGPRS:
            number, rest = divmod(offset - at.VGPRS, _VECTORS * self.layout.plane)
            return self.f.at(self.f.at("%w", f"%v{number}"), rest)
        if offset < 4 * _SCALARS * _MOST_SCALARS:
            number, rest = divmod(offset, 4 * _SCALARS)
            return self.f.at(self.f.at("%w", f"%s{number}"), rest)
        return super().pointer(offset)


@dataclass(slots=True)
class Forms:
    """The shared functions of one kernel. uses: how often each form occurs in it."""

    uses: Counter[Key]
    functions: dict[Key, Function] = field(default_factory=dict)

    def emit(self, c: Context, record: Alu, pair: Alu | None, emit: Emit) -> None:
        """Emit an instruction: a call if its form is shared, else in place, as `emit` does."""
        found = form(c.instruction) if record.unit == "valu" else None
        if found is None or self.uses[found[0], c.mode] < SHARED_FROM:
            emit(c, record, pair)
            return
        # looked up first: a register that the kernel does not have is an error here, not in the function
        offsets = [c.layout.vector(r) if r.bank in "va" else c.layout.scalar(r) for r in found[1]]
        self.call(c, found, record, pair, emit, [str(o) for o in offsets])

    def call(self, c: Context, found: Found, record: Alu, pair: Alu | None, emit: Emit, offsets: Sequence[str]) -> None:
        """Emit a call of a form with its registers at these byte offsets in the wave's state."""
        shape, registers = found
        key = shape, c.mode
        if key not in self.functions:
            self.functions[key] = _function(c, shape, registers, f"form.{len(self.functions)}", record, pair, emit)
        c.f.call("void", self.functions[key].name, ("ptr", "%w"), *(("i64", o) for o in offsets))


def forms_of(instructions: Iterable[tuple[Instruction, FloatMode]]) -> Forms:
    """Count the forms of a kernel's instructions, each given with the MODE it runs in."""
    uses: Counter[Key] = Counter()
    for instruction, mode in instructions:
        if instruction.mnemonic.startswith("v_") and (found := form(instruction)):
            uses[found[0], mode] += 1
    return Forms(uses)


def form(instruction: Instruction) -> Found | None:
    """The instruction with stand-ins for its registers, and the registers; None if it cannot be shared."""
    registers: list[Reg] = []
    scalars = 0

    def stand_in(operand: Operand) -> Operand | None:
        nonlocal scalars
        if isinstance(operand, Modified):
            inner = stand_in(operand.operand)
            return inner and replace(operand, operand=inner)
        if not isinstance(operand, Reg):
            return operand if isinstance(operand, Imm | FloatImm | Special) else None
        registers.append(operand)
        if operand.bank in "va":
            number = len(registers) - scalars - 1
            return Reg("v", _VECTORS * number, operand.count, operand.half) if operand.count <= _VECTORS else None
        scalars += 1
        fits = operand.count <= _SCALARS and scalars <= _MOST_SCALARS
        return Reg("s", _SCALARS * (scalars - 1), operand.count, operand.half) if fits else None

    def shape(one: Instruction) -> Instruction | None:
        operands = tuple(map(stand_in, one.operands))
        pair = one.pair and shape(one.pair)
        if None in operands or (one.pair and pair is None):
            return None
        return Instruction(one.mnemonic, operands, one.modifiers, pair=pair)  # pyright: ignore[reportArgumentType]

    found = shape(instruction)
    return found and (found, registers)


def _function(
    c: Context, shape: Instruction, registers: list[Reg], name: str, record: Alu, pair: Alu | None, emit: Emit
) -> Function:
    """f(w, offset of each register in order of the text)."""
    f = Function(name, "void", [("ptr", "w"), *(("i64", p) for p in _parameters(registers))])
    layout = replace(c.layout, vgprs=_VECTORS * max(1, len(registers)), agprs=0)
    body = _Body(f, layout, c.target, c.mode, c.recording, shape, c.labels, c.descriptor, c.image)
    emit(body, record, pair)
    f.ret()
    return f


def _parameters(registers: Iterable[Reg]) -> Iterator[str]:
    vectors = scalars = 0
    for register in registers:
        if register.bank in "va":
            yield f"v{vectors}"
            vectors += 1
        else:
            yield f"s{scalars}"
            scalars += 1

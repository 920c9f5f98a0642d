"""Assembly text to `Program` and back: syntax, control flow, descriptor, metadata; no meanings."""

from antiphase.asm._blocks import Block
from antiphase.asm._instruction import Instruction, Loc, parse_instruction
from antiphase.asm._metadata import KernelArg, KernelMetadata
from antiphase.asm._modifiers import ModifierValue
from antiphase.asm._operands import (
    Call,
    FloatImm,
    Imm,
    Label,
    Modified,
    Operand,
    Reg,
    RegList,
    Special,
    Symbol,
    Waits,
    parse_operand,
)
from antiphase.asm._program import Kernel, Program
from antiphase.asm._reader import load, parse

__all__ = [
    "Block",
    "Call",
    "FloatImm",
    "Imm",
    "Instruction",
    "Kernel",
    "KernelArg",
    "KernelMetadata",
    "Label",
    "Loc",
    "Modified",
    "ModifierValue",
    "Operand",
    "Program",
    "Reg",
    "RegList",
    "Special",
    "Symbol",
    "Waits",
    "load",
    "parse",
    "parse_instruction",
    "parse_operand",
]

"""Assembly text to `Program` and back: syntax, control flow, descriptor, metadata; no meanings."""

from antiphase.asm._blocks import Block
from antiphase.asm._calls import Function, goes_elsewhere
from antiphase.asm._data import Data, Relocation
from antiphase.asm._instruction import Instruction, Loc, parse_instruction
from antiphase.asm._metadata import KernelArg, KernelMetadata
from antiphase.asm._modifiers import ModifierValue
from antiphase.asm._operand_kinds import is_inline
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
from antiphase.asm._symbols import Reference, reference

__all__ = [
    "Block",
    "Call",
    "Data",
    "FloatImm",
    "Function",
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
    "Reference",
    "Reg",
    "RegList",
    "Relocation",
    "Special",
    "Symbol",
    "Waits",
    "goes_elsewhere",
    "is_inline",
    "load",
    "parse",
    "parse_instruction",
    "parse_operand",
    "reference",
]

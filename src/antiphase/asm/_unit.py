"""What a file has defined so far: functions, symbols, descriptors, metadata; and where the reader stands."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from antiphase.asm._data import Data, Section, section
from antiphase.asm._directives import (
    ALIGNMENT,
    DATA,
    EXPANDED,
    is_known,
    misspelt,
    read_file,
    read_target,
    strip_comment,
)
from antiphase.asm._expressions import evaluate
from antiphase.asm._instruction import Instruction, Loc, parse_instruction
from antiphase.asm._metadata import KernelMetadata, read_metadata
from antiphase.asm._operands import Label, parse_int
from antiphase.errors import UserError

_KERNELS = re.compile(r'^\s*\.amdhsa_kernel\s+"?([^\s";]+)', re.MULTILINE)
_BY_COMPILER = re.compile(r"^\.Lfunc_end\d+:", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z_.$][\w.$]*")
_FUNCTIONS = re.compile(r'^\s*\.type\s+"?([^\s",]+)"?\s*,\s*[@%]function', re.MULTILINE)


@dataclass(slots=True)
class Body:
    """A function while it is read; data_line is that of the first data directive inside it."""

    name: str
    is_kernel: bool
    instructions: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    markers: list[tuple[int, str]] = field(default_factory=list)
    data_line: int | None = None


class Unit:
    """The file being read. The methods take what stands on one line, in the order of the lines."""

    def __init__(self, text: str, name: str) -> None:
        self.name = name
        self.target: str | None = None
        self.bodies: dict[str, Body] = {}
        self.descriptors: dict[str, dict[str, int]] = {}
        self.metadata: dict[str, KernelMetadata] = {}
        self.open_descriptor: tuple[str, int] | None = None  # name, line
        self.open_metadata: tuple[int, list[tuple[int, str]]] | None = None  # line, rows so far
        # Both are looked up when a label is met, which can be long before a descriptor names it.
        self._kernels = frozenset(_KERNELS.findall(text))
        self._functions = self._kernels | frozenset(_FUNCTIONS.findall(text))
        self.by_compiler = _BY_COMPILER.search(text) is not None
        self._body: Body | None = None
        self._by_name: dict[str, Section] = {}
        self._sections: list[Section] = [self._named_section(".text")]  # those pushed; the current one is last
        self._previous_section = self._sections[0]
        self._data_labels: dict[str, tuple[str, int]] = {}  # label -> section and offset
        self._files: dict[int, str] = {}
        self._loc: Loc | None = None
        self._labels: set[str] = set()
        self._externals: set[str] = set()
        self._constants: dict[str, str] = {}  # symbols set to expressions
        self._computed: list[tuple[str, str, str, int]] = []  # kernel, field, expression, line
        self._uses: list[tuple[str, Instruction]] = []

    def error(self, what: str, line: int, remedy: str | None = None) -> UserError:
        return UserError(what, file=self.name, line=line, remedy=remedy)

    def _expand(self) -> str:
        """The remedy for what only an assembler can read."""
        command = f"llvm-mc -triple=amdgcn-amd-amdhsa -mcpu={self.target or 'TARGET'} {self.name}"
        return f"let LLVM's assembler expand it and pass the result: {command} -o expanded.s (or -filetype=obj -o k.o)"

    def marker(self, text: str, trails: bool) -> None:
        """A stage marker before the next instruction; trails: before the one just added instead."""
        if self._body is not None:
            self._body.markers.append((len(self._body.instructions) - trails, text))

    def define(self, symbol: str, value: str) -> None:
        """A symbol set to an expression, which may name symbols set later."""
        self._constants[symbol] = value.strip()

    def label(self, line: int, label: str) -> None:
        if label in self._labels:
            raise self.error(f"the label '{label}' is defined twice", line)
        self._labels.add(label)
        if not self._sections[-1].code:
            self._data_labels[label] = (self._sections[-1].name, len(self._sections[-1].content))
            return
        if label in self._functions:
            self._body = self.bodies[label] = Body(label, label in self._kernels)
            self._loc = None
        elif label.startswith(".Lfunc_end"):
            self._body = None
        if self._body is not None:
            self._body.labels[label] = len(self._body.instructions)

    def instruction(self, line: int, text: str) -> None:
        """Adds an instruction to the function that is open."""
        if self._constants and not self._constants.keys().isdisjoint(names := _NAME.findall(text)):
            constant = next(name for name in names if name in self._constants)
            raise self.error(f"'{constant}' is a number for an assembler to fill in", line, self._expand())
        try:
            instruction = parse_instruction(text, line, self._loc)
        except ValueError as problem:
            raise self.error(f"{problem} in '{text}'", line, self._expand()) from None
        body = self._body
        if body is None or not self._sections[-1].code:
            raise self.error(
                f"the instruction '{text}' is in no function",
                line,
                "declare one with .type or .amdhsa_kernel",
            )
        if body.data_line is not None:
            raise self.error("data between the instructions of a function", body.data_line)
        body.instructions.append(instruction)
        for half in (instruction, instruction.pair):
            if half is not None:
                self._uses += [(one.name, instruction) for one in half.operands if type(one) is Label]

    def undefined(self) -> tuple[str, Instruction] | None:
        """The first bare name used as an operand that the file neither defines nor declares."""
        known = self._labels | self._externals | self._constants.keys()
        return next((use for use in self._uses if use[0] not in known), None)

    def directive(self, line: int, text: str) -> None:
        name, *rest = text.split(None, 1)
        arguments = strip_comment(rest[0]) if rest else ""
        if self.open_descriptor is not None and name.startswith(".amdhsa_"):
            self._descriptor_value(line, name, arguments)
        elif name in EXPANDED:
            raise self.error(f"'{name}' is for an assembler to carry out", line, self._expand())
        elif not is_known(name):
            raise self.error(
                f"unknown directive '{name}' in '{text.rstrip()}'",
                line,
                misspelt(name) or f"remove it, or {self._expand()}",
            )
        elif name in DATA or name in ALIGNMENT:
            self._data(line, name, arguments)
        elif handler := _HANDLERS.get(name):
            handler(self, line, arguments)

    def _data(self, line: int, name: str, arguments: str) -> None:
        current = self._sections[-1]
        if current.allocated:
            current.directive(line, name, arguments)
        elif name in DATA and current.code and self._body is not None and self._body.data_line is None:
            self._body.data_line = line

    def data(self) -> tuple[Data, ...]:
        """The data sections that hold anything, in the order of the file."""
        found = []
        for one in self._by_name.values():
            symbols = {label: at for label, (name, at) in self._data_labels.items() if name == one.name}
            if one.allocated and (one.content or symbols):
                found.append(
                    Data(
                        one.name, one.writable, one.alignment, bytes(one.content), tuple(one.relocations), symbols,
                        one.not_read,
                    )
                )  # fmt: skip
        return tuple(found)

    def _descriptor_value(self, line: int, name: str, text: str) -> None:
        assert self.open_descriptor is not None
        kernel, field_name = self.open_descriptor[0], name.removeprefix(".amdhsa_")
        try:
            self.descriptors[kernel][field_name] = parse_int(text)
        except ValueError:
            self._computed.append((kernel, field_name, text, line))

    def compute(self) -> None:
        """Fill in the descriptors' values that are expressions, once all symbols are known."""
        for kernel, field_name, text, line in self._computed:
            try:
                value = evaluate(text, self._constants, (self.target or "").startswith("gfx9"))
            except (ValueError, ZeroDivisionError):
                if field_name == "inst_pref_size":  # an expression of the code size, which text does not tell
                    continue
                raise self.error(f".amdhsa_{field_name} is not a number: '{text}'", line) from None
            self.descriptors[kernel][field_name] = value

    def _begin_descriptor(self, line: int, arguments: str) -> None:
        if self.open_descriptor is not None:
            raise self.error(f"the descriptor of '{self.open_descriptor[0]}' is not closed before this line", line)
        self.open_descriptor = (arguments.strip('"'), line)
        self.descriptors[self.open_descriptor[0]] = {}

    def _end_descriptor(self, line: int, arguments: str) -> None:
        if self.open_descriptor is None:
            raise self.error(".end_amdhsa_kernel without .amdhsa_kernel", line)
        self.open_descriptor = None

    def _begin_metadata(self, line: int, arguments: str) -> None:
        self.open_metadata = (line, [])

    def _end_metadata(self, line: int, arguments: str) -> None:
        if self.open_metadata is None:
            raise self.error(".end_amdgpu_metadata without .amdgpu_metadata", line)
        start, rows = self.open_metadata
        self.open_metadata = None
        self.metadata |= read_metadata(rows, self.name, start)

    def _target(self, line: int, arguments: str) -> None:
        self.target = read_target(arguments)
        if self.target is None:
            raise self.error(
                f"no processor in the target {arguments}", line, "the triple must end in one, such as gfx942"
            )

    def _loc_line(self, line: int, arguments: str) -> None:
        try:
            number, row, *more = (int(part) for part in arguments.split()[:3])
            self._loc = Loc(self._files[number], row, more[0] if more else 0)
        except (ValueError, KeyError):
            raise self.error(f"cannot read '.loc {arguments}'", line) from None

    def _file(self, line: int, arguments: str) -> None:
        if entry := read_file(arguments):
            self._files[entry[0]] = entry[1]

    def _size(self, line: int, arguments: str) -> None:
        if self._body is not None and arguments.split(",")[0].strip().strip('"') == self._body.name:
            self._body = None

    def _set(self, line: int, arguments: str) -> None:
        symbol, _, value = arguments.partition(",")
        self.define(symbol.strip(), value)

    def _declare(self, line: int, arguments: str) -> None:
        self._externals.update(part.strip().strip('"') for part in arguments.split(","))

    def _common(self, line: int, arguments: str) -> None:
        """`.comm name, size, log2 of the alignment`: zeros that the linker puts among the variables.

        LLVM 22, AMDGPUMCAsmInfo.cpp: COMMDirectiveAlignmentIsInBytes is false.
        """
        self._declare(line, arguments.split(",")[0])
        name, *sizes = (part.strip().strip('"') for part in arguments.split(","))
        try:
            size, alignment = (*map(parse_int, sizes), 3)[:2]
        except ValueError:
            raise self.error(f"cannot read '.comm {arguments}'", line) from None
        variables = self._named_section(".bss")
        variables.align(1 << alignment)
        self._data_labels[name] = (variables.name, len(variables.content))
        variables.content += bytes(size)

    def _named_section(self, arguments: str) -> Section:
        new = section(arguments)
        return self._by_name.setdefault(new.name, new)

    def _enter(self, arguments: str) -> None:
        self._previous_section, self._sections[-1] = self._sections[-1], self._named_section(arguments)

    def _text(self, line: int, arguments: str) -> None:
        self._enter(".text")

    def _variables(self, line: int, arguments: str) -> None:
        self._enter(".data")

    def _zeros(self, line: int, arguments: str) -> None:
        self._enter(".bss")

    def _section(self, line: int, arguments: str) -> None:
        self._enter(arguments)

    def _push_section(self, line: int, arguments: str) -> None:
        self._sections.append(self._named_section(arguments))

    def _pop_section(self, line: int, arguments: str) -> None:
        if len(self._sections) == 1:
            raise self.error(".popsection without .pushsection", line)
        self._sections.pop()

    def _swap_section(self, line: int, arguments: str) -> None:
        self._previous_section, self._sections[-1] = self._sections[-1], self._previous_section


_HANDLERS = {
    ".loc": Unit._loc_line,
    ".file": Unit._file,
    ".size": Unit._size,
    ".amdgcn_target": Unit._target,
    ".amdhsa_kernel": Unit._begin_descriptor,
    ".end_amdhsa_kernel": Unit._end_descriptor,
    ".amdgpu_metadata": Unit._begin_metadata,
    ".end_amdgpu_metadata": Unit._end_metadata,
    ".text": Unit._text,
    ".data": Unit._variables,
    ".bss": Unit._zeros,
    ".section": Unit._section,
    ".pushsection": Unit._push_section,
    ".popsection": Unit._pop_section,
    ".previous": Unit._swap_section,
    **dict.fromkeys((".set", ".equ", ".equiv"), Unit._set),
    **dict.fromkeys((".globl", ".global", ".weak", ".type", ".amdgpu_lds"), Unit._declare),
    **dict.fromkeys((".comm", ".lcomm"), Unit._common),
}

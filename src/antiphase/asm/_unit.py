"""What a file has defined so far: functions, symbols, descriptors, metadata; and where the reader stands."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from antiphase.asm._directives import DATA, EXPANDED, is_code_section, is_known, read_file, read_target, strip_comment
from antiphase.asm._instruction import Instruction, Loc, parse_instruction
from antiphase.asm._metadata import KernelMetadata, read_metadata
from antiphase.asm._operands import Label, parse_int
from antiphase.errors import UserError

_KERNELS = re.compile(r'^\s*\.amdhsa_kernel\s+"?([^\s";]+)', re.MULTILINE)
_BY_COMPILER = re.compile(r"^\.Lfunc_end\d+:", re.MULTILINE)
_EXPRESSION = re.compile(r"\b(?:[asv]|acc|ttmp)\[[^\]]*[A-Za-z_.$+*/-]")  # a register numbered by an expression
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
        self._sections: list[bool] = [True]  # whether each pushed section is code; the current one is last
        self._previous_section = True
        self._files: dict[int, str] = {}
        self._loc: Loc | None = None
        self._labels: set[str] = set()
        self._externals: set[str] = set()
        self._constants: set[str] = set()
        self._values: dict[str, int] = {}
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
        """A symbol set to an expression; its value is kept if that is a number."""
        self._constants.add(symbol)
        try:
            self._values[symbol] = parse_int(value.strip())
        except ValueError:
            self._values.pop(symbol, None)

    def label(self, line: int, label: str) -> None:
        if label in self._labels:
            raise self.error(f"the label '{label}' is defined twice", line)
        self._labels.add(label)
        if not self._sections[-1]:
            return
        if label in self._functions:
            self._body = self.bodies[label] = Body(label, label in self._kernels)
            self._loc = None
        elif label.startswith(".Lfunc_end"):
            self._body = None
        if self._body is not None:
            self._body.labels[label] = len(self._body.instructions)

    def instruction(self, line: int, text: str) -> bool:
        """Adds an instruction; true if it belongs to a kernel."""
        if self._constants and not self._constants.isdisjoint(names := _NAME.findall(text)):
            constant = next(name for name in names if name in self._constants)
            raise self.error(f"'{constant}' is a number for an assembler to fill in", line, self._expand())
        try:
            instruction = parse_instruction(text, line, self._loc)
        except ValueError as problem:
            remedy = self._expand() if _EXPRESSION.search(text) else None
            raise self.error(f"{problem} in '{text}'", line, remedy) from None
        body = self._body
        if body is None or not self._sections[-1]:
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
        return body.is_kernel

    def undefined(self) -> tuple[str, Instruction] | None:
        """The first bare name used as an operand that the file neither defines nor declares."""
        known = self._labels | self._externals | self._constants
        return next((use for use in self._uses if use[0] not in known), None)

    def directive(self, line: int, text: str) -> None:
        name, *rest = text.split(None, 1)
        arguments = strip_comment(rest[0]) if rest else ""
        if self.open_descriptor is not None and name.startswith(".amdhsa_"):
            self._descriptor_value(line, name, arguments)
        elif name in EXPANDED:
            raise self.error(f"'{name}' is for an assembler to carry out", line, self._expand())
        elif not is_known(name):
            raise self.error(f"unknown directive '{name}' in '{text.rstrip()}'", line)
        elif name in DATA:
            if self._body is not None and self._sections[-1] and self._body.data_line is None:
                self._body.data_line = line
        elif handler := _HANDLERS.get(name):
            handler(self, line, arguments)

    def _descriptor_value(self, line: int, name: str, text: str) -> None:
        assert self.open_descriptor is not None
        field_name = name.removeprefix(".amdhsa_")
        try:
            value = self._values[text] if text in self._values else parse_int(text)
        except ValueError:
            if field_name == "inst_pref_size":  # an expression of the code size, which text does not tell
                return
            raise self.error(f"{name} is not a number: '{text}'", line) from None
        self.descriptors[self.open_descriptor[0]][field_name] = value

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

    def _text(self, line: int, arguments: str) -> None:
        self._previous_section, self._sections[-1] = self._sections[-1], True

    def _data(self, line: int, arguments: str) -> None:
        self._previous_section, self._sections[-1] = self._sections[-1], False

    def _section(self, line: int, arguments: str) -> None:
        self._previous_section, self._sections[-1] = self._sections[-1], is_code_section(arguments)

    def _push_section(self, line: int, arguments: str) -> None:
        self._sections.append(is_code_section(arguments))

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
    ".data": Unit._data,
    ".bss": Unit._data,
    ".section": Unit._section,
    ".pushsection": Unit._push_section,
    ".popsection": Unit._pop_section,
    ".previous": Unit._swap_section,
    **dict.fromkeys((".set", ".equ", ".equiv"), Unit._set),
    **dict.fromkeys((".globl", ".global", ".weak", ".type", ".comm", ".lcomm", ".amdgpu_lds"), Unit._declare),
}

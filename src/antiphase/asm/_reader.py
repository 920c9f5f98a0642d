"""Assembly text to Program: splits lines into labels, instructions, directives, comments and markers."""

from __future__ import annotations

import codecs
import itertools
import re
from collections.abc import Iterable
from pathlib import Path

from antiphase.asm._accepted import complaint
from antiphase.asm._blocks import build_blocks
from antiphase.asm._calls import Function
from antiphase.asm._directives import COMMENT
from antiphase.asm._metadata import derived
from antiphase.asm._operands import Label, Symbol
from antiphase.asm._program import Kernel, Program
from antiphase.asm._unit import Body, Unit
from antiphase.errors import UserError

Lines = list[tuple[int, str | None]]

_LABEL = re.compile(r'\s*(?:"([^"]+)"|([A-Za-z_.$][\w.$@]*)):(?!:)')
_ASSIGNMENT = re.compile(r"([A-Za-z_.$][\w.$]*)\s*=(?!=)")
_NAME = re.compile(r"[A-Za-z_.$][\w.$]*")
_MARKER = re.compile(r"(?:;|//)\s*antiphase:(.*)")
_CUT_SHORT = "the file may be cut short"
_DESCRIBE = (
    "the file may be cut short; text written by hand needs '.amdhsa_kernel NAME', '.amdhsa_next_free_vgpr N', "
    "'.amdhsa_next_free_sgpr N' and '.end_amdhsa_kernel', a line each, for every kernel"
)


class _Reader:
    """Feeds a Unit line by line, and keeps the lines as Program.lines wants them."""

    def __init__(self, text: str, name: str) -> None:
        self.unit = Unit(text, name)
        self.lines: Lines = []
        self.open_comment: int | None = None  # line of a /* not closed yet
        for number, row in enumerate(text.removesuffix("\n").split("\n"), 1):
            if self.unit.open_metadata is not None and not row.lstrip().startswith(".end_amdgpu_metadata"):
                self.unit.open_metadata[1].append((number, row))
                self.lines.append((number, row))
            else:
                self._line(number, row)

    def _line(self, number: int, row: str) -> None:
        if self.open_comment is not None:
            self._code(number, row, self._without_comments(number, row))
        elif "antiphase:" in row and '"' not in row and (match := _MARKER.search(row)):
            self._marker(number, row, match)
        elif row.lstrip().startswith(".") and not _LABEL.match(row):
            self.unit.directive(number, row.lstrip())
            self.lines.append((number, row))
        else:
            self._code(number, row, self._without_comments(number, row))

    def _marker(self, number: int, row: str, match: re.Match[str]) -> None:
        """A stage marker gets a line of its own, before the instruction it trails, so that it outlives it."""
        if before := row[: match.start()].strip():
            self._line(number, before)
        trails = bool(before) and self.lines[-1][1] is None
        self.unit.marker(match[1].strip(), trails)
        self.lines.insert(len(self.lines) - trails, (number, f"\t{match[0]}"))

    def _without_comments(self, number: int, row: str) -> str:
        if self.open_comment is not None:
            _, closed, row = row.partition("*/")
            if not closed:
                return ""
            self.open_comment = None
        if ";" in row or "/" in row:
            for match in COMMENT.finditer(row):
                if match[0].startswith("/*") and not match[0].endswith("*/"):
                    self.open_comment = number
            row = COMMENT.sub(" ", row)
        return row.strip()

    def _code(self, number: int, row: str, code: str) -> None:
        """A line of labels, an instruction or directive, both, or neither."""
        rest = code
        while match := _LABEL.match(rest):
            self.unit.label(number, match[1] or match[2])
            rest = rest[match.end() :].lstrip()
        if rest.startswith("."):
            self.unit.directive(number, rest)
        elif match := _ASSIGNMENT.match(rest):
            self.unit.define(match[1], rest[match.end() :])
        elif rest and not rest.startswith("#"):
            self.unit.instruction(number, rest)
            if rest != code:
                self.lines.append((number, code[: len(code) - len(rest)].rstrip()))
            self.lines.append((number, None))
            return
        self.lines.append((number, row))


def _check_closed(unit: Unit) -> None:
    if unit.open_metadata is not None:
        raise unit.error("the .amdgpu_metadata block is not closed", unit.open_metadata[0], _CUT_SHORT)
    if unit.open_descriptor is not None:
        name, line = unit.open_descriptor
        raise unit.error(f"the descriptor of '{name}' is not closed", line, _CUT_SHORT)
    if not unit.descriptors:
        raise UserError("no kernel: the file has no .amdhsa_kernel block", file=unit.name, remedy=_DESCRIBE)
    if use := unit.undefined():
        name, instruction = use
        raise unit.error(
            f"unknown operand '{name}' in '{instruction.text()}'",
            instruction.line,
            "no label or symbol has that name",
        )


def _check_instructions(unit: Unit, target: str) -> None:
    for body in unit.bodies.values():
        for instruction in body.instructions:
            if (found := complaint(instruction, target)) is not None:
                what, remedy = found
                raise unit.error(what, instruction.line, remedy)


def _kernel(body: Body, unit: Unit, target: str) -> Kernel:
    if not any(one.mnemonic.startswith("s_endpgm") for one in body.instructions):
        raise UserError(f"kernel '{body.name}' has no s_endpgm", file=unit.name, remedy=_CUT_SHORT)
    descriptor = unit.descriptors[body.name]
    parts = _with_functions(body, unit)
    starts = [0, *itertools.accumulate(len(part.instructions) for part in parts)]
    functions = tuple(map(Function, (part.name for part in parts), starts, starts[1:]))
    instructions = tuple(one for part in parts for one in part.instructions)
    placed = list(zip(starts, parts, strict=False))
    labels = {label: start + index for start, part in placed for label, index in part.labels.items()}
    return Kernel(
        body.name,
        instructions,
        labels,
        build_blocks(instructions, labels, functions, unit.name),
        descriptor,
        unit.metadata[body.name] if unit.metadata else derived(body.name, descriptor, target),
        functions,
        tuple((start + index, text) for start, part in placed for index, text in part.markers),
    )


def _with_functions(body: Body, unit: Unit) -> list[Body]:
    """A kernel and the functions that its code names, and theirs, through data as well."""
    found, work = {body.name: body}, [body.name]
    addresses = {label: [r.name for r in part.relocations] for part in unit.data() for label in part.symbols}
    seen: set[str] = set()
    while work:
        name = work.pop()
        if name in seen:
            continue
        seen.add(name)
        part = unit.bodies.get(name)
        if part is not None and not part.is_kernel:
            found.setdefault(name, part)
        work += addresses.get(name, ()) if part is None else _names(part)
    return list(found.values())


def _names(body: Body) -> list[str]:
    operands = [operand for one in body.instructions for operand in one.operands]
    texts = [str(operand) for operand in operands if isinstance(operand, Label | Symbol)]
    return [name for text in texts for name in _NAME.findall(text)]


def _as_text(lines: Lines, unit: Unit, kernels: Iterable[Kernel]) -> Lines:
    """The lines with the instructions of functions that no kernel calls as text: nothing else keeps them."""
    called = {function.name for kernel in kernels for function in kernel.functions}
    rest = [one for name, body in unit.bodies.items() if name not in called for one in body.instructions]
    texts: dict[int, list[str]] = {}
    for one in rest:
        texts.setdefault(one.line, []).append(f"\t{one.text()}")
    return [(number, texts[number].pop(0) if text is None and number in texts else text) for number, text in lines]


def _check_metadata(unit: Unit) -> None:
    """Metadata may be missing as a whole, unless a compiler wrote the text: that puts it at the end."""
    if not unit.metadata and unit.by_compiler:
        raise UserError("no .amdgpu_metadata block", file=unit.name, remedy=_CUT_SHORT)
    lacking = [name for name, body in unit.bodies.items() if body.is_kernel and name not in unit.metadata]
    if unit.metadata and lacking:
        raise UserError(
            f"kernel '{lacking[0]}' has no entry in the .amdgpu_metadata block",
            file=unit.name,
            remedy=f"add one with '.name: {lacking[0]}', or leave out the block",
        )


def parse(text: str, name: str = "<string>", target: str | None = None) -> Program:
    """Assembly text, as LLVM prints it for AMDGPU, to a Program.

    name: file name, for messages. target: processor, such as 'gfx942'; needed if .amdgcn_target is missing.
    UserError, with file, line and text: a line it cannot read, a file cut short, no kernel, another target.
    A kernel without metadata gets what its descriptor tells, and `metadata.stated` is False.
    Functions are part of the kernels that may call them; one that none calls is checked and kept as text.
    """
    reader = _Reader(text, name)
    unit = reader.unit
    if reader.open_comment is not None:
        raise unit.error("the comment '/*' is not closed", reader.open_comment, _CUT_SHORT)
    _check_closed(unit)
    unit.compute()
    if missing := [kernel for kernel in unit.descriptors if kernel not in unit.bodies]:
        raise UserError(f"kernel '{missing[0]}' has a descriptor and no code", file=name, remedy=_CUT_SHORT)
    if unit.target is None and target is None:
        raise UserError("no .amdgcn_target in the file", file=name, remedy="name the target, such as gfx942")
    if unit.target is not None and target not in (None, unit.target):
        raise UserError(f"the file is for {unit.target}, not for {target}", file=name)
    _check_metadata(unit)
    processor = unit.target or target or ""
    _check_instructions(unit, processor)
    kernels = tuple(_kernel(body, unit, processor) for body in unit.bodies.values() if body.is_kernel)
    return Program(name, processor, kernels, tuple(_as_text(reader.lines, unit, kernels)), unit.data())


def load(path: str | Path, target: str | None = None) -> Program:
    """The Program of an assembly file. UserError for one missing, unreadable or not text; else as `parse`."""
    name = str(path)
    try:
        content = Path(path).read_bytes()
    except OSError as problem:
        raise UserError(f"cannot open: {problem.strerror}", file=name, remedy="check the path") from None
    if content.startswith(b"\x7fELF"):
        raise UserError("this is a code object", file=name, remedy="disassemble it or pass the .s text")
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UserError("this is UTF-16 text", file=name, remedy="save it as UTF-8")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise UserError("this is not a text file", file=name, remedy="pass the .s text of a kernel")
    return parse(text, name, target)

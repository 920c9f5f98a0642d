"""A parsed assembly file: kernels of typed instructions, and the text around them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from antiphase.asm._blocks import Block, build_blocks
from antiphase.asm._calls import Function
from antiphase.asm._data import Data
from antiphase.asm._instruction import Instruction
from antiphase.asm._metadata import KernelMetadata
from antiphase.errors import UserError


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel, with the functions that it may call.

    instructions: in text order, the 256-byte preload prologue of gfx942 and gfx950 included; those of the functions
    whose addresses it or they compute with follow. functions: which are whose, the kernel's own first.
    labels: label -> index of the instruction it stands before (their number for a label after the last one).
    descriptor: `.amdhsa_<name>` values by name; names the file leaves out are left out here, and so is
    inst_pref_size where it is an expression (it only helps prefetch).
    markers: (instruction index, text) of each comment `; antiphase: text`, before that instruction.
    """

    name: str
    instructions: tuple[Instruction, ...]
    labels: Mapping[str, int]
    blocks: tuple[Block, ...]
    descriptor: Mapping[str, int]
    metadata: KernelMetadata
    functions: tuple[Function, ...]
    markers: tuple[tuple[int, str], ...] = ()

    def __repr__(self) -> str:
        return f"<Kernel {self.name!r} instructions={len(self.instructions)} blocks={len(self.blocks)}>"

    def reachable(self) -> list[Block]:
        """The blocks that some path from the entry reaches, in text order."""
        seen, work = {0}, [0]
        while work:
            new = set(self.blocks[work.pop()].successors) - seen
            seen |= new
            work += new
        return [self.blocks[number] for number in sorted(seen)]

    def _edited(self, changes: Mapping[int, Sequence[Instruction]], file: str) -> Kernel:
        count = len(self.instructions)
        if beyond := sorted(i for i in changes if not 0 <= i < count):
            raise UserError(f"kernel '{self.name}' has {count} instructions, no number {beyond[0]}", file=file)
        new: list[Instruction] = []
        moved: list[int] = []  # old index -> new index
        for index, old in enumerate(self.instructions):
            moved.append(len(new))
            if index in changes:
                new += [replace(one, line=old.line, loc=old.loc) for one in changes[index]]
            else:
                new.append(old)
        moved.append(len(new))
        labels = {label: moved[index] for label, index in self.labels.items()}
        functions = tuple(Function(one.name, moved[one.start], moved[one.end]) for one in self.functions)
        return replace(
            self,
            instructions=tuple(new),
            labels=labels,
            functions=functions,
            blocks=build_blocks(new, labels, functions, file),
            markers=tuple((moved[index], text) for index, text in self.markers),
        )


@dataclass(frozen=True, slots=True)
class Program:
    """A whole assembly file.

    name: file name, for messages. target: processor, such as 'gfx942'.
    lines: (line number, text) of the file; text None stands for the instructions of that line.
    data: the data sections.
    """

    name: str
    target: str
    kernels: tuple[Kernel, ...]
    lines: tuple[tuple[int, str | None], ...]
    data: tuple[Data, ...] = ()

    def __repr__(self) -> str:
        kernels = ", ".join(kernel.name for kernel in self.kernels)
        return f"<Program {self.name!r} target={self.target!r} kernels={kernels!r}>"

    def kernel(self, name: str | None = None) -> Kernel:
        """The kernel called `name`; without a name, the only one. UserError lists the names otherwise."""
        found = [kernel for kernel in self.kernels if name in (None, kernel.name)]
        if len(found) == 1:
            return found[0]
        names = ", ".join(kernel.name for kernel in self.kernels)
        what = f"no kernel '{name}'" if name is not None else f"{len(found)} kernels and none was named"
        raise UserError(what, file=self.name, remedy=f"choose one of: {names}")

    def text(self) -> str:
        """The file as text: instruction lines made from their fields, all other lines as they were."""
        at = self._instruction_lines()
        rows: list[str] = []
        for number, text in self.lines:
            rows += at.get(number, []) if text is None else [text]
        return "\n".join(rows) + "\n"

    def _instruction_lines(self) -> dict[int, list[str]]:
        at: dict[int, list[str]] = {}
        written: set[str] = set()
        for kernel in self.kernels:
            for function in kernel.functions:
                if function.name not in written:
                    for instruction in kernel.instructions[function.start : function.end]:
                        at.setdefault(instruction.line, []).append(f"\t{instruction.text()}")
                written.add(function.name)
        return at

    def listing(self) -> str:
        """The file as text with every line where it was: what the line numbers of instructions count in."""
        at, rows = self._instruction_lines(), dict[int, list[str]]()
        for number, text in self.lines:
            rows.setdefault(number, []).extend(at.get(number, []) if text is None else [text])
        # a marker that stood behind its instruction is kept in front of it
        joined = {n: " ".join(sorted(row, key=lambda part: part.lstrip().startswith(";"))) for n, row in rows.items()}
        return "\n".join(joined.get(number, "") for number in range(1, max(joined, default=0) + 1)) + "\n"

    def edit(self, changes: Mapping[int, Sequence[Instruction]], kernel: str | None = None) -> Program:
        """A new Program with instructions of one kernel replaced: index -> its successors (() deletes).

        New instructions take line and loc of the one they replace. Labels and markers keep their places: one
        before a deleted instruction then stands before the next. UserError for an index the kernel lacks.
        """
        old = self.kernel(kernel)
        changed = {one: [i for i in changes if one.start <= i < one.end] for one in old.functions}

        def edited(other: Kernel) -> Kernel:
            """The same changes where another kernel calls the same functions."""
            if other is old:
                return old._edited(changes, self.name)
            mine = {one.name: one for one in other.functions}
            shared = [(one, i) for one, indices in changed.items() if one.name in mine for i in indices]
            moved = {i - one.start + mine[one.name].start: changes[i] for one, i in shared}
            return other._edited(moved, self.name) if moved else other

        return replace(self, kernels=tuple(map(edited, self.kernels)))

    def without(self, indices: int | Iterable[int], kernel: str | None = None) -> Program:
        """A new Program with these instructions of one kernel deleted."""
        chosen = (indices,) if isinstance(indices, int) else indices
        return self.edit(dict.fromkeys(chosen, ()), kernel)

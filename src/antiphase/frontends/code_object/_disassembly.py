"""What llvm-objdump prints of a code object's functions: instructions with their addresses, and labels."""

from __future__ import annotations

import bisect
import re
import subprocess
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

from antiphase._llvm_tools import OLDEST, find_objdump
from antiphase.errors import UserError

_HEADER = re.compile(r"^([0-9a-f]{8,}) <(.+)>:$")
_LABEL = re.compile(r"^<(L\d+)>:$|^[0-9a-f]{8,} <(L\d+)>:$")
_INSTRUCTION = re.compile(r"^\t(.*?)\s*// ([0-9A-F]+):")
_TARGET = re.compile(r"\bL\d+$")


@dataclass(frozen=True, slots=True)
class Row:
    """One instruction as text, and where it is. labels: those that stand before it."""

    address: int
    text: str
    labels: tuple[str, ...] = ()


@dataclass(slots=True)
class Listing:
    """All instructions, by address."""

    rows: list[Row] = field(default_factory=list)

    def at(self, address: int) -> int | None:
        """Index of the instruction at an address, None where none begins there."""
        index = bisect.bisect_left(self.rows, address, key=lambda row: row.address)
        return index if index < len(self.rows) and self.rows[index].address == address else None

    def between(self, start: int, end: int) -> list[Row]:
        """The instructions at start up to before end."""
        first, last = (bisect.bisect_left(self.rows, place, key=lambda row: row.address) for place in (start, end))
        return self.rows[first:last]

    def label(self, index: int) -> str:
        """The label of an instruction, which gets one if it has none."""
        row = self.rows[index]
        if not row.labels:
            row = self.rows[index] = replace(row, labels=(f".L{row.address:x}",))
        return row.labels[0]


def objdump(name: str, *options: str) -> str:
    """What llvm-objdump prints. UserError where there is none that is new enough, or it fails."""
    tool = find_objdump()
    if not tool.usable:
        problem = f"{tool.path} is {tool.problem}" if tool.path else "it is not installed"
        raise UserError(
            f"a code object needs llvm-objdump {OLDEST} or newer to be read, and {problem}",
            file=name,
            remedy=f"apt-get install llvm-{OLDEST}, or pass the .s text",
        )
    done = subprocess.run([tool.path, *options, name], capture_output=True, text=True)
    if done.returncode:
        raise UserError(f"llvm-objdump: {' '.join(done.stderr.split())}", file=name)
    return done.stdout


def listing(name: str, functions: Collection[tuple[int, str]]) -> Listing:
    """All code of a file. functions: address and name of each, in which llvm-objdump counts labels from L0."""
    # real-true16 changes gfx12 only, where instructions on halves print as data without it
    return _read(objdump(name, "-d", "--symbolize-operands", "--mattr=+real-true16").splitlines(), frozenset(functions))


def _read(lines: Iterable[str], functions: frozenset[tuple[int, str]]) -> Listing:
    found, labels, prefix = Listing(), [], ".L"
    for line in lines:
        header = _HEADER.match(line)
        if header and (int(header[1], 16), header[2]) in functions:
            prefix = f".L{header[2]}_"
        elif label := _LABEL.match(line):
            labels.append(prefix + (label[1] or label[2]))
        elif match := _INSTRUCTION.match(line):
            text = _TARGET.sub(lambda one, prefix=prefix: prefix + one[0], match[1])
            found.rows.append(Row(int(match[2], 16), text, tuple(labels)))
            labels = []
    found.rows.sort(key=lambda row: row.address)
    return found

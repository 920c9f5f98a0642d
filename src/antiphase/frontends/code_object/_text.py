"""A linked code object's functions and data as assembly text that names what the code computes addresses of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from antiphase.errors import UserError
from antiphase.frontends.code_object._addresses import Computed, Part, computed_addresses, with_symbol
from antiphase.frontends.code_object._data import DataSection
from antiphase.frontends.code_object._disassembly import Listing, Row

_LAST = ("s_endpgm", "s_setpc_", "s_set_pc_", "s_branch")


@dataclass(frozen=True, slots=True)
class Code:
    """A function: [start, end) in the file. sized: the end is known, and no padding is before it."""

    name: str
    start: int
    end: int
    sized: bool = True


@dataclass(slots=True)
class CodeText:
    """The text of a file's code, made once. functions: known ones; others are found where code or data points.

    sections: start and end of those that hold code.
    """

    name: str
    listing: Listing
    functions: list[Code]
    data: Sequence[DataSection]
    sections: Sequence[tuple[int, int]]
    _needed: set[str] = field(default_factory=set)

    def rows(self, kernels: Sequence[str], lines: Mapping[int, str]) -> Iterator[str]:
        """Kernels, the functions and the data they may reach. lines: address -> directive of the source line."""
        computed = list(computed_addresses(self.listing.rows))
        pointed = [to for one in self.data for to in one.addresses.values() if isinstance(to, int)]
        self._find_functions([*(one.target for one in computed), *pointed])
        used = {one.name: one for to in computed if (one := self._section(to.target)) is not None}
        self._with_names(computed)
        texts = [row for one in self._reached(used) for row in one.rows(self._symbol)]
        for code in self.functions:
            if code.name in kernels or code.name in self._needed:
                yield from self._function(code, lines)
        yield from texts
        yield "\t.text"

    def _reached(self, used: dict[str, DataSection]) -> list[DataSection]:
        """The data that code names, and what its addresses are in."""
        work = list(used.values())
        while work:
            for to in work.pop().addresses.values():
                section = self._section(to) if isinstance(to, int) else None
                if section is not None and section.name not in used:
                    used[section.name] = section
                    work.append(section)
        return list(used.values())

    def _find_functions(self, addresses: Sequence[int]) -> None:
        """A file without a symbol table still points at its functions."""
        for address in sorted(set(addresses)):
            if any(one.start == address or (one.sized and one.start < address < one.end) for one in self.functions):
                continue
            if self.listing.at(address) is not None:
                end = next(end for start, end in self.sections if start <= address < end)
                later = (one.start for one in self.functions if one.start > address)
                self._shorten(address)
                self.functions.append(Code(f"function_{address:x}", address, min(later, default=end), False))
        self.functions.sort(key=lambda one: one.start)

    def _shorten(self, address: int) -> None:
        """An unsized function ends where another begins."""
        for index, one in enumerate(self.functions):
            if not one.sized and one.start < address < one.end:
                self.functions[index] = replace(one, end=address)

    def _section(self, address: int) -> DataSection | None:
        return next((one for one in self.data if one.start <= address <= one.end), None)

    def _symbol(self, address: int) -> str:
        """An address as a symbol with an offset; as a number where nothing of the file is there."""
        code = next((one for one in self.functions if one.start == address), None)
        if code is not None:
            self._needed.add(code.name)
            return code.name
        section = self._section(address)
        if section is None:
            return str(address)
        name, offset = section.nearest(address)
        return f"{name}+{offset}"

    def _with_names(self, computed: Sequence[Computed]) -> None:
        for one in computed:
            symbol = self._symbol(one.target)
            index = self.listing.at(one.target)
            if not symbol.isdigit():
                name, _, offset = symbol.partition("+")
                self._replace(one, lambda text, part, n=name, o=int(offset or 0): with_symbol(text, part, n, o))
            elif index is not None:
                self._far_branch(one, index)

    def _replace(self, one: Computed, change: Callable[[str, Part], str]) -> None:
        for part in one.parts:
            row = self.listing.rows[part.row]
            self.listing.rows[part.row] = replace(row, text=change(row.text, part))

    def _far_branch(self, one: Computed, index: int) -> None:
        """A jump inside a function too long for a branch, as LLVM writes it: the distance of two labels."""
        distance = f"({self.listing.label(index)}-{self.listing.label(one.row + 1)})"
        halves = {"rel32@lo": f"{distance}&4294967295", "rel32@hi": f"{distance}>>32", "rel64": distance}
        self._replace(one, lambda text, part: f"{text[: text.rindex(',')]}, {halves[part.form]}")

    def _function(self, code: Code, lines: Mapping[int, str]) -> Iterator[str]:
        rows = self.listing.between(code.start, code.end)
        if not code.sized:
            while rows and not rows[-1].text.startswith(_LAST):
                rows.pop()
        if not rows:
            raise UserError(f"llvm-objdump shows no instructions of '{code.name}'", file=self.name)
        yield f"\t.type {code.name},@function"
        yield f"{code.name}:"
        for row in rows:
            yield from (f"{label}:" for label in row.labels)
            if "/*" in row.text:  # what has no text is left out: without the comment the line means something else
                raise self._no_text(code, row)
            if row.address in lines:
                yield lines[row.address]
            yield f"\t{row.text}"
        yield f".Lfunc_end_{code.name}:"
        yield f"\t.size {code.name}, .Lfunc_end_{code.name}-{code.name}"

    def _no_text(self, code: Code, row: Row) -> UserError:
        place = f"offset {row.address - code.start:#x} of {code.name}"
        remedy = "the target has no such instruction; compile for the target that has it"
        return UserError(f"llvm-objdump cannot write the code at {place}: {row.text}", file=self.name, remedy=remedy)

"""A matrix instruction as the CPU machine compiles it, and the register files of its operands."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antiphase.isa._formats import F8F6F4, SMALL
from antiphase.layouts._layout import Layout
from antiphase.layouts._operand import Element, Operand
from antiphase.machine.llvm._ir import module
from antiphase.machine.llvm._native import Library
from antiphase.machine.matrix._matrix import Variant, matrix_function

Registers = NDArray[np.uint32]
"""[register, lane] of one operand, or [probe, register, lane]. One register more than the operand has: compiled code
reads pairs."""

SCALE_ONE = 127  # E8M0


class Machine:
    """The instruction, to be run on many register files."""

    def __init__(self, found: Layout) -> None:
        self.layout, self.record = found, found.record
        function = matrix_function(found.record, _variant(found), found.wave)
        self._library = Library(module([function]), 2)
        count = len(function.params)
        prototype = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * count)
        self._call: Callable[..., None] = prototype(self._library.address(function.name))
        self.operands = {each.name: Parts(each) for each in found.operands}
        # the names of the function's parameters after D
        last = "index" if self.record.sparse else "C"
        self._order = ("A", "B", last, *(("scale_a", "scale_b") if self.record.scaled else ()))

    def one(self, name: str) -> int:
        """The code of one in the operand's format."""
        type_ = self.operands[name].operand.type
        return SMALL[type_].bias << SMALL[type_].mantissa if type_ in SMALL else number(type_, 1)

    def ones(self, *names: str) -> dict[str, Registers]:
        """Those operands full of ones; scales of one with them."""
        found = {name: self.operands[name].filled(self.one(name)) for name in names}
        if self.record.scaled:
            found |= {name: self.operands[name].filled(SCALE_ONE) for name in ("scale_a", "scale_b")}
        return found

    def run(self, probes: int, start: Registers | None = None, **given: Registers) -> Registers:
        """D of every probe, from the operands given and zeros elsewhere.

        start: C, or what D holds before where that is the accumulator. Operands without the first axis are the same
        in every probe.
        """
        rows = max(self.operands[name].registers for name in "CD") + 1
        d = np.zeros((probes, rows, self.layout.wave), np.uint32)
        if start is not None and self.record.sparse:
            d[:, : start.shape[1]] = start
        elif start is not None:
            given["C"] = start
        arrays = [d, *(given.get(name, self.operands[name].filled(0)) for name in self._order)]
        steps = [each.strides[0] if each.ndim == 3 else 0 for each in arrays]
        addresses = [each.ctypes.data for each in arrays]
        for _ in range(probes):
            self._call(*addresses)
            addresses = [address + step for address, step in zip(addresses, steps, strict=True)]
        return d[:, : self.operands["D"].registers]

    def counted(self, times: NDArray[np.int64]) -> Registers:
        """D where its parts hold these whole numbers: times[probe, part]."""
        d = self.operands["D"]
        values = np.zeros(times.shape, np.uint32)
        for count in range(1, int(times.max(initial=0)) + 1):
            values |= d.bits_of(number(self.record.acc, count)) * (times == count)
        return d.packed(values)[:, :-1]


class Coordinates(NamedTuple):
    """Row, column and block of every part."""

    row: NDArray[np.int64]
    column: NDArray[np.int64]
    block: NDArray[np.int64]


class Parts:
    """Where the bits of an operand's elements go: a part for each register that an element has bits in.

    coordinates: those of the element of each part. place: a number for the element's place, the same for
    elements that CBSZ or BLGP read from one place. elements: of each place.
    """

    def __init__(self, operand: Operand) -> None:
        self.operand, self.registers = operand, operand.registers
        held = list(operand.held())
        self.coordinates = Coordinates(*(np.array([h.element[i] for h in held]) for i in range(3)))
        self._where = np.array([h.register * operand.lanes + h.lane for h in held])
        self._low = [h.low for h in held]
        self._shift, done = [], {}
        places: dict[Element, list[tuple[int, int]]] = {}
        for h, where in zip(held, self._where.tolist(), strict=True):
            self._shift.append(done.get((h.lane, h.element), 0))
            done[h.lane, h.element] = self._shift[-1] + h.high - h.low + 1
            places.setdefault(h.element, []).append((where, h.low))
        numbers = {place: i for i, place in enumerate(dict.fromkeys(map(tuple, places.values())))}
        self.elements: list[list[Element]] = [[] for _ in numbers]
        for element, place in places.items():
            self.elements[numbers[tuple(place)]].append(element)
        self.place = np.array([numbers[tuple(places[h.element])] for h in held])
        self._bits: dict[int, Registers] = {}

    def packed(self, values: Registers) -> Registers:
        """Registers [probe, register, lane] from the bits of every part: values[probe, part]."""
        out = np.zeros((len(values), (self.registers + 1) * self.operand.lanes), np.uint32)
        for parts in self._runs:
            out[:, self._where[parts]] |= values[:, parts]
        return out.reshape(len(values), self.registers + 1, self.operand.lanes)

    @functools.cached_property
    def _runs(self) -> list[NDArray[np.int64]]:
        """All parts, in as many runs as it takes for none to name a register of a lane twice."""
        order = np.argsort(self._where, kind="stable")
        where = self._where[order]
        turn = np.arange(len(where)) - np.searchsorted(where, where)
        return [order[turn == number] for number in range(int(turn.max()) + 1)]

    def filled(self, code: int, chosen: NDArray[np.bool_] | None = None) -> Registers:
        """Registers [register, lane] with that code in the chosen parts, in all by default."""
        bits = self.bits_of(code)
        return self.packed((bits if chosen is None else bits * chosen)[None])[0]

    def each(self, code: int, places: NDArray[np.int64], rest: int = 0) -> Registers:
        """Registers of one probe a place, with that code there and `rest` everywhere else."""
        here = self.place == places[:, None]
        return self.packed(np.where(here, self.bits_of(code), self.bits_of(rest)))

    def bits_of(self, code: int) -> Registers:
        """The bits of a code that each part holds, where the part has them."""
        if code not in self._bits:
            parts = [(code >> shift << low) & 0xFFFFFFFF for shift, low in zip(self._shift, self._low, strict=True)]
            self._bits[code] = np.array(parts, np.uint32)
        return self._bits[code]


def number(name: str, value: int) -> int:
    """The code of a small whole number in a format of 16 bits or more."""
    match name:
        case "f64":
            return int(np.float64(value).view(np.uint64))
        case "f32" | "xf32":
            return int(np.float32(value).view(np.uint32))
        case "bf16":
            return int(np.float32(value).view(np.uint32)) >> 16
        case "f16":
            return int(np.float16(value).view(np.uint16))
    return value


def _variant(found: Layout) -> Variant:
    record, m = found.record, found.modifiers
    chosen = record.a == "f8f6f4"
    select = m.scale_select
    return Variant(
        cbsz=F8F6F4.index(m.formats[0]) if chosen else m.cbsz,
        blgp=F8F6F4.index(m.formats[1]) if chosen else m.blgp,
        abid=m.index_set if record.sparse else m.abid,
        half=m.half,
        scale_bytes=select if record.family == "mfma" else (0, 0),
        scale_rows=select if record.family != "mfma" else (0, 0),
    )

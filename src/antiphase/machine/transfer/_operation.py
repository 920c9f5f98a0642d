"""A memory instruction under translation: what all spaces share about counters, checks, data and pending results."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from dataclasses import dataclass

from antiphase import arch
from antiphase.asm import Instruction, Operand, Reg
from antiphase.errors import Unsupported
from antiphase.isa import COUNTERS, U32, Memory, counters, generation, swizzle_offset
from antiphase.machine import _layout as at
from antiphase.machine._context import Context
from antiphase.machine.transfer import _atomics
from antiphase.machine.waves import _events as events
from antiphase.machine.waves import _faults
from antiphase.machine.waves._pending import UNORDERED


def returns_old(instruction: Instruction, record: Memory) -> bool:
    """Whether an atomic gives back the old value: sc0 on CDNA, glc on GFX11, the lowest bit of th on GFX12."""
    if record.access != "atomic":
        return False
    hint = instruction.modifier("th", "")
    asked = bool(hint & 1) if isinstance(hint, int) else "RETURN" in str(hint)
    return record.returns or asked or bool(instruction.modifier("sc0") or instruction.modifier("glc"))


def is_scoped(instruction: Instruction, target: str) -> bool:
    """Whether a load or store is coherent beyond its workgroup, as atomic loads and stores are: sc1 on CDNA, glc on
    GFX11, a scope of the device or the system on GFX12 (AMDGPUUsage, memory model)."""
    if generation(target) == "gfx9":
        return bool(instruction.modifier("sc1"))
    if generation(target) == "gfx11":
        return bool(instruction.modifier("glc"))
    scope = instruction.modifier("scope", 0)
    return scope >= 2 if isinstance(scope, int) else str(scope).endswith(("DEV", "SYS"))


@functools.cache
def _capacities(target: str) -> tuple[int, ...]:
    """Operations a counter can hold before issue stalls. AMD CDNA5 ISA 5.7: six bits where the target has no fact."""
    largest = {counter.name: counter.largest for counter in arch.target(target).counters}
    return tuple(largest.get(name, 63) for name in COUNTERS[generation(target)])


def capacity(target: str, counter: str) -> int:
    """Operations that a counter can hold."""
    return _capacities(target)[COUNTERS[generation(target)].index(counter)]


@dataclass(frozen=True, slots=True)
class Place:
    """Lanes that access memory, after addresses are formed.

    window: which check applies. zero: lanes that read 0. lds: lanes of a FLAT access that mean LDS; '' in fast mode.
    parts: how addresses were formed, if lanes that are not wholly within a buffer are to be checked dword by dword.
    """

    window: str
    mask: str
    zero: str = "0"
    lds: str = ""
    parts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Element:
    """What a format says of the memory a lane accesses: bytes, and the arguments by which native routines convert."""

    bytes: str
    arguments: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Operation:
    """returns: an atomic with a result. queues: numbers of the queues it is entered in, two for FLAT.

    element: what a format says, for instructions that have one.
    """

    c: Context
    record: Memory
    returns: bool
    queues: tuple[int, ...]
    element: Element | None = None

    @classmethod
    def of(cls, c: Context, record: Memory) -> Operation:
        returns = returns_old(c.instruction, record)
        known = COUNTERS[generation(c.target)]
        names = counters(record, c.target, returns)
        return cls(c, record, returns, tuple(known.index(name) for name in names if name in known))

    @property
    def dwords(self) -> int:
        """Registers of one data operand."""
        return -(-self.record.bits // 32)

    @property
    def size(self) -> str:
        """Bytes that a lane accesses in memory at each place, as i64."""
        return self.element.bytes if self.element else str(self.record.bits // 8)

    @property
    def inst(self) -> tuple[str, str]:
        return "i32", str(self.c.index)

    # -- counters and pending results ---------------------------------------------------------------------------

    def queue(self, which: int = 0) -> tuple[tuple[str, str], ...]:
        """The arguments that name a queue to the runtime."""
        return ("ptr", "%w"), ("ptr", self.c.pointer(self.c.layout.queues)), ("i64", str(self.queues[which]))

    def issue(self) -> None:
        """Make room in the counters, completing the oldest operation of one that is full."""
        for which, number in enumerate(self.queues):
            capacity = _capacities(self.c.target)[number]
            self.c.f.call("void", "issue", *self.queue(which), ("i32", str(capacity)))

    def pend(self, kind: int, destination: str, dwords: int, mask: str, keep: int = 0, which: int = 0) -> str:
        """Enter the operation in a queue; the pointer where its data goes. Its destination is poisoned when the whole
        instruction has read its operands, which may be the same registers."""
        data = self.c.f.call(
            "ptr", "pend", *self.queue(which), ("i32", str(kind | self._order())), ("i32", destination),
            ("i32", str(dwords)), ("i32", str(keep)), ("i64", mask),
        )  # fmt: skip
        if kind != at.KIND_NONE:
            self.c.pending.append(data)
        return data

    def _order(self) -> int:
        """Scalar loads complete in any order; so do FLAT accesses on CDNA, as far as either counter can tell, and
        asynchronous stores against asynchronous loads."""
        record = self.record
        any_order = (
            record.space == "smem"
            or (record.space == "flat" and generation(self.c.target) == "gfx9")
            or (record.asynchronous and record.access == "store")
        )
        return UNORDERED if any_order else 0

    def count(self) -> str:
        """Enter an operation without a result; it still counts."""
        if not self.c.recording:
            return ""
        entries = [self.pend(at.KIND_NONE, "0", 0, "0", which=which) for which in range(len(self.queues))]
        return entries[0]

    def result(self, reg: Operand, place: Place | None = None) -> list[str]:
        """Where a result goes: its registers, or in recording mode the slots that waits will deliver."""
        record = self.record
        pointer = registers(self.c, reg, record.dwords)
        if not self.c.recording:
            return [pointer]
        assert isinstance(reg, Reg)
        keep = {"low": 0xFFFF0000, "high": 0x0000FFFF}.get(record.extend, 0)
        masks = [self.c.exec()]
        if place is not None and place.lds:
            others = self.c.f.let(f"xor i64 {place.lds}, -1")
            masks = [self.c.f.let(f"and i64 {masks[0]}, {others}"), place.lds]
        destination = str(self.c.layout.vector(reg))
        return [
            self.pend(at.KIND_VGPR, destination, record.dwords, mask, keep, which) for which, mask in enumerate(masks)
        ]

    # -- checks and data ----------------------------------------------------------------------------------------

    def note(self, mask: str) -> None:
        """Record the addresses of the lanes of a mask."""
        if self.c.recording:
            site = ("i64", str(self.c.sites))
            self.c.sites += 1
            self.c.f.call("void", "record_memory", ("ptr", "%w"), self.inst, ("i64", mask), site)

    def note_sync(self, base: str = "0") -> None:
        """Record that the instruction was executed; it has no address a lane."""
        if self.c.recording:
            event = ("i32", str(events.SYNC)), self.inst, ("i64", self.c.exec()), ("i64", base)
            self.c.f.call("void", "record", ("ptr", "%w"), *event)

    def checked(self, place: Place) -> str:
        """Record the addresses, then the lanes that may access."""
        record = self.record
        self.note(place.mask)
        if self.element is not None and self.c.recording:
            event = ("i32", str(events.SIZE)), self.inst, ("i64", place.mask), ("i64", self.size)
            self.c.f.call("void", "record", ("ptr", "%w"), *event)
        args = [("ptr", "%w"), ("i64", place.mask), ("i64", self.size), self.inst]
        if place.window in ("memory", "flat"):
            whole_dword = bool(record.part) or (self.size == "4" and record.access == "load")
            args += [("i64", str(int(record.access != "load")))]
            args += [("i64", str(_faults.DWORD if whole_dword else _faults.EXACT))]
        return self.c.f.call("i64", f"check_{place.window}", *args)

    def load(self, place: Place, to: str) -> str:
        """Load one place per lane into registers at pointer `to`; the lanes that did."""
        good = self.checked(place)
        name, more = f"load_{load_kind(self.record)}", ()
        if self.element is not None:
            name, more = f"load_typed_{self.c.layout.lanes}", self.element.arguments
        with self._in_order():
            zero = self._parts(place, to)
            self.c.f.call("void", name, ("ptr", "%w"), ("ptr", to), ("i64", good), ("i64", zero), *more)
        return good

    def store(self, place: Place, data: Operand) -> str:
        """Store one place per lane; the lanes that did."""
        record = self.record
        good = self.checked(place)
        name, more = f"{record.bits}_high" if record.extend == "high" else str(record.bits), ()
        if self.element is not None:
            name, more = f"typed_{self.c.layout.lanes}", self.element.arguments
        source = registers(self.c, data, self.dwords)
        with self._in_order():
            self._parts(place, source)
            self.c.f.call("void", f"store_{name}", ("ptr", "%w"), ("ptr", source), ("i64", good), *more)
        return good

    def _parts(self, place: Place, registers: str) -> str:
        """Move what is in range of lanes that are not wholly so; the others of those."""
        c, dwords = self.c, self.dwords
        if not place.parts:
            return place.zero
        site = -1
        # a load to LDS has its second event there
        if c.recording and not (self.record.to_lds or c.instruction.modifier("lds")):
            site, c.sites = c.sites, c.sites + dwords
        where = ("ptr", "%w"), ("ptr", registers), self.inst, ("i64", place.zero)
        counts = ("i64", str(dwords)), ("i64", str(site))
        done = c.f.call("i64", f"{self.record.access}_parts", *where, *counts, *place.parts)
        return c.f.let(f"xor i64 {place.zero}, {done}")

    def atomic(self, place: Place, to: str, *data: Operand) -> str:
        """Read, modify and write one place per lane; the old values go to `to` unless it is null; the lanes
        that may."""
        c, record = self.c, self.record
        good = self.checked(place)
        sources: list[str] = []
        if data:
            each = record.type.dwords * record.operands // len(data)
            sources = [registers(c, d, each) for d in data]
        if len(data) == 1 and record.operands == 2:
            # flat and buffer forms name one register tuple: first the new value, then the compare value
            sources.append(c.f.at(sources[0], record.type.dwords * c.layout.plane))
        self.read_modify_write(to, good, sources)
        return good

    def read_modify_write(self, to: str, good: str, sources: list[str]) -> None:
        """Do an atomic at the ADDRESSES of lanes that may, with data planes; the old values go to `to` or to null."""
        c = self.c
        name = _atomics.function(self.record, c.mode, c.target, c.layout.lanes)
        pointers = [("ptr", s) for s in sources]
        with self._in_order():
            c.f.call("void", name, ("ptr", "%w"), ("ptr", to), ("i64", good), self.inst, *pointers)

    @contextlib.contextmanager
    def _in_order(self) -> Iterator[None]:
        """In a recording, number what atomics do, and loads and stores that may be atomic ones."""
        scoped = self.record.space in ("global", "flat", "buffer") and is_scoped(self.c.instruction, self.c.target)
        if not self.c.recording or not (self.record.access == "atomic" or scoped):
            yield
            return
        self.c.f.call("void", "order_begin", ("ptr", "%w"))
        yield
        self.c.f.call("void", "order_end", ("ptr", "%w"), self.inst)

    def copy(self, to: str, source: str, dwords: int) -> None:
        """Copy register planes."""
        size = str(dwords * self.c.layout.plane)
        self.c.f.call("void", "llvm.memcpy.p0.p0.i64", ("ptr", to), ("ptr", source), ("i64", size), ("i1", "false"))


def load_kind(record: Memory) -> str:
    """The runtime's name for how a load fills its registers."""
    if record.bits >= 32:
        return str(record.bits)
    half = record.extend if record.extend in ("low", "high") else ""
    return record.type.name + (f"_{half}" if half else "")


def registers(c: Context, reg: Operand, dwords: int = 1) -> str:
    """Pointer to the planes of a vector register operand of at least so many dwords."""
    if not (isinstance(reg, Reg) and reg.bank in "va"):
        raise Unsupported(f"{reg} where a vector register is expected")
    if reg.count < dwords:
        raise ValueError(f"{reg} where {dwords} registers are needed")
    return c.pointer(c.layout.vector(reg))


def offset_of(c: Context, name: str = "offset") -> int:
    """An offset modifier, 0 without it."""
    value = c.instruction.modifier(name, 0)
    number = swizzle_offset(value) if isinstance(value, str) else value
    if not isinstance(number, int):
        raise Unsupported(f"{name} {value}")
    return number


def scalar_value(c: Context, operand: Operand) -> str:
    """A 32-bit scalar operand as i64, zero-extended."""
    return c.f.let(f"zext i32 {c.read(operand, U32).text} to i64")

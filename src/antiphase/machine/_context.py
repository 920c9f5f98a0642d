"""What translation of one instruction needs to know, and how it reads and writes registers."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field

from antiphase.asm import FloatImm, Imm, Instruction, Modified, Operand, Reg, Special, Symbol
from antiphase.errors import Unsupported
from antiphase.isa import B1, BF16, F16, F32, F64, U8, U16, U32, U64, U128, Type
from antiphase.machine import _layout as at
from antiphase.machine._image import PC_STEP, Image, code_address
from antiphase.machine._layout import Layout
from antiphase.machine.llvm._ir import Function
from antiphase.machine.llvm._lower import FloatMode, Lowering, Value
from antiphase.machine.waves._faults import PRIVATE_APERTURE, SHARED_APERTURE

_CONSTANTS = {
    "null": 0, "src_shared_base": SHARED_APERTURE << 32, "src_private_base": PRIVATE_APERTURE << 32,
    "src_shared_limit": (SHARED_APERTURE << 32) | 0xFFFFFFFF,
    "src_private_limit": (PRIVATE_APERTURE << 32) | 0xFFFFFFFF,
    "src_flat_scratch_base_lo": PRIVATE_APERTURE << 32, "src_flat_scratch_base_hi": PRIVATE_APERTURE,
}  # fmt: skip
_DIFFERENCE = re.compile(r"\(([\w.$]+)-([\w.$]+)\)(&|>>)(\d+)")


@dataclass
class Context:
    """Translation state of one function: where code goes, and what is known at this point of the program.

    labels: instruction numbers of the kernel's labels. image: where its data is. index: the instruction's number in
    the kernel. pending: data pointers of the operations it has put in flight. sites: places in the code so far that
    record addresses. traps: why instructions stop at run time on what they read, by index. every_lane: the
    instruction ignores EXEC. indexing: GPR index mode is on. mode_register: MODE as s_getreg gives it.
    """

    f: Function
    layout: Layout
    target: str
    mode: FloatMode
    recording: bool
    instruction: Instruction
    labels: Mapping[str, int] = field(default_factory=dict)
    descriptor: Mapping[str, int] = field(default_factory=dict)
    image: Image = field(default_factory=Image)
    index: int = 0
    pending: list[str] = field(default_factory=list)
    sites: int = 0
    traps: dict[int, str] = field(default_factory=dict)
    every_lane: bool = False
    indexing: bool = False
    mode_register: int = 0

    # -- registers ----------------------------------------------------------------------------------------------

    def pointer(self, offset: int) -> str:
        return self.f.at("%w", offset)

    def exec(self) -> str:
        """EXEC as i64, all of it for an instruction that ignores it."""
        if self.every_lane:
            return str((1 << self.layout.lanes) - 1)
        if self.layout.lanes == 64:
            return self.f.load("i64", self.pointer(4 * at.EXEC), 8)
        return self.f.let(f"zext i32 {self.f.load('i32', self.pointer(4 * at.EXEC))} to i64")

    def lowering(self, sources: list[Value], lanes: int | None = None) -> Lowering:
        return Lowering(self.f, self.layout.lanes if lanes is None else lanes, self.mode, sources, self.exec)

    def read_vector(self, reg: Reg, type_: Type) -> Value:
        """A VGPR or AGPR (pair) as one value per lane; a narrower type takes the low bits."""
        _check_width(reg, type_)
        low = self._plane(reg, 0)
        if type_.bits < 32:
            lowering = self.lowering([])
            bits = TYPE_OF_BITS[type_.bits]
            return lowering.bitcast(lowering.to(low, bits), type_)
        if type_.bits == 32:
            return self.lowering([]).bitcast(low, type_)
        lowering = self.lowering([])
        wide_low, wide_high = (lowering.to(self._plane(reg, i), U64) for i in (0, 1))
        shifted = lowering.binary("shl", wide_high, Value("32", U64, 1))
        return lowering.bitcast(lowering.binary("or", wide_low, shifted), type_)

    def _plane(self, reg: Reg, i: int) -> Value:
        lanes = self.layout.lanes
        pointer = self.pointer(self.layout.vector(reg) + i * self.layout.plane)
        return Value(self.f.load(f"<{lanes} x i32>", pointer, 64), U32, lanes)

    def read_scalar(self, operand: Reg | Special, type_: Type) -> Value:
        offset = self.layout.scalar(operand)
        if offset is None:
            return self._read_named(operand, type_)
        bits = max(32, type_.bits)
        value = Value(self.f.load(f"i{bits}", self.pointer(offset), 4), TYPE_OF_BITS[bits], 1)
        lowering = self.lowering([], 1)
        if type_.bits < 32:
            value = lowering.to(value, TYPE_OF_BITS[type_.bits])
        return lowering.bitcast(value, type_)

    def _read_named(self, operand: Reg | Special, type_: Type) -> Value:
        name = operand.name if isinstance(operand, Special) else str(operand)
        if name in _CONSTANTS:
            value = _CONSTANTS[name] if type_.bits >= 64 else _CONSTANTS[name] & 0xFFFFFFFF
            return self.lowering([], 1).bitcast(Value(str(value), TYPE_OF_BITS[type_.bits], 1), type_)
        flag = {"scc": self.scc, "vccz": self.vccz, "execz": self.execz}.get(name)
        if flag is None:
            raise Unsupported(f"reading {name}")
        return self.lowering([], 1).to(Value(flag(), B1, 1), type_)

    def scc(self) -> str:
        return self.f.let(f"trunc i32 {self.f.load('i32', self.pointer(at.SCC))} to i1")

    def vccz(self) -> str:
        return self._zero(4 * at.VCC)

    def execz(self) -> str:
        return self._zero(4 * at.EXEC)

    def _zero(self, offset: int) -> str:
        bits = self.layout.lanes
        return self.f.let(f"icmp eq i{bits} {self.f.load(f'i{bits}', self.pointer(offset))}, 0")

    def read(self, operand: Operand, type_: Type) -> Value:
        """A source operand without its modifiers."""
        if isinstance(operand, Modified):
            operand = operand.operand
        if isinstance(operand, Reg) and operand.bank in "va":
            return self.read_vector(operand, type_)
        if isinstance(operand, Reg | Special):
            return self.read_scalar(operand, type_)
        if isinstance(operand, Imm | FloatImm):
            return immediate(operand, type_)
        if isinstance(operand, Symbol):
            return self._symbol(operand, type_)
        raise Unsupported(f"operand {operand}")

    def _symbol(self, symbol: Symbol, type_: Type) -> Value:
        """An address, a part of it, or its distance from the program counter."""
        one = self.image.references.get((self.index, symbol.text))
        if one is None:
            return Value(str(self._distance(symbol)), type_, 1)
        if one.kind == "slot" and (one.name in self.image.symbols or one.name in self.labels):
            address = self._data(self.image.slots[one.name])
        elif one.name in self.image.symbols:
            address = self._data(self.image.symbols[one.name])
        elif one.name in self.labels:
            address = str(code_address(self.labels[one.name]))
        else:
            raise Unsupported(f"the address of '{one.name}', which the file does not define")
        start = 0 if one.kind == "absolute" else code_address(one.base + 1)
        value = self.f.let(f"add i64 {address}, {one.offset - start}")
        if one.part == "hi":
            value = self.f.let(f"lshr i64 {value}, 32")
        lowering = self.lowering([], 1)
        return lowering.bitcast(lowering.to(Value(value, U64, 1), TYPE_OF_BITS[type_.bits]), type_)

    def _data(self, offset: int) -> str:
        return self.f.let(f"add i64 {self.f.load('i64', self.pointer(at.IMAGE))}, {offset}")

    def _distance(self, symbol: Symbol) -> int:
        """Half of the distance between two labels. Instructions lie PC_STEP apart in the machine's code addresses."""
        match = _DIFFERENCE.fullmatch(symbol.text)
        if match is None or not {match[1], match[2]} <= self.labels.keys():
            raise Unsupported(f"address {symbol}")
        distance = (self.labels[match[1]] - self.labels[match[2]]) * PC_STEP
        number = int(match[4])
        return (distance & number if match[3] == "&" else distance >> number) & 0xFFFFFFFF

    def read_mask(self, operand: Operand) -> Value:
        """A lane mask operand as one predicate per lane."""
        if not isinstance(operand, Reg | Special):
            raise Unsupported(f"lane mask {operand}")
        return self.lane_mask(self.read_scalar(operand, self.mask_type).text)

    @property
    def mask_type(self) -> Type:
        return U64 if self.layout.lanes == 64 else U32

    def lane_mask(self, bits: str) -> Value:
        lanes = self.layout.lanes
        return Value(self.f.let(f"bitcast i{lanes} {bits} to <{lanes} x i1>"), B1, lanes)

    # -- results ------------------------------------------------------------------------------------------------

    def write_vector(self, reg: Reg, value: Value, *, every_lane: bool = False) -> None:
        """Write a VGPR (pair) in active lanes; a value of 16 bits or less fills the register with zeros above."""
        lowering = self.lowering([])
        _check_width(reg, value.type)
        value = lowering.splat(value, self.layout.lanes)
        bits = TYPE_OF_BITS[max(1, value.type.bits)]
        plain = lowering.bitcast(value, bits)
        if value.type.bits < 32:
            self._write_plane(reg, 0, lowering.to(plain, U32), every_lane)
        elif value.type.bits == 32:
            self._write_plane(reg, 0, plain, every_lane)
        else:
            self._write_plane(reg, 0, lowering.to(plain, U32), every_lane)
            high = lowering.to(lowering.binary("lshr", plain, Value("32", U64, 1)), U32)
            self._write_plane(reg, 1, high, every_lane)

    def _write_plane(self, reg: Reg, i: int, value: Value, every_lane: bool) -> None:
        lanes = self.layout.lanes
        pointer = self.pointer(self.layout.vector(reg) + i * self.layout.plane)
        if not every_lane:
            old = Value(self.f.load(f"<{lanes} x i32>", pointer, 64), U32, lanes)
            lowering = self.lowering([])
            value = lowering.select(lowering.exec_vector(), value, old)
        self.f.store(f"<{lanes} x i32>", value.text, pointer, 64)

    def write_scalar(self, operand: Reg | Special, value: Value) -> None:
        offset = self.layout.scalar(operand)
        if offset is None:
            if isinstance(operand, Special) and operand.name == "null":
                return
            raise Unsupported(f"writing {operand}")
        if value.lanes != 1:
            raise Unsupported(f"a value per lane written to {operand}")
        lowering = self.lowering([], 1)
        plain = lowering.bitcast(value, TYPE_OF_BITS[value.type.bits])
        if plain.type.bits < 32:
            plain = lowering.to(plain, U32)
        self.f.store(f"i{plain.type.bits}", plain.text, self.pointer(offset), 4)

    def write_scc(self, value: Value) -> None:
        wide = self.lowering([], 1).to(value, U32) if value.type is B1 else value
        self.f.store("i32", wide.text, self.pointer(at.SCC))

    def write_mask(self, operand: Reg | Special, predicate: Value) -> None:
        """A lane mask result: active lanes' predicates, inactive lanes 0."""
        mask = self.lowering([]).mask(predicate)
        if self.layout.lanes == 32:
            mask = self.f.let(f"trunc i64 {mask} to i32")
        self.write_scalar(operand, Value(mask, self.mask_type, 1))


def _check_width(reg: Reg, type_: Type) -> None:
    if reg.count < type_.dwords:
        raise ValueError(f"{reg} where {type_.dwords} registers are needed")


TYPE_OF_BITS: dict[int, Type] = {1: B1, 8: U8, 16: U16, 32: U32, 64: U64, 128: U128}


def immediate(operand: Imm | FloatImm, type_: Type) -> Value:
    """A literal as an operand of a type: a float literal gives the bits of the float of that width; an integer gives
    its bits (the high half of an f64, which is how a 32-bit literal of a 64-bit float operand is encoded; gfx1250 has
    64-bit literals, which LLVM spells `lit64()` where they would look like those)."""
    if isinstance(operand, FloatImm):
        bits = constant_bits(operand.value, type_)
    elif type_ is F64 and not -16 <= operand.value <= 64 and not _is_wide(operand):
        bits = (operand.value & 0xFFFFFFFF) << 32
    else:
        bits = operand.value & ((1 << type_.bits) - 1)
    if type_ in (F16, F32, F64):
        return Value(_float_constant(bits, type_), type_, 1)
    return Value(str(bits), type_, 1)


def _is_wide(operand: Imm) -> bool:
    return operand.text.startswith("lit64") or not -(1 << 31) <= operand.value < 1 << 32


def constant_bits(value: float, type_: Type) -> int:
    """Bits of a float literal of a type; a bf16 is an f32's upper half (RDNA 3.5 ISA, 7.5.1)."""
    return float_bits(value, 32) >> 16 if type_ is BF16 else float_bits(value, type_.bits)


def float_bits(value: float, bits: int) -> int:
    """Bits of the IEEE float of a width nearest to a value."""
    code, size = {16: ("<e", "<H"), 32: ("<f", "<I")}.get(bits, ("<d", "<Q"))
    return struct.unpack(size, struct.pack(code, value))[0]


def _float_constant(bits: int, type_: Type) -> str:
    """LLVM's spelling: half as its bits, float and double as the bits of a double."""
    if type_ is F16:
        return f"0xH{bits:04X}"
    if type_ is F64:
        return f"0x{bits:016X}"
    if bits & 0x7F800000 == 0x7F800000:  # infinities and NaNs keep their payload
        return f"0x{(bits >> 31) << 63 | 0x7FF << 52 | (bits & 0x7FFFFF) << 29:016X}"
    return f"0x{float_bits(struct.unpack('<f', struct.pack('<I', bits))[0], 64):016X}"

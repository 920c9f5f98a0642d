"""Buffer resources: their fields a generation, and the places they give to lanes."""

from __future__ import annotations

from dataclasses import dataclass

from antiphase.asm import Operand, Reg
from antiphase.errors import Unsupported
from antiphase.isa import generation
from antiphase.machine._context import Context
from antiphase.machine.transfer._operation import Operation, Place, offset_of, registers, scalar_value

MUBUF_OFFSETS = {"gfx9": 1 << 12, "gfx11": 1 << 12}
"""Where the offset field is shorter than what LLVM's assembler reads: it cuts larger ones without a word."""

RAW, INDEX_ONLY, RAW_IN_RECORD = 3, 1, 4
_STRIDE_FACTORS = 0x20080401
"""What GFX12's stride is multiplied by, a byte for each value of its scale field: 1, 4, 8, 32."""


@dataclass(frozen=True, slots=True)
class Resource:
    """Fields of a buffer resource as i64 values; check: what is compared, as `_addresses` numbers it."""

    base: str
    stride: str
    records: str
    check: str


def resource(c: Context, operand: Operand) -> Resource:
    """The fields of a linear buffer's resource in four SGPRs; swizzling is not looked at.

    Sources: AMD CDNA3 ISA 9.1.8, RDNA3 ISA 10.1.5, RDNA4 ISA 10.1.5; CDNA5 ISA 9.6, whose number of records is in bytes
    whatever the stride.
    """
    if not (isinstance(operand, Reg) and operand.count == 4):
        raise Unsupported(f"buffer resource {operand}")
    f, pointer = c.f, c.pointer(4 * operand.index)
    low, high = f.load("i64", pointer, 4), f.load("i64", f.at(pointer, 8), 4)
    kind = generation(c.target)
    if kind == "gfx1250":
        base, records_low = _field(c, low, 0, 57), f.let(f"lshr i64 {low}, 57")
        records = f.let(f"or i64 {records_low}, {f.let(f'shl i64 {_field(c, high, 0, 38)}, 7')}")
        stride = _scaled(c, _field(c, high, 44, 14), _field(c, high, 58, 2))
    else:
        base, stride, records = _field(c, low, 0, 48), _field(c, low, 48, 14), _field(c, high, 0, 32)
        if kind == "gfx12":
            stride = _scaled(c, stride, _field(c, high, 50, 2))
    if kind == "gfx1250":
        in_record = f.let(f"icmp ne i64 {_field(c, high, 61, 1)}, 0")
        check = f.let(f"select i1 {in_record}, i32 {RAW_IN_RECORD}, i32 {RAW}")
    elif kind in ("gfx11", "gfx12"):
        check = f.let(f"trunc i64 {_field(c, high, 60, 2)} to i32")
    else:
        check = f.let(f"select i1 {f.let(f'icmp eq i64 {stride}, 0')}, i32 {RAW}, i32 {INDEX_ONLY}")
    return Resource(base, stride, records, check)


def described_format(c: Context, operand: Operand) -> tuple[str, str]:
    """The code of a resource's format as `isa` numbers them, and DST_SEL of x to w, i32 both.

    Sources: AMD CDNA3 ISA 9.1.8, RDNA3 ISA 9.6, RDNA4 ISA 9.6.
    """
    assert isinstance(operand, Reg)
    word = c.f.load("i32", c.pointer(4 * (operand.index + 3)))
    select = c.f.let(f"and i32 {word}, 4095")
    if generation(c.target) != "gfx9":
        return c.f.let(f"and i32 {c.f.let(f'lshr i32 {word}, 12')}, 63"), select
    numeric = c.f.let(f"and i32 {c.f.let(f'lshr i32 {word}, 8')}, 112")
    data = c.f.let(f"and i32 {c.f.let(f'lshr i32 {word}, 15')}, 15")
    return c.f.let(f"or i32 {numeric}, {data}"), select


def _scaled(c: Context, stride: str, scale: str) -> str:
    shift = c.f.let(f"shl i64 {scale}, 3")
    factor = c.f.let(f"and i64 {c.f.let(f'lshr i64 {_STRIDE_FACTORS}, {shift}')}, 255")
    return c.f.let(f"mul i64 {stride}, {factor}")


def _field(c: Context, value: str, first: int, width: int) -> str:
    shifted = c.f.let(f"lshr i64 {value}, {first}")
    return c.f.let(f"and i64 {shifted}, {(1 << width) - 1}")


def buffer_place(operation: Operation, operands: list[Operand]) -> Place:
    """Form the addresses of (address, resource, offset) operands. Lanes out of range read 0 and write nothing."""
    c = operation.c
    address, descriptor, soffset = operands
    offset = offset_of(c)
    limit = MUBUF_OFFSETS.get(generation(c.target))
    if limit is not None and offset >= limit:
        raise ValueError(f"offset:{offset} has more than 12 bits, an assembler makes it offset:{offset % limit}")
    where = resource(c, descriptor)
    vector, index = _planes(c, address)
    formed = (
        ("ptr", vector), ("ptr", index), ("i64", where.base), ("i64", where.stride), ("i64", where.records),
        ("i32", where.check), ("i64", scalar_value(c, soffset)), ("i64", str(offset)),
    )  # fmt: skip
    inside = c.f.call("i64", "address_buffer", ("ptr", "%w"), *formed, ("i64", operation.size))
    if operation.element is not None:
        # without a format it is no buffer: nothing is in range
        bound = c.f.let(f"sext i1 {c.f.let(f'icmp ne i64 {operation.size}, 0')} to i64")
        inside = c.f.let(f"and i64 {inside}, {bound}")
    exec_ = c.exec()
    mask = c.f.let(f"and i64 {exec_}, {inside}")
    by_dword = operation.dwords > 1 and operation.record.access in ("load", "store") and not operation.record.format
    return Place("memory", mask, c.f.let(f"xor i64 {exec_}, {mask}"), parts=formed if by_dword else ())


def _planes(c: Context, address: Operand) -> tuple[str, str]:
    """Offset and index registers; null for none."""
    offen, idxen = c.instruction.modifier("offen"), c.instruction.modifier("idxen")
    if not (offen or idxen):
        return "null", "null"
    first = registers(c, address, 2 if offen and idxen else 1)
    if offen and idxen:
        return c.f.at(first, c.layout.plane), first
    return (first, "null") if offen else ("null", first)

"""Block loads and stores: up to 32 registers in a row, those whose bit in M0 is set."""

from __future__ import annotations

from dataclasses import replace

from antiphase.asm import Operand, Reg, Special
from antiphase.errors import Unsupported
from antiphase.machine import _layout as at
from antiphase.machine.transfer._addresses import splat
from antiphase.machine.transfer._operation import Operation, Place, scalar_value


def move_block(operation: Operation, place: Place, registers: Operand) -> None:
    """Move a dword for each set bit of M0, from where the addresses formed for `place` say.

    A recording has an event a dword, and the data of a load is there at once: registers that M0 leaves out may be used
    meanwhile, so that there is no one destination to be poisoned. `wait` judges such loads by their text.
    A register beyond those allocated is not loaded, and v0 is stored in its place (RDNA4 ISA 11.5.1).
    """
    c, f, record = operation.c, operation.c.f, operation.record
    if not (isinstance(registers, Reg) and registers.bank == "v"):
        raise Unsupported(f"{registers} where vector registers are expected")
    longs, lanes = f"<{c.layout.lanes} x i64>", c.layout.lanes
    addresses = c.pointer(at.ADDRESSES)
    start = f.load(longs, addresses, 64)
    first = c.pointer(c.layout.vector(replace(registers, count=1)))
    there = min(record.count, c.layout.vgprs - registers.index)
    chosen = f.let(f"and i64 {scalar_value(c, Special('m0'))}, {(1 << record.count) - 1}")
    if record.access == "load":
        chosen = f.let(f"and i64 {chosen}, {(1 << there) - 1}")
    with f.each_bit(chosen) as n:
        step = splat(f, f.let(f"mul i64 {n}, {record.spacing}"), lanes)
        f.store(longs, f.let(f"add {longs} {start}, {step}"), addresses, 64)
        good = operation.checked(place)
        plane = f.at(first, f.let(f"mul i64 {n}, {c.layout.plane}"))
        if record.access == "load":
            f.call("void", "load_32", ("ptr", "%w"), ("ptr", plane), ("i64", good), ("i64", place.zero))
        else:
            inside = f.let(f"icmp ult i64 {n}, {there}")
            source = f.let(f"select i1 {inside}, ptr {plane}, ptr {c.pointer(at.VGPRS)}")
            f.call("void", "store_32", ("ptr", "%w"), ("ptr", source), ("i64", good))
    operation.count()

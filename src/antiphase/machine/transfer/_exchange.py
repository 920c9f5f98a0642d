"""Transposing loads: every lane loads its run of elements, then elements change lanes."""

from __future__ import annotations

from antiphase.isa import Transpose
from antiphase.machine import _layout as at
from antiphase.machine.llvm._ir import Function
from antiphase.machine.transfer._operation import Operation, Place


def exchange(operation: Operation, place: Place, to: str) -> str:
    """Load a place and put the transposed data at `to`; the lanes that loaded."""
    c, record = operation.c, operation.record
    assert record.transpose is not None
    if record.exec_rule == "whole":
        c.f.call("void", "check_whole", ("ptr", "%w"), ("i64", c.exec()), operation.inst)
    good = operation.load(place, c.pointer(at.TEMPORARY))
    c.f.call("void", name_of(record.transpose), ("ptr", "%w"), ("ptr", to), ("i64", c.exec()))
    return good


def name_of(transpose: Transpose) -> str:
    return f"transpose_{transpose.element}_{transpose.lane.replace(' ', '')}"


def native(transpose: Transpose, lanes: int) -> Function:
    """(w, registers, exec): loaded data in TEMPORARY to registers, elements exchanged."""
    f = Function(name_of(transpose), "void", [("ptr", "w"), ("ptr", "to"), ("i64", "exec")])
    bits = transpose.element
    names = (transpose.lane + " " + transpose.index).split()
    elements = 1 << sum(name[0] == "j" for name in names)
    dwords = elements * bits // 32
    packed = _packed(f, dwords, lanes)
    with f.each_bit("%exec") as lane:
        start, index = (_lane_bits(f, part, lane) for part in (transpose.lane, transpose.index))
        shift = f.let(f"zext i64 {f.let(f'mul i64 {index}, {bits}')} to i128")
        value = "0"
        for j in range(elements):
            source = f.let(f"or i64 {start}, {transpose.source(0, j)[0]}")
            whole = f.load("i128", f.index("i128", packed, source))
            part = f.let(f"and i128 {f.let(f'lshr i128 {whole}, {shift}')}, {(1 << bits) - 1}")
            value = f.let(f"or i128 {value}, {f.let(f'shl i128 {part}, {bits * j}')}")
        for k in range(dwords):
            word = f.let(f"trunc i128 {f.let(f'lshr i128 {value}, {32 * k}')} to i32")
            f.store("i32", word, f.index("i32", f.at("%to", 4 * lanes * k), lane))
    f.ret()
    return f


def _packed(f: Function, dwords: int, lanes: int) -> str:
    """Each lane's data in one integer."""
    packed = f.alloca(f"[{lanes} x i128]")
    temporary = f.at("%w", at.TEMPORARY)
    with f.loop(lanes) as lane:
        value = "0"
        for k in range(dwords):
            word = f.load("i32", f.index("i32", f.at(temporary, 4 * lanes * k), lane))
            wide = f.let(f"zext i32 {word} to i128")
            value = f.let(f"or i128 {value}, {f.let(f'shl i128 {wide}, {32 * k}')}")
        f.store("i128", value, f.index("i128", packed, lane))
    return packed


def _lane_bits(f: Function, names: str, lane: str) -> str:
    """What the lane's own number contributes to a source lane or element."""
    value = "0"
    for position, name in enumerate(names.split()):
        if name[0] == "L":
            bit = f.let(f"and i64 {f.let(f'lshr i64 {lane}, {name[1]}')}, 1")
            value = f.let(f"or i64 {value}, {f.let(f'shl i64 {bit}, {position}')}")
    return value

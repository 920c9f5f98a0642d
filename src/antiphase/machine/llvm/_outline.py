"""Long semantics as functions of their own: compiled once with optimisation, shared by all kernels."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from antiphase.isa import B1, U8, Alu, Expr, Type
from antiphase.machine._context import Context
from antiphase.machine.llvm import _native
from antiphase.machine.llvm._ir import Function, module
from antiphase.machine.llvm._lower import FloatMode, Lowering, Value, ir_type

_loaded: dict[str, _native.Library] = {}


def outlined(
    name: str, results: Sequence[Expr], sources: Sequence[Value], mode: FloatMode, lanes: int
) -> tuple[Function, str]:
    """A function (results..., sources..., EXEC) over pointers to vectors, and the name it links under."""
    params = [("ptr", f"r{i}") for i in range(len(results))]
    params += [("ptr" if s.lanes > 1 else s.ir, f"s{i}") for i, s in enumerate(sources)]
    function = Function("body", "void", [*params, ("i64", "exec")])
    values = [
        Value(function.load(s.ir, f"%s{i}", _align(s)) if s.lanes > 1 else f"%s{i}", s.type, s.lanes)
        for i, s in enumerate(sources)
    ]
    lowering = Lowering(function, lanes, mode, values, lambda: "%exec")
    for i, result in enumerate(results):
        value = lowering.splat(lowering.lower(result), lanes)
        if value.type is B1:
            value = lowering.to(value, U8)
        function.store(value.ir, value.text, f"%r{i}", _align(value))
    function.ret()
    digest = hashlib.sha256(function.text().encode()).hexdigest()[:16]
    function.name = f"{name}_{digest}"
    return function, function.name


def call_outlined(c: Context, record: Alu, results: Sequence[Expr], sources: Sequence[Value]) -> list[Value]:
    """Emit the call of an instruction's function; compiles the function when this process first meets it."""
    lanes = c.layout.lanes
    function, name = outlined(record.name, results, sources, c.mode, lanes)
    if name not in _loaded:
        _loaded[name] = _native.Library(module([function]), 2)
        _native.publish(name, _loaded[name].address(name))
    slots = [c.f.alloca(ir_type(_carried(r), lanes)) for r in results]
    args = [("ptr", slot) for slot in slots]
    for source in sources:
        if source.lanes == 1:
            args.append((source.ir, source.text))
            continue
        slot = c.f.alloca(source.ir)
        c.f.store(source.ir, source.text, slot, _align(source))
        args.append(("ptr", slot))
    c.f.call("void", name, *args, ("i64", c.exec()))
    values = []
    for result, slot in zip(results, slots, strict=True):
        value = Value(c.f.load(ir_type(_carried(result), lanes), slot, 64), _carried(result), lanes)
        values.append(c.lowering([]).to(value, B1) if result.type is B1 else value)
    return values


def _carried(result: Expr) -> Type:
    """Predicates cross the call as bytes."""
    return U8 if result.type is B1 else result.type


def _align(value: Value) -> int | None:
    """Vectors of predicates have no fixed layout worth assuming; the others are whole cache lines."""
    return None if value.type is B1 else 64

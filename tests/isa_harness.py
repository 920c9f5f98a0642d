"""Runs instruction records on arrays: one native function a record, 64 lanes at a time."""

from __future__ import annotations

import ctypes
import zlib
from typing import Any

import ml_dtypes
import numpy as np

from antiphase.isa import B1, U8, Alu, Expr, Type, find
from antiphase.machine.llvm._ir import Function, module
from antiphase.machine.llvm._lower import FloatMode, Lowering, Value, ir_type
from antiphase.machine.llvm._native import Library

LANES = 64
DTYPES: dict[str, np.dtype] = {
    **{f"{k}{n}": np.dtype(f"{k}{n // 8}") for k in "ui" for n in (8, 16, 32, 64)},
    **{f"f{n}": np.dtype(f"f{n // 8}") for n in (16, 32, 64)},
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "b1": np.dtype("u1"),
}
ALL_ACTIVE = (1 << LANES) - 1


def record(name: str, target: str = "gfx950") -> Alu:
    found = find(name, target)
    assert isinstance(found, Alu), name
    return found


def build(
    key: str, results: tuple[Expr, ...], types: tuple[Type, ...], mode: FloatMode, constants: dict[int, int]
) -> Function:
    """A function (results..., sources..., EXEC) over pointers to vectors; `constants` are known sources."""
    params = [("ptr", f"r{i}") for i in range(len(results))] + [("ptr", f"s{i}") for i in range(len(types))]
    function = Function(key, "void", [*params, ("i64", "exec")])
    sources = []
    for i, t in enumerate(types):
        known = str(constants[i]) if i in constants else None
        text = known or function.load(ir_type(t, LANES), f"%s{i}", 8)
        sources.append(Value(text, t, 1 if known else LANES))
    lowering = Lowering(function, LANES, mode, sources, lambda: "%exec")
    for i, result in enumerate(results):
        value = lowering.splat(lowering.lower(result), LANES)
        value = lowering.to(value, U8) if value.type is B1 else value
        function.store(value.ir, value.text, f"%r{i}", 8)
    function.ret()
    return function


class Machine:
    """Functions of several records, compiled together when first one of them is called."""

    def __init__(self, level: int = 0) -> None:
        self._functions: dict[str, tuple[Function, tuple[Type, ...], tuple[Type, ...]]] = {}
        self._library: Library | None = None
        self._level = level

    def add(
        self,
        key: str,
        results: tuple[Expr, ...],
        types: tuple[Type, ...],
        mode: FloatMode | None = None,
        constants: dict[int, int] | None = None,
    ) -> str:
        if key not in self._functions:
            function = build(key, results, types, mode or FloatMode(), constants or {})
            self._functions[key] = (function, tuple(r.type for r in results), types)
            self._library = None
        return key

    def add_record(self, instruction: Alu, *, saturated: bool = False, **fields: Any) -> str:
        variant = zlib.crc32(str((saturated, sorted(fields.items()))).encode())
        key = f"{instruction.name}_{variant}"
        results = instruction.saturated_results if saturated else instruction.results
        slots = instruction.signature.sources * (2 if instruction.pair else 1)
        types = tuple(slot.type for slot in slots for _ in range(slot.count))
        return self.add(key, results, types, **fields)

    def compile(self) -> Library:
        if self._library is None:
            self._library = Library(module([f for f, _, _ in self._functions.values()]), self._level)
        return self._library

    def __call__(self, key: str, *arrays: object, exec_: int = ALL_ACTIVE) -> tuple[np.ndarray, ...]:
        """Results for sources of one length; the last wave is padded with copies of the last element."""
        library = self.compile()
        _, results, types = self._functions[key]
        given = [np.atleast_1d(np.asarray(a)).astype(DTYPES[t.name]) for a, t in zip(arrays, types, strict=True)]
        count = max(len(a) for a in given) if given else LANES
        waves = -(-count // LANES)
        padded = [np.resize(a, waves * LANES) if len(a) == 1 else _pad(a, waves * LANES) for a in given]
        out = [np.zeros(waves * LANES, DTYPES[t.name]) for t in results]
        call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (len(out) + len(padded)), ctypes.c_uint64)(
            library.address(key)
        )
        for wave in range(waves):
            at = slice(wave * LANES, (wave + 1) * LANES)
            blocks = (
                [_aligned(o[at], None) for o in out],
                [_aligned(p[at], t) for p, t in zip(padded, types, strict=True)],
            )
            call(*[b.ctypes.data for group in blocks for b in group], exec_)
            for o, b in zip(out, blocks[0], strict=True):
                o[at] = b
        return tuple(o[:count] for o in out)


def _pad(a: np.ndarray, count: int) -> np.ndarray:
    return np.concatenate([a, np.repeat(a[-1:], count - len(a))]) if len(a) < count else a


def _aligned(block: np.ndarray, type_: Type | None) -> np.ndarray:
    """A copy at a 64-byte boundary; a predicate becomes the bits of its vector."""
    if type_ is not None and type_.kind == "b":
        block = np.packbits(block.astype(bool), bitorder="little")
    raw = np.empty(block.nbytes + 64, np.uint8)
    start = -raw.ctypes.data % 64
    view = raw[start : start + block.nbytes].view(block.dtype)
    view[:] = block
    return view


def run(name: str, *arrays: object, target: str = "gfx950", mode: FloatMode | None = None, **fields: Any) -> tuple:
    """One record on arrays, compiled by itself; machines with many records are for loops."""
    machine = Machine()
    return machine(machine.add_record(record(name, target), mode=mode, **fields), *arrays)


__all__ = ["ALL_ACTIVE", "DTYPES", "LANES", "Machine", "record", "run"]

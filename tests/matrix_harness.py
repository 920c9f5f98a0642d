"""Runs matrix instructions on register arrays, packed and unpacked by the layouts, beside a NumPy product."""

import ctypes
import functools
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from antiphase.arch import Fragment
from antiphase.isa import REGISTRY, Matrix
from antiphase.isa._formats import BITS
from antiphase.isa.fragments import Operands, fragments
from antiphase.machine.llvm._ir import module
from antiphase.machine.llvm._native import Library
from antiphase.machine.matrix._matrix import Variant, matrix_function
from antiphase.machine.matrix._matrix_rows import index_set

Array = NDArray[Any]
PLAIN = Variant()

DTYPES = {
    "f64": np.float64, "f32": np.float32, "xf32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "i32": np.int32, "i8": np.int8, "u8": np.uint8, "i4": ml_dtypes.int4, "u4": ml_dtypes.uint4,
    "fp8": ml_dtypes.float8_e4m3fn, "bf8": ml_dtypes.float8_e5m2,
    "fp8_fnuz": ml_dtypes.float8_e4m3fnuz, "bf8_fnuz": ml_dtypes.float8_e5m2fnuz,
    "fp6": ml_dtypes.float6_e2m3fn, "bf6": ml_dtypes.float6_e3m2fn, "fp4": ml_dtypes.float4_e2m1fn,
}  # fmt: skip


def unique_records(*families: str) -> list[Matrix]:
    """One record of every shape and type combination of these families, whatever its names."""
    found: dict[tuple[object, ...], Matrix] = {}
    for r in REGISTRY.all():
        if isinstance(r, Matrix) and r.family in families:
            key = (r.family, r.m, r.n, r.k, r.blocks, r.a, r.b, r.c, r.acc, r.scaled, r.scale_block, r.sparse)
            found.setdefault(key, r)
    return list(found.values())


def record_of(name: str, target: str) -> Matrix:
    record = REGISTRY.find(name, target)
    assert isinstance(record, Matrix)
    return record


@functools.cache
def compiled(record: Matrix, variant: Variant, lanes: int) -> tuple[Library, int, int]:
    function = matrix_function(record, variant, lanes)
    library = Library(module([function]), 2)
    return library, library.address(function.name), len(function.params)


def run(record: Matrix, registers: Sequence[Array], variant: Variant = PLAIN, lanes: int = 64) -> None:
    """Call the compiled instruction on register arrays, in the order of its parameters."""
    _, address, count = compiled(record, variant, lanes)
    assert len(registers) == count
    ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * count)(address)(*(r.ctypes.data for r in registers))


def operands_of(record: Matrix, variant: Variant = PLAIN, lanes: int = 64) -> Operands:
    chosen = index_set(record, variant, lanes)
    return fragments(record, lanes, variant.formats(record), variant.half, chosen)


def codes_of(values: Array, bits: int) -> Array:
    """The bit patterns of values, without what is above their width."""
    storage = np.uint8 if bits < 8 else f"u{bits // 8}"
    return values.view(storage).astype(np.uint64) & np.uint64((1 << bits) - 1)


def pack(values: Array, fragment: Fragment) -> Array:
    """values[block, outer, inner] as registers (register, lane) of u32, one more than the operand takes."""
    layout = fragment.layout
    codes = codes_of(values, fragment.bits)[layout.block, layout.outer, layout.inner]
    codes[layout.outer < 0] = 0
    registers = np.zeros((fragment.registers + 1, fragment.lanes), np.uint32)
    for position in range(layout.positions):
        register, shift = fragment.start(position)
        code = codes[:, position] << np.uint64(shift)
        registers[register] |= code.astype(np.uint32)
        if shift + fragment.bits > 32:
            registers[register + 1] |= (code >> np.uint64(32)).astype(np.uint32)
    return registers


def unpack(registers: Array, fragment: Fragment, name: str, shape: tuple[int, ...]) -> Array:
    """C or D of that type and shape (blocks, m, n) from registers."""
    layout, bits = fragment.layout, fragment.bits
    out = np.zeros(shape, DTYPES[name])
    for position in range(layout.positions):
        where = layout.block[:, position], layout.outer[:, position], layout.inner[:, position]
        register, shift = fragment.start(position)
        word = registers[register].astype(np.uint64) >> np.uint64(shift)
        if bits == 64:
            word |= registers[register + 1].astype(np.uint64) << np.uint64(32)
        out[where] = word.astype(f"u{bits // 8}").view(DTYPES[name])
    return out


def random_values(rng: np.random.Generator, name: str, shape: tuple[int, ...]) -> Array:
    """Values of few bits, so that a product plus a sum is exact in f64 and rounds once to f32."""
    if name[0] in "iu":
        low, high = (-(1 << BITS[name] - 1), 1 << BITS[name] - 1) if name[0] == "i" else (0, 1 << BITS[name])
        return rng.integers(low, high, shape).astype(DTYPES[name])
    return (rng.integers(-1000, 1000, shape) / 256).astype(DTYPES[name])


def random_sums(rng: np.random.Generator, record: Matrix) -> Array:
    shape = record.blocks, record.m, record.n
    if record.start == "i32":
        return rng.integers(-(2**31), 2**31, shape).astype(np.int32)
    return rng.normal(size=shape).astype(DTYPES[record.start])


def product(a: Array, b: Array, c: Array) -> Array:
    """c + a[block, m, k] b[block, n, k], one k after the other, each step rounded to c's type."""
    wide = np.int64 if c.dtype == np.int32 else np.float64
    a, b, total = a.astype(wide), b.astype(wide), c
    for k in range(a.shape[2]):
        step = a[:, :, k, None] * b[:, None, :, k] + total.astype(wide)
        total = step.astype(c.dtype)
    return total


def narrowed(total: Array, name: str) -> Array:
    """f32 cut to f16 by rounding, or to bf16 by truncation."""
    if name == "f16":
        return total.astype(np.float16).astype(np.float32)
    return (total.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)


def random_case(record: Matrix, variant: Variant, seed: int = 1) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    left, right = variant.formats(record)
    a = random_values(rng, left, (record.blocks, record.m, record.depth))
    b = random_values(rng, right, (record.blocks, record.n, record.k))
    return a, b, random_sums(rng, record)


def registers_of(record: Matrix, variant: Variant, a: Array, b: Array, c: Array, lanes: int = 64) -> list[Array]:
    """D (zero), A, B, C."""
    operands = operands_of(record, variant, lanes)
    return [
        np.zeros((operands.d.registers + 1, lanes), np.uint32),
        pack(a, operands.a),
        pack(b, operands.b),
        pack(c, operands.c),
    ]


def result_of(record: Matrix, variant: Variant, registers: Array, lanes: int = 64) -> Array:
    shape = record.blocks, record.m, record.n
    return unpack(registers, operands_of(record, variant, lanes).d, record.acc, shape)


def random_picks(rng: np.random.Generator, record: Matrix) -> Array:
    """Which two of every four k a row of A holds: picks[row, stored k], ascending in each pair."""
    pairs = np.array([(x, y) for x in range(4) for y in range(x + 1, 4)])
    return pairs[rng.integers(6, size=(record.m, record.k // 4))].reshape(record.m, -1)


def sparse_product(a: Array, b: Array, c: Array, picks: Array) -> Array:
    """The same products in the same order as a dense product whose B differs by row of A."""
    wide = np.int64 if c.dtype == np.int32 else np.float64
    rows = np.arange(picks.shape[1]) // 2 * 4 + picks
    total = c
    for k in range(picks.shape[1]):
        chosen = b[0].astype(wide)[:, rows[:, k]].T
        total = (a[0].astype(wide)[:, k, None] * chosen + total[0].astype(wide)).astype(c.dtype)[None]
    return total

"""Matrix instructions as native code, against layouts and a NumPy product that accumulates in their order."""

import ctypes
import functools
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from antiphase.arch import OperandLayout, input_layout, output_layout
from antiphase.isa import F32, REGISTRY, U32, Expr, Matrix, source
from antiphase.isa._formats import BITS, SMALL, decode, decode_scale
from antiphase.machine._ir import Function, module
from antiphase.machine._lower import FloatMode, Lowering, Value
from antiphase.machine._matrix import F8F6F4, Variant, matrix_function
from antiphase.machine._native import Library

Array = NDArray[Any]
PLAIN = Variant()

DTYPES = {
    "f64": np.float64, "f32": np.float32, "xf32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "i8": np.int8, "fp8": ml_dtypes.float8_e4m3fn, "bf8": ml_dtypes.float8_e5m2,
    "fp8_fnuz": ml_dtypes.float8_e4m3fnuz, "bf8_fnuz": ml_dtypes.float8_e5m2fnuz,
    "fp6": ml_dtypes.float6_e2m3fn, "bf6": ml_dtypes.float6_e3m2fn, "fp4": ml_dtypes.float4_e2m1fn,
}  # fmt: skip
ACC = {"f32": np.float32, "f64": np.float64, "i32": np.int32}


def unique_records() -> list[Matrix]:
    """One record of every shape and type combination, whatever its names."""
    found: dict[tuple[object, ...], Matrix] = {}
    for record in REGISTRY.all():
        if isinstance(record, Matrix):
            r = record
            found.setdefault((r.m, r.n, r.k, r.blocks, r.a, r.b, r.acc, r.scaled, r.sparse), r)
    return list(found.values())


RECORDS = unique_records()
DENSE = [r for r in RECORDS if not r.sparse and r.a != "f8f6f4"]
SPARSE = [r for r in RECORDS if r.sparse]
MIXED = [r for r in RECORDS if r.a == "f8f6f4"]


def label(record: Matrix) -> str:
    return f"{record.name}-{record.a}"


def record_of(name: str, target: str) -> Matrix:
    record = REGISTRY.find(name, target)
    assert isinstance(record, Matrix)
    return record


@functools.cache
def compiled(record: Matrix, variant: Variant) -> tuple[Library, int, int]:
    function = matrix_function(record, variant)
    library = Library(module([function]), 2)
    return library, library.address(function.name), len(function.params)


def run(record: Matrix, registers: list[Array], variant: Variant = PLAIN) -> None:
    """Call the compiled instruction on register arrays, in the order of its parameters."""
    _, address, count = compiled(record, variant)
    assert len(registers) == count
    ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * count)(address)(*(r.ctypes.data for r in registers))


def formats(record: Matrix, variant: Variant) -> tuple[str, str]:
    if record.a == "f8f6f4":
        return F8F6F4[variant.cbsz], F8F6F4[variant.blgp]
    return record.a, record.b


def layout_of(record: Matrix, side: int, format_: str) -> OperandLayout:
    depth = record.k // 2 if record.sparse and side == 0 else record.k
    run_ = 16 if record.a == "f8f6f4" and BITS[format_] == 8 else 0
    return input_layout((record.m, record.n)[side], depth, record.blocks, run_)


def pack(values: Array, layout: OperandLayout, format_: str) -> Array:
    """values[block, outer, k] as registers (register, lane) of u32."""
    bits = BITS[format_]
    small = {"fp6": np.uint8, "bf6": np.uint8, "fp4": np.uint8}.get(format_)
    raw = values.view(small or f"u{bits // 8}")
    codes = raw[layout.block, layout.outer, layout.inner].astype(np.uint64)
    registers = np.zeros((layout.positions * bits // 32 + 1, 64), np.uint32)
    for position in range(layout.positions):
        register, shift = divmod(position * bits, 32)
        code = codes[:, position] << np.uint64(shift)
        registers[register] |= code.astype(np.uint32)
        if shift + bits > 32:
            registers[register + 1] |= (code >> np.uint64(32)).astype(np.uint32)
    return registers


def pack_output(values: Array, record: Matrix) -> Array:
    layout = output_layout(record.m, record.n, record.blocks, BITS[record.acc])
    return pack(values, layout, record.acc)


def unpack_output(registers: Array, record: Matrix) -> Array:
    layout = output_layout(record.m, record.n, record.blocks, BITS[record.acc])
    out = np.zeros((record.blocks, record.m, record.n), ACC[record.acc])
    for position in range(layout.positions):
        where = layout.block[:, position], layout.outer[:, position], layout.inner[:, position]
        if record.acc == "f64":
            pair = registers[2 * position : 2 * position + 2].astype(np.uint64)
            out[where] = (pair[0] | pair[1] << np.uint64(32)).view(np.float64)
        else:
            out[where] = registers[position].view(ACC[record.acc])
    return out


def random_values(rng: np.random.Generator, format_: str, shape: tuple[int, ...]) -> Array:
    """Values of few bits, so that a product plus a sum is exact in f64 and rounds once to f32."""
    if format_ == "i8":
        return rng.integers(-128, 128, shape).astype(np.int8)
    return (rng.integers(-1000, 1000, shape) / 256).astype(DTYPES[format_])


def random_sums(rng: np.random.Generator, record: Matrix) -> Array:
    shape = record.blocks, record.m, record.n
    if record.acc == "i32":
        return rng.integers(-(2**31), 2**31, shape).astype(np.int32)
    return rng.normal(size=shape).astype(ACC[record.acc])


def product(a: Array, b: Array, c: Array) -> Array:
    """c + a[block, m, k] b[block, n, k], one k after the other, each step rounded to c's type."""
    wide = np.int64 if c.dtype == np.int32 else np.float64
    a, b, total = a.astype(wide), b.astype(wide), c
    for k in range(a.shape[2]):
        step = a[:, :, k, None] * b[:, None, :, k] + total.astype(wide)
        total = step.astype(c.dtype)
    return total


def random_case(record: Matrix, variant: Variant, seed: int = 1) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    left, right = formats(record, variant)
    depth = record.k // 2 if record.sparse else record.k
    a = random_values(rng, left, (record.blocks, record.m, depth))
    b = random_values(rng, right, (record.blocks, record.n, record.k))
    return a, b, random_sums(rng, record)


def registers_of(record: Matrix, variant: Variant, a: Array, b: Array, c: Array) -> list[Array]:
    left, right = formats(record, variant)
    packed = pack_output(c, record)
    return [
        np.zeros_like(packed),
        pack(a, layout_of(record, 0, left), left),
        pack(b, layout_of(record, 1, right), right),
        packed,
    ]


@pytest.mark.parametrize("record", DENSE, ids=label)
def test_random_products_are_those_of_sequential_fused_steps(record: Matrix) -> None:
    a, b, c = random_case(record, PLAIN)
    registers = registers_of(record, PLAIN, a, b, c)
    run(record, registers)
    np.testing.assert_array_equal(unpack_output(registers[0], record), product(a, b, c))


@pytest.mark.parametrize("record", DENSE, ids=label)
def test_one_element_of_each_side_lands_where_the_layouts_say(record: Matrix) -> None:
    rng = np.random.default_rng(7)
    one_a, one_b = (np.ones((), DTYPES[format_]) for format_ in (record.a, record.b))
    for _ in range(6):
        block, i, j, k = (int(rng.integers(n)) for n in (record.blocks, record.m, record.n, record.k))
        a = np.zeros((record.blocks, record.m, record.k), one_a.dtype)
        b = np.zeros((record.blocks, record.n, record.k), one_b.dtype)
        a[block, i, k], b[block, j, k] = one_a, one_b
        c = np.zeros((record.blocks, record.m, record.n), ACC[record.acc])
        registers = registers_of(record, PLAIN, a, b, c)
        run(record, registers)
        lane, position = output_layout(record.m, record.n, record.blocks, BITS[record.acc]).locate(
            i, j, block
        )
        width = BITS[record.acc] // 32
        words = np.argwhere(registers[0])
        assert words.tolist() == [[width * position + width - 1, lane]]
        assert unpack_output(registers[0], record)[block, i, j] == 1


@pytest.mark.parametrize("record", MIXED, ids=label)
@pytest.mark.parametrize("cbsz,blgp", [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (4, 0), (1, 2)])
def test_cbsz_and_blgp_choose_the_formats_of_f8f6f4(record: Matrix, cbsz: int, blgp: int) -> None:
    variant = Variant(cbsz=cbsz, blgp=blgp, scale_bytes=(1, 2))
    a, b, c = random_case(record, variant)
    registers = registers_of(record, variant, a, b, c)
    scale_a = scale_b = np.zeros((1, 1, 1))
    if record.scaled:
        rng = np.random.default_rng(3)
        codes = rng.integers(120, 134, (2, record.k // 32, 64))
        for side, outer in enumerate((record.m, record.n)):
            lanes = np.arange(64)
            word = codes[side, lanes // outer % (record.k // 32), lanes % outer].astype(np.uint32)
            registers.append((word << np.uint32(8 * variant.scale_bytes[side]))[None].copy())
        scale_a, scale_b = (
            np.repeat(2.0 ** (codes[side, :, :outer].T - 127), 32, axis=1)[None]
            for side, outer in enumerate((record.m, record.n))
        )
        a, b = a.astype(np.float64) * scale_a, b.astype(np.float64) * scale_b
    run(record, registers, variant)
    np.testing.assert_array_equal(unpack_output(registers[0], record), product(a, b, c))


@pytest.mark.parametrize("record", SPARSE, ids=label)
@pytest.mark.parametrize("abid", [0, 1])
def test_the_index_of_a_sparse_product_picks_rows_of_b(record: Matrix, abid: int) -> None:
    variant = Variant(abid=abid)
    a, b, c = random_case(record, variant)
    rng = np.random.default_rng(5)
    layout = layout_of(record, 0, record.a)
    sets = 16 // layout.positions
    pairs = np.array([(x, y) for x in range(4) for y in range(x + 1, 4)])
    picks = pairs[rng.integers(6, size=(record.m, record.k // 4))].reshape(record.m, -1)
    index = np.zeros((1, 64), np.uint32)
    for lane, position in np.ndindex(layout.outer.shape):
        pick = int(picks[layout.outer[lane, position], layout.inner[lane, position]])
        index[0, lane] |= np.uint32(pick << 2 * (abid % sets * layout.positions + position))
    rows = np.arange(record.k // 2) // 2 * 4 + picks
    # the same products in the same order, as a dense product whose B differs by row of A
    wide = np.int64 if record.acc == "i32" else np.float64
    total = c
    for k in range(record.k // 2):
        chosen = b[0].astype(wide)[:, rows[:, k]].T
        total = (a[0].astype(wide)[:, k, None] * chosen + total[0].astype(wide)).astype(c.dtype)[None]
    registers = registers_of(record, variant, a, b, c)
    d = registers[3].copy()
    run(record, [d, registers[1], registers[2], index], variant)
    np.testing.assert_array_equal(unpack_output(d, record), total)


def test_cbsz_broadcasts_a_block_of_a_and_blgp_moves_lanes_of_b() -> None:
    record = record_of("v_mfma_f32_16x16x4_4b_f16", "gfx942")
    variant = Variant(cbsz=1, abid=1, blgp=3)
    a, b, c = random_case(record, variant)
    registers = registers_of(record, variant, a, b, c)
    run(record, registers, variant)
    expected = product(a[[1, 1, 3, 3]], b[[1, 2, 3, 0]], c)
    np.testing.assert_array_equal(unpack_output(registers[0], record), expected)


def test_cbsz_broadcasts_in_four_by_four_products() -> None:
    record = record_of("v_mfma_f32_4x4x4_16b_bf16", "gfx942")
    variant = Variant(cbsz=4, abid=9)
    a, b, c = random_case(record, variant)
    registers = registers_of(record, variant, a, b, c)
    run(record, registers, variant)
    np.testing.assert_array_equal(unpack_output(registers[0], record), product(a[[9] * 16], b, c))


def test_neg_flips_signs_of_f64_operands() -> None:
    record = record_of("v_mfma_f64_16x16x4_f64", "gfx942")
    variant = Variant.of({"neg": (1, 0, 1)})
    a, b, c = random_case(record, variant)
    registers = registers_of(record, variant, a, b, c)
    run(record, registers, variant)
    np.testing.assert_array_equal(unpack_output(registers[0], record), product(-a, b, -c))


@pytest.mark.parametrize("name,c", [("v_mfma_f32_16x16x16_f16", 0), ("v_mfma_i32_16x16x32_i8", -3)])
def test_an_inline_constant_stands_for_c(name: str, c: int) -> None:
    record = record_of(name, "gfx942")
    variant = Variant(inline_c=c)
    a, b, old = random_case(record, variant)
    registers = registers_of(record, variant, a, b, old)
    run(record, registers, variant)
    np.testing.assert_array_equal(unpack_output(registers[0], record), product(a, b, np.full_like(old, c)))


@pytest.mark.parametrize(
    "name", ["v_mfma_f32_32x32x8_f16", "v_mfma_i32_32x32x16_i8", "v_mfma_f64_16x16x4_f64"]
)
def test_d_may_be_c_and_overlap_a_and_b(name: str) -> None:
    record = record_of(name, "gfx942")
    a, b, c = random_case(record, PLAIN)
    _, left, right, packed = registers_of(record, PLAIN, a, b, c)
    everything = np.zeros((len(packed) - 1 + 4, 64), np.uint32)
    everything[2 : 2 + len(packed) - 1] = packed[:-1]
    # A starts inside D: C then is what those registers hold
    everything[2 : 2 + len(left) - 1] = left[:-1]
    mixed = unpack_output(everything[2:], record)
    run(record, [everything[2:], everything[2:], right, everything[2:]])
    np.testing.assert_array_equal(unpack_output(everything[2:], record), product(a, b, mixed))


def test_bfloat_denormals_are_kept() -> None:
    record = record_of("v_mfma_f32_16x16x16_bf16", "gfx942")
    a = np.full((1, 16, 16), 2.0**-130, ml_dtypes.bfloat16)
    b = np.ones((1, 16, 16), ml_dtypes.bfloat16)
    c = np.zeros((1, 16, 16), np.float32)
    registers = registers_of(record, PLAIN, a, b, c)
    run(record, registers)
    np.testing.assert_array_equal(unpack_output(registers[0], record), np.full_like(c, 2.0**-126))


def test_xf32_rounds_its_inputs_to_ten_bits_of_mantissa() -> None:
    record = record_of("v_mfma_f32_16x16x8_xf32", "gfx942")
    a = np.zeros((1, 16, 8), np.float32)
    a[0, :4, 0] = 1 + 2.0**-11, 1 + 3 * 2.0**-11, 1 + 2.0**-12, np.inf
    b, c = np.ones((1, 16, 8), np.float32), np.zeros((1, 16, 16), np.float32)
    registers = registers_of(record, PLAIN, a, b, c)
    run(record, registers)
    assert unpack_output(registers[0], record)[0, :4, 0].tolist() == [1, 1 + 2.0**-9, 1, np.inf]


def decoded(expression: Expr, codes: Array) -> Array:
    """An expression of one u32 evaluated by compiled code."""
    function = Function("f", "void", [("ptr", "out"), ("ptr", "codes")])
    lanes = len(codes)
    words = Value(function.load(f"<{lanes} x i32>", "%codes", 4), U32, lanes)
    value = Lowering(function, lanes, FloatMode(), [words], lambda: "-1").lower(expression)
    function.store(value.ir, value.text, "%out", 4)
    function.ret()
    library = Library(module([function]), 0)
    out = np.zeros(lanes, np.float32)
    address = library.address("f")
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(address)(out.ctypes.data, codes.ctypes.data)
    return out


@pytest.mark.parametrize("name", sorted(SMALL))
def test_every_code_of_the_small_formats_decodes_to_its_value(name: str) -> None:
    codes = np.arange(1 << SMALL[name].bits, dtype=np.uint32)
    expected = codes.astype(np.uint8).view(DTYPES[name]).astype(np.float32)
    # bits above the code must not matter
    high = np.uint32(0xFFFFFFFF << SMALL[name].bits & 0xFFFFFFFF)
    result = decoded(decode(source(0, U32), name), codes | high)
    np.testing.assert_array_equal(result, expected)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(result[numbers]), np.signbit(expected[numbers]))


def test_block_scales_are_powers_of_two() -> None:
    codes = np.arange(256, dtype=np.uint32)
    result = decoded(decode_scale(source(0, U32)), codes)
    np.testing.assert_array_equal(result[:255], 2.0 ** (np.arange(255) - 127.0))
    assert np.isnan(result[255]) and decode_scale(source(0, U32)).type is F32

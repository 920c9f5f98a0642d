"""Matrix instructions as native code, against layouts and a NumPy product that accumulates in their order."""

import ctypes

import ml_dtypes
import numpy as np
import pytest
from matrix_harness import (
    DTYPES,
    PLAIN,
    Array,
    operands_of,
    pack,
    product,
    random_case,
    random_picks,
    record_of,
    registers_of,
    result_of,
    run,
    sparse_product,
    unique_records,
)

from antiphase.arch import Fragment
from antiphase.isa import F32, U32, Expr, Matrix, source
from antiphase.isa._formats import BITS, SMALL, decode, decode_scale
from antiphase.machine.llvm._ir import Function, module
from antiphase.machine.llvm._lower import FloatMode, Lowering, Value
from antiphase.machine.llvm._native import Library
from antiphase.machine.matrix._matrix import Variant

RECORDS = unique_records("mfma")
DENSE = [r for r in RECORDS if not r.sparse and r.a != "f8f6f4"]
SPARSE = [r for r in RECORDS if r.sparse]
MIXED = [r for r in RECORDS if r.a == "f8f6f4"]


def label(record: Matrix) -> str:
    return f"{record.name}-{record.a}"


@pytest.mark.parametrize("record", DENSE, ids=label)
def test_random_products_are_those_of_sequential_fused_steps(record: Matrix) -> None:
    a, b, c = random_case(record, PLAIN)
    registers = registers_of(record, PLAIN, a, b, c)
    run(record, registers)
    np.testing.assert_array_equal(result_of(record, PLAIN, registers[0]), product(a, b, c))


@pytest.mark.parametrize("record", DENSE, ids=label)
def test_one_element_of_each_side_lands_where_the_layouts_say(record: Matrix) -> None:
    rng = np.random.default_rng(7)
    one_a, one_b = (np.ones((), DTYPES[format_]) for format_ in (record.a, record.b))
    for _ in range(6):
        block, i, j, k = (int(rng.integers(n)) for n in (record.blocks, record.m, record.n, record.k))
        a = np.zeros((record.blocks, record.m, record.k), one_a.dtype)
        b = np.zeros((record.blocks, record.n, record.k), one_b.dtype)
        a[block, i, k], b[block, j, k] = one_a, one_b
        c = np.zeros((record.blocks, record.m, record.n), DTYPES[record.acc])
        registers = registers_of(record, PLAIN, a, b, c)
        run(record, registers)
        lane, position = operands_of(record).d.layout.locate(i, j, block)
        width = BITS[record.acc] // 32
        words = np.argwhere(registers[0])
        assert words.tolist() == [[width * position + width - 1, lane]]
        assert result_of(record, PLAIN, registers[0])[block, i, j] == 1


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
    np.testing.assert_array_equal(result_of(record, PLAIN, registers[0]), product(a, b, c))


def indices(record: Matrix, variant: Variant) -> Fragment:
    fragment = operands_of(record, variant).index
    assert fragment is not None
    return fragment


@pytest.mark.parametrize("record", SPARSE, ids=label)
@pytest.mark.parametrize("abid", [0, 1])
def test_the_index_of_a_sparse_product_picks_rows_of_b(record: Matrix, abid: int) -> None:
    variant = Variant(abid=abid)
    a, b, c = random_case(record, variant)
    picks = random_picks(np.random.default_rng(5), record)
    index = pack(picks.astype(np.uint8)[None], indices(record, variant))
    registers = registers_of(record, variant, a, b, c)
    d = registers[3].copy()
    run(record, [d, registers[1], registers[2], index], variant)
    np.testing.assert_array_equal(result_of(record, PLAIN, d), sparse_product(a, b, c, picks))


def test_cbsz_broadcasts_a_block_of_a_and_blgp_moves_lanes_of_b() -> None:
    record = record_of("v_mfma_f32_16x16x4_4b_f16", "gfx942")
    variant = Variant(cbsz=1, abid=1, blgp=3)
    a, b, c = random_case(record, variant)
    registers = registers_of(record, variant, a, b, c)
    run(record, registers, variant)
    expected = product(a[[1, 1, 3, 3]], b[[1, 2, 3, 0]], c)
    np.testing.assert_array_equal(result_of(record, PLAIN, registers[0]), expected)


def test_cbsz_broadcasts_in_four_by_four_products() -> None:
    record = record_of("v_mfma_f32_4x4x4_16b_bf16", "gfx942")
    variant = Variant(cbsz=4, abid=9)
    a, b, c = random_case(record, variant)
    registers = registers_of(record, variant, a, b, c)
    run(record, registers, variant)
    np.testing.assert_array_equal(result_of(record, PLAIN, registers[0]), product(a[[9] * 16], b, c))


def test_neg_flips_signs_of_f64_operands() -> None:
    record = record_of("v_mfma_f64_16x16x4_f64", "gfx942")
    variant = Variant.of({"neg": (1, 0, 1)})
    a, b, c = random_case(record, variant)
    registers = registers_of(record, variant, a, b, c)
    run(record, registers, variant)
    np.testing.assert_array_equal(result_of(record, PLAIN, registers[0]), product(-a, b, -c))


@pytest.mark.parametrize("name,c", [("v_mfma_f32_16x16x16_f16", 0), ("v_mfma_i32_16x16x32_i8", -3)])
def test_an_inline_constant_stands_for_c(name: str, c: int) -> None:
    record = record_of(name, "gfx942")
    variant = Variant(inline_c=c)
    a, b, old = random_case(record, variant)
    registers = registers_of(record, variant, a, b, old)
    run(record, registers, variant)
    np.testing.assert_array_equal(result_of(record, PLAIN, registers[0]), product(a, b, np.full_like(old, c)))


@pytest.mark.parametrize("name", ["v_mfma_f32_32x32x8_f16", "v_mfma_i32_32x32x16_i8", "v_mfma_f64_16x16x4_f64"])
def test_d_may_be_c_and_overlap_a_and_b(name: str) -> None:
    record = record_of(name, "gfx942")
    a, b, c = random_case(record, PLAIN)
    _, left, right, packed = registers_of(record, PLAIN, a, b, c)
    everything = np.zeros((len(packed) - 1 + 4, 64), np.uint32)
    everything[2 : 2 + len(packed) - 1] = packed[:-1]
    # A starts inside D: C then is what those registers hold
    everything[2 : 2 + len(left) - 1] = left[:-1]
    mixed = result_of(record, PLAIN, everything[2:])
    run(record, [everything[2:], everything[2:], right, everything[2:]])
    np.testing.assert_array_equal(result_of(record, PLAIN, everything[2:]), product(a, b, mixed))


def test_bfloat_denormals_are_kept() -> None:
    record = record_of("v_mfma_f32_16x16x16_bf16", "gfx942")
    a = np.full((1, 16, 16), 2.0**-130, ml_dtypes.bfloat16)
    b = np.ones((1, 16, 16), ml_dtypes.bfloat16)
    c = np.zeros((1, 16, 16), np.float32)
    registers = registers_of(record, PLAIN, a, b, c)
    run(record, registers)
    np.testing.assert_array_equal(result_of(record, PLAIN, registers[0]), np.full_like(c, 2.0**-126))


def test_xf32_cuts_its_inputs_to_ten_bits_of_mantissa() -> None:
    record = record_of("v_mfma_f32_16x16x8_xf32", "gfx942")
    a = np.zeros((1, 16, 8), np.float32)
    a[0, :5, 0] = 1 + 2.0**-11, -1 - 3 * 2.0**-11, 1 + 2.0**-10, np.inf, np.nan
    a.view(np.uint32)[0, 4, 0] = 0x7F800001
    b, c = np.ones((1, 16, 8), np.float32), np.zeros((1, 16, 16), np.float32)
    registers = registers_of(record, PLAIN, a, b, c)
    run(record, registers)
    *numbers, nan = result_of(record, PLAIN, registers[0])[0, :5, 0].tolist()
    assert numbers == [1, -1 - 2.0**-10, 1 + 2.0**-10, np.inf]
    assert np.isnan(nan)


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
